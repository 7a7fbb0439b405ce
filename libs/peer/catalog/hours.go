package catalog

import (
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// WindowsOn are the opening windows that begin on a date: those of its override, otherwise those of its weekday.
func (o *Offer) WindowsOn(d timespan.Date) []timespan.Window {
	for i := range o.Overrides {
		if o.Overrides[i].Date == d {
			return o.Overrides[i].Hours
		}
	}
	return o.Hours[d.Weekday()]
}

// HandsOver reports whether a rental can be picked up at an instant, or returned at it: it is within opening hours, at a return also when
// they end. Outside hours, and where the business states no hours at all, every instant is good (pages.md §2).
func (o *Offer) HandsOver(r *Rental, at int64, isReturn bool) bool {
	if r.OutsideHours || !o.hasHours() {
		return true
	}
	zone := o.Location()
	date := timespan.DateOf(time.Unix(at, 0), zone)
	for d := date - 1; d <= date; d++ {
		for _, w := range o.WindowsOn(d) {
			from, to := timespan.Instant(d, w.From, zone), timespan.Instant(d, w.To, zone)
			if from <= at && (at < to || isReturn && at == to) {
				return true
			}
		}
	}
	return false
}

// HandsOverOn reports whether a rental can be picked up, or returned, on a date: the business is open on it. See [Offer.HandsOver].
func (o *Offer) HandsOverOn(r *Rental, d timespan.Date) bool {
	return r.OutsideHours || !o.hasHours() || len(o.WindowsOn(d)) > 0
}

// EventTime is when an event takes place. One whose end is not after its start ends on the next date.
func (o *Offer) EventTime(e *Event) timespan.Span {
	until := e.Date
	if e.End <= e.Start {
		until++
	}
	return timespan.Span{Start: timespan.Instant(e.Date, e.Start, o.Location()), End: timespan.Instant(until, e.End, o.Location())}
}

// hasHours reports whether the business states opening hours.
func (o *Offer) hasHours() bool {
	isOpen := func(windows []timespan.Window) bool { return len(windows) > 0 }
	return slices.ContainsFunc(o.Hours[:], isOpen) ||
		slices.ContainsFunc(o.Overrides, func(d DayOverride) bool { return len(d.Hours) > 0 })
}
