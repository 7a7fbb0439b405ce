package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// changeAddress requests messages about a new address of the place `at`, and records the events. It returns the number
// of recorded events.
func changeAddress(t *testing.T, s *store.Store, business uuid.UUID, version int64, place booking.AddressChange) int {
	t.Helper()
	ctx := testkit.AsSystem(t)
	if err := s.StoreAddressChanges(ctx, business,
		booking.AddressChanges{Version: version, Places: []booking.AddressChange{place}}, now); err != nil {
		t.Fatal(err)
	}
	pending, err := s.PendingAddressChanges(ctx, 10)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, c := range pending {
		n, err := s.RecordAddressChange(ctx, c, now)
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	return total
}

func TestRecordAddressChangeRecordsOneEventForEachFutureBooking(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	ctx := testkit.AsSystem(t)
	business, other := uuid.New(), uuid.New()
	start := 0
	book := func(of uuid.UUID, at *store.Location, edit func(*store.NewBooking)) uuid.UUID {
		t.Helper()
		start += 60
		b := newBookingAt(of, at, 0, uuid.New(), start, start+45, 0)
		if edit != nil {
			edit(&b)
		}
		if err := s.Book(ctx, b); err != nil {
			t.Fatal(err)
		}
		return b.ID
	}
	pending := book(business, harbour, nil)
	confirmed := book(business, harbour, func(b *store.NewBooking) { b.Status = state.Confirmed })
	withoutLocation := book(business, nil, nil)
	cancelled := book(business, harbour, nil)
	cancel, _ := state.FindTransition(state.Cancel)
	if _, err := s.ApplyTransition(ctx, business, cancelled, cancel, now); err != nil {
		t.Fatal(err)
	}
	book(business, station, nil)
	book(other, harbour, nil)
	book(business, harbour, func(b *store.NewBooking) { b.Now = now.Add(time.Minute) }) // after the new version
	book(business, harbour, func(b *store.NewBooking) {
		b.StartsAt, b.LocalStart = now.Add(-time.Minute), now.Add(-time.Minute)
	})

	place := booking.AddressChange{LocationID: harbour.ID, IsDefault: true, FormerAddress: "Kai 1, 20457 Hamburg"}
	customers, err := s.CountRelocated(ctx, business, []booking.AddressChange{place}, now)
	if err != nil || customers != 1 {
		t.Errorf("%d customers, want 1, who has several bookings: %v", customers, err)
	}
	if n := changeAddress(t, s, business, 4, place); n != 3 {
		t.Errorf("%d events, want 3", n)
	}
	if n := changeAddress(t, s, business, 4, place); n != 0 {
		t.Errorf("%d events after the repeated request, want 0", n)
	}
	rows, err := pool.Query(ctx, `SELECT subject_id FROM events WHERE type = 'booking.relocated'
		AND data->'from'->'location'->>'name' = 'Kai 1, 20457 Hamburg' AND data->'from'->'location'->>'id' = $1::uuid::text
		AND (data->'from'->>'starts_at')::timestamptz = (data->>'starts_at')::timestamptz AND sequence = 2`, harbour.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got []uuid.UUID
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		got = append(got, id)
	}
	for _, id := range []uuid.UUID{pending, confirmed, withoutLocation} {
		if !slices.Contains(got, id) || len(got) != 3 {
			t.Errorf("events about %v, want one about %v", got, id)
		}
	}
	place.IsDefault = false
	if n := changeAddress(t, s, business, 5, place); n != 2 {
		t.Errorf("%d events for the next version and without bookings that have no location, want 2", n)
	}
}

func TestRecordAddressChangeContinuesAfterFullPage(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business := uuid.New()
	first := newBookingAt(business, harbour, 0, uuid.New(), 0, 45, 0)
	if err := s.Book(testkit.AsSystem(t), first); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO bookings SELECT (jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid()))).*
		FROM bookings b, generate_series(2, 1100)`); err != nil {
		t.Fatal(err)
	}
	place := booking.AddressChange{LocationID: harbour.ID, FormerAddress: "Kai 1"}
	if n := changeAddress(t, s, business, 4, place); n != 1100 {
		t.Errorf("%d events, want 1100", n)
	}
	if n := mustCount(t, pool, `SELECT count(DISTINCT subject_id) FROM events WHERE type = 'booking.relocated'`); n != 1100 {
		t.Errorf("events about %d bookings, want 1100", n)
	}
}

func TestSweepAddressChangesKeepsRowsForRepeatedRequests(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	changeAddress(t, s, uuid.New(), 4, booking.AddressChange{LocationID: harbour.ID, FormerAddress: "Kai 1"})
	for i, age := range []time.Duration{47 * time.Hour, 49 * time.Hour} {
		if err := s.SweepAddressChanges(testkit.AsSystem(t), now.Add(age)); err != nil {
			t.Fatal(err)
		}
		if n := mustCount(t, pool, `SELECT count(*) FROM address_changes`); n != 1-i {
			t.Errorf("%d rows after %v, want %d", n, age, 1-i)
		}
	}
}
