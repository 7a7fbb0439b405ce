package bench

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone/test/deadlines"
)

// TestFillWritesSameRowsAsAPI compares the rows that fill writes directly with those that the API creates.
func TestFillWritesSameRowsAsAPI(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	o := Options{DatabaseURL: testkit.Server(t), RedisURL: os.Getenv(testkit.RedisURL), Settings: deadlines.Roomy,
		Progress: progress{t}}
	size := Size{Businesses: 3, Bookings: 100}
	bulk, drop, err := o.makeFilledDatabase(ctx, size)
	if err != nil {
		t.Fatal(err)
	}
	defer drop()
	if o.DatabaseURL, drop, err = makeDatabase(ctx, o.DatabaseURL); err != nil {
		t.Fatal(err)
	}
	defer drop()
	w, err := newSystem(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	s, err := w.createSalon(ctx, formatGrowthSlug(1), 1)
	if err != nil {
		t.Fatal(err)
	}
	wednesday := int64(1) // the day after the first Tuesday, because Tuesdays have other prices
	if status, err := w.http.send(w.newBookCall(s, wednesday*salonStaff*startsPerDay, 1),
		nil); status != http.StatusCreated {
		t.Fatal(status, err)
	}
	made, err := pgxpool.New(ctx, bulk)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	for _, table := range []string{"catalog.businesses", "catalog.versions"} {
		query := "SELECT to_jsonb(t) - 'published_at' FROM " + table +
			" AS t WHERE $1 IN (to_jsonb(t) ->> 'id', to_jsonb(t) ->> 'business_id')"
		if diff := cmp.Diff(readRow(ctx, t, w.pool, query, s.id), readRow(ctx, t, made, query, s.id)); diff != "" {
			t.Errorf("%s: the interface's row and ours:\n%s", table, diff)
		}
	}
	const booked = `SELECT to_jsonb(b) - '{id,source,status,starts_at,ends_at,local_start,local_end,customer_email,link_hash,created_at,updated_at}'::text[]
			|| jsonb_build_object('time', to_jsonb(o) - '{booking_id,holder,during}'::text[], 'alone', o.holder <> '00000000-0000-0000-0000-000000000000',
				'minutes', ends_at - starts_at, 'local', local_end - local_start, 'zone', local_start - starts_at AT TIME ZONE 'Europe/Lisbon',
				'occupied', o.during = tstzrange(starts_at, ends_at))
		FROM booking.bookings b JOIN booking.occupied_time o ON o.business_id = b.business_id AND o.booking_id = b.id
		WHERE b.business_id::text = $1 ORDER BY b.staff_name LIMIT 1`
	real := readRow(ctx, t, w.pool, booked, s.id)
	maps.DeleteFunc(real, func(name string, _ any) bool { return name == "first_booking" }) // the booking by the API is the first of its customer
	ours := readRow(ctx, t, made, booked, s.id)
	delete(ours, "first_booking")
	if diff := cmp.Diff(real, ours); diff != "" {
		t.Errorf("booking: the interface's row and ours:\n%s", diff)
	}
	checkCounts(ctx, t, made, size)
}

// readRow returns a row as JSON.
func readRow(ctx context.Context, t *testing.T, pool *pgxpool.Pool, query string, id any) map[string]any {
	t.Helper()
	rows, err := pool.Query(ctx, query, id.(interface{ String() string }).String())
	if err != nil {
		t.Fatal(err)
	}
	text, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[[]byte])
	if err != nil {
		t.Fatal(err)
	}
	var row map[string]any
	if err := json.Unmarshal(text, &row); err != nil {
		t.Fatal(err)
	}
	return row
}

// checkCounts checks the numbers of businesses and bookings, and that each business and each member has an equal share.
func checkCounts(ctx context.Context, t *testing.T, pool *pgxpool.Pool, size Size) {
	t.Helper()
	var businesses, bookings, times, least, most int
	err := pool.QueryRow(ctx,
		`SELECT (SELECT count(*) FROM catalog.businesses WHERE slug LIKE 'grown-%'), (SELECT count(*) FROM booking.bookings),
		(SELECT count(*) FROM booking.occupied_time), min(n), max(n) FROM (SELECT count(*) AS n FROM booking.occupied_time GROUP BY resource_id) AS each`).
		Scan(&businesses, &bookings, &times, &least, &most)
	if err != nil {
		t.Fatal(err)
	}
	if businesses != size.Businesses || bookings != size.Bookings || times != size.Bookings || least != 3 || most != 4 {
		t.Errorf("%d businesses, %d bookings, %d times, of each member %d to %d", businesses, bookings, times, least,
			most)
	}
}
