package slot

import (
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// ComputeWorkingTime calls `yield` for each active staff member and each of the dates `from`..`to`. The last
// argument of `yield` is the number of seconds that the staff member works on that calendar date. Working time
// consists of the windows of semantics.md §2 that lie in the opening time of the business, without blocked time.
func ComputeWorkingTime(offer *catalog.Snapshot, from, to timespan.Date,
	yield func(*catalog.Staff, timespan.Date, int64)) {
	s := newWorkSweeps(offer, from, to)
	h := s[0].horizon
	var working, spare, work []timespan.Span
	for i := range offer.Staff {
		member := &offer.Staff[i]
		if !member.Active {
			continue
		}
		work = s.findWork(work, member)
		spare = timespan.Subtract(spare, work, h.blockedTime)
		working = timespan.Subtract(working, spare, h.memberBlockedTime[member.ID])
		next := 0
		for d := from; d <= to; d++ {
			date := timespan.Span{Start: h.clock.toInstant(d, 0), End: h.clock.toInstant(d+1, 0)}
			for next < len(working) && working[next].End <= date.Start {
				next++
			}
			yield(member, d, sumOverlap(working[next:], date))
		}
	}
}

// sumOverlap returns how many seconds of the span `within` are covered by the spans. The spans must be sorted.
func sumOverlap(spans []timespan.Span, within timespan.Span) int64 {
	total := int64(0)
	for _, s := range spans {
		if s.Start >= within.End {
			break
		}
		total += max(0, min(s.End, within.End)-max(s.Start, within.Start))
	}
	return total
}
