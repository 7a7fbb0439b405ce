package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

var (
	yogaID    = uuid.MustParse("44444444-4444-4444-8444-444444444444")
	longID    = uuid.MustParse("55555555-5555-4555-8555-555555555555")
	eveningID = uuid.MustParse("eeeeeeee-0001-4eee-8eee-eeeeeeeeeeee")
	secondID  = uuid.MustParse("eeeeeeee-0002-4eee-8eee-eeeeeeeeeeee")
)

// listSessions returns the sessions of the class that start at the requested time and have free seats, in the order of
// the offer.
func listSessions(class *catalog.Service, r availability.BookableRequest,
	span timespan.Span) []availability.Assignment {
	var assignments []availability.Assignment
	for _, c := range class.Classes {
		left := c.Capacity
		for _, s := range r.Occupied.Seats {
			if s.SessionID == c.ID && s.StartsAt == span.Start {
				left -= s.Taken
			}
		}
		elsewhere := r.Question.ClassScheduleID != nil && *r.Question.ClassScheduleID != c.ID
		if elsewhere || left <= 0 || *c.Date != r.Question.Date || c.Time != r.Question.Time {
			continue
		}
		assignment := availability.Assignment{During: span, StaffID: c.StaffID,
			Session: &availability.Session{ID: c.ID, Capacity: c.Capacity, Remaining: left}}
		if c.StaffID != nil {
			member := booking.Resource{ID: *c.StaffID}
			if isTeacherBusy(r.Occupied, member, span) {
				continue
			}
			assignment.Parts = []availability.Part{{Resource: member, Occupies: span}}
		}
		assignments = append(assignments, assignment)
	}
	return assignments
}

func isTeacherBusy(o booking.Occupied, r booking.Resource, span timespan.Span) bool {
	for _, busy := range o.Busy {
		if !busy.Class && busy.Resource == r && isOccupied(booking.Occupied{Busy: []booking.Busy{busy}}, r, span) {
			return true
		}
	}
	return false
}

// openStudio returns a fixture with a yoga class at 18:00 and a variant of the haircut that takes 90 minutes. The
// evening session of Anna has `seats` seats. If `second` is not 0, there is a second session with that number of seats
// and without a teacher.
func openStudio(t *testing.T, seats, second int) *fixture {
	t.Helper()
	w := open(t, noLimits)
	w.newStudio(seats, second)
	return w
}

func (w *fixture) newStudio(seats, second int) {
	date, anna := timespan.NewDate(2027, 3, 2), annaID
	class := catalog.Service{
		ID: yogaID, Name: "Yoga", Active: true, DurationMinutes: 60, Price: 1200,
		PaymentRequirement: catalog.RequirementFull,
		Classes: []catalog.ClassSession{{ID: eveningID, Key: "a", Date: &date, Time: 18 * 60, Capacity: seats,
			StaffID: &anna}},
	}
	if second > 0 {
		class.Classes = append(class.Classes, catalog.ClassSession{ID: secondID, Key: "b", Date: &date, Time: 18 * 60,
			Capacity: second})
	}
	w.change(func(o *catalog.Snapshot) {
		o.Services[0].Variants = []catalog.Variant{{ID: longID, Key: "long", Name: "Long hair", DurationMinutes: 90,
			Price: 5500}}
		o.Services = append(o.Services, class)
	})
}

// newYogaBooking returns the body of a booking of the class for `party` guests, with the members in `changes` replaced.
func newYogaBooking(party int, changes map[string]any) map[string]any {
	body := newOrder("18:00", map[string]any{"service_ids": []any{yogaID}, "party_size": party})
	for name, value := range changes {
		body[name] = value
	}
	return body
}

// expectSeats fails the test unless the counters and the booked seats of the two sessions have these values.
func (w *fixture) expectSeats(evening, second int) {
	w.t.Helper()
	for id, want := range map[uuid.UUID]int{eveningID: evening, secondID: second} {
		counted := w.count(fmt.Sprintf(`SELECT coalesce(sum(taken), 0) FROM class_sessions WHERE session_id = '%s'`,
			id))
		bookings := w.count(fmt.Sprintf(`SELECT coalesce(sum(seats), 0) FROM class_seats WHERE session_id = '%s'`, id))
		if counted != want || bookings != want {
			w.t.Errorf("of session %s %d seats are counted and %d held, want %d", id, counted, bookings, want)
		}
	}
}

func TestClassBookingTakesSeats(t *testing.T) {
	t.Parallel()
	w := openStudio(t, 5, 0)
	key := w.key("write")
	a := w.book(key, newYogaBooking(3, nil))
	b := a.body.Booking
	if a.status != http.StatusCreated || b.SessionID == nil || *b.SessionID != eveningID || b.EndTime != "19:00:00" ||
		b.PartySize != 3 ||
		b.Total != "12.00" || b.StaffName == nil || *b.StaffName != "Anna" || b.Services[0].DurationMinutes != 60 {
		t.Fatalf("got %d %s", a.status, a.text)
	}
	w.expectSeats(3, 0)
	refused := w.book(key, newYogaBooking(3, nil))
	w.expect("three on two seats", refused, 409, "slot_unavailable")
	if !strings.Contains(refused.body.Error, "(2)") || !strings.Contains(refused.body.Error, "(3)") {
		t.Errorf("the refusal %q does not say how many seats are left", refused.body.Error)
	}
	w.expect("a party above the capacity", w.book(key, newYogaBooking(6, nil)), 409, "slot_unavailable")
	w.expect("a time without a session", w.book(key, newYogaBooking(1, map[string]any{"time": "18:30"})), 409,
		"slot_unavailable")
	w.expect("an unknown session", w.book(key, newYogaBooking(1, map[string]any{"class_schedule_id": uuid.New()})), 409,
		"slot_unavailable")
	w.expect("a session of no class", w.book(key, newOrder("09:30", map[string]any{"class_schedule_id": eveningID})),
		400,
		"invalid_parameter")
	w.expect("a class among others",
		w.book(key, newYogaBooking(1, map[string]any{"service_ids": []any{yogaID, cutID}})), 400,
		"invalid_parameter")
	w.expect("the rest",
		w.book(key, newYogaBooking(2, map[string]any{"class_schedule_id": eveningID, "is_package": true})), 201,
		"")
	w.expect("a full session", w.book(key, newYogaBooking(1, nil)), 409, "slot_unavailable")
	w.expectSeats(5, 0)

	client := w.client()
	list, err := client.Bookings(t.Context(), w.offer.ID, booking.Filter{}, request.Page{})
	if err != nil || len(list.Bookings) != 2 || *list.Bookings[0].ClassScheduleID != eveningID {
		t.Fatalf("the owner sees %+v (%v)", list, err)
	}
	if _, err := client.Transition(t.Context(), w.offer.ID, b.ID, booking.TransitionCancel); err != nil {
		t.Fatal(err)
	}
	w.expectSeats(2, 0)
	w.expect("what was given back", w.book(key, newYogaBooking(3, nil)), 201, "")
}

func TestPeersReadSeats(t *testing.T) {
	t.Parallel()
	w := openStudio(t, 5, 0)
	w.expect("booked", w.book(w.key("write"), newYogaBooking(2, nil)), 201, "")
	from := time.Date(2027, 3, 2, 0, 0, 0, 0, time.UTC)
	want := []booking.SeatsTaken{{SessionID: eveningID, StartsAt: from.Unix() + 18*3600, Taken: 2}}
	for _, seats := range []bool{true, false} {
		got, err := w.client().Occupied(t.Context(), w.offer.ID, from, from.Add(24*time.Hour),
			booking.OccupiedQuery{Seats: seats})
		if err != nil {
			t.Fatal(err)
		}
		if !seats {
			want = nil
		}
		if diff := cmp.Diff(want, got.Seats); diff != "" || len(got.Busy) != 1 || !got.Busy[0].Class {
			t.Errorf("asked for seats %t: %+v (-want +got):\n%s", seats, got, diff)
		}
	}
}

func TestConcurrentPartiesFillClass(t *testing.T) {
	t.Parallel()
	w := openStudio(t, 10, 0)
	key := w.key("write")
	var (
		mu       sync.Mutex
		bookings int
		smallest = 100 // the smallest refused party
	)
	sendAll(w, 50, func(i int) answer {
		party := 1 + i%3
		a := w.book(key, newYogaBooking(party, map[string]any{"customer_email": fmt.Sprintf("c%d@example.com", i)}))
		mu.Lock()
		defer mu.Unlock()
		switch a.status {
		case http.StatusCreated:
			bookings += party
		case http.StatusConflict:
			smallest = min(smallest, party)
		default:
			t.Errorf("a party of %d: %d %s", party, a.status, a.text)
		}
		return a
	})
	if bookings > 10 || bookings+smallest <= 10 {
		t.Errorf("%d sit on 10 seats, and a party of %d was refused", bookings, smallest)
	}
	w.expectSeats(bookings, 0)
}

func TestFullSessionFallsBackToNext(t *testing.T) {
	t.Parallel()
	w := openStudio(t, 3, 4)
	key := w.key("write")
	w.expect("four fit into the second alone", w.book(key, newYogaBooking(4, nil)), 201, "")
	w.expectSeats(0, 4)
	w.change(func(o *catalog.Snapshot) {
		o.Services[len(o.Services)-1].Classes[1].Capacity = 8
	})
	got := sendAll(w, 10, func(int) answer { return w.book(key, newYogaBooking(1, nil)) })
	if diff := cmp.Diff(map[int]int{201: 7, 409: 3}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	w.expectSeats(3, 8)
	w.expect("the first, by name", w.book(key, newYogaBooking(1, map[string]any{"class_schedule_id": eveningID})), 409,
		"slot_unavailable")
}

func TestRetriedClassBookingTakesSeatsOnce(t *testing.T) {
	t.Parallel()
	w := openStudio(t, 10, 0)
	key := w.key("write")
	first := w.book(key, newYogaBooking(4, nil), header, "k")
	second := w.book(key, newYogaBooking(4, nil), header, "k")
	if first.status != 201 || second.status != 201 || second.text != first.text {
		t.Errorf("got %d %s and %d %s", first.status, first.text, second.status, second.text)
	}
	got := sendAll(w, 20, func(int) answer { return w.book(key, newYogaBooking(3, nil), header, "many") })
	if got[201]+got[409] != 20 || got[201] == 0 {
		t.Errorf("answers: %v", got)
	}
	w.expectSeats(7, 0)
}

func TestOneClassBookingIsFirst(t *testing.T) {
	t.Parallel()
	w := openStudio(t, 20, 0)
	w.change(func(o *catalog.Snapshot) { o.PriceNeeds = []rule.Input{rule.NewCustomer} })
	key := w.key("write")
	var (
		mu     sync.Mutex
		totals = map[string]int{}
	)
	sendAll(w, 12, func(i int) answer {
		a := w.book(key, newYogaBooking(1, nil))
		mu.Lock()
		defer mu.Unlock()
		totals[a.body.Booking.Total.String()]++
		return a
	})
	if diff := cmp.Diff(map[string]int{"10.80": 1, "12.00": 11}, totals); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	w.expectSeats(12, 0)
}

// TestTeacherHasClassOrAppointment sends many bookings of a class and of an appointment with its
// teacher at the same time. Either seats or one appointment are booked, never both.
func TestTeacherHasClassOrAppointment(t *testing.T) {
	t.Parallel()
	w := openStudio(t, 100, 0)
	key := w.key("write")
	sendAll(w, 40, func(i int) answer {
		if i%2 == 0 {
			return w.book(key, newOrder("18:30", map[string]any{"staff_id": annaID}))
		}
		return w.book(key, newYogaBooking(1, nil))
	})
	classes := w.count(`SELECT count(*) FROM bookings WHERE class_schedule_id IS NOT NULL`)
	appointments := w.count(`SELECT count(*) FROM bookings WHERE class_schedule_id IS NULL`)
	if (classes > 0) == (appointments > 0) || appointments > 1 || appointments == 0 && classes != 20 {
		t.Errorf("%d seats and %d appointments of one member at one time are booked", classes, appointments)
	}
	w.expectSeats(classes, 0)
}

func TestFailedPaymentReleasesSeats(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	s.newStudio(2, 0)
	f.set(refuses)
	s.expect("refused", s.book(s.key, newYogaBooking(2, nil)), 503, "payment_unavailable")
	s.expectSeats(0, 0)
	f.set(answers)
	s.expect("two on two seats", s.book(s.key, newYogaBooking(2, nil)), 201, "")
	s.expectSeats(2, 0)
	s.clock.Advance(expiresAfter + time.Second)
	s.step()
	s.expectSeats(0, 0)
}

func TestVariantHasOwnNameLengthAndPrice(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openShop(t, f.URL)
	s.newStudio(5, 0)
	s.change(func(o *catalog.Snapshot) {
		twenty := decimal.NewFromInt(20)
		o.Services[0].PaymentRequirement, o.Services[0].DepositValue = catalog.RequirementDepositPercent, &twenty
	})
	long := map[string]any{"variants": fmt.Sprintf("%s:%s", cutID, longID), "staff_id": benID}
	a := s.book(s.key, newOrder("09:30", long))
	b := a.body.Booking
	if a.status != http.StatusCreated || b.EndTime != "11:00:00" || b.Total != "55.00" ||
		b.Services[0].Name != "Haircut" ||
		b.Services[0].VariantName != "Long hair" || b.Services[0].DurationMinutes != 90 ||
		b.Services[0].Price != "55.00" {
		t.Fatalf("got %d %s", a.status, a.text)
	}
	if p := a.payment(t); p == nil || p.Amount != "11.00" {
		t.Errorf("the deposit is %+v, want a fifth of the variant's price", p)
	}
	if item := s.quotes[0].Items[0]; item.ID != cutID || item.VariantID == nil || *item.VariantID != longID {
		t.Errorf("pricing was asked for %+v", item)
	}
	s.expect("into its longer time", s.book(s.key, newOrder("10:30", map[string]any{"staff_id": benID})), 409,
		"slot_unavailable")
	s.expect("after it and its buffer", s.book(s.key, newOrder("11:10", map[string]any{"staff_id": benID})), 201, "")
	for name, pairs := range map[string]any{
		"an unknown variant":      []string{fmt.Sprintf("%s:%s", cutID, uuid.New())},
		"of a service not booked": []string{fmt.Sprintf("%s:%s", saunaID, longID)},
		"two variants of one": []string{fmt.Sprintf("%s:%s", cutID, longID),
			fmt.Sprintf("%s:%s", cutID, uuid.New())},
		"what is no pair of UUIDs": "long",
	} {
		s.expect(name, s.book(s.key, newOrder("14:30", map[string]any{"variants": pairs})), 400, "invalid_parameter")
	}
	list, err := s.client().Bookings(t.Context(), s.offer.ID, booking.Filter{}, request.Page{Limit: 1})
	if err != nil || list.Bookings[0].Services[0].VariantName != "Long hair" {
		t.Errorf("the owner sees %+v (%v)", list, err)
	}
	s.change(func(o *catalog.Snapshot) { o.Services[0].Variants = nil })
	s.expect("one that is gone", s.book(s.key, newOrder("14:30", long)), 400, "invalid_parameter")
}

func TestClassBookingTakesTwoRoundTrips(t *testing.T) {
	t.Parallel()
	w := openStudio(t, 20, 0)
	key := w.key("write")
	w.expect("its use is noted", w.book(key, newYogaBooking(1, nil)), 201, "")
	sent := w.trips.measure(t, func(int) { w.expect("a class", w.book(key, newYogaBooking(1, nil)), 201, "") })
	if diff := cmp.Diff([]string{"batch", "INSERT INTO occupied_time"}, sent); diff != "" {
		t.Errorf("a class booking (-want +got):\n%s", diff)
	}
}
