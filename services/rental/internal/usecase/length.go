package usecase

import (
	"cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// WrongLength is a limit of a rental's length that a requested time breaks.
type WrongLength struct {
	TooLong bool // true if the requested time is too long, false if it is too short
	Bound   int
	Unit    string // "days" or "hours"
}

// WrongLength returns the limit of the rental's length that the requested time breaks, or nil
// if the time is within all limits. Days include the first and the last date. Limits in hours
// apply only if start and end times are given, as in [Stretch.Hours] (semantics.md §4).
func (s Stretch) WrongLength(r *catalog.Rental, during timespan.Span, hourly bool) *WrongLength {
	days := outside("days", int64(s.Dates.To-s.Dates.From+1), 1, r.MinRentalDays, r.MaxRentalDays)
	if !hourly {
		return days
	}
	return cmp.Or(days, outside("hours", during.End-during.Start, 3600, r.MinRentalHours, r.MaxRentalHours))
}

// outside compares a length with a lower limit (the argument `least`) and an upper limit (the
// argument `most`). The unit of both limits is the argument `size`: 1 for days, 3600 for hours
// in seconds. A nil limit does not apply. The result is nil if the length is within the limits.
func outside(unit string, length, size int64, least, most *int) *WrongLength {
	switch {
	case least != nil && length < int64(*least)*size:
		return &WrongLength{Bound: *least, Unit: unit}
	case most != nil && length > int64(*most)*size:
		return &WrongLength{TooLong: true, Bound: *most, Unit: unit}
	}
	return nil
}
