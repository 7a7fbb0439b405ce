package slot

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// scenario is the question of testdata/scenario.json, with known answers: a service of Len minutes, starts every Freq
// minutes from Monday to Friday, 09:00 to 17:00, and busy intervals in milliseconds since the epoch.
type scenario struct {
	TZ     string
	From   time.Time
	Days   int
	Freq   int
	Len    int
	Staff  [][][2]int64
	Want1  int // distinct starts of the first member alone
	Want20 int // distinct starts of all
}

func loadScenario(t testing.TB) scenario {
	t.Helper()
	b, err := os.ReadFile("testdata/scenario.json")
	if err != nil {
		t.Fatal(err)
	}
	var s scenario
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// newQuestion returns the question for the first members of the scenario.
func (s scenario) newQuestion(t testing.TB, members int) (*catalog.Snapshot, Question, []booking.Busy) {
	t.Helper()
	offer := &catalog.Snapshot{Timezone: s.TZ, Currency: "EUR", Bookings: catalog.Bookings{AdvanceDays: 365}}
	for d := time.Monday; d <= time.Friday; d++ {
		offer.Hours[d] = []timespan.Window{{From: 9 * 60, To: 17 * 60}}
	}
	service := catalog.Service{ID: uuid.UUID{1}, Active: true, DurationMinutes: s.Len, SlotIntervalMinutes: s.Freq}
	var occupied []booking.Busy
	for i, intervals := range s.Staff[:members] {
		id := uuid.UUID{2, byte(i)}
		offer.Staff = append(offer.Staff, catalog.Staff{ID: id, Active: true, Order: i})
		service.StaffIDs = append(service.StaffIDs, id)
		busy := booking.Busy{Resource: booking.Resource{ID: id}}
		for _, span := range s.sortSpans(intervals) {
			busy.Add(span)
		}
		occupied = append(occupied, busy)
	}
	offer.Services = []catalog.Service{service}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	first := timespan.DateOf(s.From, time.UTC)
	return offer, Question{
		Services: []*catalog.Service{&offer.Services[0]},
		From:     first, To: first + timespan.Date(s.Days) - 1, Now: s.From.AddDate(0, 0, -7),
	}, occupied
}

func (scenario) sortSpans(intervals [][2]int64) []timespan.Span {
	spans := make([]timespan.Span, len(intervals))
	for i, in := range intervals {
		spans[i] = timespan.Span{Start: in[0] / 1000, End: in[1] / 1000}
	}
	slices.SortFunc(spans, func(a, b timespan.Span) int { return cmp.Compare(a.Start, b.Start) })
	return spans
}

// countDistinctStarts returns the number of starts that at least one member can serve.
func countDistinctStarts(o *Openings, q Question) int {
	starts := map[int64]bool{}
	for d := q.From; d <= q.To; d++ {
		for _, s := range o.AppendSlots(nil, d) {
			starts[s.Start] = true
		}
	}
	return len(starts)
}

func TestFindAgreesWithScenario(t *testing.T) {
	t.Parallel()
	s := loadScenario(t)
	for members, want := range map[int]int{1: s.Want1, 20: s.Want20} {
		offer, q, occupied := s.newQuestion(t, members)
		if got := countDistinctStarts(Find(offer, q, booking.Occupied{Busy: occupied}), q); got != want {
			t.Errorf("%d members: %d distinct starts, want %d", members, got, want)
		}
		if got := len(s.sweepPlainly(members)); got != want {
			t.Errorf("%d members: the plain sweep finds %d distinct starts, want %d", members, got, want)
		}
	}
}

// sweepPlainly answers only this scenario, with as little code as possible. The engine's speed is compared with it.
func (s scenario) sweepPlainly(members int) map[int64]struct{} {
	loc, err := time.LoadLocation(s.TZ)
	if err != nil {
		panic(err)
	}
	starts := make(map[int64]struct{})
	step, length := int64(s.Freq)*60, int64(s.Len)*60
	y, m, d := s.From.Date()
	for _, intervals := range s.Staff[:members] {
		busy, next := s.sortSpans(intervals), 0
		for i := range s.Days {
			begin := time.Date(y, m, d+i, 9, 0, 0, 0, loc)
			if wd := begin.Weekday(); wd == time.Saturday || wd == time.Sunday {
				continue
			}
			end := time.Date(y, m, d+i, 17, 0, 0, 0, loc).Unix()
			for at := begin.Unix(); at+length <= end; at += step {
				for next < len(busy) && busy[next].End <= at {
					next++
				}
				if next == len(busy) || busy[next].Start >= at+length {
					starts[at] = struct{}{}
				}
			}
		}
	}
	return starts
}
