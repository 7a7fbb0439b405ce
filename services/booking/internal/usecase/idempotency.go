package usecase

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// lockDuration returns how long a request may hold its idempotency lock. The duration is
// longer than the request timeout, because the clocks of replicas differ. Without this
// margin, another request could acquire the lock while the first request still runs.
func (b *Booker) lockDuration() time.Duration { return b.RequestTimeout + 5*time.Second }

// requestLock is the idempotency lock of one request to book.
type requestLock struct {
	wanted     *postgres.LockRequest // nil if the request has no idempotency key
	isAnswered bool                  // true: the database has answered the request for the lock
	lock       *postgres.Lock        // nil if the request does not hold the lock
}

func (b *Booker) newLock(ctx context.Context, businessID uuid.UUID, by actor.Actor,
	idemKey idempotency.Request) *requestLock {
	if idemKey.Key == "" {
		return &requestLock{}
	}
	write := postgres.Write{Business: businessID, StartTime: clock.ArrivalTime(ctx),
		ID: postgres.WriteID("book", businessID.String(), by.String(), idemKey.Key)}
	return &requestLock{wanted: &postgres.LockRequest{Write: write, Hash: idemKey.Hash, Now: b.Clock.Now(),
		Duration: b.lockDuration()}}
}

// request returns the lock to request with the first read of the database. After this read, it returns nil.
func (l *requestLock) request() *postgres.LockRequest {
	if l.isAnswered {
		return nil
	}
	return l.wanted
}

// acquire processes the result of the lock request. It does nothing if the request sent no lock request.
// If an earlier request with the same key and body has a confirmation, acquire returns the confirmation.
//
// Faults: idempotency_mismatch if the key was used with another
// body; idempotency_in_progress if another request holds the lock.
func (l *requestLock) acquire(result store.LockResult) (*store.Confirmation, error) {
	if l.request() == nil {
		return nil, nil
	}
	l.isAnswered, l.lock = true, result.Lock
	switch {
	case result.Lock != nil:
		return nil, nil
	case !result.IsSameRequest:
		return nil, fault.New(fault.IdempotencyMismatch,
			"Idempotency-Key: this key was used with another body; send a new key with a new booking.")
	case result.Confirmation == nil:
		return nil, idempotency.NewInProgressFault()
	}
	return result.Confirmation, nil
}

// Refuse answers a request that could not be parsed. If an earlier request with the same key
// and body made a booking, Refuse returns the confirmation of that request, as Book does.
//
// If there is no confirmation, Refuse returns the argument `refusal`. There is one exception:
// if the business's account does not allow bookings, Refuse returns the fault of the account.
func (b *Booker) Refuse(ctx context.Context, offer *catalog.Snapshot, by actor.Actor, idemKey idempotency.Request,
	refusal error) (store.Confirmation, error) {
	return b.findResult(ctx, b.newLock(ctx, offer.ID, by, idemKey),
		cmp.Or(offer.CheckAccount(false, b.Clock.Now()), refusal))
}

// RefuseWithoutOffer answers a request for which the offer of the business could not be read.
// Without the offer, no booking is possible. The argument `reason` is the error of the read.
//
// If an earlier request with the same key and body made a booking, RefuseWithoutOffer returns the confirmation
// of that request. Faults: the faults of [NewUnverifiedFault]; outcome_unknown if the key cannot be looked up.
func (b *Booker) RefuseWithoutOffer(ctx context.Context, businessID uuid.UUID, by actor.Actor,
	idemKey idempotency.Request, reason error) (store.Confirmation, error) {
	refusal := NewUnverifiedFault(reason)
	if !fault.Is(refusal, fault.AvailabilityUnverified) {
		return store.Confirmation{}, refusal
	}
	return b.recoverResult(ctx, b.newLock(ctx, businessID, by, idemKey), refusal)
}

func newOvertakenFault() error {
	return fault.New(fault.IdempotencyInProgress,
		"Idempotency-Key: a later request with this key was refused while this one was on its way, so this one books "+
			"nothing; send it again.")
}

// findResult answers a request that must be refused. If an earlier request with the
// same key and body made a booking, findResult returns the confirmation of that
// request. It does so even if the business has paused bookings after that request.
//
// If there is no confirmation, findResult returns the argument `refusal`. It then
// also refuses earlier requests with the same key that are still in flight.
func (b *Booker) findResult(ctx context.Context, lock *requestLock, refusal error) (store.Confirmation, error) {
	if lock.wanted == nil {
		return store.Confirmation{}, refusal
	}
	stored, err := b.Bookings.FindConfirmation(ctx, *lock.wanted)
	if errors.Is(err, store.ErrNotFound) {
		return store.Confirmation{}, refusal
	}
	return stored, err
}

// recoverResult answers a request that failed before it could acquire its idempotency
// lock: the offer or the database could not be read. It makes a second attempt to
// find a stored confirmation. Fault: outcome_unknown if the key cannot be looked up.
func (b *Booker) recoverResult(ctx context.Context, lock *requestLock, refusal error) (store.Confirmation, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.RefuseTimeout)
	defer cancel()
	stored, err := b.findResult(ctx, lock, refusal)
	if err != nil && !errors.Is(err, refusal) {
		err = fault.Unknown(errors.Join(err, refusal))
	}
	return stored, err
}

// refuseBeforeRead refuses a request before the stored bookings are read. If an earlier request with the
// same key and body has a confirmation, refuseBeforeRead returns the confirmation instead of the refusal.
func (b *Booker) refuseBeforeRead(ctx context.Context, lock *requestLock, refusal error) (*store.Confirmation, error) {
	request := lock.request()
	if request == nil {
		return nil, refusal
	}
	result, err := b.Bookings.AcquireLock(ctx, *request)
	if err != nil {
		return nil, err
	}
	stored, err := lock.acquire(result)
	if stored != nil {
		return stored, nil
	}
	return nil, cmp.Or(err, refusal)
}

// refuse answers a request that the method `evaluate`, `write` or `pay` has refused, and releases the idempotency
// lock of the request. Before the release, it stores that earlier requests with the key are refused, too.
//
// If the database did not answer the request for the lock, refuse
// looks for a stored confirmation for the key and returns it.
//
// Fault: outcome_unknown if the refusal cannot be stored, because an earlier request may then still book.
func (b *Booker) refuse(ctx context.Context, lock *requestLock, refusal error) (store.Confirmation, error) {
	if lock.request() != nil { // the database did not answer the request for the lock
		return b.recoverResult(ctx, lock, refusal)
	}
	if lock.lock == nil || fault.Is(refusal, fault.OutcomeUnknown) { // no lock, or the write may still commit
		return store.Confirmation{}, refusal
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), b.RefuseTimeout)
	defer cancel()
	if fault.Is(refusal, fault.IdempotencyInProgress) { // another request with the same key decides the result
		if err := b.Bookings.ReleaseLock(ctx, *lock.lock); err != nil {
			b.Telemetry.Logger.WarnContext(ctx, "an idempotency lock stays until its request's deadline", "error", err)
		}
		return store.Confirmation{}, refusal
	}
	if err := b.Bookings.Refuse(ctx, *lock.lock); err != nil {
		refusal = fault.Unknown(errors.Join(err, refusal))
	}
	return store.Confirmation{}, refusal
}
