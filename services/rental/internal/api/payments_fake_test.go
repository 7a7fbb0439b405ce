package api_test

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// expiresAfter is the time that a customer has for paying.
const expiresAfter = 30 * time.Minute

// fakePayments is a fake of booking and its payment provider, as rental calls them (booking's docs/decisions/022). Its
// payments can be paid, and they expire.
type fakePayments struct {
	clock  *clock.Manual
	policy refund.Policy

	mu             sync.Mutex
	payments       map[uuid.UUID]*fakePayment
	open           map[uuid.UUID]booking.OpenReservation // reservations that count as open for a customer
	refusesRefunds bool                                  // the provider refuses refunds
	err            error
	// countErr is returned by Count if it is not nil.
	countErr error
	// shouldFail is called before and after the work of each method. If it returns true, the method fails there.
	shouldFail func() bool
}

// fakePayment is a payment and its state at the provider.
type fakePayment struct {
	booking.PaymentState
	business     uuid.UUID
	req          booking.NewReservationPayment
	isPaid       bool // at the provider; booking may not know it yet
	refunds      []int64
	isLate       bool // paid after booking had closed it
	reports      int64
	acknowledged int64 // the last value of `news` that rental has stored
}

var _ usecase.Payments = (*fakePayments)(nil)

func newFakePayments(c *clock.Manual) *fakePayments {
	return &fakePayments{clock: c, payments: map[uuid.UUID]*fakePayment{},
		open: map[uuid.UUID]booking.OpenReservation{}}
}

func (b *fakePayments) mustFail() bool { return b.shouldFail != nil && b.shouldFail() }

func (b *fakePayments) errUnknown() error { return fault.Unknown(nil) }

func (b *fakePayments) errUnavailable() error {
	return fault.New(fault.PeerUnavailable, "booking is away")
}

func (b *fakePayments) Open(_ context.Context, business, id uuid.UUID,
	req booking.NewReservationPayment) (*booking.ReservationCheckout, error) {
	if b.mustFail() {
		return nil, b.errUnavailable()
	}
	b.mu.Lock()
	if b.err != nil {
		defer b.mu.Unlock()
		return nil, b.err
	}
	a, ok := b.payments[id]
	if !ok {
		a = &fakePayment{business: business, req: req, PaymentState: booking.PaymentState{
			Provider: "stripe", Status: booking.PaymentStateOpen, Amount: req.Amount,
			DueAt: b.clock.Now().Add(expiresAfter), Policy: b.policy, Step: 1,
		}}
		b.payments[id] = a
	}
	checkout := &booking.ReservationCheckout{Payment: a.PaymentState, CheckoutURL: "https://pay.example/" + id.String()}
	b.mu.Unlock()
	if b.mustFail() {
		return nil, b.errUnknown()
	}
	return checkout, nil
}

func (b *fakePayments) FindCheckout(_ context.Context, _, id uuid.UUID) (*booking.ReservationCheckout, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a, ok := b.payments[id]
	if !ok || !a.CanPay(b.clock.Now()) {
		return nil, fault.New(fault.Conflict, "nothing is to be paid")
	}
	return &booking.ReservationCheckout{Payment: a.PaymentState, CheckoutURL: "https://pay.example/" + id.String()}, nil
}

func (b *fakePayments) List(_ context.Context, ids []booking.ReservationID) ([]booking.ReservationPayment, error) {
	if b.mustFail() {
		return nil, b.errUnavailable()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var payments []booking.ReservationPayment
	for _, r := range ids {
		if a, ok := b.payments[r.ID]; ok {
			payments = append(payments, booking.ReservationPayment{ReservationID: r, Payment: a.PaymentState})
		}
	}
	return payments, nil
}

func (b *fakePayments) ListReports(context.Context) ([]booking.ReservationPayment, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var payments []booking.ReservationPayment
	for id, a := range b.payments {
		if a.acknowledged < a.reports {
			payments = append(payments,
				booking.ReservationPayment{ReservationID: booking.ReservationID{BusinessID: a.business,
					ID: id}, Payment: a.PaymentState, Reports: a.reports})
		}
	}
	return payments, nil
}

func (b *fakePayments) AcknowledgeReports(_ context.Context, acks []booking.ReportAcknowledgement) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range acks {
		b.payments[n.ID].acknowledged = n.Reports
	}
	return nil
}

// report changes a paid payment, as booking does after a report of the provider.
func (b *fakePayments) report(id uuid.UUID, change func(*booking.PaymentState)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.payments[id]
	b.clock.Advance(time.Second)
	change(&a.PaymentState)
	a.UpdatedAt = b.clock.Now()
	a.reports++
}

func (b *fakePayments) Close(_ context.Context, _, id uuid.UUID,
	req booking.ClosePayment) (*booking.PaymentState, error) {
	if b.mustFail() {
		return nil, b.errUnavailable()
	}
	b.mu.Lock()
	a, ok := b.payments[id]
	if !ok {
		b.mu.Unlock()
		return nil, fault.New(fault.NotFound, "no payment")
	}
	requested := booking.NumberedRefund{Number: 1, Part: refund.Part{Amount: a.Amount, Percent: 100}}
	if req.Refund != nil {
		requested = *req.Refund
	}
	switch {
	case a.Status == booking.PaymentStateOpen:
		a.Status = booking.PaymentStateCancelling
	case a.Status == booking.PaymentStatePaid && requested.Number > a.RefundNumber && requested.Amount > 0:
		a.startRefund(requested.Part)
	}
	reported := a.PaymentState
	b.mu.Unlock()
	if b.mustFail() {
		return nil, b.errUnknown()
	}
	return &reported, nil
}

func (a *fakePayment) startRefund(part refund.Part) {
	a.RefundNumber++
	a.RefundAmount, a.RefundPercent, a.RefundStatus = part.Amount, part.Percent, booking.RefundPending
}

// pay pays a payment on the provider's page, which reports the payment to booking at once. It returns false if the page
// is closed.
func (b *fakePayments) pay(id uuid.UUID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.payments[id]
	if a == nil || a.Status == booking.PaymentStateCancelled || a.isPaid {
		return false
	}
	a.isPaid = true
	b.setPaid(a)
	return true
}

// setPaid sets a payment to paid. If the payment was already closed, the whole amount becomes a pending refund.
func (b *fakePayments) setPaid(a *fakePayment) {
	isCancelled := a.Status == booking.PaymentStateCancelling || a.Status == booking.PaymentStateCancelled
	a.Status = booking.PaymentStatePaid
	if isCancelled {
		a.isLate = true
		a.startRefund(refund.Part{Amount: a.Amount, Percent: 100})
	}
}

// step runs booking's reconciliation once. It closes due payments and makes pending refunds.
func (b *fakePayments) step() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.payments {
		if a.Status == booking.PaymentStateCancelling || a.Status == booking.PaymentStateOpen &&
			!a.DueAt.After(b.clock.Now()) {
			a.Status = booking.PaymentStateCancelled
		}
		if a.RefundStatus == booking.RefundPending {
			a.RefundStatus, a.RefundReason = booking.RefundRefused, "charge_disputed"
			if !b.refusesRefunds {
				a.RefundStatus, a.RefundReason = booking.RefundRefunded, ""
				a.Refunded += a.RefundAmount
				a.refunds = append(a.refunds, a.RefundAmount)
			}
		}
	}
}

// find returns the payment of a reservation, or nil if it has none.
func (b *fakePayments) find(id uuid.UUID) *fakePayment {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.payments[id]
}

// CountReservation counts the open reservations with the same spelling of the e-mail address.
func (b *fakePayments) CountReservation(_ context.Context, _, id uuid.UUID, req booking.OpenReservation) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.countErr != nil {
		return b.countErr
	}
	n := 0
	for other, o := range b.open {
		if other != id && o.CustomerEmail == req.CustomerEmail && o.EndsAt.After(b.clock.Now()) {
			n++
		}
	}
	if n >= req.MaxOpen {
		return fault.New(fault.TooManyOpen, "too many are open")
	}
	b.open[id] = req
	return nil
}

func (b *fakePayments) UncountReservation(_ context.Context, _, id uuid.UUID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, id)
	return nil
}
