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
	s.bank.policy = refund.Policy{Rules: []catalog.CancellationRule{{HoursBefore: 2, RefundPercent: 50}}}
	s.edit(func(o *catalog.Snapshot) {
		o.Payments = catalog.Payments{Providers: []string{"stripe"}, Modes: catalog.PaymentModes{Rentals: catalog.ModeOnline}}
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

// twoHours returns a reservation of a kayak with its bike for two hours, which costs 26.00.
func twoHours() rental.NewReservation {
	return with(wanted(kayak, 1, "2027-06-11", "2027-06-11", "10:00", "12:00"), bike, 1)
}

func (s service) mustReserve(t *testing.T, key string, n rental.NewReservation) *rental.Reservation {
	t.Helper()
	made, err := s.as(actor.Page, key, n)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// step runs the reconciliations of rental and booking once.
func (s service) step(t *testing.T) {
	t.Helper()
	for _, do := range []func(context.Context) error{s.news.Ask, s.news.Tell, func(context.Context) error { s.bank.step(); return nil }, s.news.Tell, s.news.Ask} {
		if err := do(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// expect checks the status, the payment and the events of a reservation, and the number of occupied kayaks and of
// occupied bikes.
func (s service) expect(t *testing.T, id uuid.UUID, status, payment string, held int, told string) {
	t.Helper()
	var gotStatus, gotPayment, gotTold string
	err := s.pool.QueryRow(t.Context(), `SELECT status, payment->>'status', (SELECT coalesce(string_agg(type, ' ' ORDER BY sequence), '') FROM events e WHERE e.subject_id = r.id)
		FROM reservations r WHERE id = $1`, id).Scan(&gotStatus, &gotPayment, &gotTold)
	if err != nil {
		t.Fatal(err)
	}
	if gotStatus != status || gotPayment != payment || gotTold != told || s.held(t, kayak) != held || s.held(t, bike) != held {
		t.Errorf("it is %s, its charge %s, holding %d kayaks and %d bikes, told are %q; want %s, %s, %d, %q",
			gotStatus, gotPayment, s.held(t, kayak), s.held(t, bike), gotTold, status, payment, held, told)
	}
}

// held returns the number of occupied units of a rental, on any date.
func (s service) held(t *testing.T, id string) int {
	t.Helper()
	var n int
	err := s.pool.QueryRow(t.Context(), `SELECT (SELECT coalesce(sum(quantity), 0) FROM reservations WHERE rental_id = $1 AND status IN ('pending', 'reserved', 'picked_up'))
		+ (SELECT coalesce(sum(quantity), 0) FROM extra_units WHERE rental_id = $1)`, id).Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

const created = "reservation.created"

func TestAReservationWaitsForItsPaymentAndIsConfirmedByIt(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	key := uuid.NewString()
	made := s.mustReserve(t, key, twoHours())
	due := s.clock.Now().Add(expiresAfter)
	want := &booking.Payment{Provider: "stripe", Status: booking.PaymentOpen, Amount: "26.00", Refunded: "0.00", DueAt: &due, Policy: s.bank.policy}
	if diff := cmp.Diff(want, made.Payment); diff != "" || made.Status != rental.StatusPending || *made.Total != "26.00" || made.CheckoutURL == "" {
		t.Errorf("made %+v\n%s", made, diff)
	}
	asked := booking.NewCharge{Slug: "harbor", Name: "1 × Thing, 1 × Thing", Amount: 2600, Currency: "EUR", Manage: made.ManageURL}
	if diff := cmp.Diff(asked, s.bank.of(made.ID).asked); diff != "" {
		t.Error(diff)
	}
	if again := s.mustReserve(t, key, twoHours()); again.ID != made.ID || again.CheckoutURL != made.CheckoutURL {
		t.Errorf("a second click: %+v", again)
	}
	publish := func(public bool) { // hidden rentals cannot be reserved
		s.edit(func(o *catalog.Snapshot) {
			for i := range o.Rentals {
				o.Rentals[i].Active = public
			}
		})
	}
	publish(false)
	if again := s.mustReserve(t, key, twoHours()); again.ID != made.ID || again.CheckoutURL != made.CheckoutURL || cmp.Diff(want, again.Payment) != "" {
		t.Errorf("a click when nothing is lent any more: %+v", again)
	}
	publish(true)
	s.step(t)
	s.expect(t, made.ID, "pending", "open", 1, created)
	if _, err := s.as(actor.Page, "", with(wanted(kayak, 3, "2027-06-11", "2027-06-11", "10:00", "12:00"), bike, 3)); !fault.Is(err, fault.Conflict) {
		t.Errorf("what waits for its payment is reserved once more: %v", err)
	}
	if _, err := s.client.Move(t.Context(), "harbor", made.ID, rental.MovePickup); !fault.Is(err, fault.Conflict) {
		t.Errorf("picked up before it is paid: %v", err)
	}
	s.bank.pay(made.ID)
	s.step(t)
	s.step(t)
	s.expect(t, made.ID, "reserved", "paid", 1, created+" payment.succeeded reservation.confirmed")
	if again := s.mustReserve(t, key, twoHours()); again.ID != made.ID || again.CheckoutURL != "" || again.Status != rental.StatusReserved {
		t.Errorf("a click once it is paid: %+v", again)
	}
	if report, err := s.client.RevenueReport(t.Context(), "harbor", juneReport()); err != nil || report.Rows[0].Paid != "26.00" {
		t.Errorf("the revenue is %+v, %v", report, err)
	}
	s.move(t, made.ID, rental.MovePickup)
	if back := s.move(t, made.ID, rental.MoveReturn); back.Payment.Status != booking.PaymentPaid || s.held(t, bike) != 0 {
		t.Errorf("back: %+v", back)
	}
}

func TestAReservationEndsAsItsChargeDoes(t *testing.T) {
	t.Parallel()
	const expired = created + " payment.expired reservation.cancelled"
	byOwner := func(t *testing.T, s service, r *rental.Reservation) {
		if _, err := s.client.Cancel(t.Context(), "harbor", r.ID, booking.Cancel{}); err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		happens        func(t *testing.T, s service, r *rental.Reservation)
		status, charge string
		held           int
		told           string
		given          []int64
	}{
		"nobody pays":     {func(*testing.T, service, *rental.Reservation) {}, "cancelled", "cancelled", 0, expired, nil},
		"paid at the end": {func(_ *testing.T, s service, r *rental.Reservation) { s.bank.pay(r.ID) }, "reserved", "paid", 1, created + " payment.succeeded reservation.confirmed", nil},
		"an attempt fails": {func(t *testing.T, s service, r *rental.Reservation) {
			at := s.clock.Now()
			s.bank.of(r.ID).FailedAt = &at
			s.step(t)
		}, "cancelled", "cancelled", 0, created + " payment.failed payment.expired reservation.cancelled", nil},
		"booking is away": {func(t *testing.T, s service, _ *rental.Reservation) {
			s.bank.away = func() bool { return true }
			s.clock.Advance(2 * expiresAfter)
			if err := s.news.Ask(t.Context()); !fault.Is(err, fault.PeerUnavailable) {
				t.Errorf("asked: %v", err)
			}
			s.bank.away = nil
		}, "cancelled", "cancelled", 0, expired, nil},
		"given up": {byOwner, "cancelled", "cancelled", 0, created + " reservation.cancelled", nil},
		"given up while it is paid": {func(t *testing.T, s service, r *rental.Reservation) {
			byOwner(t, s, r)
			s.bank.pay(r.ID)
		}, "cancelled", "paid", 0, created + " reservation.cancelled payment.succeeded payment.refunded", []int64{2600}},
		"given up after it was paid, which nobody knew": {func(t *testing.T, s service, r *rental.Reservation) {
			s.bank.pay(r.ID)
			byOwner(t, s, r)
		}, "cancelled", "paid", 0, created + " reservation.cancelled payment.succeeded payment.refunded", []int64{2600}},
		"paid too late, while rental was away": {func(_ *testing.T, s service, r *rental.Reservation) {
			s.clock.Advance(expiresAfter)
			s.bank.step()
			a := s.bank.of(r.ID)
			a.paid = true
			s.bank.wasPaid(a)
		}, "cancelled", "paid", 0, created + " payment.succeeded reservation.cancelled payment.refunded", []int64{2600}},
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
			made := s.mustReserve(t, key, twoHours())
			c.happens(t, s, made)
			s.clock.Advance(expiresAfter)
			s.step(t)
			s.step(t)
			s.expect(t, made.ID, c.status, c.charge, c.held, c.told)
			if given := s.bank.of(made.ID).given; !slices.Equal(given, c.given) {
				t.Errorf("%v went back, want %v", given, c.given)
			}
			if c.told != "" {
				seen, err := s.client.Managed(t.Context(), strings.TrimPrefix(made.ManageURL, "https://book.example.org/m/"))
				if unpaid := strings.HasSuffix(c.told, " payment.expired reservation.cancelled"); err != nil || seen.Reservation.Unpaid != unpaid {
					t.Errorf("by the link: %+v, %v", seen, err)
				}
			}
			if again, err := s.as(actor.Page, key, twoHours()); err != nil || (again.ID == made.ID) != (c.told != "") {
				t.Errorf("a click afterwards: %+v, %v", again, err)
			}
		})
	}
}

func TestAReservationWhoseChargeCannotBeOpenedIsNotMade(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func() bool{
		"booking is not reached": func() bool { return true },
		"its answer is lost":     func() func() bool { calls := 0; return func() bool { calls++; return calls == 2 } }(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startOnlinePayment(t)
			s.bank.away = away
			key := uuid.NewString()
			if _, err := s.as(actor.Page, key, twoHours()); !fault.Is(err, fault.PaymentUnavailable) {
				t.Errorf("got %v", err)
			}
			s.bank.away = nil
			if n := s.held(t, kayak) + s.held(t, bike); n != 0 {
				t.Errorf("%d units are held", n)
			}
			if made := s.mustReserve(t, key, twoHours()); made.CheckoutURL == "" {
				t.Errorf("the same key again: %+v", made)
			}
			s.clock.Advance(2 * expiresAfter)
			s.step(t)
			for id, a := range s.bank.charges {
				if a.Status != booking.ChargeCancelled {
					t.Errorf("%s: its charge is %s", id, a.Status)
				}
			}
		})
	}
}

// TestOf64WhoPayForBikesOnlineNobodyPaysForWhatIsNotThere lets 64 customers reserve 10 bikes. Some pay, some cancel,
// and unpaid charges expire. In the end, exactly the reservations that are paid and not refunded occupy bikes.
func TestOf64WhoPayForBikesOnlineNobodyPaysForWhatIsNotThere(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		made []uuid.UUID
	)
	for range 64 {
		wg.Go(func() {
			key, n := uuid.NewString(), wanted(bike, 1, "2027-06-20", "2027-06-21")
			r, err := s.as(actor.Page, key, n)
			for fault.Is(err, fault.OutcomeUnknown) { // a refusal may be stored too late: retry
				r, err = s.as(actor.Page, key, n)
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
		t.Errorf("%d of 10 are held", len(made))
	}
	s.clock.Advance(expiresAfter)
	for i, id := range made {
		if i%2 == 0 {
			wg.Go(func() { s.bank.pay(id) })
		}
		if i%3 == 0 {
			wg.Go(func() { _, _ = s.client.Cancel(t.Context(), "harbor", id, booking.Cancel{Refund: booking.RefundFull}) })
		}
		wg.Go(func() { _ = s.news.Ask(t.Context()) })
		wg.Go(func() { s.bank.step() })
		wg.Go(func() { _ = s.news.Tell(t.Context()) })
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
		a := s.bank.of(id)
		for _, n := range a.given {
			back += n
		}
		switch paid := a.Status == booking.ChargePaid; {
		case r.Status == rental.StatusReserved && paid && back == 0:
			kept++
		case r.Status == rental.StatusCancelled && (!paid || back == a.Amount && len(a.given) == 1):
		default:
			t.Errorf("it is %s, its charge %s, and %v went back", r.Status, a.Status, a.given)
		}
	}
	if held := s.held(t, bike); held != kept {
		t.Errorf("%d are held, and %d reserved", held, kept)
	}
}

// TestByTheLinkAReservationIsPaidAndCancelledWithItsRefund shows that customers see, pay and cancel a reservation with
// its link. They get the refund that they were shown (lifecycle.md §4, §5).
func TestByTheLinkAReservationIsPaidAndCancelledWithItsRefund(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	made := s.mustReserve(t, "", twoHours())
	token := strings.TrimPrefix(made.ManageURL, "https://book.example.org/m/")
	see := func(when, status string, pays bool, amount json.Number, percent int) {
		t.Helper()
		m, err := s.client.Managed(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		want := booking.CancellationRefund{Amount: amount, Percent: percent, Currency: "EUR"}
		if r := m.Reservation; r.Cancellation.Refund != want || r.Status != status || r.CanPay != pays || r.Payment == nil {
			t.Errorf("%s: %+v", when, r)
		}
	}
	see("to be paid", "pending", true, "0.00", 0)
	if _, text := s.calendar(t, token); !strings.Contains(text, "STATUS:TENTATIVE") {
		t.Errorf("to be paid:\n%s", text)
	}
	if open, err := s.client.OpenPayment(t.Context(), token); err != nil || open.CheckoutURL != made.CheckoutURL || open.Amount != "26.00" {
		t.Errorf("paying again: %+v, %v", open, err)
	}
	s.bank.pay(made.ID)
	see("back from the page, before anything asked", "reserved", false, "13.00", 50)
	if _, err := s.client.OpenPayment(t.Context(), token); !fault.Is(err, fault.Conflict) {
		t.Errorf("to pay what is paid: %v", err)
	}
	s.bank.away = func() bool { return true } // a cancellation does not wait for booking
	if _, err := s.client.CancelByLink(t.Context(), token, booking.CancelByLink{Refund: new(json.Number("26.00"))}); !fault.Is(err, fault.Conflict) {
		t.Errorf("another refund than was shown: %v", err)
	}
	m, err := s.client.CancelByLink(t.Context(), token, booking.CancelByLink{Refund: new(json.Number("13.00"))})
	if err != nil || m.Reservation.Status != rental.StatusCancelled || m.Reservation.Payment.Refund.Status != booking.RefundPending {
		t.Fatalf("cancelled %+v, %v", m, err)
	}
	s.bank.away = nil
	for range 3 {
		s.step(t)
	}
	s.expect(t, made.ID, "cancelled", "paid", 0, created+" payment.succeeded reservation.confirmed reservation.cancelled payment.refunded")
	if given := s.bank.of(made.ID).given; !slices.Equal(given, []int64{1300}) {
		t.Errorf("%v went back, want 13.00 once", given)
	}
}

// TestTheOwnerRefundsAReservationAsTheyWant shows that the owner chooses the refund, and can repeat a refund that the
// provider refused (lifecycle.md §4).
func TestTheOwnerRefundsAReservationAsTheyWant(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	made := s.mustReserve(t, "", twoHours())
	s.bank.pay(made.ID)
	s.step(t)
	if got, err := s.client.Cancellation(t.Context(), "harbor", made.ID); err != nil || !got.Allowed || got.Refund.Amount != "13.00" {
		t.Errorf("by the policy: %+v, %v", got, err)
	}
	if _, err := s.client.Refund(t.Context(), "harbor", made.ID, booking.NewRefund{}); !fault.Is(err, fault.Conflict) {
		t.Errorf("refunded while it is reserved: %v", err)
	}
	if _, err := s.client.Cancel(t.Context(), "harbor", made.ID, booking.Cancel{Refund: "26.01"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("more than was paid: %v", err)
	}
	s.bank.refuses = true
	cancelled, err := s.client.Cancel(t.Context(), "harbor", made.ID, booking.Cancel{Refund: "10.50"})
	if err != nil || cancelled.Payment.Refund.Amount != "10.50" {
		t.Fatalf("cancelled %+v, %v", cancelled, err)
	}
	if _, err := s.client.Refund(t.Context(), "harbor", made.ID, booking.NewRefund{}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a second refund at once: %v", err)
	}
	s.step(t)
	if shown, err := s.client.Reservation(t.Context(), "harbor", made.ID); err != nil || shown.Payment.Refund.Status != booking.RefundRefused || shown.Payment.Refund.Reason == "" {
		t.Errorf("refused, and the owner sees %+v, %v", shown, err)
	}
	s.bank.refuses = false
	if _, err := s.client.Refund(t.Context(), "harbor", made.ID, booking.NewRefund{}); err != nil {
		t.Error(err)
	}
	s.step(t)
	if given := s.bank.of(made.ID).given; !slices.Equal(given, []int64{2600}) {
		t.Errorf("%v went back, want all that was left", given)
	}
}

func TestADepositIsThatOfEachUnitAndTheCustomerMayChoose(t *testing.T) {
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
					r.Price, r.PaymentRequirement, r.DepositValue = 1000, c.requirement, new(decimal.RequireFromString(c.value))
				}
			}
		})
		n := wanted(bike, 2, "2027-06-11", "2027-06-13") // three days cost 30.00 for each bike
		n.PaymentChoice = c.choice
		made, err := s.as(actor.Page, "", n)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		amount, status := "", rental.StatusReserved
		if made.Payment != nil {
			amount, status = made.Payment.Amount.String(), rental.StatusPending
		}
		if amount != c.amount || made.Status != status || (made.CheckoutURL != "") != (amount != "") {
			t.Errorf("%+v: %+v, %+v", c, made, made.Payment)
		}
		if _, err := s.client.Cancel(t.Context(), "harbor", made.ID, booking.Cancel{}); err != nil {
			t.Error(err)
		}
	}
	n := wanted(bike, 1, "2027-06-11", "2027-06-11")
	n.PaymentChoice = "cash"
	if _, err := s.as(actor.Page, "", n); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("another choice: %v", err)
	}
	if made, err := s.as(actor.Owner, "", wanted(bike, 1, "2027-06-11", "2027-06-11")); err != nil || made.Payment != nil {
		t.Errorf("the owner: %+v, %v", made, err)
	}
}

func juneReport() report.Query {
	return report.Query{From: timespan.NewDate(2027, time.June, 1), To: timespan.NewDate(2027, time.June, 30), By: report.Month}
}

// TestAReservationLearnsWhatTheProviderReportsLater shows that later reports of the provider change the reservation and
// the owner's list. Rental does not request that charge.
func TestAReservationLearnsWhatTheProviderReportsLater(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	made := s.mustReserve(t, uuid.NewString(), twoHours())
	s.bank.pay(made.ID)
	s.step(t)
	paid := created + " payment.succeeded reservation.confirmed"
	for _, c := range []struct {
		change func(*booking.Charge)
		told   string
		filter string
	}{
		{func(c *booking.Charge) { c.Refunded, c.RefundedElsewhere = 600, 600 }, " payment.refunded", booking.PaymentPaid},
		{func(c *booking.Charge) { c.DisputeStatus = booking.DisputeOpen }, " payment.disputed", booking.PaymentDisputed},
		{func(c *booking.Charge) { c.DisputeStatus = booking.DisputeWon }, " payment.disputed", booking.PaymentDisputed},
		{func(c *booking.Charge) {
			c.RefundNumber, c.RefundAmount, c.RefundStatus = 1, 100, booking.RefundRefused
		},
			" payment.refund_failed", booking.PaymentRefundFailed},
	} {
		if list, err := s.client.Reservations(t.Context(), "harbor", rental.Filter{Payment: c.filter}, request.Page{}); err != nil ||
			(len(list.Reservations) == 1) != strings.HasSuffix(paid, c.told) && c.filter != booking.PaymentPaid {
			t.Errorf("before%s the list has %+v, %v", c.told, list, err)
		}
		s.bank.reports(made.ID, c.change)
		for range 2 {
			if err := s.news.Learn(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		paid += c.told
		s.expect(t, made.ID, "reserved", "paid", 1, paid)
		list, err := s.client.Reservations(t.Context(), "harbor", rental.Filter{Payment: c.filter}, request.Page{})
		if err != nil || len(list.Reservations) != 1 {
			t.Errorf("after%s the list has %+v, %v", c.told, list, err)
		}
	}
	if list, err := s.client.Reservations(t.Context(), "harbor", rental.Filter{Payment: booking.PaymentOpen}, request.Page{}); err != nil || len(list.Reservations) != 0 {
		t.Errorf("open are %+v, %v", list, err)
	}
	if _, err := s.client.Reservations(t.Context(), "harbor", rental.Filter{Payment: "lost"}, request.Page{}); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("an unknown payment: %v", err)
	}
}
