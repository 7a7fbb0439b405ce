// Package timespan represents calendar dates, local windows and instants as integers,
// and converts local time to instants (semantics.md §1). The package does no I/O.
//
// Dates count days, local times count minutes, and instants count seconds since the Unix epoch. Code
// that compares many times operates on sorted spans of integers and creates no time.Time values.
package timespan

import (
	"time"
)

// Span is a half-open span of instants [Start, End), in seconds since the Unix epoch.
type Span struct{ Start, End int64 }

// Overlaps reports whether s and o share an instant. Spans that only touch do not (semantics.md §2).
func (s Span) Overlaps(o Span) bool { return s.Start < o.End && o.Start < s.End }

// Instant returns the instant at which a clock in loc shows the local time m on date d; m above 1440
// is on a later date (semantics.md §1). If a clock change skips the local time, the result is the
// instant directly after the gap. If the local time occurs twice, the result is its first occurrence.
func Instant(d Date, m TimeOfDay, loc *time.Location) int64 {
	wall := int64(d)*secondsPerDay + int64(m)*60
	// The offsets one day before and after the local time enclose
	// any change near it; no zone changes twice in two days.
	_, before := time.Unix(wall-secondsPerDay, 0).In(loc).Zone()
	_, after := time.Unix(wall+secondsPerDay, 0).In(loc).Zone()
	early, late := wall-int64(before), wall-int64(after)
	if before == after {
		return early
	}
	_, atEarly := time.Unix(early, 0).In(loc).Zone()
	if atEarly == before {
		return early // the first or only occurrence
	}
	_, atLate := time.Unix(late, 0).In(loc).Zone()
	if atLate == after {
		return late
	}
	// With neither offset the clock shows this local time: it was skipped. The gap ends at the transition.
	return transition(late, early, loc)
}

// EndAfter returns the local end, in loc, of a span that begins at the instant start and lasts for
// the given seconds. An end at midnight is 24:00 of the previous date. It returns false if [Instant]
// would not convert the local end back to the same instant, because the local time occurs twice.
func EndAfter(start, seconds int64, loc *time.Location) (Date, TimeOfDay, bool) {
	end := start + seconds
	localEnd := time.Unix(end, 0).In(loc)
	date, at := DateOf(localEnd, loc), TimeOfDay(localEnd.Hour()*60+localEnd.Minute())
	if at == 0 {
		date, at = date-1, MinutesPerDay
	}
	return date, at, Instant(date, at, loc) == end
}

// transition returns the first instant in (lo, hi] at which the offset of loc differs from the offset at lo.
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
