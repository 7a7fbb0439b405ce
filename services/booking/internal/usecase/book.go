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
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	bookings "github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Offers reads the newest version of an offer, never an older version. Fault:
// business_not_found. Any other error means that the offer could not be read.
type Offers interface {
	Fresh(ctx context.Context, slug string) (*catalog.Snapshot, error)
}

// Availability returns the assignments that can serve a start. Faults: invalid_parameter,
// service_not_found. Any other error means that the assignments could not be computed.
type Availability interface {
	Bookable(ctx context.Context, request availability.BookableRequest) (*availability.BookableResponse, error)
}

// Pricing computes the prices of several services in one call. An error means that no price could be computed.
type Pricing interface {
	Quotes(ctx context.Context, request pricing.QuotesRequest) (*pricing.QuotesResponse, error)
}

// Bookings stores bookings, their charges and their confirmations.
// [store.Store] implements Bookings and documents the methods.
type Bookings interface {
	Snapshot(ctx context.Context, businessID uuid.UUID, from, to time.Time,
		request store.SnapshotRequest) (store.Snapshot, error)
	Booking(ctx context.Context, businessID, id uuid.UUID) (store.Booking, error)
	Reschedule(ctx context.Context, r store.Reschedule) (store.Booking, error)
	Book(ctx context.Context, b store.NewBooking) error
	AcquireLock(ctx context.Context, request store.LockRequest) (store.LockResult, error)
	FindConfirmation(ctx context.Context, key store.IdempotencyKey, hash [sha256.Size]byte, startedAt,
		now time.Time) (store.Confirmation, error)
	Refuse(ctx context.Context, l store.IdempotencyLock, startedAt time.Time) error
	ReleaseLock(ctx context.Context, l store.IdempotencyLock) error
	OpenPayment(ctx context.Context, p store.OpenPayment) error
	AbandonPayment(ctx context.Context, a store.AbandonRequest, now time.Time) error
	FindOpenPayment(ctx context.Context, businessID, id uuid.UUID, now time.Time) (store.PaymentHandle, error)
}

var _ Bookings = (*store.Store)(nil)

// Booker makes and reschedules bookings. It is safe for concurrent use.
type Booker struct {
	Dependencies
	// RefuseTimeout is the timeout for the database call that refuses an idempotency key.
	// AbandonTimeout is the timeout for the cancellation of a booking whose charge could not be
	// opened. Both operations continue after the deadline of the request. NewBooker sets both fields.
	RefuseTimeout, AbandonTimeout time.Duration

	lostRaces   metric.Int64Counter
	reschedules metric.Int64Counter
}

// Dependencies are the clients, stores and settings that a [Booker] uses.
type Dependencies struct {
	Offers       Offers
	Availability Availability
	Pricing      Pricing
	Bookings     Bookings
	Payments     PaymentOptions
	// HandleNotice processes a provider's notice about a charge ([Payments.HandleNotice]).
	HandleNotice func(ctx context.Context, provider string, n payment.Notice) error
	Links        *link.Links
	Clock        clock.Clock
	// RequestTimeout is the longest time that a request may take. When this time and a
	// margin have passed, another request can acquire the idempotency lock of the request.
	RequestTimeout time.Duration
	Telemetry      *telemetry.Telemetry
}

// NewBooker returns a Booker with the given dependencies and default timeouts.
func NewBooker(deps Dependencies) *Booker {
	return &Booker{
		Dependencies: deps, RefuseTimeout: time.Second, AbandonTimeout: 2 * time.Second,
		lostRaces: deps.Telemetry.Counter("slotmesh.bookings.refused_by_constraint",
			"Bookings and reschedules that the database refused because of a concurrent one."),
		reschedules: deps.Telemetry.Counter("slotmesh.bookings.rescheduled",
			"Requests to reschedule a booking by outcome: moved, unchanged, or the messageCode of the refusal."),
	}
}

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
	r, invalid := validateAnswers(offer, by, r)
	if err := cmp.Or(offer.CheckAccount(r.Override, b.Clock.Now()), checkProvider(offer, r.PreferredProvider),
		invalid); err != nil {
		return b.findResult(ctx, offer.ID, by, idemKey, err)
	}

	lock := b.newLock(ctx, offer.ID, by, idemKey) // evaluate acquires the lock in the same round trip as its first read
	confirmation, err := retryChanged(ctx, b, offer,
		func(offer *catalog.Snapshot) (evaluation, *store.Confirmation, error) {
			return b.evaluate(ctx, offer, by, r, lock)
		},
		func(e evaluation, c availability.Assignment) (*store.Confirmation, error) {
			n, err := b.write(ctx, e, c, by, lock)
			if err != nil || n.Payment == nil {
				return &store.Confirmation{Details: n.Details}, err
			}
			return b.pay(ctx, n)
		})
	if err != nil {
		return b.refuse(ctx, lock, err)
	}
	return *confirmation, nil // the lock is not released: the record now holds the confirmation
}

// maxAttempts is the maximum number of attempts of one request. An attempt fails only
// if another booking was written, or a new offer was published, during the attempt.
// Therefore even many concurrent requests need far fewer attempts than the maximum.
const maxAttempts = 200

// errChanged means that the offer or the stored bookings have
// changed after they were read. The request must be evaluated again.
var errChanged = errors.New("the offer or the tables have changed")

// retryChanged evaluates a request and writes the booking with the first assignment. It repeats
// both steps if another booking was written or a newer offer was published after the evaluation.
// If so, the write of retryChanged has changed nothing, and the request may still be possible.
//
// If only the time of the assignment is occupied now, retryChanged continues with the assignments that
// are still free. In all other cases it evaluates the request again, according to the newest offer. The
// function `evaluate` may return an answer instead of assignments; retryChanged then returns this answer.
func retryChanged[T any](ctx context.Context, b *Booker, offer *catalog.Snapshot,
	evaluate func(*catalog.Snapshot) (evaluation, *T, error),
	write func(evaluation, availability.Assignment) (*T, error)) (*T, error) {
	var e evaluation
	for range maxAttempts {
		var (
			answer *T
			err    error
		)
		if len(e.assignments) == 0 {
			e, answer, err = evaluate(offer)
		}
		if answer == nil && err == nil {
			answer, err = write(e, e.assignments[0])
		}
		if errors.Is(err, store.ErrOccupied) {
			if e.assignments, err = b.freeAssignments(ctx, e); len(e.assignments) > 0 {
				continue
			}
			err = cmp.Or(err, errChanged)
		}
		if !errors.Is(err, errChanged) {
			return answer, err
		}
		e.assignments = nil
		if offer, err = b.Offers.Fresh(ctx, offer.Slug); err != nil {
			return nil, NewUnverifiedFault(err)
		}
	}
	return nil, NewUnverifiedFault(errChanged)
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

// evaluate reads the stored bookings and asks availability and pricing. It acquires
// the idempotency lock in the same round trip as the read. If an earlier request
// with the same key and body has a confirmation, evaluate returns the confirmation.
//
// Faults: those of [catalog.Snapshot.CheckAccount], [catalog.Snapshot.Appointment],
// [question.selectAssignments] and [Booker.newPaymentDue]; invalid_parameter. Errors:
// [errChanged] if availability or pricing used another version of the offer.
func (b *Booker) evaluate(ctx context.Context, offer *catalog.Snapshot, by actor.Actor, r *request.Request,
	lock *requestLock) (evaluation, *store.Confirmation, error) {
	if err := offer.CheckAccount(r.Override, b.Clock.Now()); err != nil {
		return evaluation{}, nil, err
	}
	services, err := offer.Appointment(r.ServiceIDs, r.Variants)
	if err == nil {
		err = checkClassSession(r, services)
	}
	var at *uuid.UUID
	if err == nil {
		at, err = requestedLocation(offer, r, services)
	}
	if err != nil {
		stored, err := b.refuseBeforeRead(ctx, lock, err)
		return evaluation{}, stored, err
	}
	q := question{offer: offer, request: r, services: services, now: b.Clock.Now(), by: by.Kind, location: at}
	snapshot, err := b.readSnapshot(ctx, q, lock.request)
	if err != nil {
		return evaluation{}, nil, NewUnverifiedFault(err)
	}
	if stored, err := lock.acquire(snapshot.Lock); stored != nil || err != nil {
		return evaluation{}, stored, err
	}
	e, err := b.askPeers(ctx, q, snapshot)
	if err != nil {
		return evaluation{}, nil, err
	}
	prices := make([]int64, len(e.quotes))
	for i, quote := range e.quotes {
		prices[i] = quote.Price
		e.total += quote.Price
	}
	e.payment, err = b.newPaymentDue(q, prices, e.total)
	return e, nil, err
}

// askPeers asks availability and pricing concurrently. If availability
// refuses the request and pricing fails, askPeers returns the refusal.
func (b *Booker) askPeers(ctx context.Context, q question, snapshot store.Snapshot) (evaluation, error) {
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
		return evaluation{}, errChanged
	}
	e := evaluation{question: q, assignments: assignments, quotes: prices.Quotes, isFirst: snapshot.IsFirst}
	if q.by == actor.Owner {
		e.warnings = q.newWarnings(slots.Warnings)
	}
	return e, nil
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

// write stores a booking with the assignment `c` and returns the booking.
//
// Errors: [store.ErrOccupied] if the time is occupied; [errChanged] if the offer is no longer the newest. Faults:
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
	}
	n.LinkHash = b.Links.Hash(event.Booking, id)
	n.Lock, n.Write = lock.lock, lock.write
	if by.Kind == actor.APIKey {
		n.APIKey = by.ID
	}
	switch err := b.Bookings.Book(ctx, n); {
	case errors.Is(err, store.ErrLockLost):
		return n, newInProgressFault()
	case errors.Is(err, store.ErrOfferChanged):
		return n, errChanged
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

// newTooManyOpenFault returns the fault for a customer of the booking page who already
// has the maximum number of open bookings. The argument `limit` is this maximum.
func newTooManyOpenFault(limit int) error {
	return fault.Newf(fault.TooManyOpen,
		"This e-mail address has %d open bookings here, tickets and rentals included, which is as many as one may "+
			"have; "+
			"cancel one by the link in its messages, or ask the business.", limit)
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
