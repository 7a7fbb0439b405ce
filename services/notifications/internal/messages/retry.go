package messages

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// ErrNoServer says that there is no mail server to send anything by.
var ErrNoServer = errors.New("there is no mail server")

// ErrSandbox says that nothing is sent for a sandbox business.
var ErrSandbox = errors.New("the business is a sandbox")

// Inserter inserts jobs; *jobs.Client is the one outside tests.
type Inserter interface {
	InsertManyFastTx(ctx context.Context, tx pgx.Tx, params []river.InsertManyParams) (int, error)
}

// canSend reports whether there is a mail server.
func (m *Messages) canSend() bool { return m.Sender != nil && !m.Preview }

// Retry sends a message that failed, or was not sent, once more, for a day; once for each Idempotency-Key, whose note holds the message's id
// alone, so that no customer's data stays in it. It comes before others. Errors: [ErrNoServer]; [ErrSandbox]; [*store.StatusError] for one that was sent or is
// being tried; [store.ErrNotFound]; those of postgres.Once.
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
	var queued *store.Message // nil where the key was used before
	_, err := postgres.Once(ctx, m.Pool, businessID, func(ctx context.Context, tx pgx.Tx) (uuid.UUID, error) {
		now, err := m.Store.Requeue(ctx, tx, businessID, id, m.Clock.Now())
		if err != nil {
			return uuid.Nil, err
		}
		if !m.canSend() {
			return uuid.Nil, ErrNoServer
		}
		queued = &now
		_, err = jobs.InsertManyFastTx(ctx, tx, []river.InsertManyParams{{Args: sendJob{BusinessID: businessID, MessageID: id}}})
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
