package slot

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// asking is one start of a random business, with all that the answer is computed from.
type asking struct {
	offer    *catalog.Offer
	asked    asked
	date     timespan.Date
	time     timespan.TimeOfDay
	occupied booking.Occupied
}

// newAsking draws a business and a start: one that is listed, one near it, or any.
func newAsking(seed uint64) asking {
	b := newBusiness(seed)
	offer := b.offer()
	for i := range offer.Services {
		offer.Services[i].Name = offer.Services[i].ID.String()
	}
	for i := range offer.Blocks {
		offer.Blocks[i].Reason = fmt.Sprint("block ", i)
	}
	a := asking{offer: offer, asked: b.question(offer), occupied: b.occupied(offer)}
	a.asked.SessionID = nil
	a.date = a.asked.From + timespan.Date(b.IntN(int(a.asked.To-a.asked.From)+1))
	a.time = timespan.TimeOfDay(b.IntN(96) * 15)
	q := a.asked.Question
	q.From, q.To = a.date, a.date
	if listed := Find(offer, q, a.occupied).AppendOn(nil, a.date); len(listed) > 0 && b.oneIn(2) {
		s := listed[b.IntN(len(listed))]
		a.date, a.time = s.Date, s.Time
		if b.oneIn(3) {
			a.time = min(a.time+timespan.TimeOfDay(b.IntN(40)), timespan.MinutesPerDay-1)
		}
	}
	return a
}

func (a asking) start() int64 { return timespan.Instant(a.date, a.time, a.offer.Location()) }

// explain asks as the service does: with the occupied time of that start alone.
func (a asking) explain() *availability.Reason {
	reach := ExplainReach(a.offer, a.asked.Question, a.date, a.time)
	return Explain(a.offer, a.asked.Question, a.date, a.time, within(a.occupied, reach))
}

// listed reports whether /slots of the start's date, or of the one before, lists it.
func (a asking) listed() bool {
	q := a.asked.Question
	for d := a.date - 1; d <= a.date; d++ {
		q.From, q.To = d, d
		if slices.ContainsFunc(Find(a.offer, q, a.occupied).AppendOn(nil, d),
			func(s Slot) bool { return s.Start == a.start() }) {
			return true
		}
	}
	return false
}

// TestExplainSaysBookableWhereSlotsListItAndItsReasonIsTrue asks about random starts: what is not listed has a reason,
// and without that one cause the start is bookable or the reason is another.
func TestExplainSaysBookableWhereSlotsListItAndItsReasonIsTrue(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	named := map[string]int{}
	n, shards := businesses(t)/10, uint64(runtime.GOMAXPROCS(0))
	t.Run("shards", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for seed := 1 + shard; seed <= n && !t.Failed(); seed += shards {
					rule := checkExplanation(t, seed)
					mu.Lock()
					named[rule]++
					mu.Unlock()
				}
			})
		}
	})
	t.Log(named)
	for _, r := range rules {
		if named[r.code] == 0 && n >= 1000 {
			t.Errorf("no start was kept by %s: the comparison means nothing of it", r.code)
		}
	}
}

// checkExplanation checks one start and returns the rule that was named.
func checkExplanation(t *testing.T, seed uint64) string {
	t.Helper()
	a := newAsking(seed)
	reason, listed := a.explain(), a.listed()
	if (reason == nil) != listed {
		t.Errorf("seed %d: %s %s: listed %t, explained by %+v", seed, a.date, a.time, listed, reason)
		return ""
	}
	if reason == nil {
		return "bookable"
	}
	if !a.concerns(*reason) {
		t.Errorf("seed %d: %s %s: the named cause has nothing to do with it: %+v", seed, a.date, a.time, reason)
	}
	if without, can := a.without(*reason); can {
		if again := without.explain(); again != nil && reflect.DeepEqual(*again, *reason) {
			t.Errorf("seed %d: %s %s: the reason stays without its cause: %+v", seed, a.date, a.time, reason)
		}
	} else if a.exists() {
		t.Errorf("seed %d: %s %s is a time of the clock", seed, a.date, a.time)
	}
	return reason.Rule
}

// exists reports whether the business's clock knows the date.
func (a asking) exists() bool {
	return timespan.DateOf(time.Unix(a.start(), 0), a.offer.Location()) == a.date
}

// concerns reports whether a cause that a reason names lies where it can keep the appointment from being served.
func (a asking) concerns(r availability.Reason) bool {
	loc, end := a.offer.Location(), a.start()
	for _, s := range a.asked.Services {
		end += int64(s.DurationMinutes) * 60
	}
	switch r.Rule {
	case availability.RuleOverride:
		return r.Date == nil || a.date-1 <= *r.Date && *r.Date <= timespan.DateOf(time.Unix(end, 0), loc)
	case availability.RuleBlock, availability.RuleBooking:
		from, to := timespan.Instant(r.From.Date, r.From.Time, loc), timespan.Instant(r.To.Date, r.To.Time, loc)
		const again = 3600 // what happens when the clock shows a time for the second time is named by the first
		return from < end && a.start() < to+again
	case availability.RuleAdvanceLimit:
		return *r.Date < a.date
	}
	return true
}

// without takes the one cause of a reason out of the business, as its owner would; false where there is none to take
// out.
func (a asking) without(r availability.Reason) (asking, bool) {
	offer := *a.offer
	offer.Staff, offer.Services = slices.Clone(offer.Staff), slices.Clone(offer.Services)
	a.offer = &offer
	switch r.Rule {
	case availability.RuleNoSuchTime:
		return a, false
	case availability.RuleNotPerformed, availability.RuleInactive, availability.RuleNoSession:
		a.findSomebody(r)
	case availability.RuleOverride, availability.RuleClosed:
		a.openHours(r)
	case availability.RuleBlock:
		offer.Blocks = slices.DeleteFunc(slices.Clone(offer.Blocks), func(b catalog.Block) bool {
			return b.Reason == r.Name
		})
	case availability.RuleBooking:
		a.occupied = a.cancelled(r)
	case availability.RuleClassFull:
		a.occupied.Seats = nil
	case availability.RulePast:
		a.asked.Now = time.Unix(a.start()-40*86400, 0)
	case availability.RuleNotice:
		offer.Bookings.MinNoticeMinutes = 0
	case availability.RuleAdvanceLimit:
		offer.Bookings.AdvanceDays = int(a.date - a.offer.Today(a.asked.Now))
	default:
		for i := range offer.Services {
			a.change(&offer.Services[i], r)
		}
	}
	if err := offer.Prepare(); err != nil {
		panic(err)
	}
	services, err := offer.Appointment(a.asked.ids, a.asked.variants)
	if err != nil {
		panic(err)
	}
	a.asked.Services = services
	return a, true
}

// findSomebody asks for anybody, has members who perform everything, or adds a session.
func (a *asking) findSomebody(r availability.Reason) {
	if r.Rule == availability.RuleNotPerformed {
		a.asked.StaffID = nil
	}
	for i := range a.offer.Staff {
		if r.Rule == availability.RuleInactive {
			a.offer.Staff[i].Active = true
		}
	}
	for i := range a.offer.Services {
		s := &a.offer.Services[i]
		switch {
		case s.ID == a.asked.ids[0] && r.Rule == availability.RuleNoSession:
			s.Classes = append(slices.Clone(s.Classes), catalog.ClassSession{ID: uuid.New(), Date: &a.date,
				Time: a.time, Capacity: 1})
		case r.Rule == availability.RuleNotPerformed && len(s.StaffIDs) > 0:
			for _, m := range a.offer.Staff {
				s.StaffIDs = append(slices.Clone(s.StaffIDs), m.ID)
			}
		}
	}
}

// openHours takes an override away, or is open all week.
func (a asking) openHours(r availability.Reason) {
	if r.Whose == availability.OfBusiness {
		if r.Rule == availability.RuleClosed {
			a.offer.Hours = allDay(a.offer.Hours)
			return
		}
		a.offer.Overrides = slices.DeleteFunc(slices.Clone(a.offer.Overrides), func(o catalog.DayOverride) bool {
			return o.Date == *r.Date
		})
		return
	}
	for i := range a.offer.Staff {
		m := &a.offer.Staff[i]
		switch {
		case r.Rule == availability.RuleOverride:
			m.Overrides = nil
		case m.Hours != nil:
			hours := allDay(*m.Hours)
			m.Hours = &hours
		}
	}
}

func allDay(week catalog.WeekHours) catalog.WeekHours {
	for i := range week {
		week[i] = append(slices.Clone(week[i]), timespan.Window{To: timespan.MinutesPerDay})
	}
	return week
}

// change takes out what a service itself is to blame for.
func (a asking) change(s *catalog.Service, r availability.Reason) {
	switch {
	case r.Rule == availability.RuleGrid:
		s.SlotIntervalMinutes = 1
	case r.Rule == availability.RuleBuffer && slices.Contains(a.asked.ids, s.ID):
		s.BufferBeforeMinutes, s.BufferAfterMinutes = 0, 0
	case r.Rule == availability.RuleClass && s.Name == r.Name:
		s.Active = false
	}
}

// cancelled is the occupied time without what lies between the times that a reason names.
func (a asking) cancelled(r availability.Reason) booking.Occupied {
	e := explanation{offer: a.offer}
	var kept []booking.Busy
	for _, b := range a.occupied.Busy {
		few := booking.Busy{Resource: b.Resource, Class: b.Class}
		for _, s := range b.Spans() {
			named := e.local(s.Start) == *r.From && e.local(s.End) == *r.To && (b.Lane == 0) == (r.StaffID != nil)
			if !named || b.Lane == 0 && *r.StaffID != b.ID {
				few.Add(s)
			}
		}
		kept = append(kept, few)
	}
	return booking.Occupied{Busy: kept, Seats: a.occupied.Seats}
}

// TestRulesOnlyTakeAway is what finding the first by bisection needs.
func TestRulesOnlyTakeAway(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= businesses(t)/50; seed++ {
		a := newAsking(seed)
		q := a.asked.Question
		q.From, q.To = a.date-1, a.date
		e := explanation{offer: a.offer, question: q, occupied: a.occupied, date: a.date, start: a.start()}
		before := e.bookable(0, all)
		if !a.exists() {
			continue // its start is one of the date after
		}
		for n := range rules {
			now := e.bookable(n+1, all)
			if now && !before {
				t.Errorf("seed %d: %s %s: %s lets it be booked", seed, a.date, a.time, rules[n].code)
			}
			before = now
		}
	}
}
