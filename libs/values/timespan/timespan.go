// Package timespan represents calendar dates, local times and instants as integers.
// It converts local time to instants (semantics.md §1). The package does no I/O.
//
// A date is a number of days, and a local time is a number of minutes. An instant is a number of seconds since the Unix
// epoch. Code that compares many times works on sorted spans of integers, and creates no time.Time values.
package timespan

import (
	"time"
)

// Span is the time from Start to End, without End. Start and End are instants in seconds since the Unix epoch.
type Span struct{ Start, End int64 }

// Overlaps reports whether `s` and `o` have a common instant. Spans that only touch do not overlap (semantics.md §2).
func (s Span) Overlaps(o Span) bool { return s.Start < o.End && o.Start < s.End }

// Instant returns the instant at which a clock in the time zone `loc` shows the local time `m` on the date `d`
// (semantics.md §1). If `m` is above 1440, the local time is on a later date. If a clock change skips the local time,
// Instant returns the first instant after the skipped time. If the local time occurs twice, Instant returns the first
// occurrence.
func Instant(d Date, m TimeOfDay, loc *time.Location) int64 {
	wall := int64(d)*secondsPerDay + int64(m)*60
	// The variables `before` and `after` hold the UTC offsets one day before and one day after the local time. If the
	// clock changes near the local time, these are the offsets before and after the change. The reason is that no time
	// zone changes twice in two days.
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
	// The clock shows this local time with neither offset, so the
	// local time was skipped. The skipped time ends at the transition.
	return transition(late, early, loc)
}

// EndAfter returns the local date and time, in loc, at which a span ends. The span begins at the instant `start` and
// lasts for the given number of seconds. An end at midnight is 24:00 of the previous date.
//
// EndAfter returns false if [Instant] would convert the local
// end to another instant, because the local time occurs twice.
func EndAfter(start, seconds int64, loc *time.Location) (Date, TimeOfDay, bool) {
	end := start + seconds
	localEnd := time.Unix(end, 0).In(loc)
	date, at := DateOf(localEnd, loc), TimeOfDay(localEnd.Hour()*60+localEnd.Minute())
	if at == 0 {
		date, at = date-1, MinutesPerDay
	}
	return date, at, Instant(date, at, loc) == end
}

// transition returns the first instant after `lo`, and not after `hi`, at which the UTC offset of `loc` differs from
// the offset at `lo`.
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
