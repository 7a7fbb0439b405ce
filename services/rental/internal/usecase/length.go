package usecase

import (
	"cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// LengthViolation is a limit of a rental's length that a requested time breaks.
type LengthViolation struct {
	IsTooLong bool // true if the requested time is too long, false if it is too short
	Bound     int
	Unit      string // "days" or "hours"
}

// FindLengthViolation returns the limit of the rental's length that the requested time breaks, or nil
// if the time is within all limits. Days include the first and the last date. Limits in hours
// apply only if start and end times are given, as in [Period.ResolveHours] (semantics.md §4).
func (s Period) FindLengthViolation(r *catalog.Rental, span timespan.Span, hourly bool) *LengthViolation {
	days := checkBounds("days", int64(s.Dates.To-s.Dates.From+1), 1, r.MinRentalDays, r.MaxRentalDays)
	if !hourly {
		return days
	}
	return cmp.Or(days, checkBounds("hours", span.End-span.Start, 3600, r.MinRentalHours, r.MaxRentalHours))
}

// checkBounds compares a length with a lower limit (the argument `minimum`) and an upper limit (the
// argument `maximum`). The argument `size` converts both limits to the unit of the length. It is 1
// if the limits and the length are in days, and 3600 if the limits are in hours and the length is
// in seconds. A nil limit does not apply. The result is nil if the length is within the limits.
func checkBounds(unit string, length, size int64, minimum, maximum *int) *LengthViolation {
	switch {
	case minimum != nil && length < int64(*minimum)*size:
		return &LengthViolation{Bound: *minimum, Unit: unit}
	case maximum != nil && length > int64(*maximum)*size:
		return &LengthViolation{IsTooLong: true, Bound: *maximum, Unit: unit}
	}
	return nil
}
