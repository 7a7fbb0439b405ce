// Package timespan holds calendar dates, local windows and instants as integers, and the rules by which a
// business's wall clock becomes an instant (semantics.md §1). It is pure: values in, values out.
//
// Dates count days, wall-clock times count minutes, instants count seconds since the Unix epoch. Inner loops
// so work on sorted integer spans and never build time.Time values.
package timespan

import (
	"time"
)

// Span is a half-open span of instants [Start, End) in seconds since the Unix epoch.
type Span struct{ Start, End int64 }

// Overlaps reports whether s and o share an instant; spans that only touch do not (semantics.md §2).
func (s Span) Overlaps(o Span) bool { return s.Start < o.End && o.Start < s.End }

// Instant returns the instant at which a clock in loc shows minute m of date d; m beyond 1440 lies on later dates.
// A local time that a clock change skips is the instant right after the gap; one that happens twice is its first
// occurrence (semantics.md §1).
func Instant(d Date, m TimeOfDay, loc *time.Location) int64 {
	wall := int64(d)*secondsPerDay + int64(m)*60
	// Offsets a day either side of the wall time bracket any change near it; no zone changes twice in two days.
	_, before := time.Unix(wall-secondsPerDay, 0).In(loc).Zone()
	_, after := time.Unix(wall+secondsPerDay, 0).In(loc).Zone()
	early, late := wall-int64(before), wall-int64(after)
	if before == after {
		return early
	}
	_, atEarly := time.Unix(early, 0).In(loc).Zone()
	if atEarly == before {
		return early // the first occurrence, or the only one
	}
	_, atLate := time.Unix(late, 0).In(loc).Zone()
	if atLate == after {
		return late
	}
	// Neither offset shows this wall time: it was skipped. The gap ends at the transition.
	return transition(late, early, loc)
}

// EndAfter returns what a clock in loc shows so many seconds after an instant, as the end of a span: midnight is 24:00 of the date before. It
// is false where that wall clock time is another instant, because it happens twice.
func EndAfter(start, seconds int64, loc *time.Location) (Date, TimeOfDay, bool) {
	end := start + seconds
	shown := time.Unix(end, 0).In(loc)
	date, at := DateOf(shown, loc), TimeOfDay(shown.Hour()*60+shown.Minute())
	if at == 0 {
		date, at = date-1, MinutesPerDay
	}
	return date, at, Instant(date, at, loc) == end
}

// transition returns the first instant in (lo, hi] at which the offset of loc differs from that at lo.
func transition(lo, hi int64, loc *time.Location) int64 {
	_, base := time.Unix(lo, 0).In(loc).Zone()
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if _, o := time.Unix(mid, 0).In(loc).Zone(); o == base {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
