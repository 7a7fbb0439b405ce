package usecase

import (
	"cmp"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// WrongLength names the bound of a rental's length that a stretch of time breaks.
type WrongLength struct {
	TooLong bool // else too short
	Bound   int
	Unit    string // "days" or "hours"
}

// WrongLength returns the bound that the stretch breaks, nil where it keeps all of them. Days count both ends; hours count only where
// times are given, as [Stretch.Hours] says (semantics.md §4).
func (s Stretch) WrongLength(r *catalog.Rental, during timespan.Span, hourly bool) *WrongLength {
	days := outside("days", int64(s.Dates.To-s.Dates.From+1), 1, r.MinRentalDays, r.MaxRentalDays)
	if !hourly {
		return days
	}
	return cmp.Or(days, outside("hours", during.End-during.Start, 3600, r.MinRentalHours, r.MaxRentalHours))
}

// outside compares a length with bounds, each of which counts as many times the size of the unit.
func outside(unit string, length, size int64, least, most *int) *WrongLength {
	switch {
	case least != nil && length < int64(*least)*size:
		return &WrongLength{Bound: *least, Unit: unit}
	case most != nil && length > int64(*most)*size:
		return &WrongLength{TooLong: true, Bound: *most, Unit: unit}
	}
	return nil
}
