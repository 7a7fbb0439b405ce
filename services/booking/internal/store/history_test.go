package store_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// historySQL inserts bookings of one business and their occupied time. Each of ten members has two bookings on each day
// from $3 to $4, counted from noon.
const historySQL = `
WITH slots AS (
	SELECT gen_random_uuid() AS id, member, $2::timestamptz + day * interval '1 day' + hour * interval '1 hour' AS start
	FROM generate_series($3::int, $4::int) AS day, generate_series(0, 1) AS hour,
	     (SELECT md5($1::uuid::text || n)::uuid AS member FROM generate_series(1, 10) AS n) AS members
), held AS (
	INSERT INTO occupied_time SELECT $1::uuid, id, 1, member, 0, tstzrange(start, start + interval '55 minutes'), id FROM slots
)
INSERT INTO bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id, staff_name, party_size,
	total, currency, first_booking, source, customer_name, customer_email, form_data, locale, offer_version, created_at, updated_at)
SELECT $1::uuid, id, 'confirmed', start, start + interval '45 minutes', start, start, '[{"name": "Haircut"}]', member, 'Anna', 1,
	4000, 'EUR', false, 'api', 'Zoë', id || '@example.com', '{}', 'en', 1, start, start
FROM slots`

const historyDays = 3650

func fillDays(t testing.TB, pool *pgxpool.Pool, business uuid.UUID, from, to int) {
	t.Helper()
	for first := from; first <= to; first += 365 { // one year at a time, in the order of time
		if _, err := pool.Exec(testkit.AsSystem(t), historySQL, business, noon, first, min(first+364, to)); err != nil {
			t.Fatal(err)
		}
	}
}

// BenchmarkReadDayWithTenYearsOfHistory reads one day ahead: without older bookings, with ten years of older bookings,
// and after the job has moved these. It takes a minute. docs/decisions/018-past-time.md shows what it logs.
func BenchmarkReadDayWithTenYearsOfHistory(b *testing.B) {
	s, pool := open(b)
	alone, old := uuid.New(), uuid.New()
	fillDays(b, pool, alone, 0, 30)
	measureDay(b, s, pool, "none behind it", alone)
	fillDays(b, pool, old, -historyDays, 30)
	measureDay(b, s, pool, "ten years behind it", old)
	began := time.Now()
	n, err := s.ArchiveOccupied(testkit.AsSystem(b), old, noon.Add(-store.ArchiveAge))
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d bookings were archived in %v", n, time.Since(began).Round(time.Millisecond))
	measureDay(b, s, pool, "after the job", old)
	if _, err := pool.Exec(testkit.AsSystem(b), `REINDEX INDEX never_twice`); err != nil {
		b.Fatal(err)
	}
	measureDay(b, s, pool, "after the job, the index built anew", old)
}

// measureDay logs how many pages and how much time it costs to read a day and to write a booking on it.
func measureDay(t testing.TB, s *store.Store, pool *pgxpool.Pool, name string, business uuid.UUID) {
	t.Helper()
	if _, err := pool.Exec(testkit.AsSystem(t), `VACUUM ANALYZE occupied_time`); err != nil {
		t.Fatal(err)
	}
	from := noon.AddDate(0, 0, 10).Truncate(24 * time.Hour)
	to := from.AddDate(0, 0, 1)
	var plan string
	if err := pool.QueryRow(testkit.AsSystem(t), `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) `+store.OccupiedSQL(from, to),
		business, from, to).Scan(&plan); err != nil {
		t.Fatal(err)
	}
	var explained []struct {
		Plan struct {
			Hit  int     `json:"Shared Hit Blocks"`
			Read int     `json:"Shared Read Blocks"`
			Rows float64 `json:"Actual Rows"`
		}
		Execution float64 `json:"Execution Time"`
	}
	if err := json.Unmarshal([]byte(plan), &explained); err != nil {
		t.Fatal(err)
	}
	const reads = 2000
	began := time.Now()
	for range reads {
		if _, err := s.Occupied(testkit.AsSystem(t), business, from, to, false); err != nil {
			t.Fatal(err)
		}
	}
	each := time.Since(began) / reads
	const writes = 500
	began = time.Now()
	member := uuid.New()
	for i := range writes {
		mustBook(t, s, newBooking(business, newPart(member, 0, 10*day+i, 10*day+i+1)))
	}
	write := time.Since(began) / writes
	var size string
	if err := pool.QueryRow(testkit.AsSystem(t),
		`SELECT pg_size_pretty(pg_relation_size('never_twice'))`).Scan(&size); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(testkit.AsSystem(t), `DELETE FROM occupied_time WHERE resource_id = $1`,
		member); err != nil {
		t.Fatal(err)
	}
	p := explained[0].Plan
	t.Logf("%s: %v rows, %d pages, %.3f ms in the database, %v a read, %v a booking, index of %s", name, p.Rows,
		p.Hit+p.Read,
		explained[0].Execution, each, write, size)
}
