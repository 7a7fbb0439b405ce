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

// bank is a fake of booking and its payment provider, as rental calls them (booking's docs/decisions/022). Its charges
// can be paid, and they expire.
type bank struct {
	clock  *clock.Manual
	policy refund.Policy

	mu      sync.Mutex
	charges map[uuid.UUID]*account
	open    map[uuid.UUID]booking.OpenReservation // reservations that count as open for a customer
	refuses bool                                  // the provider refuses refunds
	err     error
	// countErr is returned by Count if it is not nil.
	countErr error
	// away is called before and after the work of each method. If it returns true, the method fails there.
	away func() bool
}

// account is a charge and its state at the provider.
type account struct {
	booking.Charge
	business uuid.UUID
	asked    booking.NewCharge
	paid     bool // at the provider; booking may not know it yet
	given    []int64
	late     bool // paid after booking had closed it
	news     int64
	noted    int64 // the last value of `news` that rental has stored
}

var _ usecase.Charges = (*bank)(nil)

func newBank(c *clock.Manual) *bank {
	return &bank{clock: c, charges: map[uuid.UUID]*account{}, open: map[uuid.UUID]booking.OpenReservation{}}
}

func (b *bank) fails() bool { return b.away != nil && b.away() }

func (b *bank) unknown() error { return fault.Unknown(nil) }

func (b *bank) gone() error { return fault.New(fault.PeerUnavailable, "booking is away") }

func (b *bank) Open(_ context.Context, business, id uuid.UUID, asked booking.NewCharge) (*booking.OpenedCharge, error) {
	if b.fails() {
		return nil, b.gone()
	}
	b.mu.Lock()
	if b.err != nil {
		defer b.mu.Unlock()
		return nil, b.err
	}
	a, there := b.charges[id]
	if !there {
		a = &account{business: business, asked: asked, Charge: booking.Charge{
			Provider: "stripe", Status: booking.ChargeOpen, Amount: asked.Amount,
			DueAt: b.clock.Now().Add(expiresAfter), Policy: b.policy, Step: 1,
		}}
		b.charges[id] = a
	}
	opened := &booking.OpenedCharge{Charge: a.Charge, CheckoutURL: "https://pay.example/" + id.String()}
	b.mu.Unlock()
	if b.fails() {
		return nil, b.unknown()
	}
	return opened, nil
}

func (b *bank) Page(_ context.Context, _, id uuid.UUID) (*booking.OpenedCharge, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a, there := b.charges[id]
	if !there || !a.CanPay(b.clock.Now()) {
		return nil, fault.New(fault.Conflict, "nothing is to be paid")
	}
	return &booking.OpenedCharge{Charge: a.Charge, CheckoutURL: "https://pay.example/" + id.String()}, nil
}

func (b *bank) Charges(_ context.Context, asked []booking.ReservationID) ([]booking.ReservationCharge, error) {
	if b.fails() {
		return nil, b.gone()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []booking.ReservationCharge
	for _, r := range asked {
		if a, there := b.charges[r.ID]; there {
			found = append(found, booking.ReservationCharge{ReservationID: r, Charge: a.Charge})
		}
	}
	return found, nil
}

func (b *bank) News(context.Context) ([]booking.ReservationCharge, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []booking.ReservationCharge
	for id, a := range b.charges {
		if a.noted < a.news {
			found = append(found, booking.ReservationCharge{ReservationID: booking.ReservationID{BusinessID: a.business,
				ID: id}, Charge: a.Charge, News: a.news})
		}
	}
	return found, nil
}

func (b *bank) Noted(_ context.Context, noted []booking.NotedCharge) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range noted {
		b.charges[n.ID].noted = n.News
	}
	return nil
}

// reports changes a paid charge, as booking does after a report of the provider.
func (b *bank) reports(id uuid.UUID, change func(*booking.Charge)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.charges[id]
	b.clock.Advance(time.Second)
	change(&a.Charge)
	a.UpdatedAt = b.clock.Now()
	a.news++
}

func (b *bank) Close(_ context.Context, _, id uuid.UUID, asked booking.CloseCharge) (*booking.Charge, error) {
	if b.fails() {
		return nil, b.gone()
	}
	b.mu.Lock()
	a, there := b.charges[id]
	if !there {
		b.mu.Unlock()
		return nil, fault.New(fault.NotFound, "no charge")
	}
	owed := booking.NumberedRefund{Number: 1, Part: refund.Part{Amount: a.Amount, Percent: 100}}
	if asked.Refund != nil {
		owed = *asked.Refund
	}
	switch {
	case a.Status == booking.ChargeOpen:
		a.Status = booking.ChargeCancelling
	case a.Status == booking.ChargePaid && owed.Number > a.RefundNumber && owed.Amount > 0:
		a.owe(owed.Part)
	}
	said := a.Charge
	b.mu.Unlock()
	if b.fails() {
		return nil, b.unknown()
	}
	return &said, nil
}

func (a *account) owe(owed refund.Part) {
	a.RefundNumber++
	a.RefundAmount, a.RefundPercent, a.RefundStatus = owed.Amount, owed.Percent, booking.RefundPending
}

// pay pays a charge on the provider's page, which reports the payment to booking at once. It returns false if the page
// is closed.
func (b *bank) pay(id uuid.UUID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.charges[id]
	if a == nil || a.Status == booking.ChargeCancelled || a.paid {
		return false
	}
	a.paid = true
	b.wasPaid(a)
	return true
}

// wasPaid sets a charge to paid. If the charge was already closed, the whole amount becomes a pending refund.
func (b *bank) wasPaid(a *account) {
	off := a.Status == booking.ChargeCancelling || a.Status == booking.ChargeCancelled
	a.Status = booking.ChargePaid
	if off {
		a.late = true
		a.owe(refund.Part{Amount: a.Amount, Percent: 100})
	}
}

// step runs booking's reconciliation once. It closes due charges and makes pending refunds.
func (b *bank) step() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.charges {
		if a.Status == booking.ChargeCancelling || a.Status == booking.ChargeOpen && !a.DueAt.After(b.clock.Now()) {
			a.Status = booking.ChargeCancelled
		}
		if a.RefundStatus == booking.RefundPending {
			a.RefundStatus, a.RefundReason = booking.RefundRefused, "charge_disputed"
			if !b.refuses {
				a.RefundStatus, a.RefundReason = booking.RefundRefunded, ""
				a.Refunded += a.RefundAmount
				a.given = append(a.given, a.RefundAmount)
			}
		}
	}
}

// of returns the account of a reservation, or nil if it has none.
func (b *bank) of(id uuid.UUID) *account {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.charges[id]
}

// Count counts the open reservations with the same spelling of the e-mail address.
func (b *bank) Count(_ context.Context, _, id uuid.UUID, asked booking.OpenReservation) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.countErr != nil {
		return b.countErr
	}
	n := 0
	for other, o := range b.open {
		if other != id && o.CustomerEmail == asked.CustomerEmail && o.EndsAt.After(b.clock.Now()) {
			n++
		}
	}
	if n >= asked.MaxOpen {
		return fault.New(fault.TooManyOpen, "too many are open")
	}
	b.open[id] = asked
	return nil
}

func (b *bank) Uncount(_ context.Context, _, id uuid.UUID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, id)
	return nil
}
