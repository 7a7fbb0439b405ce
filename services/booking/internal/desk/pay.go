package desk

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Payments keeps charges beside their bookings; [store.Store] says what its methods do and return.
type Payments interface {
	OpenPayment(ctx context.Context, p store.OpenPayment) error
	AbandonPayment(ctx context.Context, businessID, bookingID uuid.UUID, reference string, none bool, claim *store.Claim, now time.Time) error
}

var _ Payments = (*store.Store)(nil)

// Till is how the desk takes money.
type Till struct {
	Providers payment.Providers
	// Within bounds the creation of a charge.
	Within time.Duration
	// ExpiresAfter is how long a customer has to pay, before the booking is cancelled.
	ExpiresAfter time.Duration
}

// TakePayments connects the desk to payment providers. Without, whatever must be paid online is refused.
func (d *Desk) TakePayments(till Till) { d.till = till }

// charge says what of a booking is to be paid online now, nil where nothing is. Of the business's providers it takes the
// preferred one first, and then the first that can charge it.
func (d *Desk) charge(q question, prices []int64, total int64) (*store.NewPayment, error) {
	if !needsOnlinePayment(q.offer, q.body, q.services, total) {
		return nil, nil
	}
	due := payment.AmountDue(q.services, prices, q.offer.Money())
	if due == 0 {
		return nil, nil // what requires payment is free, or its deposit is less than the smallest coin
	}
	names := slices.Clone(q.offer.Payments.Providers)
	if i := slices.Index(names, q.body.PreferredProvider); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, q.body.PreferredProvider)
	}
	for _, name := range names {
		provider, connected := d.till.Providers[name]
		account := q.offer.Payments.Accounts[name]
		if !connected || account == "" {
			continue
		}
		if amount, err := provider.Chargeable(due, q.offer.Money()); err == nil {
			return &store.NewPayment{Provider: name, Account: account, Amount: amount, DueAt: q.now.Add(d.claimFor)}, nil
		}
	}
	return nil, fault.New(fault.PaymentUnavailable,
		"This booking must be paid online, and online payment is not available here; nothing was booked.")
}

// writePaid reserves the time, lets the provider create the charge while no transaction is open, and notes it. Where
// that fails, the booking is taken back; where this process dies, the reconciliation does it. Errors: as of write; the
// faults payment_unavailable, and outcome_unknown where the charge may be noted and the booking could not be taken back.
func (d *Desk) writePaid(ctx context.Context, q question, b store.NewBooking) (Answer, error) {
	if err := d.book(ctx, b); err != nil {
		return Answer{}, err
	}
	mayBeOpen := false
	intent, err := d.createCharge(ctx, q, b)
	if err == nil {
		var answer Answer
		if answer, err = d.openCharge(ctx, q, b, intent); err == nil {
			return answer, nil
		}
		mayBeOpen = !errors.Is(err, store.ErrPaymentOver)
	}
	d.tel.Logger.WarnContext(ctx, "a charge could not be opened; its booking is taken back", "booking", b.ID, "error", err)
	refused := errors.Is(err, payment.ErrRefused)
	if !d.abandon(ctx, b, intent.Reference, refused) && mayBeOpen {
		return Answer{}, fault.Unknown(err)
	}
	return Answer{}, unpaid(refused)
}

// unpaid is the refusal where a charge could not be opened. To try again helps only where the provider has not refused it.
func unpaid(refused bool) error {
	if refused {
		return fault.New(fault.PaymentUnavailable, "The payment provider refuses to charge this amount online, so nothing was booked; "+
			"where payment_modes.services is customer_choice, send payment_choice at_door, else ask the business.")
	}
	f := fault.New(fault.PaymentUnavailable, "The payment could not be started just now, so nothing was booked; try again shortly.")
	f.RetryAfter = time.Second
	return f
}

func (d *Desk) createCharge(ctx context.Context, q question, b store.NewBooking) (payment.Intent, error) {
	ctx, cancel := context.WithTimeout(ctx, d.till.Within)
	defer cancel()
	return d.till.Providers[b.Payment.Provider].Create(ctx, payment.Charge{
		BusinessID: b.BusinessID, BookingID: b.ID, Account: b.Payment.Account, Amount: b.Payment.Amount, Currency: q.offer.Money(),
	})
}

func (d *Desk) openCharge(ctx context.Context, q question, b store.NewBooking, intent payment.Intent) (Answer, error) {
	response, err := render(b, q.offer.Money(), &intent)
	if err != nil {
		return Answer{}, err
	}
	now := d.clock.Now()
	err = d.store.OpenPayment(ctx, store.OpenPayment{
		BusinessID: b.BusinessID, BookingID: b.ID, Reference: intent.Reference, DueAt: now.Add(d.till.ExpiresAfter),
		Claim: b.Claim, Response: response, Now: now,
	})
	return Answer{Body: response}, err
}

// abandonWithin is the time to take a booking back, also when the request's own is up.
const (
	abandonWithin = 2 * time.Second
	abandonPause  = 50 * time.Millisecond
)

// abandon reports whether the booking was taken back. To take it back again changes nothing, so it is tried until it is known.
func (d *Desk) abandon(ctx context.Context, b store.NewBooking, reference string, none bool) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonWithin)
	defer cancel()
	for {
		try, stop := context.WithTimeout(ctx, abandonWithin/3)
		err := d.store.AbandonPayment(try, b.BusinessID, b.ID, reference, none, b.Claim, d.clock.Now())
		stop()
		if err == nil {
			return true
		}
		select {
		case <-ctx.Done():
			d.tel.Logger.WarnContext(ctx, "an unpaid booking stays until the reconciliation", "booking", b.ID, "error", err)
			return false
		case <-time.After(abandonPause):
		}
	}
}
