package api_test

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
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
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// openTicketPayments returns a shop that sells tickets of an event tonight for 60 and 120 EUR, to be paid online. It
// refunds 50 % until two hours before the start.
func openTicketPayments(t *testing.T, stripeURL string) *paymentFixture {
	t.Helper()
	s := openShop(t, stripeURL)
	s.change(withGala(func(e *catalog.Event) {
		e.Public, e.PaymentRequirement = true, catalog.RequirementFull
		e.Tiers[0].Price, e.Tiers[1].Price = 6000, 12000
	}))
	s.change(func(o *catalog.Snapshot) {
		until := 1
		o.Payments.Modes.Events = catalog.ModeOnline
		o.CancellationPolicy = []catalog.CancellationRule{{HoursBefore: 2, RefundPercent: 50}}
		o.SelfService.CancelUntilHours = &until
	})
	return s
}

// newTierOrder sets the order to `n` tickets of the tier Seat and `vips` of the tier VIP.
func newTierOrder(n, vips int) func(*booking.NewTicket) {
	return func(order *booking.NewTicket) {
		order.TierID, order.Quantity = uuid.Nil, 0
		order.Tiers = []booking.OrderedTier{{TierID: seatID, Quantity: n}, {TierID: vipID, Quantity: vips}}
		order.Tiers = slices.DeleteFunc(order.Tiers, func(tier booking.OrderedTier) bool { return tier.Quantity == 0 })
	}
}

// order buys tickets and returns the order and the id of its Checkout Session.
func (s *paymentFixture) order(key string, change func(*booking.NewTicket)) (*booking.Ticket, string) {
	s.t.Helper()
	order, err := s.buyTickets(key, change)
	if err != nil {
		s.t.Fatal(err)
	}
	return order, order.CheckoutURL[strings.LastIndexByte(order.CheckoutURL, '/')+1:]
}

func (s *paymentFixture) paysFor(f *fakeStripe, id string) {
	s.t.Helper()
	f.checkOut(s.t.(*testing.T), id)
	s.sendEvent("checkout.session.completed", map[string]any{"id": id, "payment_status": "paid"})
}

// expectOrder fails the test unless the only order and its charge have these statuses, and the counters of sold tickets
// have the value `occupied`.
func (s *paymentFixture) expectOrder(status, charge string, occupied int) {
	s.t.Helper()
	var gotStatus, gotCharge string
	err := s.pool.QueryRow(s.t.Context(), `SELECT t.status, p.status FROM tickets t
		JOIN payments p ON p.business_id = t.business_id AND p.subject_id = t.id AND p.subject_kind = 'ticket'`).Scan(&gotStatus, &gotCharge)
	if err != nil {
		s.t.Fatal(err)
	}
	inEvent, inTiers := s.count(`SELECT coalesce(sum(sold), 0) FROM event_sales`),
		s.count(`SELECT coalesce(sum(sold), 0) FROM tier_sales`)
	if gotStatus != status || gotCharge != charge || inEvent != occupied || inTiers != occupied {
		s.t.Errorf("the order is %s, its charge %s, holding %d of the event and %d of tiers; want %s, %s, %d",
			gotStatus, gotCharge, inEvent, inTiers, status, charge, occupied)
	}
}

func TestPaymentConfirmsTickets(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openTicketPayments(t, f.URL)
	order, id := s.order("k", newTierOrder(3, 1))
	due := now.Add(expiresAfter)
	want := &booking.Payment{
		Provider: "stripe", Status: booking.PaymentOpen, Amount: "270.00", Refunded: "0.00", DueAt: &due,
		Policy: refund.NewPolicy(s.offer),
	}
	if diff := cmp.Diff(want, order.Payment); diff != "" || order.Status != booking.StatusPending ||
		*order.Total != "270.00" {
		t.Errorf("ordered %+v\n%s", order, diff)
	}
	page := f.page(id)
	for name, value := range map[string]string{
		"line_items[0][price_data][unit_amount]":        "27000",
		"line_items[0][price_data][product_data][name]": "Gala: 3 × Seat, 1 × VIP",
		"success_url": order.ManageURL + "?payment=done", "cancel_url": order.ManageURL + "?payment=open",
		"metadata[slotmesh_ticket]": order.ID.String(),
		"expires_at":                strconv.FormatInt(due.Add(31*time.Minute).Unix(), 10),
		"payment_intent_data[metadata][slotmesh_ticket]": order.ID.String(),
	} {
		if page.params[name] != value {
			t.Errorf("Stripe was asked for %s %q, want %q", name, page.params[name], value)
		}
	}
	if second, err := s.buyTickets("k", newTierOrder(3, 1)); err != nil || cmp.Diff(order, second) != "" {
		t.Errorf("a second click: %+v, %v", second, err)
	}
	s.change(withGala(func(e *catalog.Event) { e.Public = false }))
	if second, err := s.buyTickets("k", newTierOrder(3, 1)); err != nil || cmp.Diff(order, second) != "" {
		t.Errorf("a click when they are sold to nobody any more: %+v, %v", second, err)
	}
	s.change(withGala(func(e *catalog.Event) { e.Public = true }))
	s.sendEvent("checkout.session.completed", map[string]any{"id": id, "payment_status": "unpaid"})
	s.expectOrder("pending", "open", 4)
	if _, err := s.buyTickets("", newTierOrder(2, 0)); !fault.Is(err, fault.Conflict) {
		t.Errorf("what waits for its payment is sold once more: %v", err)
	}
	s.paysFor(f, id)
	// Stripe sends an event at least once.
	s.sendEvent("checkout.session.completed", map[string]any{"id": id, "payment_status": "paid"})
	s.expectOrder("sold", "paid", 4)
	s.expectEvents(order.ID, "ticket.created", "payment.succeeded", "ticket.sold")
	list, err := s.client().Tickets(t.Context(), s.offer.ID, booking.TicketFilter{}, request.Page{})
	if err != nil || len(list.Tickets) != 1 || list.Tickets[0].Status != booking.StatusSold ||
		list.Tickets[0].Payment.Status != booking.PaymentPaid {
		t.Errorf("the owner sees %+v, %v", list, err)
	}
	if second, err := s.buyTickets("k", newTierOrder(3, 1)); err != nil || second.ID != order.ID ||
		second.CheckoutURL != "" ||
		second.Status != booking.StatusSold {
		t.Errorf("a click once it is paid: %+v, %v", second, err)
	}
}

func TestUnpaidTicketsAreReleased(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act            func(s *paymentFixture, f *fakeStripe, id string)
		order, payment string
		occupied       int
		events         []string
	}{
		"nobody pays": {func(*paymentFixture, *fakeStripe, string) {}, "cancelled", "cancelled", 0,
			[]string{"ticket.created", "payment.expired", "ticket.cancelled"}},
		"paid at the end": {func(s *paymentFixture, f *fakeStripe, id string) {
			f.checkOut(s.t.(*testing.T), id)
		}, "sold", "paid", 2, []string{"ticket.created", "payment.succeeded", "ticket.sold"}},
		"Stripe ends it": {func(s *paymentFixture, _ *fakeStripe, id string) {
			s.sendEvent("checkout.session.expired", map[string]any{"id": id})
		}, "cancelled", "cancelled", 0, []string{"ticket.created", "payment.expired", "ticket.cancelled"}},
		"an attempt fails": {func(s *paymentFixture, f *fakeStripe, id string) {
			s.decline(id)
		}, "cancelled", "cancelled", 0, []string{"ticket.created", "payment.failed", "payment.expired",
			"ticket.cancelled"}},
		"its process dies before the page is noted": {func(s *paymentFixture, _ *fakeStripe, _ string) {
			for _, sql := range []string{`UPDATE payments SET status = 'creating', reference = NULL`,
				`UPDATE tickets SET sequence = 0`, `DELETE FROM events`} {
				if _, err := s.pool.Exec(context.Background(), sql); err != nil {
					s.t.Error(err)
				}
			}
		}, "cancelled", "cancelled", 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openTicketPayments(t, f.URL)
			order, id := s.order("k", newTierOrder(1, 1))
			c.act(s, f, id)
			s.clock.Advance(expiresAfter)
			s.step()
			s.expectOrder(c.order, c.payment, c.occupied)
			s.expectEvents(order.ID, c.events...)
			second, err := s.buyTickets("k", newTierOrder(1, 1))
			if err != nil || (second.ID == order.ID) != (c.events != nil) {
				t.Errorf("a click afterwards: %+v, %v", second, err)
			}
		})
	}
}

// decline simulates a payment in a Checkout Session that fails.
func (s *paymentFixture) decline(session string) {
	var id uuid.UUID
	if err := s.pool.QueryRow(context.Background(), `SELECT subject_id FROM payments WHERE reference = $1`,
		session).Scan(&id); err != nil {
		s.t.Fatal(err)
	}
	s.sendEvent("payment_intent.payment_failed", map[string]any{"id": "pi_any",
		"metadata": map[string]string{"slotmesh_business": s.offer.ID.String(), "slotmesh_ticket": id.String()}})
}

func TestUnopenedCheckoutSellsNoTickets(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]behavior{"fails": fails, "breaks": breaks} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFakeStripe(t)
			s := openTicketPayments(t, f.URL)
			f.set(m)
			if _, err := s.buyTickets("k", newTierOrder(2, 0)); !fault.Is(err, fault.PaymentUnavailable) {
				t.Errorf("got %v", err)
			}
			s.step()
			s.expectOrder("cancelled", "cancelled", 0)
			if n := s.count(`SELECT count(*) FROM events WHERE subject_kind = 'ticket'`); n != 0 {
				t.Errorf("%d events tell of what came to nothing", n)
			}
			f.set(answers)
			if order, err := s.buyTickets("k", newTierOrder(2, 0)); err != nil || order.CheckoutURL == "" {
				t.Errorf("the same key again: %+v, %v", order, err)
			}
		})
	}
}

// TestSellKeepsOrderIfPaymentMayBeStored loses the answer to the statement that stores a charge as open.
// The charge may be stored, and a repeated request may have returned it. So the order is not cancelled.
func TestSellKeepsOrderIfPaymentMayBeStored(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openTicketPayments(t, f.URL)
	pool, conns := testkit.OpenFaultyPool(t, s.pool)
	sales := usecase.NewTickets(store.New(pool), s.booker)
	f.opened = func() { conns.Break("cs_1", testkit.DropAnswer, false) } // loses the answer to storing the charge
	req := tickets(seatID, 2)
	ctx := idempotency.With(actor.With(t.Context(), thePage), idempotency.Request{Key: "k"})
	if result, err := sales.Sell(ctx, thePage, s.offer.ID, req); !fault.Is(err, fault.OutcomeUnknown) {
		t.Errorf("got %+v, %v", result, err)
	}
	if result, err := sales.Sell(ctx, thePage, s.offer.ID, req); err != nil || result.CheckoutURL == "" {
		t.Errorf("the same order again: %+v, %v", result, err)
	}
	s.expectOrder("pending", "open", 2)
}

// TestCustomerLinkPaysAndCancelsTickets shows that customers see, pay and cancel their tickets through
// the link. They get the refund that the page showed (lifecycle.md §4, §5).
func TestCustomerLinkPaysAndCancelsTickets(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openTicketPayments(t, f.URL)
	links := s.pages()
	order, id := s.order("", newTierOrder(1, 1))
	token := tokenOf(order.ManageURL)
	see := func(when, status string, pays bool, refund booking.Cancellation) {
		t.Helper()
		m, err := links.CustomerView(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		refund.Until, refund.Deadline = m.Ticket.Cancellation.Until, m.Ticket.Cancellation.Deadline
		refund.Steps = nil
		if refund.Refund.Percent > 0 {
			refund.Steps = []booking.RefundStep{{Until: *refund.Until, Percent: refund.Refund.Percent}}
		}
		if diff := cmp.Diff(refund, m.Ticket.Cancellation); diff != "" || m.Ticket.Status != status ||
			m.Ticket.CanPay != pays || *m.Ticket.Total != "180.00" {
			t.Errorf("%s: %+v\n%s", when, m.Ticket, diff)
		}
	}
	see("to be paid", "pending", true, preview("0.00", 0))
	s.decline(id)
	if second, err := s.payAgain(order.ManageURL); err != nil || second.URL != order.CheckoutURL {
		t.Errorf("paying again: %+v, %v", second, err)
	}
	s.paysFor(f, id)
	see("paid", "sold", false, preview("90.00", 50))
	if _, err := s.payAgain(order.ManageURL); !fault.Is(err, fault.Conflict) {
		t.Errorf("to pay what is paid: %v", err)
	}
	if _, err := links.Cancel(t.Context(), token, newAgreement("180.00")); !fault.Is(err, fault.Conflict) {
		t.Errorf("another refund than was shown: %v", err)
	}
	m, err := links.Cancel(t.Context(), token, newAgreement("90.00"))
	if err != nil || m.Ticket.Status != booking.StatusCancelled ||
		m.Ticket.Payment.Refund.Status != booking.RefundPending {
		t.Fatalf("cancelled %+v, %v", m, err)
	}
	if _, err := links.Cancel(t.Context(), token, newAgreement("90.00")); !fault.Is(err, fault.Conflict) {
		t.Errorf("cancelled twice: %v", err)
	}
	s.expectOrder("cancelled", "paid", 0)
	for range 2 {
		s.step()
		s.clock.Advance(time.Hour)
	}
	if got := f.sumRefunds("pi_of_" + id); !slices.Equal(got, []int64{9000}) {
		t.Errorf("refunds are %v, want 90.00 once", got)
	}
	see("cancelled", "cancelled", false,
		booking.Cancellation{Reason: "cancelled", Refund: booking.CancellationRefund{Amount: "0.00", Currency: "EUR"}})
	s.expectEvents(order.ID, "ticket.created", "payment.failed", "payment.succeeded", "ticket.sold", "ticket.cancelled",
		"payment.refunded")
}

func newAgreement(amount json.Number) booking.CancelByLink {
	return booking.CancelByLink{Refund: &amount}
}

func TestPaymentOfCancelledTicketsIsRefunded(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openTicketPayments(t, f.URL)
	order, id := s.order("", newTierOrder(1, 0))
	f.checkOut(t, id)
	if _, err := s.client().CancelTicket(t.Context(), s.offer.ID, order.ID, booking.Cancel{}); err != nil {
		t.Fatal(err)
	}
	s.expectOrder("cancelled", "cancelling", 0)
	s.step() // finds that the session is paid
	s.step()
	s.expectOrder("cancelled", "paid", 0)
	if got := f.sumRefunds("pi_of_" + id); !slices.Equal(got, []int64{6000}) {
		t.Errorf("refunds are %v, want 60.00 once", got)
	}
}

// TestConcurrentPaidOrdersNeverOversell has 64 buyers, of which some pay. The counters never exceed
// the capacity. In the end, exactly the paid tickets are sold.
func TestConcurrentPaidOrdersNeverOversell(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openTicketPayments(t, f.URL)
	s.change(withGala(func(e *catalog.Event) {
		e.Public, e.PaymentRequirement, e.TotalCapacity = true, catalog.RequirementFull, 30
		e.Tiers[0].Price, e.Tiers[1].Price, e.Tiers[0].Capacity, e.Tiers[1].Capacity = 6000, 12000, 28, 20
	}))
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		pages []string
	)
	for i := range 64 {
		wg.Go(func() {
			order, err := s.buyTickets(strconv.Itoa(i), newTierOrder(1, i%2))
			// Under this load, a refusal may not be stored in time. The buyer then repeats the request with its key.
			for fault.Is(err, fault.OutcomeUnknown) {
				order, err = s.buyTickets(strconv.Itoa(i), newTierOrder(1, i%2))
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				pages = append(pages, order.CheckoutURL[strings.LastIndexByte(order.CheckoutURL, '/')+1:])
			case !fault.Is(err, fault.Conflict):
				t.Errorf("a race that was lost: %v", err)
			}
		})
	}
	wg.Wait()
	if n := s.count(`SELECT sold FROM event_sales`); n > 30 || n < 29 {
		t.Errorf("%d of 30 are occupied", n)
	}
	for i, id := range pages {
		if i%3 == 0 {
			s.paysFor(f, id)
		}
	}
	s.clock.Advance(expiresAfter)
	s.step()
	order, occupied := s.count(`SELECT coalesce(sum(quantity), 0) FROM tickets WHERE status = 'sold'`),
		s.count(`SELECT sold FROM event_sales`)
	paid, waiting := s.count(`SELECT count(*) FROM payments WHERE status = 'paid'`),
		s.count(`SELECT count(*) FROM tickets WHERE status = 'pending'`)
	if order != occupied || paid != (len(pages)+2)/3 || waiting != 0 {
		t.Errorf("%d are sold and %d held by %d payments of %d pages; %d wait", order, occupied, paid, len(pages),
			waiting)
	}
}

func TestDepositIsMultipliedByTickets(t *testing.T) {
	t.Parallel()
	s := openTicketPayments(t, testkit.StartStripeMock(t).URL)
	deposit := func(requirement, value string) {
		s.change(func(o *catalog.Snapshot) {
			o.Events = slices.Clone(o.Events)
			o.Events[0].PaymentRequirement, o.Events[0].DepositValue, o.Events[0].TotalCapacity = requirement,
				new(decimal.RequireFromString(value)), 100
			o.Events[0].Tiers = slices.Clone(o.Events[0].Tiers)
			o.Events[0].Tiers[0].Capacity = 100
		})
	}
	for _, c := range []struct{ requirement, value, mode, choice, amount string }{
		{catalog.RequirementDepositPercent, "20", catalog.ModeOnline, "", "24.00"},
		{catalog.RequirementDepositFixed, "15.5", catalog.ModeOnline, "at_door", "31.00"},
		{catalog.RequirementDepositFixed, "100", catalog.ModeCustomerChoice, "online", "120.00"},
		{catalog.RequirementFull, "0", catalog.ModeCustomerChoice, "at_door", ""},
		{catalog.RequirementFull, "0", catalog.ModeCustomerChoice, "", ""},
		{catalog.RequirementFull, "0", catalog.ModeAtDoor, "online", ""},
		{catalog.RequirementNone, "0", catalog.ModeOnline, "online", ""},
	} {
		deposit(c.requirement, c.value)
		s.change(func(o *catalog.Snapshot) { o.Payments.Modes.Events = c.mode })
		order, err := s.buyTickets("", func(n *booking.NewTicket) { n.Quantity, n.PaymentChoice = 2, c.choice })
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		amount, status := "", "sold"
		if order.Payment != nil {
			amount, status = order.Payment.Amount.String(), "pending"
		}
		if amount != c.amount || order.Status != status || (order.CheckoutURL != "") != (amount != "") {
			t.Errorf("%+v: %+v, %+v", c, order, order.Payment)
		}
	}
	if _, err := s.buyTickets("", func(n *booking.NewTicket) { n.PaymentChoice = "cash" }); !fault.Is(err,
		fault.InvalidParameter) {
		t.Errorf("another choice: %v", err)
	}
}

// TestOwnerRefundsRequestedAmountOfTickets shows that the owner chooses the amount of a refund, and can request it
// again if the provider refuses it (lifecycle.md §4).
func TestOwnerRefundsRequestedAmountOfTickets(t *testing.T) {
	t.Parallel()
	f := newFakeStripe(t)
	s := openTicketPayments(t, f.URL)
	order, id := s.order("", newTierOrder(1, 0))
	s.paysFor(f, id)
	client, business := s.client(), s.offer.ID
	if got, err := client.TicketCancellation(t.Context(), business, order.ID); err != nil || !got.Allowed ||
		got.Refund.Amount != "30.00" {
		t.Errorf("by the policy: %+v, %v", got, err)
	}
	if _, err := client.RefundTicket(t.Context(), business, order.ID, booking.NewRefund{}); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("refunded while it is sold: %v", err)
	}
	if _, err := client.CancelTicket(t.Context(), business, order.ID, booking.Cancel{Refund: "60.01"}); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("more than was paid: %v", err)
	}
	f.set(refuses)
	cancelled, err := client.CancelTicket(t.Context(), business, order.ID, booking.Cancel{Refund: "20.50"})
	if err != nil || cancelled.Payment.Refund.Amount != "20.50" {
		t.Fatalf("cancelled %+v, %v", cancelled, err)
	}
	s.step()
	if order, err := client.Ticket(t.Context(), business, order.ID); err != nil ||
		order.Payment.Refund.Status != booking.RefundRefused || order.Payment.Refund.Reason == "" {
		t.Errorf("refused, and the owner sees %+v, %v", order, err)
	}
	f.set(answers)
	if _, err := client.RefundTicket(t.Context(), business, order.ID, booking.NewRefund{}); err != nil {
		t.Error(err)
	}
	s.step()
	if got := f.sumRefunds("pi_of_" + id); !slices.Equal(got, []int64{6000}) {
		t.Errorf("refunds are %v, want all that was left", got)
	}
}
