package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// A message is tried for a day from its first attempt on, and anew where its owner asks for it again: however long this service was away before that attempt.
func TestTheDayOfAttemptsBeginsWithTheFirstOne(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := uuid.New()
	w.in(func(tx pgx.Tx) error {
		_, err := w.store.AddMessage(t.Context(), tx, store.Message{
			BusinessID: w.business, ID: id, Kind: "booking_confirmed", EventID: uuid.New(), About: event.Subject{Kind: event.Booking, ID: uuid.New()},
			Recipient: "ada.l@example.com", Locale: "en", Status: store.MessageQueued, AboutEndsAt: now, CreatedAt: now,
		})
		return err
	})
	begins := func(hours int) time.Duration {
		t.Helper()
		m, err := w.store.BeginSending(t.Context(), w.business, id, now.Add(time.Duration(hours)*time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return m.QueuedAt.Sub(now)
	}
	ends := func(status string) {
		t.Helper()
		w.in(func(tx pgx.Tx) error {
			return w.store.EndSending(t.Context(), tx, store.Outcome{BusinessID: w.business, ID: id, Status: status, Reason: "away", Now: now})
		})
	}
	if got := begins(48); got != 48*time.Hour {
		t.Errorf("the day begins after %v, want it to begin with the first attempt, after 48 hours", got)
	}
	ends(store.MessageQueued)
	if got := begins(60); got != 48*time.Hour {
		t.Errorf("after the second attempt it begins after %v", got)
	}
	ends(store.MessageFailed)
	w.in(func(tx pgx.Tx) error {
		_, err := w.store.Requeue(t.Context(), tx, w.business, id, now.Add(72*time.Hour))
		return err
	})
	if got := begins(120); got != 120*time.Hour {
		t.Errorf("asked for again it begins after %v, want 120 hours", got)
	}
}
