// Package usecase implements the operations of booking. Its functions take and return Go values and do
// not know HTTP. Adapters such as internal/api parse a request, call one function and render the result.
//
// [Booker.Book] reads the occupied time. It sends the occupied time and the request to availability, and asks pricing
// for the prices. Then it writes the booking with the first assignment whose time is still free (semantics.md §3).
//
// The constraint of the database finally decides whether the time is free. Nevertheless Book asks availability
// before the write. The reason is that a refusal by availability contains an error message with the reason, which
// the constraint cannot give. If another request occupies the time before the write, Book does not fail. It writes
// the booking with the next assignment. If no assignment remains, Book asks availability and pricing again.
package usecase

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	bookings "github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Book makes the booking that the argument `r` describes. Book authorizes the request, acquires the
// idempotency lock of the request, evaluates the request, writes the booking and opens its payment.
//
// If the argument `offer` is not the newest version, Book evaluates the newest version
// before it writes. But Book may refuse the request on the basis of the given offer. If
// the given offer is stale, the caller must discard this refusal and call Book again.
//
// The argument `idemKey` identifies the request, so that repeated requests make
// only one booking. The field `idemKey.Hash` is the hash of the whole body.
//
// If Book returns a fault, the fault is the answer to the caller. Then no booking was written
// or will be written, unless the fault is outcome_unknown. Any other error is internal.
func (b *Booker) Book(ctx context.Context, offer *catalog.Snapshot, by actor.Actor, idemKey idempotency.Request,
	r *request.Request) (store.Confirmation, error) {
	if by.Kind == "" {
		return store.Confirmation{}, fault.New(fault.SourceForbidden, "A booking is made by an actor.")
	}
	ctx = actor.With(ctx, by)
	lock := b.newLock(ctx, offer.ID, by, idemKey)
	r, invalid := validateAnswers(offer, by, r)
	if err := cmp.Or(offer.CheckAccount(r.Override, b.Clock.Now()), checkProvider(offer, r.PreferredProvider),
		invalid); err != nil {
		return b.findResult(ctx, lock, err)
	}
	confirmation, err := sale.RetryChanged(offer, b.readOffer(ctx, offer.Slug),
		func(offer *catalog.Snapshot) (*store.Confirmation, error) {
			q, err := b.newQuestion(ctx, offer, by, r)
			if err != nil {
				return b.refuseBeforeRead(ctx, lock, err)
			}
			snapshot, err := b.readSnapshot(ctx, q, lock.request()) // also acquires the lock
			if err != nil {
				return nil, err
			}
			if stored, err := lock.acquire(snapshot.Lock); stored != nil || err != nil {
				return stored, err
			}
			e, err := b.evaluate(ctx, q, snapshot)
			if err != nil {
				return nil, err
			}
			n, err := writeFree(ctx, b, e, func(c availability.Assignment) (store.NewBooking, error) {
				return b.write(ctx, e, c, by, lock)
			})
			if err != nil || n.Payment == nil {
				return &store.Confirmation{Details: n.Details}, err
			}
			return b.pay(ctx, n)
		})
	if err != nil {
		return b.refuse(ctx, lock, err)
	}
	return *confirmation, nil // the lock is not released: its row now holds the confirmation
}

// readOffer returns a function that reads the newest offer. Faults: the faults of [NewUnverifiedFault].
func (b *Booker) readOffer(ctx context.Context, slug string) func() (*catalog.Snapshot, error) {
	return func() (*catalog.Snapshot, error) {
		offer, err := b.Offers.Fresh(ctx, slug)
		if err != nil {
			return nil, NewUnverifiedFault(err)
		}
		return offer, nil
	}
}

// newQuestion checks a request against the offer, without a read of the stored bookings. Faults: those of
// [catalog.Snapshot.CheckAccount], [catalog.Snapshot.Appointment] and [requestedPlace]; invalid_parameter.
func (b *Booker) newQuestion(ctx context.Context, offer *catalog.Snapshot, by actor.Actor,
	r *request.Request) (question, error) {
	now := b.Clock.Now()
	if err := offer.CheckAccount(r.Override, now); err != nil {
		return question{}, err
	}
	services, err := offer.Appointment(r.ServiceIDs, r.Variants)
	if err == nil {
		err = checkClassSession(r, services)
	}
	if err != nil {
		return question{}, err
	}
	at, err := requestedPlace(ctx, offer, by.Kind, r, services)
	return question{offer: offer, request: r, services: services, now: now, by: by.Kind, place: at}, err
}

// evaluation is the result of evaluating a request with one version of the offer and one read of the
// stored bookings. It contains the assignments that can serve the request, best first, and the prices.
type evaluation struct {
	question
	assignments []availability.Assignment
	quotes      []pricing.Quote // one quote for each service
	total       int64
	isFirst     bool               // true: the prices are those of the customer's first booking
	payment     *store.NewPayment  // nil: no online payment is necessary
	warnings    []bookings.Warning // the rules for customers that the owner's booking breaks
}

// evaluate asks availability and pricing concurrently. If availability refuses the request and pricing fails, evaluate
// returns the refusal. Faults: those of [question.selectAssignments] and [Booker.newPaymentDue]. Errors:
// [sale.ErrChanged] if availability or pricing used another version of the offer.
func (b *Booker) evaluate(ctx context.Context, q question, snapshot store.Snapshot) (evaluation, error) {
	var (
		wg          sync.WaitGroup
		slots       *availability.BookableResponse
		prices      *pricing.QuotesResponse
		errS, errPr error
	)
	wg.Go(func() { slots, errS = b.Availability.Bookable(ctx, q.newBookableRequest(snapshot.Occupied)) })
	wg.Go(func() { prices, errPr = b.Pricing.Quotes(ctx, q.newQuotesRequest(snapshot.IsFirst)) })
	wg.Wait()
	assignments, err := q.selectAssignments(slots, errS)
	switch {
	case err != nil:
		return evaluation{}, err
	case errPr != nil || len(prices.Quotes) != len(q.services):
		f := fault.Wrap(fault.AvailabilityUnverified, errPr,
			"The price could not be computed just now, so nothing was booked; try again shortly.")
		f.RetryAfter = time.Second
		return evaluation{}, f
	case prices.OfferVersion != q.offer.Version:
		return evaluation{}, sale.ErrChanged
	}
	e := evaluation{question: q, assignments: assignments, quotes: prices.Quotes, isFirst: snapshot.IsFirst}
	if q.by == actor.Owner {
		e.warnings = q.newWarnings(slots.Warnings)
	}
	for _, quote := range e.quotes {
		e.total += quote.Price
	}
	e.payment, err = b.newPaymentDue(e)
	return e, err
}

// write stores a booking with the assignment `c` and returns the booking.
//
// Errors: [store.ErrOccupied] if the time is occupied; [sale.ErrChanged] if the offer is no longer the newest. Faults:
// invalid_api_key if the API key was revoked; too_many_open_bookings; outcome_unknown; idempotency_in_progress
// if the request lost its lock, or if its idempotency key was refused in the meantime.
func (b *Booker) write(ctx context.Context, e evaluation, c availability.Assignment, by actor.Actor,
	lock *requestLock) (store.NewBooking, error) {
	id, err := uuid.NewV7() // ids ordered by time keep new bookings adjacent in the index
	if err != nil {
		return store.NewBooking{}, err
	}
	n := e.newBooking(id, c)
	if n.Location = e.newLocation(c, b.Links); n.Location != nil {
		n.ChangeMinutes = e.offer.Bookings.LocationChangeMinutes
		n.Customer.Address = e.addressAt(n.Location)
	}
	n.LinkHash = b.Links.Hash(event.Booking, id)
	n.Lock = lock.lock
	if by.Kind == actor.APIKey {
		n.APIKey = by.ID
	}
	switch err := b.Bookings.Book(ctx, n); {
	case errors.Is(err, store.ErrLockLost):
		return n, idempotency.NewInProgressFault()
	case errors.Is(err, store.ErrOfferChanged):
		return n, sale.ErrChanged
	case errors.Is(err, store.ErrKeyRevoked):
		return n, fault.Wrap(fault.InvalidAPIKey, err, "The API key has been revoked.")
	case errors.Is(err, store.ErrTooManyOpen):
		return n, newTooManyOpenFault(*n.MaxOpen)
	case errors.Is(err, postgres.ErrRefused):
		return n, newOvertakenFault()
	default:
		return n, err
	}
}

// pay opens the payment of a stored booking and returns the
// confirmation with the payment. Faults: the faults of openPayment.
func (b *Booker) pay(ctx context.Context, n store.NewBooking) (*store.Confirmation, error) {
	confirmation := &store.Confirmation{Details: n.Details}
	_, err := b.openPayment(ctx, pendingPayment{
		Subject:    payment.Subject{BusinessID: n.BusinessID, Kind: event.Booking, ID: n.ID},
		NewPayment: *n.Payment, currency: n.Currency, name: joinServices(n.Services),
		link: b.Links.URL(event.Booking, n.ID, n.LinkHash), dueAt: n.Now.Add(b.Payments.ExpiresAfter),
		store: func(ctx context.Context, intent payment.Intent) error {
			confirmation.Payment = &store.PaymentDetails{
				Provider: n.Payment.Provider, Amount: n.Payment.Amount, Reference: intent.Reference,
				ClientSecret: intent.ClientSecret, CheckoutURL: intent.URL,
			}
			now := b.Clock.Now()
			return b.Bookings.OpenPayment(ctx, store.OpenPayment{
				BusinessID: n.BusinessID, Confirmation: *confirmation, DueAt: now.Add(b.Payments.ExpiresAfter),
				Lock: n.Lock, Write: n.WriteIdentity(), Now: now,
			})
		},
	})
	return confirmation, err
}

// newTooManyOpenFault returns the fault for a customer of the booking page who already
// has the maximum number of open bookings. The argument `limit` is this maximum.
func newTooManyOpenFault(limit int) error {
	return fault.Newf(fault.TooManyOpen,
		"This e-mail address has %d open bookings here, tickets and rentals included, which is as many as one may "+
			"have; "+
			"cancel one by the link in its messages, or ask the business.", limit)
}

// NewUnverifiedFault returns a fault with code availability_unverified if the offer, the occupied time or the slots
// could not be read. The argument `err` is the error of the read. NewUnverifiedFault returns `err` unchanged if
// `err` is a fault about the request itself, such as business_not_found or invalid_parameter.
func NewUnverifiedFault(err error) error {
	for _, kind := range []fault.Kind{fault.BusinessNotFound, fault.InvalidParameter, fault.ServiceNotFound,
		fault.LocationNotFound} {
		if fault.Is(err, kind) {
			return err
		}
	}
	f := fault.Wrap(fault.AvailabilityUnverified, err,
		"Availability could not be verified just now, so nothing was booked; try again shortly.")
	f.RetryAfter = time.Second
	return f
}
