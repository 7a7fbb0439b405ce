package slot

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// TestConflictCheckerAgreesWithOracle draws businesses, bookings of listed slots, and changes of the offer. The checker
// must find the same conflicts as the oracle.
func TestConflictCheckerAgreesWithOracle(t *testing.T) {
	t.Parallel()
	named, inside := map[string]int{}, 0
	n := countBusinesses(t) / 20
	for seed := uint64(1); seed <= n && !t.Failed(); seed++ {
		b := newBusiness(seed)
		offer := b.drawOffer()
		held := b.drawBookings(offer)
		for range 1 + b.IntN(3) {
			offer = b.changeOffer(offer)
		}
		check := NewConflictChecker(offer, held)
		for i := range held {
			reason, outside := check.FindReason(&held[i]), isConflictByOracle(b.table, offer, held, &held[i])
			if (reason != nil) != outside {
				t.Errorf("seed %d, booking %d: conflict by the oracle: %t, by the checker: %+v\n%+v", seed, i, outside,
					reason, held[i])
			}
			if reason == nil {
				inside++
				continue
			}
			if named[reason.Rule]++; !isReasonValid(reason, offer, &held[i]) {
				t.Errorf("seed %d, booking %d: an untrue reason: %+v", seed, i, reason)
			}
		}
	}
	t.Log(inside, named)
	for _, rule := range []string{
		availability.RuleRemoved, availability.RuleInactive, availability.RuleNotPerformed, availability.RuleOverride,
		availability.RuleClosed,
		availability.RuleBlock, availability.RuleClass, availability.RuleNoSession, availability.RuleTooFew,
	} {
		if n >= 5000 && (named[rule] == 0 || inside == 0) {
			t.Errorf("no booking conflicts by %s, so the test does not cover it", rule)
		}
	}
	if named[availability.RuleNotice]+named[availability.RuleAdvanceLimit]+named[availability.RuleGrid]+
		named[availability.RulePast] > 0 {
		t.Error("rules for new bookings are reported for existing ones:", named)
	}
}

// isReasonValid reports whether the details in a reason are true.
func isReasonValid(r *availability.Reason, offer *catalog.Snapshot, h *availability.FutureBooking) bool {
	switch {
	case r.Rule == availability.RuleTooFew:
		return r.Booked > r.Offered
	case r.Rule == availability.RuleRemoved && r.StaffID != nil:
		return offer.StaffMember(*h.StaffID) == nil
	case r.Rule == availability.RuleRemoved:
		return slices.ContainsFunc(h.Services, func(s availability.FutureService) bool {
			return r.Name == s.Name || r.Name == s.VariantName
		})
	}
	return true
}

// drawBookings draws bookings of listed slots. Several may be for the same slot, to exceed capacities.
func (b business) drawBookings(offer *catalog.Snapshot) []availability.FutureBooking {
	var held []availability.FutureBooking
	for range 3 {
		q := b.drawQuestion(offer)
		if q.IsPackage = q.IsPackage && q.IsPerService; !q.IsPackage {
			q.IsPerService = false
		}
		listed := Find(offer, q.Question, booking.Occupied{}).AppendSlots(nil, q.From)
		for range min(len(listed), 2+b.IntN(3)) {
			s := listed[b.IntN(len(listed))]
			h := availability.FutureBooking{StartsAt: s.Start, PerService: q.IsPerService, PartySize: 1 + b.IntN(2)}
			for i, v := range q.Services {
				h.Services = append(h.Services, availability.FutureService{
					ID: v.ID, Name: v.ID.String(), DurationMinutes: v.DurationMinutes, VariantID: q.variants[q.ids[i]],
					VariantName: "variant " + v.ID.String(),
				})
			}
			if s.Staff != nil {
				h.StaffID = &s.Staff.ID
			}
			if s.Session != nil {
				h.SessionID = &s.Session.ID
			}
			held = append(held, h)
		}
	}
	return held
}

// changeOffer returns the offer with one change that an owner could make.
func (b business) changeOffer(before *catalog.Snapshot) *catalog.Snapshot {
	offer := *before
	offer.Staff, offer.Services = slices.Clone(offer.Staff), slices.Clone(offer.Services)
	s := &offer.Services[b.IntN(len(offer.Services))]
	switch b.IntN(12) {
	case 0:
		offer.Hours = b.drawWeek()
	case 1:
		offer.Overrides = b.drawOverrides()
	case 2:
		offer.Blocks = b.drawBlocks(offer.Staff)
	case 3, 4:
		b.changeStaff(&offer)
	case 5:
		if len(offer.Services) > 1 {
			offer.Services = slices.DeleteFunc(offer.Services, func(each catalog.Service) bool {
				return each.ID == s.ID
			})
		}
	case 6:
		s.Active = b.chance(2)
		s.Variants = nil
	case 7:
		s.Capacity = 1
	case 8:
		s.StaffIDs = b.drawService(offer.Staff).StaffIDs
	case 9, 10:
		b.changeSessions(&offer, s)
	case 11: // changes that do not affect existing bookings, except for buffers
		s.SlotIntervalMinutes, s.DurationMinutes = 60, 1+b.IntN(300)
		s.BufferBeforeMinutes, s.BufferAfterMinutes = b.IntN(40), b.IntN(40)
		offer.Bookings = catalog.Bookings{MinNoticeMinutes: 100_000}
	}
	if err := offer.Prepare(); err != nil {
		panic(err)
	}
	return &offer
}

func (b business) changeStaff(offer *catalog.Snapshot) {
	if len(offer.Staff) == 0 {
		return
	}
	i := b.IntN(len(offer.Staff))
	switch b.IntN(4) {
	case 0:
		offer.Staff = slices.Delete(offer.Staff, i, i+1)
	case 1:
		offer.Staff[i].Active = false
	case 2:
		week := b.drawWeek()
		offer.Staff[i].Hours = &week
	case 3:
		offer.Staff[i].Overrides = b.drawOverrides()
	}
}

// changeSessions changes the time, member or capacity of a class session. It may also turn a service into a class, or a
// class into a service.
func (b business) changeSessions(offer *catalog.Snapshot, s *catalog.Service) {
	sessions := slices.Clone(s.Classes)
	switch {
	case len(sessions) == 0:
		sessions = b.drawClass(offer.Staff).Classes
	case b.chance(4):
		sessions = nil
	default:
		like := b.drawSession(offer.Staff, s.DurationMinutes > 1000)
		c := &sessions[b.IntN(len(sessions))]
		switch b.IntN(3) {
		case 0:
			c.Capacity = 1
		case 1:
			c.StaffID = like.StaffID
		default:
			c.Date, c.Weekday, c.From, c.To, c.Time = like.Date, like.Weekday, like.From, like.To, like.Time
		}
	}
	s.Classes = sessions
}

// isConflictByOracle decides minute by minute, by semantics.md §2 and docs/decisions/008, whether a booking conflicts
// with an offer.
func isConflictByOracle(t *clockTable, offer *catalog.Snapshot, all []availability.FutureBooking,
	h *availability.FutureBooking) bool {
	question := requestedQuestion{Question: Question{StaffID: h.StaffID, IsPackage: h.PerService,
		IsPerService: h.PerService}}
	for _, part := range h.Services {
		i := slices.IndexFunc(offer.Services, func(s catalog.Service) bool { return s.ID == part.ID })
		if i < 0 || !offer.Services[i].Active || len(offer.Services[i].Classes) > 0 != (h.SessionID != nil) {
			return true
		}
		if part.VariantID != uuid.Nil && !slices.ContainsFunc(offer.Services[i].Variants,
			func(v catalog.Variant) bool { return v.ID == part.VariantID }) {
			return true
		}
		question.ids = append(question.ids, part.ID)
	}
	o := newOracle(t, offer, question, booking.Occupied{})
	for i, part := range h.Services { // a booking is as long as it was booked
		o.services[i].DurationMinutes = part.DurationMinutes
	}
	if h.SessionID != nil {
		return !o.hasSeat(all, h)
	}
	at := o.minuteAt(h.StartsAt)
	served := slices.ContainsFunc(o.listMembers(), func(s *catalog.Staff) bool {
		return !slices.ContainsFunc(o.listParts(at), func(p part) bool { return len(o.listServers(s, p)) == 0 })
	})
	return !served || o.isOverbookedAt(all, at)
}

// hasSeat reports whether the session of a booking still takes place at its start and has enough seats for all
// bookings.
func (o *oracle) hasSeat(all []availability.FutureBooking, h *availability.FutureBooking) bool {
	booked := 0
	for _, other := range all {
		if other.SessionID != nil && *other.SessionID == *h.SessionID && other.StartsAt == h.StartsAt {
			booked += other.PartySize
		}
	}
	for k := range o.services[0].Classes {
		c := &o.services[0].Classes[k]
		for _, d := range o.listDates() {
			if c.ID == *h.SessionID && o.takesPlace(o.services[0], c, d) && o.start+
				int64(o.minuteOf(d, c.Time))*60 == h.StartsAt {
				return booked <= c.Capacity
			}
		}
	}
	return false
}

// isOverbookedAt reports whether, in any minute of an appointment at minute i, more bookings use one of its services
// than the capacity allows.
func (o *oracle) isOverbookedAt(all []availability.FutureBooking, i int) bool {
	for _, p := range o.listParts(i) {
		if isStaffed(p.service) {
			continue
		}
		running := make([]int, len(o.shown))
		for _, other := range all {
			at := o.minuteAt(other.StartsAt)
			for _, s := range other.Services {
				for m := at; other.SessionID == nil && s.ID == p.service.ID && m < at+s.DurationMinutes; m++ {
					running[m]++
				}
				at += s.DurationMinutes
			}
		}
		if slices.Max(running[p.from:p.to]) > p.service.Capacity {
			return true
		}
	}
	return false
}

func TestConflictCheckerReportsBookedAndOffered(t *testing.T) {
	t.Parallel()
	sauna := catalog.Service{ID: uuid.New(), Name: "Sauna", Active: true, DurationMinutes: 60, SlotIntervalMinutes: 15,
		Capacity: 2}
	offer := &catalog.Snapshot{Timezone: "UTC", Currency: "EUR", Services: []catalog.Service{sauna},
		Modules: catalog.Modules{Services: true}}
	for day := range offer.Hours {
		offer.Hours[day] = []timespan.Window{{From: 540, To: 1080}}
	}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	var held []availability.FutureBooking
	for _, hour := range []int{9, 9, 9, 10, 11} {
		at := time.Date(2027, 3, 1, hour, 0, 0, 0, time.UTC).Unix()
		held = append(held,
			availability.FutureBooking{StartsAt: at,
				Services: []availability.FutureService{{ID: sauna.ID, DurationMinutes: 60}}})
	}
	check := NewConflictChecker(offer, held)
	for i := range held {
		reason := check.FindReason(&held[i])
		if i > 2 {
			if reason != nil {
				t.Errorf("booking %d alone: %+v", i, reason)
			}
			continue
		}
		if reason == nil || reason.Booked != 3 || reason.Offered != 2 {
			t.Errorf("booking %d of three at a time, where two may: %+v", i, reason)
		}
	}
}
