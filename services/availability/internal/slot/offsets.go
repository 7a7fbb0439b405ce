package slot

import (
	"time"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

const (
	minute = 60
	day    = 86400
)

// utcOffsets holds the UTC offsets of the business's time zone
// for a range of instants, so that each offset is looked up once.
type utcOffsets struct{ eras []era }

// era is a range of instants with one UTC offset, in seconds.
type era struct{ from, to, offset int64 }

// newUTCOffsets returns the UTC offsets of loc for the instants `from`..`to`.
func newUTCOffsets(loc *time.Location, from, to int64) utcOffsets {
	var z utcOffsets
	for at := from; at < to; {
		t := time.Unix(at, 0).In(loc)
		_, offset := t.Zone()
		end := to
		if _, bound := t.ZoneBounds(); bound.Unix() > at {
			end = min(to, bound.Unix())
		} else if !bound.IsZero() {
			end = min(to, at+day) // on the last day of a leap year, Go's ZoneBounds returns an end that is not after t
		}
		if n := len(z.eras); n > 0 && z.eras[n-1].offset == int64(offset) {
			z.eras[n-1].to = end // the offset has not changed
		} else {
			z.eras = append(z.eras, era{from: at, to: end, offset: int64(offset)})
		}
		at = end
	}
	return z
}

// toInstant returns the instant of the local time m on the date d. If a clock change
// repeats the local time, it returns the first instant. If a clock change skips the
// local time, it returns the instant at which the skipped time ends (semantics.md §1).
func (z utcOffsets) toInstant(d timespan.Date, m timespan.TimeOfDay) int64 {
	wall := int64(d)*day + int64(m)*minute
	for _, e := range z.eras {
		if at := wall - e.offset; at < e.to {
			return max(at, e.from)
		}
	}
	return wall - z.eras[len(z.eras)-1].offset
}

// toLocal returns the local date and time at the instant t, in whole minutes.
func (z utcOffsets) toLocal(t int64) (timespan.Date, timespan.TimeOfDay) {
	i := 0
	for i+1 < len(z.eras) && t >= z.eras[i].to {
		i++
	}
	wall := t + z.eras[i].offset
	d := wall / day
	if wall%day < 0 {
		d--
	}
	return timespan.Date(d), timespan.TimeOfDay((wall - d*day) / minute)
}

// appendRepeated appends the spans in which local times occur for the
// second time because of a clock change. No slot starts in these spans.
func (z utcOffsets) appendRepeated(dst []timespan.Span) []timespan.Span {
	for i := 1; i < len(z.eras); i++ {
		if back := z.eras[i-1].offset - z.eras[i].offset; back > 0 {
			dst = append(dst, timespan.Span{Start: z.eras[i].from, End: z.eras[i].from + back})
		}
	}
	return dst
}
