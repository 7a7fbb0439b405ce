package catalog

import (
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// WindowsOn returns the opening windows that start on a date. These are the windows
// of the override for the date or, without an override, the windows of the weekday.
func (o *Snapshot) WindowsOn(d timespan.Date) []timespan.Window {
	for i := range o.Overrides {
		if o.Overrides[i].Date == d {
			return o.Overrides[i].Hours
		}
	}
	return o.Hours[d.Weekday()]
}

// HandsOver reports whether a rental can be picked up at the given instant or, if `isReturn` is
// true, returned at this instant. The argument `at` is the instant in seconds since the epoch.
//
// Customers can pick up and return within opening hours. They can also return exactly
// at the end of opening hours. Any instant is possible if the rental permits hand-over
// outside opening hours, or if the business has no opening hours (pages.md §2). The opening hours are those of the
// rental's location.
func (o *Snapshot) HandsOver(r *Rental, at int64, isReturn bool) bool {
	location := o.RentalLocation(r)
	if r.OutsideHours || !o.hasHours(location) {
		return true
	}
	zone := o.Location()
	date := timespan.DateOf(time.Unix(at, 0), zone)
	for d := date - 1; d <= date; d++ {
		for _, w := range o.OpeningOn(location, d) {
			from, to := timespan.Instant(d, w.From, zone), timespan.Instant(d, w.To, zone)
			if from <= at && (at < to || isReturn && at == to) {
				return true
			}
		}
	}
	return false
}

// HandsOverOn reports whether a rental can be picked up or returned at some time on the given date.
// [Snapshot.HandsOver] decides about one instant. HandsOverOn returns true if hand-over is possible at
// any instant, or if an opening window starts on the date.
func (o *Snapshot) HandsOverOn(r *Rental, d timespan.Date) bool {
	location := o.RentalLocation(r)
	return r.OutsideHours || !o.hasHours(location) || len(o.OpeningOn(location, d)) > 0
}

// EventTime returns the time of an event. If the local time of its end is
// not after the local time of its start, the event ends on the next date.
func (o *Snapshot) EventTime(e *Event) timespan.Span {
	until := e.Date
	if e.End <= e.Start {
		until++
	}
	return timespan.Span{Start: timespan.Instant(e.Date, e.Start, o.Location()),
		End: timespan.Instant(until, e.End, o.Location())}
}

// hasHours reports whether the location or the business has opening hours on any
// weekday or date. The argument `l` is nil if the business has no locations.
func (o *Snapshot) hasHours(l *Location) bool {
	isOpen := func(windows []timespan.Window) bool { return len(windows) > 0 }
	if l != nil && (l.Hours != nil || len(l.Overrides) > 0) {
		return true
	}
	return slices.ContainsFunc(o.Hours[:], isOpen) ||
		slices.ContainsFunc(o.Overrides, func(d DayOverride) bool { return len(d.Hours) > 0 })
}
