package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// startOnlinePayment starts a service whose business takes online payments. A kayak costs 12.00 an hour, and its bike
// 2.00 a day. A cancellation refunds 50 % until two hours before the start.
func startOnlinePayment(t *testing.T) service {
	t.Helper()
	s := startForCustomers(t)
	s.payments.policy = refund.Policy{Rules: []catalog.CancellationRule{{HoursBefore: 2, RefundPercent: 50}}}
	s.edit(func(o *catalog.Snapshot) {
		o.Payments = catalog.Payments{Providers: []string{"stripe"},
			Modes: catalog.PaymentModes{Rentals: catalog.ModeOnline}}
		o.SelfService.CancelUntilHours = new(1)
		for i := range o.Rentals {
			switch r := &o.Rentals[i]; r.ID.String() {
			case kayak:
				r.Price, r.PaymentRequirement = 1200, catalog.RequirementFull
				r.Upsells = []catalog.Upsell{{RentalID: uuid.MustParse(bike), Required: true}}
			case bike:
				r.Price, r.PaymentRequirement = 200, catalog.RequirementFull
			}
		}
	})
	return s
}

// newTwoHourReservation returns a reservation of a kayak with its bike for two hours, which costs 26.00.
func newTwoHourReservation() rental.NewReservation {
	return addExtra(newPageRequest(kayak, 1, "2027-06-11", "2027-06-11", "10:00", "12:00"), bike, 1)
}

func (s service) mustReserve(t *testing.T, key string, n rental.NewReservation) *rental.Reservation {
	t.Helper()
	reservation, err := s.reserveAs(actor.Page, key, n)
	if err != nil {
		t.Fatal(err)
	}
	return reservation
}

// step runs the reconciliations of rental and booking once.
func (s service) step(t *testing.T) {
	t.Helper()
	runProvider := func(context.Context) error { s.payments.step(); return nil }
	r := s.reconciliation
	for _, do := range []func(context.Context) error{
		r.RefreshPayments, r.ClosePayments, runProvider, r.ClosePayments, r.RefreshPayments,
	} {
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// expectState checks the status, the payment and the events of a reservation, and the number of occupied kayaks and of
// occupied bikes.
func (s service) expectState(t *testing.T, id uuid.UUID, status, payment string, occupied int, events string) {
	t.Helper()
	var gotStatus, gotPayment, gotEvents string
	err := s.pool.QueryRow(t.Context(),
		`SELECT status, payment->>'status', (SELECT coalesce(string_agg(type, ' ' ORDER BY sequence), '') FROM events e WHERE e.subject_id = r.id)
		FROM reservations r WHERE id = $1`, id).Scan(&gotStatus, &gotPayment, &gotEvents)
	if err != nil {
		t.Fatal(err)
	}
	if gotStatus != status || gotPayment != payment || gotEvents != events || s.countOccupied(t, kayak) != occupied ||
		s.countOccupied(t, bike) != occupied {
		t.Errorf("status %s, payment %s, %d kayaks and %d bikes occupied, events %q; want %s, %s, %d, %q",
			gotStatus, gotPayment, s.countOccupied(t, kayak), s.countOccupied(t, bike), gotEvents, status, payment,
			occupied, events)
	}
}

// occupied returns the number of occupied units of a rental, on any date.
func (s service) countOccupied(t *testing.T, id string) int {
	t.Helper()
	var n int
	err := s.pool.QueryRow(t.Context(),
		`SELECT (SELECT coalesce(sum(quantity), 0) FROM reservations WHERE rental_id = $1 AND status IN ('pending', 'reserved', 'picked_up'))
		+ (SELECT coalesce(sum(quantity), 0) FROM extra_units WHERE rental_id = $1)`, id).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const createdEvent = "reservation.created"

func TestPaymentConfirmsReservation(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	key := uuid.NewString()
	reservation := s.mustReserve(t, key, newTwoHourReservation())
	due := s.clock.Now().Add(expiresAfter)
	want := &booking.Payment{Provider: "stripe", Status: booking.PaymentOpen, Amount: "26.00", Refunded: "0.00",
		DueAt: &due, Policy: s.payments.policy}
	if diff := cmp.Diff(want, reservation.Payment); diff != "" || reservation.Status != rental.StatusPending ||
		*reservation.Total != "26.00" || reservation.CheckoutURL == "" {
		t.Errorf("made %+v\n%s", reservation, diff)
	}
	req := booking.NewReservationPayment{Slug: "harbor", Name: "1 × Thing, 1 × Thing", Amount: 2600, Currency: "EUR",
		Manage: reservation.ManageURL}
	if diff := cmp.Diff(req, s.payments.find(reservation.ID).req); diff != "" {
		t.Error(diff)
	}
	if second := s.mustReserve(t, key, newTwoHourReservation()); second.ID != reservation.ID ||
		second.CheckoutURL != reservation.CheckoutURL {
		t.Errorf("a second click: %+v", second)
	}
	publish := func(public bool) { // hidden rentals cannot be reserved
		s.edit(func(o *catalog.Snapshot) {
			for i := range o.Rentals {
				o.Rentals[i].Active = public
			}
		})
	}
	publish(false)
	if second := s.mustReserve(t, key, newTwoHourReservation()); second.ID != reservation.ID ||
		second.CheckoutURL != reservation.CheckoutURL || cmp.Diff(want, second.Payment) != "" {
		t.Errorf("a click when nothing is lent any more: %+v", second)
	}
	publish(true)
	s.step(t)
	s.expectState(t, reservation.ID, "pending", "open", 1, createdEvent)
	if _, err := s.reserveAs(actor.Page, "", addExtra(newPageRequest(kayak, 3, "2027-06-11", "2027-06-11", "10:00",
		"12:00"), bike, 3)); !fault.Is(err, fault.Conflict) {
		t.Errorf("units of an unpaid reservation are reserved again: %v", err)
	}
	if _, err := s.client.Transition(t.Context(), "harbor", reservation.ID, rental.TransitionPickup); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("picked up before it is paid: %v", err)
	}
	s.payments.pay(reservation.ID)
	s.step(t)
	s.step(t)
	s.expectState(t, reservation.ID, "reserved", "paid", 1, createdEvent+" payment.succeeded reservation.confirmed")
	if second := s.mustReserve(t, key, newTwoHourReservation()); second.ID != reservation.ID ||
		second.CheckoutURL != "" || second.Status != rental.StatusReserved {
		t.Errorf("a click once it is paid: %+v", second)
	}
	if report, err := s.client.RevenueReport(t.Context(), "harbor", newJuneReport()); err != nil ||
		report.Rows[0].Paid != "26.00" {
		t.Errorf("the revenue is %+v, %v", report, err)
	}
	s.applyTransition(t, reservation.ID, rental.TransitionPickup)
	if back := s.applyTransition(t, reservation.ID,
		rental.TransitionReturn); back.Payment.Status != booking.PaymentPaid ||
		s.countOccupied(t, bike) != 0 {
		t.Errorf("back: %+v", back)
	}
}

func TestReservationEndsWithItsPayment(t *testing.T) {
	t.Parallel()
	const expired = createdEvent + " payment.expired reservation.cancelled"
	byOwner := func(t *testing.T, s service, r *rental.Reservation) {
		if _, err := s.client.Cancel(t.Context(), "harbor", r.ID, booking.Cancel{}); err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		act             func(t *testing.T, s service, r *rental.Reservation)
		status, payment string
		occupied        int
		event           string
		refunds         []int64
	}{
		"nobody pays": {func(*testing.T, service, *rental.Reservation) {}, "cancelled", "cancelled", 0, expired,
			nil},
		"paid at the end": {func(_ *testing.T, s service, r *rental.Reservation) {
			s.payments.pay(r.ID)
		}, "reserved", "paid", 1, createdEvent + " payment.succeeded reservation.confirmed", nil},
		"an attempt fails": {func(t *testing.T, s service, r *rental.Reservation) {
			at := s.clock.Now()
			s.payments.find(r.ID).FailedAt = &at
			s.step(t)
		}, "cancelled", "cancelled", 0, createdEvent + " payment.failed payment.expired reservation.cancelled", nil},
		"booking is away": {func(t *testing.T, s service, _ *rental.Reservation) {
			s.payments.shouldFail = func() bool { return true }
			s.clock.Advance(2 * expiresAfter)
			if err := s.reconciliation.RefreshPayments(t.Context()); !fault.Is(err, fault.PeerUnavailable) {
				t.Errorf("asked: %v", err)
			}
			s.payments.shouldFail = nil
		}, "cancelled", "cancelled", 0, expired, nil},
		"given up": {byOwner, "cancelled", "cancelled", 0, createdEvent + " reservation.cancelled", nil},
		"given up while it is paid": {func(t *testing.T, s service, r *rental.Reservation) {
			byOwner(t, s, r)
			s.payments.pay(r.ID)
		}, "cancelled", "paid", 0, createdEvent + " reservation.cancelled payment.succeeded payment.refunded",
			[]int64{2600}},
		"given up after it was paid, which nobody knew": {func(t *testing.T, s service, r *rental.Reservation) {
			s.payments.pay(r.ID)
			byOwner(t, s, r)
		}, "cancelled", "paid", 0, createdEvent + " reservation.cancelled payment.succeeded payment.refunded",
			[]int64{2600}},
		"paid too late, while rental was away": {func(_ *testing.T, s service, r *rental.Reservation) {
			s.clock.Advance(expiresAfter)
			s.payments.step()
			a := s.payments.find(r.ID)
			a.isPaid = true
			s.payments.setPaid(a)
		}, "cancelled", "paid", 0, createdEvent + " payment.succeeded reservation.cancelled payment.refunded",
			[]int64{2600}},
		"its process dies before the charge is noted": {func(t *testing.T, s service, r *rental.Reservation) {
			for _, sql := range []string{`UPDATE reservations SET payment = jsonb_build_object('status', 'creating', 'due_at', now()), sequence = 0`, `DELETE FROM events`} {
				if _, err := s.pool.Exec(t.Context(), sql); err != nil {
					t.Error(err)
				}
			}
		}, "cancelled", "cancelled", 0, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startOnlinePayment(t)
			key := uuid.NewString()
			reservation := s.mustReserve(t, key, newTwoHourReservation())
			c.act(t, s, reservation)
			s.clock.Advance(expiresAfter)
			s.step(t)
			s.step(t)
			s.expectState(t, reservation.ID, c.status, c.payment, c.occupied, c.event)
			if refunds := s.payments.find(reservation.ID).refunds; !slices.Equal(refunds, c.refunds) {
				t.Errorf("refunds are %v, want %v", refunds, c.refunds)
			}
			if c.event != "" {
				seen, err := s.client.CustomerView(t.Context(),
					strings.TrimPrefix(reservation.ManageURL, "https://book.example.org/m/"))
				if isUnpaid := strings.HasSuffix(c.event, " payment.expired reservation.cancelled"); err != nil ||
					seen.Reservation.Unpaid != isUnpaid {
					t.Errorf("by the link: %+v, %v", seen, err)
				}
			}
			if second, err := s.reserveAs(actor.Page, key, newTwoHourReservation()); err != nil ||
				(second.ID == reservation.ID) != (c.event != "") {
				t.Errorf("a click afterwards: %+v, %v", second, err)
			}
		})
	}
}

func TestReserveFailsIfPaymentCannotBeOpened(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func() bool{
		"booking is not reached": func() bool { return true },
		"its answer is lost": func() func() bool {
			calls := 0
			return func() bool { calls++; return calls == 2 }
		}(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startOnlinePayment(t)
			s.payments.shouldFail = away
			key := uuid.NewString()
			if _, err := s.reserveAs(actor.Page, key, newTwoHourReservation()); !fault.Is(err,
				fault.PaymentUnavailable) {
				t.Errorf("got %v", err)
			}
			s.payments.shouldFail = nil
			if n := s.countOccupied(t, kayak) + s.countOccupied(t, bike); n != 0 {
				t.Errorf("%d units are occupied", n)
			}
			if reservation := s.mustReserve(t, key, newTwoHourReservation()); reservation.CheckoutURL == "" {
				t.Errorf("the same key again: %+v", reservation)
			}
			s.clock.Advance(2 * expiresAfter)
			s.step(t)
			for id, a := range s.payments.payments {
				if a.Status != booking.PaymentStateCancelled {
					t.Errorf("%s: its payment is %s", id, a.Status)
				}
			}
		})
	}
}

// TestConcurrentPaidReservationsNeverOverbook lets 64 customers reserve 10 bikes. Some pay, some cancel,
// and unpaid payments expire. In the end, exactly the reservations that are paid and not refunded occupy bikes.
func TestConcurrentPaidReservationsNeverOverbook(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		made []uuid.UUID
	)
	for range 64 {
		wg.Go(func() {
			key, n := uuid.NewString(), newPageRequest(bike, 1, "2027-06-20", "2027-06-21")
			r, err := s.reserveAs(actor.Page, key, n)
			for fault.Is(err, fault.OutcomeUnknown) { // a refusal may be stored too late: retry
				r, err = s.reserveAs(actor.Page, key, n)
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made = append(made, r.ID)
			case !fault.Is(err, fault.Conflict):
				t.Errorf("a race that was lost: %v, %v", err, errors.Unwrap(err))
			}
		})
	}
	wg.Wait()
	if len(made) != 10 {
		t.Errorf("%d of 10 are occupied", len(made))
	}
	s.clock.Advance(expiresAfter)
	for i, id := range made {
		if i%2 == 0 {
			wg.Go(func() { s.payments.pay(id) })
		}
		if i%3 == 0 {
			wg.Go(func() {
				_, _ = s.client.Cancel(t.Context(), "harbor", id, booking.Cancel{Refund: booking.RefundFull})
			})
		}
		wg.Go(func() { _ = s.reconciliation.RefreshPayments(t.Context()) })
		wg.Go(func() { s.payments.step() })
		wg.Go(func() { _ = s.reconciliation.ClosePayments(t.Context()) })
	}
	wg.Wait()
	s.step(t)
	s.step(t)
	kept := 0
	for _, id := range made {
		r, err := s.client.Reservation(t.Context(), "harbor", id)
		if err != nil {
			t.Fatal(err)
		}
		var back int64
		a := s.payments.find(id)
		for _, n := range a.refunds {
			back += n
		}
		switch paid := a.Status == booking.PaymentStatePaid; {
		case r.Status == rental.StatusReserved && paid && back == 0:
			kept++
		case r.Status == rental.StatusCancelled && (!paid || back == a.Amount && len(a.refunds) == 1):
		default:
			t.Errorf("the status is %s, the payment %s, and refunds are %v", r.Status, a.Status, a.refunds)
		}
	}
	if occupied := s.countOccupied(t, bike); occupied != kept {
		t.Errorf("%d are occupied, and %d reserved", occupied, kept)
	}
}

// TestCustomerLinkPaysAndCancelsReservation shows that customers see, pay and cancel a reservation with
// its link. They get the refund that they were shown (lifecycle.md §4, §5).
func TestCustomerLinkPaysAndCancelsReservation(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	reservation := s.mustReserve(t, "", newTwoHourReservation())
	token := strings.TrimPrefix(reservation.ManageURL, "https://book.example.org/m/")
	see := func(when, status string, pays bool, amount json.Number, percent int) {
		t.Helper()
		m, err := s.client.CustomerView(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		want := booking.CancellationRefund{Amount: amount, Percent: percent, Currency: "EUR"}
		if r := m.Reservation; r.Cancellation.Refund != want || r.Status != status || r.CanPay != pays ||
			r.Payment == nil {
			t.Errorf("%s: %+v", when, r)
		}
	}
	see("to be paid", "pending", true, "0.00", 0)
	if _, text := s.calendar(t, token); !strings.Contains(text, "STATUS:TENTATIVE") {
		t.Errorf("the calendar of an unpaid reservation:\n%s", text)
	}
	if open, err := s.client.OpenPayment(t.Context(), token); err != nil ||
		open.CheckoutURL != reservation.CheckoutURL || open.Amount != "26.00" {
		t.Errorf("paying again: %+v, %v", open, err)
	}
	s.payments.pay(reservation.ID)
	see("back from the page, before anything asked", "reserved", false, "13.00", 50)
	if _, err := s.client.OpenPayment(t.Context(), token); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second payment of a paid reservation: %v", err)
	}
	s.payments.shouldFail = func() bool { return true } // a cancellation does not wait for booking
	if _, err := s.client.CancelByLink(t.Context(), token,
		booking.CancelByLink{Refund: new(json.Number("26.00"))}); !fault.Is(err, fault.Conflict) {
		t.Errorf("another refund than was shown: %v", err)
	}
	m, err := s.client.CancelByLink(t.Context(), token, booking.CancelByLink{Refund: new(json.Number("13.00"))})
	if err != nil || m.Reservation.Status != rental.StatusCancelled ||
		m.Reservation.Payment.Refund.Status != booking.RefundPending {
		t.Fatalf("cancelled %+v, %v", m, err)
	}
	s.payments.shouldFail = nil
	for range 3 {
		s.step(t)
	}
	s.expectState(t, reservation.ID, "cancelled", "paid", 0,
		createdEvent+" payment.succeeded reservation.confirmed reservation.cancelled payment.refunded")
	if refunds := s.payments.find(reservation.ID).refunds; !slices.Equal(refunds, []int64{1300}) {
		t.Errorf("refunds are %v, want 13.00 once", refunds)
	}
}

// TestOwnerRefundsRequestedAmount shows that the owner chooses the refund, and can repeat a refund that the
// provider refused (lifecycle.md §4).
func TestOwnerRefundsRequestedAmount(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	reservation := s.mustReserve(t, "", newTwoHourReservation())
	s.payments.pay(reservation.ID)
	s.step(t)
	if got, err := s.client.Cancellation(t.Context(), "harbor", reservation.ID); err != nil || !got.Allowed ||
		got.Refund.Amount != "13.00" {
		t.Errorf("the refund by the policy: %+v, %v", got, err)
	}
	if _, err := s.client.Refund(t.Context(), "harbor", reservation.ID, booking.NewRefund{}); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("refunded while it is reserved: %v", err)
	}
	if _, err := s.client.Cancel(t.Context(), "harbor", reservation.ID, booking.Cancel{Refund: "26.01"}); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("more than was paid: %v", err)
	}
	s.payments.refusesRefunds = true
	cancelled, err := s.client.Cancel(t.Context(), "harbor", reservation.ID, booking.Cancel{Refund: "10.50"})
	if err != nil || cancelled.Payment.Refund.Amount != "10.50" {
		t.Fatalf("cancelled %+v, %v", cancelled, err)
	}
	if _, err := s.client.Refund(t.Context(), "harbor", reservation.ID, booking.NewRefund{}); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("a second refund at once: %v", err)
	}
	s.step(t)
	if reservation, err := s.client.Reservation(t.Context(), "harbor", reservation.ID); err != nil ||
		reservation.Payment.Refund.Status != booking.RefundRefused || reservation.Payment.Refund.Reason == "" {
		t.Errorf("refused, and the owner sees %+v, %v", reservation, err)
	}
	s.payments.refusesRefunds = false
	if _, err := s.client.Refund(t.Context(), "harbor", reservation.ID, booking.NewRefund{}); err != nil {
		t.Error(err)
	}
	s.step(t)
	if refunds := s.payments.find(reservation.ID).refunds; !slices.Equal(refunds, []int64{2600}) {
		t.Errorf("refunds are %v, want all that was left", refunds)
	}
}

func TestDepositIsMultipliedByUnits(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	for _, c := range []struct{ requirement, value, mode, choice, amount string }{
		{catalog.RequirementDepositPercent, "20", catalog.ModeOnline, "", "12.00"},
		{catalog.RequirementDepositFixed, "10", catalog.ModeOnline, "at_door", "20.00"},
		{catalog.RequirementDepositFixed, "100", catalog.ModeCustomerChoice, "online", "60.00"},
		{catalog.RequirementFull, "0", catalog.ModeCustomerChoice, "at_door", ""},
		{catalog.RequirementFull, "0", catalog.ModeCustomerChoice, "", ""},
		{catalog.RequirementFull, "0", catalog.ModeAtDoor, "online", ""},
		{catalog.RequirementNone, "0", catalog.ModeOnline, "online", ""},
	} {
		s.edit(func(o *catalog.Snapshot) {
			o.Payments = catalog.Payments{Providers: []string{"stripe"}, Modes: catalog.PaymentModes{Rentals: c.mode}}
			for i := range o.Rentals {
				if r := &o.Rentals[i]; r.ID.String() == bike {
					r.Price, r.PaymentRequirement, r.DepositValue = 1000, c.requirement,
						new(decimal.RequireFromString(c.value))
				}
			}
		})
		n := newPageRequest(bike, 2, "2027-06-11", "2027-06-13") // three days cost 30.00 for each bike
		n.PaymentChoice = c.choice
		reservation, err := s.reserveAs(actor.Page, "", n)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		amount, status := "", rental.StatusReserved
		if reservation.Payment != nil {
			amount, status = reservation.Payment.Amount.String(), rental.StatusPending
		}
		if amount != c.amount || reservation.Status != status || (reservation.CheckoutURL != "") != (amount != "") {
			t.Errorf("%+v: %+v, %+v", c, reservation, reservation.Payment)
		}
		if _, err := s.client.Cancel(t.Context(), "harbor", reservation.ID, booking.Cancel{}); err != nil {
			t.Error(err)
		}
	}
	n := newPageRequest(bike, 1, "2027-06-11", "2027-06-11")
	n.PaymentChoice = "cash"
	if _, err := s.reserveAs(actor.Page, "", n); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("another choice: %v", err)
	}
	if reservation, err := s.reserveAs(actor.Owner, "",
		newPageRequest(bike, 1, "2027-06-11", "2027-06-11")); err != nil || reservation.Payment != nil {
		t.Errorf("the owner: %+v, %v", reservation, err)
	}
}

func newJuneReport() report.Query {
	return report.Query{From: timespan.NewDate(2027, time.June, 1), To: timespan.NewDate(2027, time.June, 30),
		By: report.Month}
}

// TestReservationShowsLaterProviderReports shows that later reports of the provider change the reservation and
// the owner's list. Rental does not request that payment.
func TestReservationShowsLaterProviderReports(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	reservation := s.mustReserve(t, uuid.NewString(), newTwoHourReservation())
	s.payments.pay(reservation.ID)
	s.step(t)
	paid := createdEvent + " payment.succeeded reservation.confirmed"
	for _, c := range []struct {
		change func(*booking.PaymentState)
		event  string
		filter string
	}{
		{func(c *booking.PaymentState) {
			c.Refunded, c.RefundedElsewhere = 600, 600
		}, " payment.refunded", booking.PaymentPaid},
		{func(c *booking.PaymentState) {
			c.DisputeStatus = booking.DisputeOpen
		}, " payment.disputed", booking.PaymentDisputed},
		{func(c *booking.PaymentState) {
			c.DisputeStatus = booking.DisputeWon
		}, " payment.disputed", booking.PaymentDisputed},
		{func(c *booking.PaymentState) {
			c.RefundNumber, c.RefundAmount, c.RefundStatus = 1, 100, booking.RefundRefused
		},
			" payment.refund_failed", booking.PaymentRefundFailed},
	} {
		if list, err := s.client.Reservations(t.Context(), "harbor", rental.Filter{Payment: c.filter},
			request.Page{}); err != nil ||
			(len(list.Reservations) == 1) != strings.HasSuffix(paid, c.event) && c.filter != booking.PaymentPaid {
			t.Errorf("before%s the list has %+v, %v", c.event, list, err)
		}
		s.payments.report(reservation.ID, c.change)
		for range 2 {
			if err := s.reconciliation.StoreReports(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		paid += c.event
		s.expectState(t, reservation.ID, "reserved", "paid", 1, paid)
		list, err := s.client.Reservations(t.Context(), "harbor", rental.Filter{Payment: c.filter}, request.Page{})
		if err != nil || len(list.Reservations) != 1 {
			t.Errorf("after%s the list has %+v, %v", c.event, list, err)
		}
	}
	if list, err := s.client.Reservations(t.Context(), "harbor", rental.Filter{Payment: booking.PaymentOpen},
		request.Page{}); err != nil || len(list.Reservations) != 0 {
		t.Errorf("open are %+v, %v", list, err)
	}
	if _, err := s.client.Reservations(t.Context(), "harbor", rental.Filter{Payment: "lost"},
		request.Page{}); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("an unknown payment: %v", err)
	}
}
