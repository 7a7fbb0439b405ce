package usecase

import (
	"cmp"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// WrongLength is the bound of a rental's length that a stretch of time breaks.
type WrongLength struct {
	TooLong bool // false: too short
	Bound   int
	Unit    string // "days" or "hours"
}

// WrongLength returns the bound that the stretch breaks, or nil if it keeps all of them. Days count
// both ends. Bounds in hours apply only if times are given, as in [Stretch.Hours] (semantics.md §4).
func (s Stretch) WrongLength(r *catalog.Rental, during timespan.Span, hourly bool) *WrongLength {
	days := outside("days", int64(s.Dates.To-s.Dates.From+1), 1, r.MinRentalDays, r.MaxRentalDays)
	if !hourly {
		return days
	}
	return cmp.Or(days, outside("hours", during.End-during.Start, 3600, r.MinRentalHours, r.MaxRentalHours))
}

// outside compares a length with two bounds, which are in a unit of the given size. A nil bound does not apply.
func outside(unit string, length, size int64, least, most *int) *WrongLength {
	switch {
	case least != nil && length < int64(*least)*size:
		return &WrongLength{Bound: *least, Unit: unit}
	case most != nil && length > int64(*most)*size:
		return &WrongLength{TooLong: true, Bound: *most, Unit: unit}
	}
	return nil
}
