package messages

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// ErrNoServer means that no mail server is configured.
var ErrNoServer = errors.New("there is no mail server")

// ErrSandbox means that the business is a sandbox. Messages of a sandbox are never sent.
var ErrSandbox = errors.New("the business is a sandbox")

// Inserter inserts jobs into River's queue. Its implementation is *jobs.Client, except in tests.
type Inserter interface {
	InsertManyFastTx(ctx context.Context, tx pgx.Tx, params []river.InsertManyParams) (int, error)
}

// canSend reports whether a mail server is configured that delivers messages.
func (m *Messages) canSend() bool { return m.Sender != nil && !m.IsPreview }

// Retry queues a failed or unsent message again. Attempts continue for a day and have priority over other messages.
// Retry runs once per Idempotency-Key. The idempotency result holds only the message's ID, so it contains no customer
// data.
//
// Errors: [ErrNoServer]; [ErrSandbox]; [*store.StatusError] if the message was sent or an attempt is in progress;
// [store.ErrNotFound]; the errors of postgres.WriteIdempotently.
func (m *Messages) Retry(ctx context.Context, jobs Inserter, businessID, id uuid.UUID) (store.Message, error) {
	if m.canSend() {
		offer, err := m.Peers.Offer(ctx, businessID)
		if err != nil {
			return store.Message{}, err
		}
		if offer.Account.Sandbox {
			return store.Message{}, ErrSandbox
		}
	}
	var queued *store.Message // nil if the request is repeated
	_, err := postgres.WriteIdempotently(ctx, m.Pool, businessID, func(ctx context.Context, tx pgx.Tx) (uuid.UUID,
		error) {
		now, err := m.Store.Requeue(ctx, tx, businessID, id, m.Clock.Now())
		if err != nil {
			return uuid.Nil, err
		}
		if !m.canSend() {
			return uuid.Nil, ErrNoServer
		}
		queued = &now
		_, err = jobs.InsertManyFastTx(ctx, tx,
			[]river.InsertManyParams{{Args: sendJob{BusinessID: businessID, MessageID: id}}})
		return id, err
	})
	switch {
	case err != nil:
		return store.Message{}, err
	case queued == nil:
		return m.Store.Message(ctx, businessID, id)
	}
	return *queued, nil
}
