package messages

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// ErrNoServer says that there is no mail server to send anything by.
var ErrNoServer = errors.New("there is no mail server")

// Inserter inserts jobs; *jobs.Client is the one outside tests.
type Inserter interface {
	InsertManyFastTx(ctx context.Context, tx pgx.Tx, params []river.InsertManyParams) (int, error)
}

// Retry sends a message that failed, or was kept, once more, for a day. It comes before others. Errors: [ErrNoServer]; [*store.StatusError] for
// one that was sent or is being tried; [store.ErrNotFound].
func (m *Messages) Retry(ctx context.Context, jobs Inserter, businessID, id uuid.UUID) (store.Message, error) {
	if m.Sender == nil {
		if _, err := m.Store.Message(ctx, businessID, id); err != nil {
			return store.Message{}, err
		}
		return store.Message{}, ErrNoServer
	}
	var queued store.Message
	err := pgx.BeginFunc(ctx, m.Pool, func(tx pgx.Tx) error {
		var err error
		if queued, err = m.Store.Requeue(ctx, tx, businessID, id, m.Clock.Now()); err != nil {
			return err
		}
		_, err = jobs.InsertManyFastTx(ctx, tx, []river.InsertManyParams{{Args: sendJob{BusinessID: businessID, MessageID: id}}})
		return err
	})
	return queued, err
}
