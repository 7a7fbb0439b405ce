package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	customers "github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

var (
	ownerActor    = actor.Actor{Kind: actor.Owner}
	customerActor = actor.Actor{Kind: actor.Customer}
)

// at returns a reschedule to this time on the day after the test begins.
func at(clock string) booking.Reschedule { return booking.Reschedule{Date: "2027-03-02", Time: clock} }

// reschedule reschedules as the owner through the internal API.
func (w *fixture) reschedule(id uuid.UUID, to booking.Reschedule) (*booking.Booking, error) {
	w.t.Helper()
	return w.client().Reschedule(actor.With(w.t.Context(), ownerActor), w.offer.ID, id, "harbor", to, false)
}

// rescheduleAs reschedules as the actor `by`, with a direct call of the use case.
func (w *fixture) rescheduleAs(by actor.Actor, id uuid.UUID, clock string,
	change func(*usecase.Reschedule)) (store.Booking, error) {
	w.t.Helper()
	date, _ := timespan.ParseDate("2027-03-02")
	t, err := timespan.ParseTimeOfDay(clock)
	if err != nil {
		w.t.Fatal(err)
	}
	to := usecase.Reschedule{Date: date, Time: t}
	if change != nil {
		change(&to)
	}
	offer, _ := w.Fresh(w.t.Context(), "harbor")
	return w.booker.Reschedule(w.t.Context(), offer, by, id, to)
}

func (w *fixture) mustBook(changes map[string]any) uuid.UUID {
	w.t.Helper()
	a := w.book(w.key("write"), newOrder("09:30", changes))
	if a.status != 201 {
		w.t.Fatalf("%d %s", a.status, a.text)
	}
	return a.body.Booking.ID
}

func TestOwnerReschedulesByQuarterHour(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	id := w.mustBook(map[string]any{"staff_id": benID})
	got, err := w.reschedule(id, at("09:45"))
	if err != nil || got.ID != id || got.StartTime != "09:45:00" || got.EndTime != "10:30:00" ||
		*got.StaffID != benID || got.Status != "pending" ||
		!got.StaffRequested || got.Sequence != 2 || got.Total.String() != "40.00" {
		t.Errorf("got %+v, %v", got, err)
	}
	if n := w.count(`SELECT count(*) FROM occupied_time WHERE lower(during) = '2027-03-02T09:45Z'`); n != 1 {
		t.Errorf("the booking occupies %d times", n)
	}
	w.expectRows(1)
	before := got
	if got, err = w.reschedule(id, at("09:45")); err != nil || got.Sequence != before.Sequence {
		t.Errorf("a reschedule to the present time: %+v, %v", got, err)
	}
}

func TestRescheduleKeepsMemberIfFree(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	id := w.mustBook(map[string]any{"staff_id": benID})
	w.mustBook(map[string]any{"time": "12:00", "staff_id": benID})
	got, err := w.reschedule(id, at("12:15"))
	if err != nil || *got.StaffID != annaID || *got.StaffName != "Anna" || got.StaffRequested {
		t.Errorf("Ben is busy: %+v, %v, want Anna", got, err)
	}
	got, err = w.reschedule(id, at("15:00"))
	if err != nil || *got.StaffID != annaID {
		t.Errorf("Anna is free: %+v, %v", got, err)
	}
	ben := benID.String()
	to := at("12:15")
	to.StaffID = &ben
	if _, err := w.reschedule(id, to); !fault.Is(err, fault.SlotUnavailable) {
		t.Errorf("a reschedule to Ben, who is busy: %v", err)
	}
	to.Time = "15:00"
	if got, err = w.reschedule(id, to); err != nil || *got.StaffID != benID {
		t.Errorf("a reschedule to Ben at the same time: %+v, %v", got, err)
	}
}

func TestRescheduleKeepsRequestedMember(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	hours := 12
	w.change(func(o *catalog.Snapshot) { o.SelfService.RescheduleUntilHours = &hours })
	w.mustBook(map[string]any{"time": "12:00", "staff_id": benID})
	w.mustBook(map[string]any{"time": "15:00", "staff_id": annaID})
	byBen := w.mustBook(map[string]any{"staff_id": benID})
	byAny := w.mustBook(nil) // of Anna
	if _, err := w.rescheduleAs(customerActor, byBen, "12:15", nil); !fault.Is(err, fault.SlotUnavailable) {
		t.Errorf("Ben is busy: %v", err)
	}
	if got, err := w.rescheduleAs(customerActor, byAny, "15:00", nil); err != nil || *got.StaffID != benID ||
		got.StaffRequested {
		t.Errorf("a customer without a wish for a staff member: %+v, %v; want Ben", got, err)
	}
	got, err := w.rescheduleAs(customerActor, byBen, "12:15", func(to *usecase.Reschedule) { to.StaffID = &carlID })
	if err != nil || *got.StaffID != carlID || !got.StaffRequested {
		t.Errorf("a reschedule to Carl: %+v, %v", got, err)
	}
	if got, err := w.rescheduleAs(customerActor, byBen, "18:00",
		func(to *usecase.Reschedule) { to.Override = true }); err != nil || w.lastQuestion.Override {
		t.Errorf("a customer overrides: %+v, %v", got, err)
	}
}

func TestRescheduleLimitsCustomers(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	hours := 1
	w.change(func(o *catalog.Snapshot) { o.SelfService.RescheduleUntilHours = &hours })
	id, other := w.mustBook(map[string]any{"staff_id": benID}),
		w.mustBook(map[string]any{"time": "15:00", "staff_id": annaID})
	times := []string{"11:00", "12:00"}
	for i := range store.MaxCustomerReschedules {
		if _, err := w.rescheduleAs(customerActor, id, times[i%2], nil); err != nil {
			t.Fatalf("reschedule %d: %v", i+1, err)
		}
		w.clock.Advance(time.Minute)
	}
	_, err := w.rescheduleAs(customerActor, id, "11:00", nil)
	if !fault.Is(err, fault.RateLimited) || !strings.Contains(fault.Of(err).Sentence, "6 times an hour") ||
		fault.Of(err).RetryAfter != 54*time.Minute {
		t.Errorf("the seventh reschedule: %v, retry after %s", err, fault.Of(err).RetryAfter)
	}
	if _, err := w.rescheduleAs(customerActor, other, "16:00", nil); err != nil {
		t.Errorf("another booking: %v", err)
	}
	if _, err := w.rescheduleAs(ownerActor, id, "11:00", nil); err != nil {
		t.Errorf("the business: %v", err)
	}
	w.clock.Advance(54 * time.Minute)
	if _, err := w.rescheduleAs(customerActor, id, "12:00", nil); err != nil {
		t.Errorf("an hour after the first reschedule: %v", err)
	}
}

func TestCustomerReschedulesUntilDeadline(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	id := w.mustBook(nil) // 25.5 hours ahead
	twelve := 12
	refused := func(name string, kind fault.Kind, says string) {
		t.Helper()
		_, err := w.rescheduleAs(customerActor, id, "11:00", nil)
		if !fault.Is(err, kind) || !strings.Contains(fault.Of(err).Sentence, says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused("never", fault.Conflict, "do not reschedule bookings themselves")
	w.change(func(o *catalog.Snapshot) { o.SelfService.RescheduleUntilHours = &twelve })
	w.clock.Set(now.Add(13*time.Hour + 30*time.Minute + time.Second))
	refused("a second too late", fault.Conflict, "until 12 hours")
	w.clock.Set(now.Add(13*time.Hour + 30*time.Minute))
	until, _ := timespan.ParseDate("2027-05-01")
	w.change(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = &until })
	refused("during a pause", fault.NotAcceptingBookings, "paused")
	if _, err := w.reschedule(id, at("10:00")); err != nil {
		t.Errorf("an owner during a pause: %v", err)
	}
	w.change(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = nil })
	if got, err := w.rescheduleAs(customerActor, id, "11:00", nil); err != nil || got.Sequence != 3 {
		t.Errorf("a reschedule before the deadline: %+v, %v", got, err)
	}
	w.clock.Set(now.AddDate(0, 0, 2))
	if _, err := w.reschedule(id, at("12:00")); err != nil {
		t.Errorf("an owner afterwards: %v", err)
	}
}

func TestRescheduleRejectsEndedOrWithdrawnBooking(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	id := w.mustBook(nil)
	if _, err := w.reschedule(uuid.New(), at("10:00")); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown booking: %v", err)
	}
	w.change(func(o *catalog.Snapshot) { o.Services[0].Active = false })
	if _, err := w.reschedule(id, at("10:00")); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(),
		"Haircut is not offered") {
		t.Errorf("a removed service: %v", err)
	}
	w.change(func(o *catalog.Snapshot) { o.Services[0].Active = true })
	session := uuid.NewString()
	if _, err := w.reschedule(id, booking.Reschedule{Date: "2027-03-02", Time: "10:00",
		ClassScheduleID: &session}); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("a session of no class: %v", err)
	}
	for name, to := range map[string]booking.Reschedule{
		"no date": {Time: "10:00"}, "no time": {Date: "2027-03-02"}, "24:00": at("24:00"),
		"no member": {Date: "2027-03-02", Time: "10:00", StaffID: new(string)},
	} {
		if _, err := w.reschedule(id, to); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, move := range []string{booking.TransitionConfirm, booking.TransitionComplete} {
		w.clock.Set(now.AddDate(0, 0, 1))
		if _, err := w.client().Transition(t.Context(), w.offer.ID, id, move); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.reschedule(id, at("10:00")); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(),
		"completed") {
		t.Errorf("what took place: %v", err)
	}
	w.set(func(w *fixture) { w.catalogErr = context.DeadlineExceeded })
	if _, err := w.reschedule(id, at("10:00")); !fault.Is(err, fault.AvailabilityUnverified) {
		t.Errorf("a reschedule while catalog is unavailable: %v", err)
	}
}

func TestRepeatedRescheduleAppliesOnce(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	id := w.mustBook(nil)
	move := func(key string, to booking.Reschedule) (*booking.Booking, error) {
		return w.client().Reschedule(actor.With(withKey(t, key), ownerActor), w.offer.ID, id, "harbor", to, false)
	}
	first, err := move("a", at("11:00"))
	if err != nil {
		t.Fatal(err)
	}
	if second, err := move("a", at("11:00")); err != nil || cmp.Diff(first, second) != "" {
		t.Errorf("repeated: %+v, %v", second, err)
	}
	if _, err := move("b", at("15:00")); err != nil {
		t.Fatal(err)
	}
	w.set(func(w *fixture) { w.hasSlots = false })
	if second, err := move("a", at("11:00")); err != nil || cmp.Diff(first, second) != "" {
		t.Errorf("repeated where it would be refused by now: %+v, %v", second, err)
	}
	if _, err := move("a", at("12:00")); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Errorf("another time under the key: %v", err)
	}
	if n := w.count(`SELECT sequence FROM bookings`); n != 3 {
		t.Errorf("the sequence is %d, want 3", n-1)
	}
}

func TestRescheduleAsksForBookedServices(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(func(o *catalog.Snapshot) {
		o.Services[0].Variants = []catalog.Variant{{ID: longID, Name: "Long", DurationMinutes: 90, Price: 6000}}
	})
	id := w.mustBook(map[string]any{
		"service_ids": []any{cutID, freeID}, "is_package": true, "staffing_mode": "per_service",
		"variants": cutID.String() + ":" + longID.String(),
	})
	req := w.lastQuestion
	w.change(func(o *catalog.Snapshot) {
		o.Services[0].Variants[0].DurationMinutes, o.Services[0].Variants[0].Price = 120, 9000
	})
	to := at("14:00")
	to.Override = true
	got, err := w.reschedule(id, to)
	if err != nil {
		t.Fatal(err)
	}
	req.Time, req.Override, req.OutsideHours, req.ClassScheduleID = 14*60, true, true, nil
	if diff := cmp.Diff(req, w.lastQuestion); diff != "" {
		t.Errorf("(-booked +rescheduled):\n%s", diff)
	}
	if s := got.Services[0]; s.VariantID != longID || s.DurationMinutes != 120 || s.Price.String() != "60.00" ||
		!got.IsPackage ||
		got.StaffingMode != availability.StaffingPerService || got.EndTime != "16:15:00" {
		t.Errorf("the rescheduled booking is %+v", got)
	}
}

func TestRescheduleKeepsSession(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	date, _ := timespan.ParseDate("2027-03-02")
	late := uuid.New()
	w.change(func(o *catalog.Snapshot) {
		class := func(id uuid.UUID, at timespan.TimeOfDay, capacity int) catalog.ClassSession {
			return catalog.ClassSession{ID: id, Key: id.String(), Date: &date, Time: at, Capacity: capacity}
		}
		o.Services = append(o.Services, catalog.Service{
			ID: yogaID, Name: "Yoga", Active: true, DurationMinutes: 60, Price: 1000,
			PaymentRequirement: catalog.RequirementNone,
			Classes: []catalog.ClassSession{class(eveningID, 18*60, 5), class(secondID, 18*60, 5),
				class(late, 20*60, 2)},
		})
	})
	id := w.mustBook(map[string]any{"service_ids": []any{yogaID}, "time": "18:00", "party_size": 3,
		"class_schedule_id": secondID})
	if _, err := w.reschedule(id, at("20:00")); !fault.Is(err, fault.SlotUnavailable) || !strings.Contains(err.Error(),
		"fewer seats") {
		t.Errorf("three on two seats: %v", err)
	}
	evening := eveningID.String()
	to := at("18:00")
	to.ClassScheduleID = &evening
	got, err := w.reschedule(id, to)
	if err != nil || *got.ClassScheduleID != eveningID {
		t.Errorf("a reschedule to the other session at this time: %+v, %v", got, err)
	}
	if n := w.count(`SELECT sum(taken) FILTER (WHERE session_id = '` + evening +
		`') * 10 + sum(taken) FROM class_sessions`); n != 33 {
		t.Errorf("the counters say %d", n)
	}
}

func TestAutomaticConfirmationWaitsForPayment(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(func(o *catalog.Snapshot) { o.Bookings.AutoConfirm = true })
	key := w.key("write")
	for range 2 {
		a := w.book(key, newOrder("09:30", nil), "Idempotency-Key", "k")
		if a.status != 201 || a.body.Booking.Status != "confirmed" {
			t.Errorf("%d %s", a.status, a.text)
		}
	}
	if n := w.count(`SELECT count(*) FROM bookings WHERE status = 'confirmed'`); n != 1 {
		t.Errorf("%d are confirmed", n)
	}
	if n := w.count(`SELECT count(*) FROM events WHERE type = 'booking.created' AND data->>'status' = 'confirmed'`) -
		w.count(`SELECT count(*) FROM events WHERE type LIKE 'booking.%'`); n != 0 {
		t.Error("the confirmed booking has an event other than booking.created")
	}
	s := openShop(t, testkit.StartStripeMock(t).URL)
	s.change(func(o *catalog.Snapshot) { o.Bookings.AutoConfirm = true })
	_, p := s.buy("09:30")
	s.expectState("pending", "open", 1)
	s.notify("payment_intent.succeeded", "acct_harbor", p.Reference)
	s.expectState("confirmed", "paid", 1)
}

func TestMemberFilterIncludesPackages(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.set(func(w *fixture) { w.performers = []*uuid.UUID{&annaID, &benID} })
	id := w.mustBook(map[string]any{"service_ids": []any{cutID, freeID}, "is_package": true,
		"staffing_mode": "per_service"})
	for member, want := range map[uuid.UUID]int{annaID: 1, benID: 1, carlID: 0} {
		list, err := w.client().Bookings(t.Context(), w.offer.ID, booking.Filter{StaffID: &member}, request.Page{})
		if err != nil || len(list.Bookings) != want || want == 1 && list.Bookings[0].ID != id {
			t.Errorf("%s has %d bookings, %v; want %d", member, len(list.Bookings), err, want)
		}
	}
	w.set(func(w *fixture) { w.performers = []*uuid.UUID{&annaID, &carlID} })
	updated, err := w.reschedule(id, at("14:00"))
	if err != nil || updated.Services[1].StaffID == nil || *updated.Services[1].StaffID != carlID {
		t.Errorf("rescheduled to another member: %+v, %v", updated, err)
	}
}

func TestOwnerBooksForCustomer(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	req := booking.NewBooking{
		ServiceIDs: []string{cutID.String()}, Date: "2027-03-02", Time: "09:37", CustomerName: "Zoë",
		CustomerEmail: "zoe@example.com", Override: true,
	}
	book := func(key string, b booking.NewBooking) (*booking.Booking, error) {
		return w.client().Book(actor.With(withKey(t, key), ownerActor), w.offer.ID, "harbor", b)
	}
	date, _ := timespan.ParseDate("2027-05-01")
	w.change(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = &date })
	first, err := book("a", req)
	if err != nil || first.Source != "dashboard" || first.Status != "confirmed" || first.CustomerName != "Zoë" ||
		*first.StaffID != annaID || !w.lastQuestion.Override {
		t.Fatalf("got %+v, %v", first, err)
	}
	for _, change := range []func() error{
		func() error { return nil }, func() error {
			_, err := w.reschedule(first.ID, booking.Reschedule{Date: "2027-03-03", Time: "12:00", Override: true})
			return err
		}, func() error {
			_, err := w.client().Cancel(t.Context(), w.offer.ID, first.ID, booking.Cancel{})
			return err
		},
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if second, err := book("a", req); err != nil || !cmp.Equal(second, first) {
			t.Errorf("repeated, it is answered otherwise than the first: %v\n%s", err, cmp.Diff(first, second))
		}
	}
	req.StaffID = new(annaID.String())
	if _, err := book("a", req); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Errorf("another booking under the key: %v", err)
	}
	if _, err := book("b", req); err != nil {
		t.Errorf("a booking of a time that is free again: %v", err)
	}
	if _, err := book("c", req); !fault.Is(err, fault.SlotUnavailable) {
		t.Errorf("a booking of an occupied time: %v", err)
	}
	req.Override, req.Time = false, "12:00"
	w.set(func(w *fixture) { w.warnings = []string{availability.RuleNotice, availability.RuleGrid} })
	paused, err := book("d", req)
	if err != nil || w.lastQuestion.OutsideHours || !w.lastQuestion.Override {
		t.Errorf("during a pause, within hours: %+v, %v", w.lastQuestion, err)
	}
	var codes []string
	for _, warning := range paused.Warnings {
		codes = append(codes, warning.Code)
	}
	if want := []string{"not_accepting_bookings", "too_soon", "not_a_start"}; !slices.Equal(codes, want) {
		t.Errorf("warned of %v, want %v", codes, want)
	}
	if second, err := book("d", req); err != nil || !cmp.Equal(second, paused) {
		t.Errorf("repeated: %v\n%s", err, cmp.Diff(paused, second))
	}
	req.Override, req.Date = true, "tomorrow"
	if _, err := book("e", req); !fault.Is(err, fault.NotAcceptingBookings) &&
		!fault.Is(err, fault.InvalidParameter) {
		t.Errorf("no date: %v", err)
	}
	if n := w.count(`SELECT count(*) FROM occupied_time`); n != 2 {
		t.Errorf("%d times are occupied, want two", n)
	}
	if n := w.count(`SELECT count(*) FROM events WHERE type = 'booking.created' AND actor_kind = 'owner'`); n != 3 {
		t.Errorf("%d events of the owner, want three", n)
	}
	if a := w.book(w.key("write"), newOrder("14:00", map[string]any{"override": true})); a.status != 403 {
		t.Errorf("a key overrides a pause: %d", a.status)
	}
}

func TestOwnerBooksWithoutAddress(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(func(o *catalog.Snapshot) { o.PriceNeeds = append(o.PriceNeeds, rule.NewCustomer) })
	req := booking.NewBooking{ServiceIDs: []string{cutID.String()}, Date: "2027-03-02", Time: "09:30",
		CustomerName: "Zoë"}
	for _, clock := range []string{"09:30", "12:00"} { // two bookings without an address are not of one customer
		req.Time = clock
		booked, err := w.client().Book(actor.With(t.Context(), ownerActor), w.offer.ID, "harbor", req)
		if err != nil || booked.CustomerName != "Zoë" || booked.CustomerEmail != "" || booked.Status != "confirmed" {
			t.Fatalf("got %+v, %v", booked, err)
		}
	}
	if n := w.count(`SELECT count(*) FROM bookings WHERE first_booking`); n != 0 {
		t.Errorf("%d bookings without an e-mail address are priced as a first booking", n)
	}
	known, err := w.client().Customers(t.Context(), w.offer.ID, customers.Search{Limit: 10})
	if err != nil || len(known) != 0 {
		t.Errorf("customers by address: %+v, %v", known, err)
	}
	req.Time, req.CustomerEmail = "14:00", "zoe"
	if _, err := w.client().Book(actor.With(t.Context(), ownerActor), w.offer.ID, "harbor", req); !fault.Is(err,
		fault.InvalidParameter) {
		t.Errorf("an invalid e-mail address: %v", err)
	}
	a := w.book(w.key("write"), newOrder("14:00", map[string]any{"customer_email": ""}))
	w.expect("a key without an address", a, http.StatusBadRequest, "invalid_parameter")
}

func TestRescheduleEventContainsFormerTime(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	id := w.mustBook(map[string]any{"staff_id": benID})
	w.mustBook(map[string]any{"time": "12:00", "staff_id": benID})
	if _, err := w.reschedule(id, at("12:15")); err != nil { // the booking is Anna's then
		t.Fatal(err)
	}
	page, err := w.events(t).Events(t.Context(), "", 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	last := page.Events[len(page.Events)-1]
	var eventData booking.Rescheduled
	if err := json.Unmarshal(last.Data, &eventData); err != nil {
		t.Fatal(err)
	}
	if last.Type != event.BookingRescheduled || last.Subject.ID != id || last.Sequence != 2 ||
		last.Actor != ownerActor ||
		eventData.ID != id || eventData.StartTime != "12:15:00" {
		t.Errorf("the event is %+v %s", last, last.Data)
	}
	ben, anna := "Ben", "Anna"
	ten := time.Date(2027, 3, 2, 9, 30, 0, 0, time.UTC)
	noon := ten.Add(2*time.Hour + 45*time.Minute)
	want := [2]booking.BookedTime{
		{Date: "2027-03-02", StartTime: "09:30:00", EndTime: "10:15:00", StartsAt: ten,
			EndsAt: ten.Add(45 * time.Minute), StaffID: &benID, StaffName: &ben},
		{Date: "2027-03-02", StartTime: "12:15:00", EndTime: "13:00:00", StartsAt: noon,
			EndsAt: noon.Add(45 * time.Minute), StaffID: &annaID, StaffName: &anna},
	}
	if diff := cmp.Diff(want, [2]booking.BookedTime{eventData.From, eventData.To}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, e := range page.Events[:len(page.Events)-1] {
		if strings.Contains(string(e.Data), `"from"`) {
			t.Errorf("%s reports a reschedule", e.Type)
		}
	}
}
