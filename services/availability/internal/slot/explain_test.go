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

// explainCase is one start of a random business, with all data that the explanation needs.
type explainCase struct {
	offer    *catalog.Snapshot
	question requestedQuestion
	date     timespan.Date
	time     timespan.TimeOfDay
	occupied booking.Occupied
}

// newExplainCase draws a business and a start: a listed one, one near a listed one, or any.
func newExplainCase(seed uint64) explainCase {
	b := newBusiness(seed)
	offer := b.drawOffer()
	for i := range offer.Services {
		offer.Services[i].Name = offer.Services[i].ID.String()
	}
	for i := range offer.Blocks {
		offer.Blocks[i].Reason = fmt.Sprint("block ", i)
	}
	a := explainCase{offer: offer, question: b.drawQuestion(offer), occupied: b.drawOccupied(offer)}
	a.question.SessionID = nil
	a.date = a.question.From + timespan.Date(b.IntN(int(a.question.To-a.question.From)+1))
	a.time = timespan.TimeOfDay(b.IntN(96) * 15)
	q := a.question.Question
	q.From, q.To = a.date, a.date
	if listed := Find(offer, q, a.occupied).AppendSlots(nil, a.date); len(listed) > 0 && b.chance(2) {
		s := listed[b.IntN(len(listed))]
		a.date, a.time = s.Date, s.Time
		if b.chance(3) {
			a.time = min(a.time+timespan.TimeOfDay(b.IntN(40)), timespan.MinutesPerDay-1)
		}
	}
	return a
}

func (a explainCase) start() int64 { return timespan.Instant(a.date, a.time, a.offer.Location()) }

// explain explains the start as the service does: only with the occupied time around it.
func (a explainCase) explain() *availability.Reason {
	reach := ExplainReach(a.offer, a.question.Question, a.date, a.time)
	return Explain(a.offer, a.question.Question, a.date, a.time, cutOccupied(a.occupied, reach))
}

// isListed reports whether /slots lists the start on its date or on the date before.
func (a explainCase) isListed() bool {
	q := a.question.Question
	for d := a.date - 1; d <= a.date; d++ {
		q.From, q.To = d, d
		if slices.ContainsFunc(Find(a.offer, q, a.occupied).AppendSlots(nil, d),
			func(s Slot) bool { return s.Start == a.start() }) {
			return true
		}
	}
	return false
}

// TestExplainAgreesWithSlots draws random starts. Exactly the starts that are not listed have a reason. Without the
// cause in the reason, a start is bookable or has another reason.
func TestExplainAgreesWithSlots(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	named := map[string]int{}
	n, shards := countBusinesses(t)/10, uint64(runtime.GOMAXPROCS(0))
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
			t.Errorf("no start has the reason %s, so the test does not cover it", r.code)
		}
	}
}

// checkExplanation checks one start and returns the reported rule.
func checkExplanation(t *testing.T, seed uint64) string {
	t.Helper()
	a := newExplainCase(seed)
	reason, listed := a.explain(), a.isListed()
	if (reason == nil) != listed {
		t.Errorf("seed %d: %s %s: listed %t, explained by %+v", seed, a.date, a.time, listed, reason)
		return ""
	}
	if reason == nil {
		return "bookable"
	}
	if !a.isConcernedBy(*reason) {
		t.Errorf("seed %d: %s %s: the named cause does not concern the start: %+v", seed, a.date, a.time, reason)
	}
	if changed, can := a.withoutCause(*reason); can {
		if repeated := changed.explain(); repeated != nil && reflect.DeepEqual(*repeated, *reason) {
			t.Errorf("seed %d: %s %s: the reason stays without its cause: %+v", seed, a.date, a.time, reason)
		}
	} else if a.isOnClock() {
		t.Errorf("seed %d: %s %s is a time of the clock", seed, a.date, a.time)
	}
	return reason.Rule
}

// isOnClock reports whether the business's clock shows the date.
func (a explainCase) isOnClock() bool {
	return timespan.DateOf(time.Unix(a.start(), 0), a.offer.Location()) == a.date
}

// isConcernedBy reports whether the cause in a reason is at a time that can prevent the appointment.
func (a explainCase) isConcernedBy(r availability.Reason) bool {
	loc, end := a.offer.Location(), a.start()
	for _, s := range a.question.Services {
		end += int64(s.DurationMinutes) * 60
	}
	switch r.Rule {
	case availability.RuleOverride:
		return r.Date == nil || a.date-1 <= *r.Date && *r.Date <= timespan.DateOf(time.Unix(end, 0), loc)
	case availability.RuleBlock, availability.RuleBooking:
		from, to := timespan.Instant(r.From.Date, r.From.Time, loc), timespan.Instant(r.To.Date, r.To.Time, loc)
		const again = 3600 // a reason names a repeated time by its first occurrence
		return from < end && a.start() < to+again
	case availability.RuleAdvanceLimit:
		return *r.Date < a.date
	}
	return true
}

// withoutCause removes the cause in a reason from the offer or the occupied time. The second result is false if nothing
// can be removed.
func (a explainCase) withoutCause(r availability.Reason) (explainCase, bool) {
	offer := *a.offer
	offer.Staff, offer.Services = slices.Clone(offer.Staff), slices.Clone(offer.Services)
	a.offer = &offer
	switch r.Rule {
	case availability.RuleNoSuchTime:
		return a, false
	case availability.RuleNotPerformed, availability.RuleInactive, availability.RuleNoSession:
		a.addPerformers(r)
	case availability.RuleOverride, availability.RuleClosed:
		a.openHours(r)
	case availability.RuleBlock:
		offer.Blocks = slices.DeleteFunc(slices.Clone(offer.Blocks), func(b catalog.Block) bool {
			return b.Reason == r.Name
		})
	case availability.RuleBooking:
		a.occupied = a.cancelBookings(r)
	case availability.RuleClassFull:
		a.occupied.Seats = nil
	case availability.RulePast:
		a.question.Now = time.Unix(a.start()-40*86400, 0)
	case availability.RuleNotice:
		offer.Bookings.MinNoticeMinutes = 0
	case availability.RuleAdvanceLimit:
		offer.Bookings.AdvanceDays = int(a.date - a.offer.Today(a.question.Now))
	default:
		for i := range offer.Services {
			a.change(&offer.Services[i], r)
		}
	}
	if err := offer.Prepare(); err != nil {
		panic(err)
	}
	services, err := offer.Appointment(a.question.ids, a.question.variants)
	if err != nil {
		panic(err)
	}
	a.question.Services = services
	return a, true
}

// addPerformers drops the choice of a member, makes members active, lets all members perform the services, or adds a
// session, as the reason requires.
func (a *explainCase) addPerformers(r availability.Reason) {
	if r.Rule == availability.RuleNotPerformed {
		a.question.StaffID = nil
	}
	for i := range a.offer.Staff {
		if r.Rule == availability.RuleInactive {
			a.offer.Staff[i].Active = true
		}
	}
	for i := range a.offer.Services {
		s := &a.offer.Services[i]
		switch {
		case s.ID == a.question.ids[0] && r.Rule == availability.RuleNoSession:
			s.Classes = append(slices.Clone(s.Classes), catalog.ClassSession{ID: uuid.New(), Date: &a.date,
				Time: a.time, Capacity: 1})
		case r.Rule == availability.RuleNotPerformed && len(s.StaffIDs) > 0:
			for _, m := range a.offer.Staff {
				s.StaffIDs = append(slices.Clone(s.StaffIDs), m.ID)
			}
		}
	}
}

// openHours removes an override, or opens the whole week.
func (a explainCase) openHours(r availability.Reason) {
	if r.Whose == availability.OfBusiness {
		if r.Rule == availability.RuleClosed {
			a.offer.Hours = openAllDay(a.offer.Hours)
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
			hours := openAllDay(*m.Hours)
			m.Hours = &hours
		}
	}
}

func openAllDay(week catalog.WeekHours) catalog.WeekHours {
	for i := range week {
		week[i] = append(slices.Clone(week[i]), timespan.Window{To: timespan.MinutesPerDay})
	}
	return week
}

// change removes the cause in a reason that a service itself has.
func (a explainCase) change(s *catalog.Service, r availability.Reason) {
	switch {
	case r.Rule == availability.RuleGrid:
		s.SlotIntervalMinutes = 1
	case r.Rule == availability.RuleBuffer && slices.Contains(a.question.ids, s.ID):
		s.BufferBeforeMinutes, s.BufferAfterMinutes = 0, 0
	case r.Rule == availability.RuleClass && s.Name == r.Name:
		s.Active = false
	}
}

// cancelBookings returns the occupied time without the spans that the reason names.
func (a explainCase) cancelBookings(r availability.Reason) booking.Occupied {
	e := explanation{offer: a.offer}
	var kept []booking.Busy
	for _, b := range a.occupied.Busy {
		few := booking.Busy{Resource: b.Resource, Class: b.Class}
		for _, s := range b.Spans() {
			named := e.toLocal(s.Start) == *r.From && e.toLocal(s.End) == *r.To && (b.CapacityUnit == 0) == (r.StaffID != nil)
			if !named || b.CapacityUnit == 0 && *r.StaffID != b.ID {
				few.Add(s)
			}
		}
		kept = append(kept, few)
	}
	return booking.Occupied{Busy: kept, Seats: a.occupied.Seats}
}

// TestRulesOnlyRemoveStarts checks the property that the binary search in Explain needs: another rule never makes a
// start bookable.
func TestRulesOnlyRemoveStarts(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= countBusinesses(t)/50; seed++ {
		a := newExplainCase(seed)
		q := a.question.Question
		q.From, q.To = a.date-1, a.date
		e := explanation{offer: a.offer, question: q, occupied: a.occupied, date: a.date, start: a.start()}
		before := e.isBookable(0, allCauses)
		if !a.isOnClock() {
			continue // its start is one of the date after
		}
		for n := range rules {
			now := e.isBookable(n+1, allCauses)
			if now && !before {
				t.Errorf("seed %d: %s %s: adding the rule %s makes the start bookable", seed, a.date, a.time, rules[n].code)
			}
			before = now
		}
	}
}
