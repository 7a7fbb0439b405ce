// Package desk books: it puts one request to availability and pricing, together with the occupied time it reads itself,
// and writes the first assignment that nobody else takes meanwhile (semantics.md §3).
//
// The check against availability comes first for a good answer; the database's constraint decides. A lost race is no
// error: the next assignment is tried, and when there is none left, everything is asked again.
package desk

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/pricing"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/telemetry"
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

// Store keeps bookings and answers; [store.Store] says what its methods do and return.
type Store interface {
	Situation(ctx context.Context, businessID uuid.UUID, from, to time.Time, asked store.Asked) (store.Situation, error)
	Occupied(ctx context.Context, businessID uuid.UUID, from, to time.Time, seats bool) (booking.Occupied, error)
	Book(ctx context.Context, b store.NewBooking) error
	Claim(ctx context.Context, key store.IdempotencyKey, bodyHash [sha256.Size]byte, now, until time.Time, keep time.Duration) (*store.Claim, store.Record, error)
	Answer(ctx context.Context, key store.IdempotencyKey, bodyHash [sha256.Size]byte, begun, now time.Time) ([]byte, error)
	Refuse(ctx context.Context, c store.Claim, begun time.Time) error
	Release(ctx context.Context, c store.Claim) error
	Payments
}

// Desk books. It is safe for many goroutines.
type Desk struct {
	offers       Offers
	availability Availability
	pricing      Pricing
	store        Store
	clock        clock.Clock
	claimFor     time.Duration
	till         Till
	tel          *telemetry.Telemetry
	lost         metric.Int64Counter
}

// claimMargin is how much longer than a request may run its claim of an idempotency key holds: clocks of replicas
// differ a little.
const claimMargin = 5 * time.Second

// New returns a desk. A request that holds an idempotency key loses it when it has not answered requestTimeout, and a
// margin, after it began.
func New(offers Offers, a Availability, p Pricing, s Store, c clock.Clock, requestTimeout time.Duration, tel *telemetry.Telemetry) *Desk {
	return &Desk{
		offers: offers, availability: a, pricing: p, store: s, clock: c, claimFor: requestTimeout + claimMargin, tel: tel,
		lost: tel.Counter("slotmesh.bookings.refused_by_constraint",
			"Bookings that the database refused because another one was written first."),
	}
}

// Order is one request to book, once its API key has been accepted.
type Order struct {
	BusinessID uuid.UUID
	KeyID      uuid.UUID
	// IdempotencyKey and ContentType are the headers' values, "" without one. KeyFault says what is wrong with a key that
	// cannot be kept; IdempotencyKey is "" then.
	IdempotencyKey string
	KeyFault       error
	ContentType    string
	Body           []byte
	// Unread says why the body could not be read, nil where it was.
	Unread error
	// Begun is when the request reached us, as far as that can be known.
	Begun time.Time
}

// attempt is one request to make a write. claim is nil without an idempotency key, and write then names no write yet.
type attempt struct {
	write postgres.Write
	claim *store.Claim
}

// Answer is the body of a 201. Replayed says that it was stored for the idempotency key, and nothing was booked now.
type Answer struct {
	Body     []byte
	Replayed bool
}

// Book checks and books an order on this offer of its business. What it returns as a fault is the answer to the caller,
// and but for outcome_unknown nothing was or will be written then; any other error is internal.
func (d *Desk) Book(ctx context.Context, offer *catalog.Offer, o Order) (Answer, error) {
	body, err := d.admit(offer, o)
	if err != nil {
		return d.replay(ctx, o, err)
	}
	if o.IdempotencyKey == "" {
		return d.settle(ctx, offer, body, attempt{})
	}
	now := d.clock.Now()
	claim, record, err := d.store.Claim(ctx, o.record(), request.Hash(o.Body), now, now.Add(d.claimFor), keepAnswers)
	switch {
	case err != nil:
		return Answer{}, err
	case claim == nil && !record.SameBody:
		return Answer{}, fault.New(fault.IdempotencyMismatch,
			"Idempotency-Key: this key was used with another body; send a new key with a new booking.")
	case claim == nil && record.Response == nil:
		return Answer{}, inProgress()
	case claim == nil:
		return Answer{Body: record.Response, Replayed: true}, nil
	}
	answer, err := d.settle(ctx, offer, body, attempt{write: o.record().Write(o.Begun), claim: claim})
	switch {
	case err == nil || fault.Is(err, fault.OutcomeUnknown): // the claim stays with what may still become of it
		return answer, err
	case fault.Is(err, fault.IdempotencyInProgress):
		d.release(ctx, *claim)
		return Answer{}, err
	}
	return Answer{}, d.refuse(ctx, *claim, o.Begun, err)
}

// keepAnswers is how long an answer is kept for its idempotency key (semantics.md §3).
const keepAnswers = 24 * time.Hour

func (o Order) record() store.IdempotencyKey {
	return store.IdempotencyKey{BusinessID: o.BusinessID, KeyID: o.KeyID, Key: o.IdempotencyKey}
}

func inProgress() error {
	return fault.New(fault.IdempotencyInProgress,
		"Idempotency-Key: a request with this key is still in flight; try again shortly.")
}

// admit makes the checks that need no other service: the business's standing and the body.
func (d *Desk) admit(offer *catalog.Offer, o Order) (*request.Request, error) {
	if err := standing(offer, d.clock.Now()); err != nil {
		return nil, err
	}
	if err := checkHeaders(o); err != nil {
		return nil, err
	}
	if o.Unread != nil {
		return nil, o.Unread
	}
	body, err := request.Parse(o.Body)
	if err != nil {
		return nil, err
	}
	return body, checkProvider(offer, body.PreferredProvider)
}

// replay answers an order that would be refused now. What was booked before stays true: a client that never saw the
// answer gets it, also when the business has paused since. Otherwise the refusal stands, also for requests with the same key
// that are still on their way.
func (d *Desk) replay(ctx context.Context, o Order, refusal error) (Answer, error) {
	if o.IdempotencyKey == "" || o.Unread != nil {
		return Answer{}, refusal
	}
	stored, err := d.store.Answer(ctx, o.record(), request.Hash(o.Body), o.Begun, d.clock.Now())
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Answer{}, refusal
	case err != nil:
		return Answer{}, err
	}
	return Answer{Body: stored, Replayed: true}, nil
}

// refuseWithin is the time to refuse an idempotency key, also when the request's own is up.
const refuseWithin = time.Second

// refuse returns the refusal of a request that holds its key's claim, once it holds for all that came before it under the key.
// Where that cannot be noted, nobody knows what becomes of them.
func (d *Desk) refuse(ctx context.Context, c store.Claim, begun time.Time, refusal error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refuseWithin)
	defer cancel()
	if err := d.store.Refuse(ctx, c, begun); err != nil {
		return fault.Unknown(errors.Join(err, refusal))
	}
	return refusal
}

// release frees the key of a request that another one has overtaken.
func (d *Desk) release(ctx context.Context, c store.Claim) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := d.store.Release(ctx, c); err != nil {
		d.tel.Logger.WarnContext(ctx, "an idempotency key stays held until its request's deadline", "error", err)
	}
}
