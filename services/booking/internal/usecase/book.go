// Package usecase implements the operations of booking. Its functions take and return Go values and do
// not know HTTP. Adapters such as internal/api read the request, call one function and render its result.
//
// [Booker.Book] reads the occupied time and sends it with the request to availability and pricing. Then
// it writes the first assignment that no other request has occupied in the meantime (semantics.md §3).
//
// Availability is asked before the write because its refusal gives a good error sentence. The database's
// constraint finally decides whether the time is free. If another request is faster, that is not an error:
// Book tries the next assignment. If no assignment remains, Book asks availability and pricing again.
package usecase

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
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

// Offers reads the newest version of an offer, never an older one. Fault:
// business_not_found. After any other error, the offer could not be read.
type Offers interface {
	Fresh(ctx context.Context, slug string) (*catalog.Offer, error)
}

// Availability returns the assignments that can serve a start. Faults: invalid_parameter,
// service_not_found. After any other error, they could not be computed.
type Availability interface {
	Bookable(ctx context.Context, request availability.BookableRequest) (*availability.BookableResponse, error)
}

// Pricing computes the prices of many items in one call. After an error, no price is known.
type Pricing interface {
	Quotes(ctx context.Context, request pricing.QuotesRequest) (*pricing.QuotesResponse, error)
}

// Bookings stores bookings, their charges and their confirmations. [store.Store] documents the methods.
type Bookings interface {
	Snapshot(ctx context.Context, businessID uuid.UUID, from, to time.Time, asked store.Asked) (store.Snapshot, error)
	Booking(ctx context.Context, businessID, id uuid.UUID) (store.Booking, error)
	Reschedule(ctx context.Context, r store.Reschedule) (store.Booking, error)
	Book(ctx context.Context, b store.NewBooking) error
	Claim(ctx context.Context, asked store.Claiming) (store.Claimed, error)
	Confirmed(ctx context.Context, key store.IdempotencyKey, hash [sha256.Size]byte, begun,
		now time.Time) (store.Confirmation, error)
	Refuse(ctx context.Context, c store.Claim, begun time.Time) error
	Release(ctx context.Context, c store.Claim) error
	OpenPayment(ctx context.Context, p store.OpenPayment) error
	AbandonPayment(ctx context.Context, a store.Abandoned, now time.Time) error
	Payable(ctx context.Context, businessID, id uuid.UUID, now time.Time) (store.Payable, error)
}

var _ Bookings = (*store.Store)(nil)

// Booker makes and reschedules bookings. It is safe for concurrent use.
type Booker struct {
	Dependencies
	// RefuseWithin limits the time to refuse an idempotency key. AbandonWithin limits
	// the time to cancel a booking whose charge could not be opened. Both operations
	// continue after the request's own deadline. NewBooker sets both limits.
	RefuseWithin, AbandonWithin time.Duration

	lost  metric.Int64Counter
	moves metric.Int64Counter
}

// Dependencies are the clients, stores and settings that a [Booker] uses.
type Dependencies struct {
	Offers       Offers
	Availability Availability
	Pricing      Pricing
	Bookings     Bookings
	Payments     PaymentOptions
	// Notice acts on a provider's notice of a charge ([Payments.Notice]).
	Notice func(ctx context.Context, provider string, n payment.Notice) error
	Links  *link.Links
	Clock  clock.Clock
	// RequestTimeout is the longest time that a request may take. After this time,
	// plus a margin, another request can take over the request's idempotency lock.
	RequestTimeout time.Duration
	Telemetry      *telemetry.Telemetry
}

// NewBooker returns a booker.
func NewBooker(with Dependencies) *Booker {
	return &Booker{
		Dependencies: with, RefuseWithin: time.Second, AbandonWithin: 2 * time.Second,
		lost: with.Telemetry.Counter("slotmesh.bookings.refused_by_constraint",
			"Bookings and moves that the database refused because another one was written first."),
		moves: with.Telemetry.Counter("slotmesh.bookings.rescheduled",
			"Requests to move a booking by outcome: moved, unchanged, or the messageCode of the refusal."),
	}
}

// lockDuration returns how long a request may keep its idempotency lock. The duration
// is longer than the request timeout, because the clocks of replicas differ.
func (b *Booker) lockDuration() time.Duration { return b.RequestTimeout + 5*time.Second }

// attempt is one request to write a booking. If the request has
// no idempotency key, its claim is nil and its write is empty.
type attempt struct {
	by     actor.Actor
	write  postgres.Write
	asking *store.Claiming // the idempotency lock to acquire with the first read of the tables; nil after that
	claim  *store.Claim
	apiKey uuid.UUID // must not be revoked when the booking is written; the nil UUID means no key
}

// claimed stores the idempotency lock that the request acquired. If the same
// request was already answered with a confirmation, claimed returns it.
//
// Faults: idempotency_mismatch if the key was used with another
// body; idempotency_in_progress if another request holds the lock.
func (a *attempt) claimed(c store.Claimed) (*store.Confirmation, error) {
	a.asking, a.claim = nil, c.Claim
	switch {
	case c.Claim != nil:
		return nil, nil
	case !c.SameRequest:
		return nil, fault.New(fault.IdempotencyMismatch,
			"Idempotency-Key: this key was used with another body; send a new key with a new booking.")
	case c.Confirmation == nil:
		return nil, inProgress()
	}
	return c.Confirmation, nil
}

// Book makes the booking that r describes. If the argument offer is no longer the newest
// version, Book decides by the newest one before it writes. But a refusal may still
// depend on the argument offer. If that is stale, the caller must discard the refusal.
//
// The argument named identifies the request, so that repeated
// requests make one booking. Its Hash is that of the whole body.
//
// If Book returns a fault, the fault is the answer to the caller. Unless the fault is
// outcome_unknown, nothing was written or will be written. Any other error is internal.
func (b *Booker) Book(ctx context.Context, offer *catalog.Offer, by actor.Actor, named idempotency.Request,
	r *request.Request) (store.Confirmation, error) {
	if by.Kind == "" {
		return store.Confirmation{}, fault.New(fault.SourceForbidden, "A booking is made by an actor.")
	}
	ctx = actor.With(ctx, by)
	now := b.Clock.Now()
	r, unanswered := answered(offer, by, r)
	if err := cmp.Or(offer.CheckAccount(r.Override, now), checkProvider(offer, r.PreferredProvider),
		unanswered); err != nil {
		return b.replay(ctx, offer.ID, by, named, err)
	}
	begun, a := clock.ArrivalTime(ctx), &attempt{by: by}
	if by.Kind == actor.APIKey {
		a.apiKey = by.ID
	}
	if named.Key != "" {
		key := recordOf(offer.ID, by, named)
		a.write = key.Write(begun)
		a.asking = &store.Claiming{IdempotencyKey: key, Hash: named.Hash, Now: now, Until: now.Add(b.lockDuration()),
			Keep: keepConfirmations}
	}
	confirmation, err := b.decide(ctx, offer, r, a)
	switch {
	case a.asking != nil && err != nil: // it is unknown which request holds the key
		return b.unheld(ctx, offer.ID, by, named, err)
	// the lock stays with the confirmation, or with a write whose outcome is unknown
	case a.claim == nil || err == nil || fault.Is(err, fault.OutcomeUnknown):
		return confirmation, err
	case fault.Is(err, fault.IdempotencyInProgress):
		b.release(ctx, *a.claim)
		return store.Confirmation{}, err
	}
	return store.Confirmation{}, b.refuse(ctx, *a.claim, begun, err)
}

// Refuse answers a request that could not be parsed. If an earlier request with the
// same key made a booking, Refuse returns that request's confirmation, as Book does.
//
// Otherwise it returns the argument refusal. A refusal because
// of the business's account has priority over the argument.
func (b *Booker) Refuse(ctx context.Context, offer *catalog.Offer, by actor.Actor, named idempotency.Request,
	refusal error) (store.Confirmation, error) {
	return b.replay(ctx, offer.ID, by, named, cmp.Or(offer.CheckAccount(false, b.Clock.Now()), refusal))
}

// Unread answers a request if the offer of the business could not be read, so
// that no booking is possible. The argument reason is the error of the read.
//
// If an earlier request with the same key made a booking, Unread returns that request's
// confirmation. Faults: those of [Unverified]; outcome_unknown if the key cannot be looked up.
func (b *Booker) Unread(ctx context.Context, businessID uuid.UUID, by actor.Actor, named idempotency.Request,
	reason error) (store.Confirmation, error) {
	refusal := Unverified(reason)
	if !fault.Is(refusal, fault.AvailabilityUnverified) {
		return store.Confirmation{}, refusal
	}
	return b.unheld(ctx, businessID, by, named, refusal)
}

// keepConfirmations is how long a confirmation is stored for its idempotency key (semantics.md §3).
const keepConfirmations = 24 * time.Hour

func recordOf(businessID uuid.UUID, by actor.Actor, named idempotency.Request) store.IdempotencyKey {
	return store.IdempotencyKey{BusinessID: businessID, Principal: by.String(), Key: named.Key}
}

func inProgress() error {
	return fault.New(fault.IdempotencyInProgress,
		"Idempotency-Key: a request with this key is still in flight; try again shortly.")
}

func overtaken() error {
	return fault.New(fault.IdempotencyInProgress,
		"Idempotency-Key: a later request with this key was refused while this one was on its way, so this one books "+
			"nothing; send it again.")
}

// replay answers a request that would be refused now. If an earlier request with the same key made
// a booking, replay returns its confirmation, even if the business has paused bookings since.
//
// Otherwise it returns the argument refusal. It then also refuses
// earlier requests with the same key that are still in flight.
func (b *Booker) replay(ctx context.Context, businessID uuid.UUID, by actor.Actor, named idempotency.Request,
	refusal error) (store.Confirmation, error) {
	if named.Key == "" {
		return store.Confirmation{}, refusal
	}
	stored, err := b.Bookings.Confirmed(ctx, recordOf(businessID, by, named), named.Hash, clock.ArrivalTime(ctx),
		b.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return store.Confirmation{}, refusal
	}
	return stored, err
}

// unheld answers a request whose idempotency lock could not be acquired because the tables could not be read.
// It tries once more to find a stored confirmation. Fault: outcome_unknown if the key cannot be looked up.
func (b *Booker) unheld(ctx context.Context, businessID uuid.UUID, by actor.Actor, named idempotency.Request,
	refusal error) (store.Confirmation, error) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.RefuseWithin)
	defer cancel()
	stored, err := b.replay(within, businessID, by, named, refusal)
	if err != nil && !errors.Is(err, refusal) {
		err = fault.Unknown(errors.Join(err, refusal))
	}
	return stored, err
}

// refuse returns the refusal of a request that holds the idempotency lock. Before
// that, it stores that earlier requests with the key are refused too. Fault:
// outcome_unknown if that cannot be stored, because an earlier request may still book.
func (b *Booker) refuse(ctx context.Context, c store.Claim, begun time.Time, refusal error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.RefuseWithin)
	defer cancel()
	if err := b.Bookings.Refuse(ctx, c, begun); err != nil {
		return fault.Unknown(errors.Join(err, refusal))
	}
	return refusal
}

// release releases the idempotency lock of a request, if a later request with the same key has already decided.
func (b *Booker) release(ctx context.Context, c store.Claim) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.RefuseWithin)
	defer cancel()
	if err := b.Bookings.Release(ctx, c); err != nil {
		b.Telemetry.Logger.WarnContext(ctx, "an idempotency key stays held until its request's deadline", "error", err)
	}
}
