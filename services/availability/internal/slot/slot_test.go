package slot

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

var seedFlag = flag.Uint64("slot.seed", 0, "compare only the random business with this seed")

// countBusinesses returns the number of random businesses to compare: SLOTMESH_SLOT_BUSINESSES, or 100,000.
func countBusinesses(t *testing.T) uint64 {
	v := os.Getenv("SLOTMESH_SLOT_BUSINESSES")
	if v == "" && testing.Short() {
		return 2_000
	}
	if v == "" {
		return 100_000
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		t.Fatalf("SLOTMESH_SLOT_BUSINESSES: %q is not a number; write one such as 100000", v)
	}
	return n
}

func TestEngineEqualsOracleOnRandomBusinesses(t *testing.T) {
	t.Parallel()
	if *seedFlag != 0 {
		compareBusiness(t, *seedFlag)
		return
	}
	n, shards := countBusinesses(t), uint64(runtime.GOMAXPROCS(0))
	for shard := range shards {
		t.Run(fmt.Sprintf("shard %d", shard), func(t *testing.T) {
			t.Parallel()
			compareBusinesses(t, n, shard, shards)
		})
	}
}

// compareBusinesses compares the businesses with the seeds 1..n of one shard.
func compareBusinesses(t *testing.T, n, shard, shards uint64) {
	t.Helper()
	listed, empty := 0, 0
	for seed := 1 + shard; seed <= n; seed += shards {
		slots := compareBusiness(t, seed)
		if t.Failed() {
			t.Fatalf("run again with -slot.seed=%d", seed)
		}
		if listed += slots; slots == 0 {
			empty++
		}
	}
	t.Logf("%d slots listed; %d businesses offered none", listed, empty)
	if n >= 1000 && listed == 0 {
		t.Error("no business offered anything, so the comparison proves nothing")
	}
}

// compareBusiness asks engine and oracle the same question and returns the number of listed slots.
func compareBusiness(t *testing.T, seed uint64) int {
	t.Helper()
	b := newBusiness(seed)
	offer := b.drawOffer()
	q := b.drawQuestion(offer)
	occupied := b.drawOccupied(offer)
	if reach, ok := NewPlan(offer, q.Question).Reach(); ok {
		occupied = cutOccupied(occupied, reach)
	} else {
		occupied = booking.Occupied{}
	}
	o := newOracle(b.table, offer, q, b.redrawOccupied(seed))
	found := Find(offer, q.Question, occupied)
	total, days := 0, countDays(found, q.Question)
	for d := q.From; d <= q.To; d++ {
		want, got := o.listSlots(d), found.AppendSlots(nil, d)
		if !slices.Equal(want, got) {
			t.Errorf("seed %d: %s in %s, now %s (-oracle +engine):\n%s", seed, d, offer.Timezone, q.Now.In(o.loc),
				cmp.Diff(summarizeSlots(want), summarizeSlots(got)))
		}
		if days[d] != len(want) {
			t.Errorf("seed %d: %s has %d slots, days says %d", seed, d, len(want), days[d])
		}
		total += len(want)
		compareAssignments(t, seed, o, b, d, want)
	}
	return total
}

// countDays returns the number of slots on each date of the question.
func countDays(found *Openings, q Question) map[timespan.Date]int {
	days := map[timespan.Date]int{}
	found.EachDay(q.From, q.To, func(d timespan.Date, n int) { days[d] = n })
	return days
}

// compareAssignments compares the assignments of some starts of date d, listed or not.
func compareAssignments(t *testing.T, seed uint64, o *oracle, b business, d timespan.Date, listed []Slot) {
	t.Helper()
	for range min(2, len(listed)) {
		s := listed[b.IntN(len(listed))]
		compareStart(t, seed, o, s.Date, s.Time)
	}
	compareStart(t, seed, o, d, timespan.TimeOfDay(b.IntN(1440)))
	compareStart(t, seed, o, d, timespan.TimeOfDay(b.IntN(96)*15))
}

// compareStart compares the assignments of one start.
func compareStart(t *testing.T, seed uint64, o *oracle, d timespan.Date, at timespan.TimeOfDay) {
	t.Helper()
	want, got := o.listAssignmentsAt(d, o.minuteOf(d, at)),
		o.expandAssignments(FindAssignments(o.offer, o.question, d, at, o.occupied))
	same := func(a, b oracleAssignment) bool {
		return a.Staff == b.Staff && a.Session == b.Session && a.From == b.From && a.To == b.To &&
			slices.Equal(a.Occupied,
				b.Occupied)
	}
	if !slices.EqualFunc(want, got, same) { // cmp.Diff alone takes too long for the many that are equal
		t.Errorf("seed %d: assignments for %s %s (-oracle +engine):\n%s", seed, d, at, cmp.Diff(want, got))
	}
}

// redrawOccupied draws the occupied time of the business with this seed again, without limits of time.
func (business) redrawOccupied(seed uint64) booking.Occupied {
	b := newBusiness(seed)
	offer := b.drawOffer()
	b.drawQuestion(offer)
	return b.drawOccupied(offer)
}

// cutOccupied returns the part of the occupied time that booking would send for a span.
func cutOccupied(occupied booking.Occupied, reach timespan.Span) booking.Occupied {
	var kept booking.Occupied
	for _, b := range occupied.Busy {
		few := booking.Busy{Resource: b.Resource, Class: b.Class}
		for _, s := range b.Spans() {
			if s.Overlaps(reach) {
				few.Add(s)
			}
		}
		kept.Busy = append(kept.Busy, few)
	}
	for _, s := range occupied.Seats {
		if reach.Start <= s.StartsAt && s.StartsAt < reach.End {
			kept.Seats = append(kept.Seats, s)
		}
	}
	return kept
}

type briefSlot struct {
	Staff  string
	Start  int64
	Date   string
	Time   string
	End    string
	Offset int

	Session   string
	Remaining int32
}

func summarizeSlots(slots []Slot) []briefSlot {
	var out []briefSlot
	for _, s := range slots {
		b := briefSlot{Start: s.Start, Date: s.Date.String(), Time: s.Time.String(), End: s.End.String(),
			Offset: s.DateOffset, Remaining: s.Remaining}
		if s.Session != nil {
			b.Session = s.Session.Key
		}
		if s.Staff != nil {
			b.Staff = s.Staff.ID.String()
		}
		out = append(out, b)
	}
	return out
}
