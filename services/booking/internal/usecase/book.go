// Package usecase holds what booking does, as typed functions: it takes and gives values, and knows nothing of HTTP. Whoever
// offers a use case, such as internal/api, reads the request, calls one function and renders what it returns.
//
// [Booker.Book] puts one request to availability and pricing, together with the occupied time it reads itself, and writes the
// first assignment that nobody else takes meanwhile (semantics.md §3). The check against availability comes first for a good
// answer; the database's constraint decides. A lost race is no error: the next assignment is tried, and when there is none
// left, everything is asked again.
package usecase

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/idempotency"
	"github.com/slotmesh/slotmesh/libs/link"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/pricing"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Offers gives the newest offer, never an old one. Faults: business_not_found; any other error means that it could not
// be read.
type Offers interface {
	Fresh(ctx context.Context, slug string) (*catalog.Offer, error)
}

// Availability says by whom a start can be served. Faults: invalid_parameter, service_not_found; any other error means
// that it could not be counted.
type Availability interface {
	Bookable(ctx context.Context, request availability.BookableRequest) (*availability.BookableResponse, error)
}

// Pricing prices many items at once. Any error means that the prices could not be had.
type Pricing interface {
	Quotes(ctx context.Context, request pricing.QuotesRequest) (*pricing.QuotesResponse, error)
}

// Bookings keeps bookings, their charges and confirmations; [store.Store] says what its methods do and return.
type Bookings interface {
	Snapshot(ctx context.Context, businessID uuid.UUID, from, to time.Time, asked store.Asked) (store.Snapshot, error)
	Booking(ctx context.Context, businessID, id uuid.UUID) (store.Booking, error)
	Reschedule(ctx context.Context, r store.Reschedule) (store.Booking, error)
	Book(ctx context.Context, b store.NewBooking) error
	Claim(ctx context.Context, asked store.Claiming) (store.Claimed, error)
	Confirmed(ctx context.Context, key store.IdempotencyKey, hash [sha256.Size]byte, begun, now time.Time) (store.Confirmation, error)
	Refuse(ctx context.Context, c store.Claim, begun time.Time) error
	Release(ctx context.Context, c store.Claim) error
	OpenPayment(ctx context.Context, p store.OpenPayment) error
	AbandonPayment(ctx context.Context, businessID, bookingID uuid.UUID, reference string, none bool, now time.Time) error
}

var _ Bookings = (*store.Store)(nil)

// Booker books. It is safe for many goroutines.
type Booker struct {
	Dependencies
	// RefuseWithin is the time to refuse an idempotency key, and AbandonWithin that to take back what was not paid, also when the request's
	// own is up. NewBooker sets them.
	RefuseWithin, AbandonWithin time.Duration

	lost  metric.Int64Counter
	moves metric.Int64Counter
}

// Dependencies are what a [Booker] works with.
type Dependencies struct {
	Offers       Offers
	Availability Availability
	Pricing      Pricing
	Bookings     Bookings
	Payments     PaymentOptions
	// Notice acts on what a provider tells of a charge ([Payments.Notice]).
	Notice func(ctx context.Context, provider string, n payment.Notice) error
	Links  *link.Links
	Clock  clock.Clock
	// RequestTimeout is how long a request may take. One that holds an idempotency key loses it when it has not answered this long,
	// and a margin, after it began.
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

// claimFor is how long a request's claim of an idempotency key holds: a little longer than the request may run, as the clocks of
// replicas differ.
func (b *Booker) claimFor() time.Duration { return b.RequestTimeout + 5*time.Second }

// attempt is one request to make a write. Without an idempotency key there is no claim, and write then names no write yet.
type attempt struct {
	by     actor.Actor
	write  postgres.Write
	asking *store.Claiming // the claim that is to be asked for with the first reading of the tables; nil once that is done
	claim  *store.Claim
	apiKey uuid.UUID // that must count still when the booking is written; the nil UUID for none
}

// claimed keeps the claim that was asked for. Where another request holds the key, it returns its answer. Faults: idempotency_mismatch,
// idempotency_in_progress.
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

// Book books what r asks for on this offer of its business, which need not be the newest: where a newer one was published, the booking is
// decided by that. So what Book refuses is to be taken back where the offer was not. named is what the caller calls the request by, so that it is
// booked once however often it is sent; its Hash is of all that was sent. What Book returns as a fault is the answer to the
// caller, and but for outcome_unknown nothing was or will be written then; any other error is internal.
func (b *Booker) Book(ctx context.Context, offer *catalog.Offer, by actor.Actor, named idempotency.Request, r *request.Request) (store.Confirmation, error) {
	if by.Kind == "" {
		return store.Confirmation{}, fault.New(fault.SourceForbidden, "A booking is made by an actor.")
	}
	ctx = actor.With(ctx, by)
	now := b.Clock.Now()
	r, unanswered := answered(offer, by, r)
	if err := cmp.Or(offer.CheckAccount(r.Override, now), checkProvider(offer, r.PreferredProvider), unanswered); err != nil {
		return b.replay(ctx, offer.ID, by, named, err)
	}
	begun, a := clock.Arrived(ctx), &attempt{by: by}
	if by.Kind == actor.APIKey {
		a.apiKey = by.ID
	}
	if named.Key != "" {
		key := recordOf(offer.ID, by, named)
		a.write = key.Write(begun)
		a.asking = &store.Claiming{IdempotencyKey: key, Hash: named.Hash, Now: now, Until: now.Add(b.claimFor()), Keep: keepConfirmations}
	}
	confirmation, err := b.decide(ctx, offer, r, a)
	switch {
	case a.asking != nil && err != nil: // nobody knows who holds the key
		return b.unheld(ctx, offer.ID, by, named, err)
	case a.claim == nil || err == nil || fault.Is(err, fault.OutcomeUnknown): // the claim stays with what may still become of it
		return confirmation, err
	case fault.Is(err, fault.IdempotencyInProgress):
		b.release(ctx, *a.claim)
		return store.Confirmation{}, err
	}
	return store.Confirmation{}, b.refuse(ctx, *a.claim, begun, err)
}

// Refuse answers a request that could not be read, which [Booker.Book] so cannot be asked, with this refusal; a refusal by the business's
// account comes first. A booking that was made under the same key before is confirmed all the same, as Book does.
func (b *Booker) Refuse(ctx context.Context, offer *catalog.Offer, by actor.Actor, named idempotency.Request, refusal error) (store.Confirmation, error) {
	return b.replay(ctx, offer.ID, by, named, cmp.Or(offer.CheckAccount(false, b.Clock.Now()), refusal))
}

// Unread answers a request to a business whose offer could not be read for this reason, so that nothing can be booked. A booking that was
// made under the same key before is confirmed all the same. Faults: those of [Unverified], and outcome_unknown where the key cannot be
// looked at.
func (b *Booker) Unread(ctx context.Context, businessID uuid.UUID, by actor.Actor, named idempotency.Request, reason error) (store.Confirmation, error) {
	refusal := Unverified(reason)
	if !fault.Is(refusal, fault.AvailabilityUnverified) {
		return store.Confirmation{}, refusal
	}
	return b.unheld(ctx, businessID, by, named, refusal)
}

// keepConfirmations is how long a confirmation is kept for its idempotency key (semantics.md §3).
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
		"Idempotency-Key: a later request with this key was refused while this one was on its way, so this one books nothing; send it again.")
}

// replay answers a request that would be refused now. What was booked before stays true: a client that never saw the
// answer gets it, also when the business has paused since. Otherwise the refusal stands, also for requests with the same key
// that are still on their way.
func (b *Booker) replay(ctx context.Context, businessID uuid.UUID, by actor.Actor, named idempotency.Request, refusal error) (store.Confirmation, error) {
	if named.Key == "" {
		return store.Confirmation{}, refusal
	}
	stored, err := b.Bookings.Confirmed(ctx, recordOf(businessID, by, named), named.Hash, clock.Arrived(ctx), b.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return store.Confirmation{}, refusal
	}
	return stored, err
}

// unheld is the answer to a request whose claim could not be asked for.
func (b *Booker) unheld(ctx context.Context, businessID uuid.UUID, by actor.Actor, named idempotency.Request, refusal error) (store.Confirmation, error) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.RefuseWithin)
	defer cancel()
	stored, err := b.replay(within, businessID, by, named, refusal)
	if err != nil && !errors.Is(err, refusal) {
		err = fault.Unknown(errors.Join(err, refusal))
	}
	return stored, err
}

// refuse returns the refusal of a request that holds its key's claim, once it holds for all that came before it under the key.
// Where that cannot be noted, nobody knows what becomes of them.
func (b *Booker) refuse(ctx context.Context, c store.Claim, begun time.Time, refusal error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.RefuseWithin)
	defer cancel()
	if err := b.Bookings.Refuse(ctx, c, begun); err != nil {
		return fault.Unknown(errors.Join(err, refusal))
	}
	return refusal
}

// release frees the key of a request that another one has overtaken.
func (b *Booker) release(ctx context.Context, c store.Claim) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.RefuseWithin)
	defer cancel()
	if err := b.Bookings.Release(ctx, c); err != nil {
		b.Telemetry.Logger.WarnContext(ctx, "an idempotency key stays held until its request's deadline", "error", err)
	}
}
