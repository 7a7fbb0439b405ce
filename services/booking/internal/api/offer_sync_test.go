package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// publish publishes a changed event, and updates its tickets as follow does.
func (s *paymentFixture) publish(change func(*catalog.Event)) {
	s.t.Helper()
	s.change(withGala(func(e *catalog.Event) {
		e.Public, e.PaymentRequirement = true, catalog.RequirementFull
		e.Tiers[0].Price, e.Tiers[1].Price = 6000, 12000
		change(e)
	}))
	s.follow()
}

// follow announces the newest version of the business to booking, and updates tickets and bookings. It does so twice,
// because the second update must change nothing.
func (w *fixture) follow() {
	w.t.Helper()
	if err := w.store.StorePublished(w.t.Context(), w.offer.ID, w.offer.Version); err != nil {
		w.t.Fatal(err)
	}
	followers := usecase.NewOfferSync(w.store, w, w.clock, telemetry.Discard())
	for range 2 {
		if err := followers.RunOnce(w.t.Context()); err != nil {
			w.t.Fatal(err)
		}
	}
}

// sellTickets buys and pays one ticket, and returns the id of the order and the token of its link.
func (s *paymentFixture) sellTickets(f *fakeStripe) (uuid.UUID, string) {
	s.t.Helper()
	order, page := s.order("", newTierOrder(1, 0))
	s.paysFor(f, page)
	return order.ID, tokenOf(order.ManageURL)
}

func (s *paymentFixture) ticket(token string) *booking.CustomerTicket {
	s.t.Helper()
	view, err := s.pages().CustomerView(s.t.Context(), token)
	if err != nil {
		s.t.Fatal(err)
	}
	return view.Ticket
}

// TestTicketsFollowEventTime changes the time of an event. The customer's page, the calendar file, the
// deadline and the refund show the new time, and one event reports the change.
func TestTicketsFollowEventTime(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openTicketPayments(t, f.URL)
	id, token := s.sellTickets(f)
	cancelled, _ := s.sellTickets(f)
	if _, err := s.client().CancelTicket(t.Context(), s.offer.ID, cancelled, booking.Cancel{}); err != nil {
		t.Fatal(err)
	}
	old := time.Date(2027, 3, 1, 22, 0, 0, 0, time.UTC)
	s.publish(func(e *catalog.Event) { e.Date, e.Start, e.End = timespan.NewDate(2027, time.March, 5), 20*60, 23*60 })
	start := time.Date(2027, 3, 5, 20, 0, 0, 0, time.UTC)
	got := s.ticket(token)
	if got.Date != "2027-03-05" || got.StartTime != "20:00:00" || !got.StartsAt.Equal(start) ||
		!got.EndsAt.Equal(start.Add(3*time.Hour)) ||
		!cmp.Equal(got.FormerStarts, []time.Time{old}) || got.Withdrawn {
		t.Errorf("the customer is shown %+v", got)
	}
	ics := entries(t, s.read("/internal/manage/"+token+"/calendar").text)
	if len(ics) != 1 || ics[0].Start != "2027-03-05T20:00:00.000Z" || ics[0].Sequence != 4 {
		t.Errorf("the calendar file: %+v", ics)
	}
	s.expectEvents(id, "ticket.created", "payment.succeeded", "ticket.sold", "ticket.rescheduled")
	s.expectEvents(cancelled, "ticket.created", "payment.succeeded", "ticket.sold", "ticket.cancelled")
	page, err := s.events(t).Events(t.Context(), "", 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	var eventData booking.RescheduledTicket
	for _, e := range page.Events {
		if e.Type == event.TicketRescheduled {
			if err := json.Unmarshal(e.Data, &eventData); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !eventData.From.StartsAt.Equal(old) || !eventData.To.StartsAt.Equal(start) ||
		eventData.To.Date != "2027-03-05" ||
		eventData.ID != id {
		t.Errorf("the event contains %+v", eventData)
	}
	s.clock.Advance(old.Add(time.Hour).Sub(s.clock.Now()))
	if got := s.ticket(token).Cancellation; !got.Allowed || got.Refund.Percent != 50 {
		t.Errorf("with the new date, the cancellation is %+v", got)
	}
}

// TestRescheduledEventRefundsByBetterDate changes an event to an earlier time. The customer may then cancel, even
// if the business lets no customer cancel, and gets the higher refund of the two dates.
func TestRescheduledEventRefundsByBetterDate(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openTicketPayments(t, f.URL)
	s.change(func(o *catalog.Snapshot) { o.SelfService.CancelUntilHours = nil })
	_, token := s.sellTickets(f)
	if s.ticket(token).Cancellation.Allowed {
		t.Error("customers cancel although the business does not offer it")
	}
	s.publish(func(e *catalog.Event) { e.Start, e.End = 10*60, 12*60 }) // two hours from now
	got := s.ticket(token).Cancellation
	if !got.Allowed || got.Refund.Percent != 50 || got.Until == nil ||
		!got.Until.Equal(time.Date(2027, 3, 1, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("the cancellation of the tickets is %+v", got)
	}
	if _, err := s.pages().Cancel(t.Context(), token, booking.CancelByLink{Refund: &got.Refund.Amount}); err != nil {
		t.Fatal(err)
	}
	s.step()
	if n := s.count(`SELECT refunded FROM payments`); n != 3000 {
		t.Errorf("%d was refunded", n)
	}
}

// TestWithdrawnEventIsFullyRefundable shows that a customer gets the full refund if the event is no longer
// offered. If the event is offered again, the cancellation policy applies again.
func TestWithdrawnEventIsFullyRefundable(t *testing.T) {
	t.Parallel()
	for name, withdraw := range map[string]func(*catalog.Snapshot){
		"inactive": func(o *catalog.Snapshot) { o.Events = slices.Clone(o.Events); o.Events[0].Active = false },
		"removed":  func(o *catalog.Snapshot) { o.Events = o.Events[1:] },
		"disabled": func(o *catalog.Snapshot) { o.Modules.Events = false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openTicketPayments(t, f.URL)
			id, token := s.sellTickets(f)
			s.change(withdraw)
			s.follow()
			// The policy refunds nothing at this time.
			s.clock.Advance(time.Date(2027, 3, 1, 21, 30, 0, 0, time.UTC).Sub(s.clock.Now()))
			if got := s.ticket(token); !got.Withdrawn || !got.Cancellation.Allowed ||
				got.Cancellation.Refund.Percent != 100 {
				t.Errorf("the customer view of the tickets is %+v", got)
			}
			s.expectEvents(id, "ticket.created", "payment.succeeded", "ticket.sold", "ticket.withdrawn")
			s.publish(noChange)
			s.expectEvents(id, "ticket.created", "payment.succeeded", "ticket.sold", "ticket.withdrawn",
				"ticket.rescheduled")
			if got := s.ticket(token); got.Withdrawn || got.Cancellation.Allowed || len(got.FormerStarts) > 0 {
				t.Errorf("offered again, they are shown %+v", got)
			}
			s.change(withdraw)
			s.follow()
			amount := json.Number("60.00")
			if _, err := s.pages().Cancel(t.Context(), token, booking.CancelByLink{Refund: &amount}); err != nil {
				t.Fatal(err)
			}
			s.step()
			if n := s.count(`SELECT refunded FROM payments`); n != 6000 {
				t.Errorf("%d was refunded", n)
			}
		})
	}
}

// TestTicketsKeepZone shows that a new time zone of the business does not change the time of
// an event with sold tickets.
func TestTicketsKeepZone(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openTicketPayments(t, f.URL)
	id, token := s.sellTickets(f)
	s.change(func(o *catalog.Snapshot) { o.Timezone = "America/Chicago" })
	s.follow()
	s.expectEvents(id, "ticket.created", "payment.succeeded", "ticket.sold")
	if got := s.ticket(token); !got.StartsAt.Equal(time.Date(2027, 3, 1, 22, 0, 0, 0, time.UTC)) {
		t.Errorf("the customer view of the tickets is %+v", got)
	}
}

// TestZoneRuleChangeWithdrawsNoBooking shows that a booking of a class is not withdrawn when the rules of its time
// zone change. The class keeps its local time, but the stored UTC time differs.
func TestZoneRuleChangeWithdrawsNoBooking(t *testing.T) {
	t.Parallel()
	w := openStudio(t, 5, 5)
	w.change(allowCustomers(nil, nil))
	w.book(w.key("write"), newYogaBooking(1, map[string]any{"class_schedule_id": eveningID}))
	_, err := w.pool.Exec(t.Context(),
		`UPDATE bookings SET starts_at = starts_at + interval '1 hour', ends_at = ends_at + interval '1 hour'`)
	if err != nil {
		t.Fatal(err)
	}
	w.follow()
	if n := w.count(`SELECT count(*) FROM bookings WHERE withdrawn`); n != 0 {
		t.Errorf("%d bookings are withdrawn", n)
	}
}

// TestWithdrawnClassIsFullyRefundable shows that a customer may cancel a booking with a full refund if the class
// does not take place. If the class is restored, the rules of the business apply again. Bookings of other sessions do
// not change.
func TestWithdrawnClassIsFullyRefundable(t *testing.T) {
	t.Parallel()
	classes := func(change func(*catalog.ClassSession)) func(*catalog.Snapshot) {
		return func(o *catalog.Snapshot) {
			yoga := &o.Services[len(o.Services)-1]
			yoga.Classes = slices.Clone(yoga.Classes)
			change(&yoga.Classes[0])
		}
	}
	for name, callOff := range map[string]func(*catalog.Snapshot){
		"moved":   classes(func(c *catalog.ClassSession) { c.Time = 19 * 60 }),
		"removed": func(o *catalog.Snapshot) { s := &o.Services[len(o.Services)-1]; s.Classes = s.Classes[1:] },
		"blocked": func(o *catalog.Snapshot) {
			day := timespan.NewDate(2027, time.March, 2)
			o.Blocks = []catalog.Block{{
				From: timespan.LocalDateTime{Date: day, Time: 17 * 60},
				To:   timespan.LocalDateTime{Date: day, Time: 18*60 + 30}, StaffIDs: []uuid.UUID{annaID},
			}}
		},
		"inactive": func(o *catalog.Snapshot) { o.Services[len(o.Services)-1].Active = false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := openStudio(t, 5, 5)
			w.change(allowCustomers(nil, nil))
			key := w.key("write")
			first := w.book(key, newYogaBooking(1, map[string]any{"class_schedule_id": eveningID}))
			other := w.book(key,
				newYogaBooking(1, map[string]any{"class_schedule_id": secondID, "customer_email": "other@example.com"}))
			token := tokenOf(first.body.ManageURL)
			as := func(withdrawn bool) {
				t.Helper()
				w.follow()
				view, err := w.pages().CustomerView(t.Context(), token)
				if err != nil || view.Booking.Withdrawn != withdrawn ||
					view.Booking.Cancellation.Allowed != withdrawn {
					t.Errorf("withdrawn is to be %t: %+v, %v", withdrawn, view.Booking, err)
				}
			}
			as(false)
			before := *w.offer
			w.change(callOff)
			as(true)
			w.change(func(o *catalog.Snapshot) { o.Services, o.Blocks = before.Services, before.Blocks })
			as(false)
			w.change(callOff)
			as(true)
			if name != "inactive" && w.count(`SELECT count(*) FROM bookings WHERE withdrawn`) != 1 {
				t.Error("a booking of another session is withdrawn")
			}
			count := w.count(`SELECT count(*) FROM events WHERE subject_id = '` + first.body.Booking.ID.String() +
				`' AND type = 'booking.withdrawn'`)
			again := w.count(`SELECT count(*) FROM events WHERE subject_id = '` + first.body.Booking.ID.String() +
				`' AND type = 'booking.restored'`)
			if count != 2 || again != 1 {
				t.Errorf("%d events of the withdrawal and %d of the restoring", count, again)
			}
			if other.status != http.StatusCreated {
				t.Errorf("the other booking: %d %s", other.status, other.text)
			}
			nothing := json.Number("0.00")
			if _, err := w.pages().Cancel(t.Context(), token, booking.CancelByLink{Refund: &nothing}); err != nil {
				t.Error(err)
			}
		})
	}
}
