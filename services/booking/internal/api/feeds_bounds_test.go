package api_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
)

// TestFeedsAreComputedOneAtATime reads six feeds of a business while the table bookings is locked. Only one of
// them waits for the table; the others wait for that one.
func TestFeedsAreComputedOneAtATime(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(setAdvanceMonth)
	var paths []string
	for range 6 {
		paths = append(paths, bookingclient.CalendarPath(w.feed(nil, booking.ShowsTimes).Token))
	}
	tx, err := w.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), `LOCK TABLE bookings IN ACCESS EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for _, path := range paths {
		all.Go(func() {
			if got := w.read(path); got.status != http.StatusOK {
				t.Errorf("%d %s", got.status, got.text)
			}
		})
	}
	count := func(sql string) int {
		var n int
		if err := tx.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	const waiting = `SELECT count(*) FROM pg_locks WHERE relation = 'bookings'::regclass AND NOT granted`
	for count(`SELECT count(*) FROM calendar_feeds WHERE last_used_at IS NOT NULL`) < len(paths) ||
		count(waiting) == 0 {
	}
	for range 50 {
		if n := count(waiting); n != 1 {
			t.Fatalf("%d feeds are computed at a time", n)
		}
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	all.Wait()
}

// TestFeedSizeIsLimited shows that a feed has at most 8 MiB, even if the texts of its bookings are very long. The
// next booking is still in the feed.
func TestFeedSizeIsLimited(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(setAdvanceMonth)
	next := w.bookID("10:00", nil)
	_, err := w.pool.Exec(t.Context(), `
		INSERT INTO bookings SELECT (jsonb_populate_record(b, jsonb_build_object('id', gen_random_uuid(), 'link_hash', NULL, 'staff_name', repeat('😀', 4000),
			'starts_at', b.starts_at + n * interval '1 minute', 'ends_at', b.ends_at + n * interval '1 minute'))).*
		FROM bookings AS b, generate_series(1, 1000) AS n`)
	if err != nil {
		t.Fatal(err)
	}
	got := w.read(bookingclient.CalendarPath(w.feed(nil, booking.ShowsNames).Token))
	if n := strings.Count(got.text, "BEGIN:VEVENT"); got.status != http.StatusOK || len(got.text) > 8<<20 || n < 100 ||
		!strings.Contains(got.text, next.String()) {
		t.Errorf("%d: %d bytes with %d bookings, the next among them: %v", got.status, len(got.text), n,
			strings.Contains(got.text, next.String()))
	}
}
