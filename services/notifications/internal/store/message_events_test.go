package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/migrations"
)

// newEvents returns n events, each about a new booking, of these businesses in turn.
func newEvents(n int, businesses ...uuid.UUID) []event.Event {
	events := make([]event.Event, n)
	for i := range events {
		events[i] = event.Event{
			ID: uuid.New(), Type: event.BookingCreated, BusinessID: businesses[i%len(businesses)],
			Subject: event.Subject{Kind: event.Booking, ID: uuid.New()}, Sequence: 1,
			Data: json.RawMessage(`{"customer_name": "Ada Lovelace", "customer_email": "ada.l@example.com", "service_name": "Haircut", "starts_at": "2027-06-11T09:00:00Z"}`),
		}
	}
	return events
}

func TestStoreEventsStoresEachEventOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	events := newEvents(3, w.business, uuid.New())
	for range 2 {
		w.runInTx(func(tx pgx.Tx) error {
			return w.store.StoreEvents(testkit.AsSystem(t), tx, append(events, events[0]))
		})
	}
	for _, want := range events {
		got, err := w.store.SubjectEvents(testkit.AsSystem(t), want.BusinessID, want.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]event.Event{want}, got, cmp.Transformer("JSON", func(text json.RawMessage) any {
			var v any
			_ = json.Unmarshal(text, &v)
			return v
		})); diff != "" {
			t.Error(diff)
		}
		w.runInTx(func(tx pgx.Tx) error { return w.store.DropEvents(testkit.AsSystem(t), tx, got) })
		if _, err := w.store.SubjectEvents(testkit.AsSystem(t), want.BusinessID, want.ID); !errors.Is(err,
			store.ErrNotFound) {
			t.Errorf("the dropped event still exists: %v", err)
		}
	}
}

func TestCountBacklogStopsAtMaximum(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	few, none := uuid.New(), uuid.New()
	w.runInTx(func(tx pgx.Tx) error {
		return w.store.StoreEvents(testkit.AsSystem(t), tx, append(newEvents(9, w.business), newEvents(2, few)...))
	})
	w.runInTx(func(tx pgx.Tx) error {
		got, err := w.store.CountBacklog(testkit.AsSystem(t), tx, []uuid.UUID{few, w.business, w.business, none, few},
			5)
		if diff := cmp.Diff(map[uuid.UUID]int{w.business: 5, few: 2, none: 0}, got); diff != "" {
			t.Error(diff)
		}
		return err
	})
}

func BenchmarkStoreEvents(b *testing.B) {
	pool := testkit.Postgres(b, "notifications", migrations.FS)
	records := store.New(pool)
	for _, n := range []int{1, 10, 200} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				events := newEvents(n, uuid.New())
				if err := pgx.BeginFunc(testkit.AsSystem(b), pool,
					func(tx pgx.Tx) error { return records.StoreEvents(testkit.AsSystem(b), tx, events) }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCountBacklog counts the backlog of a page of events, or of one event. 100,000 events are
// stored, most of one business.
func BenchmarkCountBacklog(b *testing.B) {
	pool := testkit.Postgres(b, "notifications", migrations.FS)
	records := store.New(pool)
	busy, quiet := uuid.New(), uuid.New()
	if _, err := pool.Exec(testkit.AsSystem(b),
		`INSERT INTO message_events (business_id, event_id, subject_id, sequence, event)
		SELECT CASE WHEN n > 1000 THEN $1::uuid ELSE gen_random_uuid() END, gen_random_uuid(), gen_random_uuid(), 1, jsonb_build_object('data', repeat('x', 600))
		FROM generate_series(1, 100000) AS n`, busy); err != nil {
		b.Fatal(err)
	}
	repeatID := func(n int, id uuid.UUID) []uuid.UUID {
		ids := make([]uuid.UUID, n)
		for i := range ids {
			ids[i] = id
		}
		return ids
	}
	for _, isAnalyzed := range []bool{false, true} {
		if isAnalyzed {
			if _, err := pool.Exec(testkit.AsSystem(b), `ANALYZE message_events`); err != nil {
				b.Fatal(err)
			}
		}
		for name, ids := range map[string][]uuid.UUID{"busy": repeatID(200, busy), "quiet": repeatID(1, quiet)} {
			b.Run(fmt.Sprintf("%s, analyzed %t", name, isAnalyzed), func(b *testing.B) {
				for b.Loop() {
					if err := pgx.BeginFunc(testkit.AsSystem(b), pool, func(tx pgx.Tx) error {
						_, err := records.CountBacklog(testkit.AsSystem(b), tx, ids, 2000)
						return err
					}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
