package store_test

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/migrations"
)

// before are the migrations up to the one that brought classes, exclusively.
func before(t *testing.T) fs.FS {
	t.Helper()
	some := fstest.MapFS{}
	for _, name := range []string{"00001_bookings.sql", "00002_tickets.sql", "00003_payments.sql"} {
		data, err := fs.ReadFile(migrations.FS, name)
		if err != nil {
			t.Fatal(err)
		}
		some[name] = &fstest.MapFile{Data: data}
	}
	return some
}

// plainSQL writes a booking and an hour of a member in the words of the code before classes.
const plainSQL = `
WITH taken AS (
    INSERT INTO occupied_time (business_id, booking_id, part, resource_id, lane, during)
    VALUES ($1, $2, 1, $3, 0, tstzrange($4, $4::timestamptz + interval '1 hour'))
    ON CONFLICT DO NOTHING
    RETURNING 1
)
INSERT INTO bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id, staff_name, party_size,
                      total, currency, first_booking, source, customer_name, customer_email, form_data, offer_version, created_at, updated_at)
SELECT $1, $2, 'pending', $4, $4::timestamptz + interval '1 hour', '2027-06-01 12:00', '2027-06-01 13:00',
       '[{"id": "11111111-1111-4111-8111-111111111111", "name": "Haircut", "duration_minutes": 60, "price": 4000}]',
       $3, 'Anna', 1, 4000, 'EUR', false, 'api', 'Zoë', 'zoe@example.com', '{}', 1, $4, $4
WHERE EXISTS (SELECT FROM taken)`

// plain returns whether a booking was written so.
func plain(t *testing.T, pool *pgxpool.Pool, business, member uuid.UUID, at time.Time) bool {
	t.Helper()
	written, err := pool.Exec(t.Context(), plainSQL, business, uuid.New(), member, at)
	if err != nil {
		t.Fatal(err)
	}
	return written.RowsAffected() == 1
}

// TestClassesComeToADatabaseThatIsInUse: what was booked before stays and excludes as it did, and code that knows nothing
// of classes goes on beside code that does.
func TestClassesComeToADatabaseThatIsInUse(t *testing.T) {
	t.Parallel()
	cfg, schema := testkit.PostgresSchema(t, "booking")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := postgres.Migrate(ctx, cfg, schema, before(t)); err != nil {
		t.Fatal(err)
	}
	pool, err := postgres.Open(ctx, cfg, schema, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	business, anna := uuid.New(), uuid.New()
	for i := range 5 {
		if !plain(t, pool, business, anna, noon.Add(time.Duration(i)*time.Hour)) {
			t.Fatal("nothing was written")
		}
	}
	if err := postgres.Migrate(ctx, cfg, schema, migrations.FS); err != nil {
		t.Fatal(err)
	}

	s := store.New(pool)
	occupied, err := s.Occupied(t.Context(), business, noon, noon.Add(5*time.Hour), true)
	if err != nil {
		t.Fatal(err)
	}
	if len(occupied.Busy) != 1 || occupied.Busy[0].Class || len(occupied.Busy[0].Edges) != 10 || len(occupied.Seats) != 0 {
		t.Errorf("after the migration the time is %+v", occupied)
	}
	list, _, err := s.Bookings(t.Context(), business, booking.Filter{}, 10, "")
	if err != nil || len(list) != 5 || list[0].ClassScheduleID != nil || list[0].Services[0].VariantName != "" {
		t.Errorf("after the migration the bookings are %+v (%v)", list, err)
	}
	class := newSession(10)
	class.business, class.teacher = business, anna
	expectTaken(t, s, "a class at the time of an old appointment", class.seats(1))
	if plain(t, pool, business, anna, noon.Add(30*time.Minute)) {
		t.Error("old code sells time that was sold before")
	}
	if !plain(t, pool, business, anna, noon.Add(5*time.Hour)) || plain(t, pool, business, anna, noon.Add(5*time.Hour)) {
		t.Error("old code does not sell free time exactly once")
	}
	class.at = 6 * 60
	mustBook(t, s, class.seats(2), class.seats(3))
	if plain(t, pool, business, anna, noon.Add(6*time.Hour+30*time.Minute)) {
		t.Error("old code sells the time of a class")
	}
	checkSeats(t, pool)
}
