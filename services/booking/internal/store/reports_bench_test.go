package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// fillYear returns a store with 100,000 bookings of one business in 2027: 20 members with 14 bookings a day each. The
// job has already moved the time of bookings before October to past_occupied_time.
func fillYear(b *testing.B) (*store.Store, func(sql string, args ...any), uuid.UUID) {
	b.Helper()
	s, pool := open(b)
	business := uuid.New()
	exec := func(sql string, args ...any) {
		rows, err := pool.Query(testkit.AsSystem(b), sql, args...)
		if err != nil {
			b.Fatal(err)
		}
		for rows.Next() {
			if _, err := rows.Values(); err != nil {
				b.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			b.Fatal(err)
		}
	}
	exec(`INSERT INTO bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id, staff_name, party_size,
			total, currency, first_booking, source, customer_name, customer_email, form_data, locale, offer_version, created_at, updated_at)
		SELECT $1, gen_random_uuid(), (array['confirmed', 'completed', 'completed', 'no_show'])[1 + place % 4], start, start + interval '45 minutes',
			start AT TIME ZONE 'UTC', start AT TIME ZONE 'UTC', '[{"name": "Haircut"}]', staff, 'Anna', 1,
			4000, 'EUR', false, (array['api', 'page', 'dashboard'])[1 + place % 3], 'Zoë', place || '@example.com', '{}', 'en', 1, start, start
		FROM (SELECT gen_random_uuid() AS staff FROM generate_series(1, 20)) AS members, generate_series(0, 4999) AS place,
			LATERAL (SELECT timestamptz '2027-01-01 06:00Z' + place / 14 * interval '1 day' + place % 14 * interval '1 hour' AS start) AS starts`, business)
	exec(`INSERT INTO past_occupied_time SELECT business_id, id, 1, staff_id, 0, tstzrange(starts_at, ends_at), id FROM bookings WHERE starts_at < '2027-10-01'`)
	exec(`INSERT INTO occupied_time SELECT business_id, id, 1, staff_id, 0, tstzrange(starts_at, ends_at), id FROM bookings WHERE starts_at >= '2027-10-01'`)
	exec(`INSERT INTO payments (business_id, subject_kind, subject_id, status, provider, account, amount, currency, cancellation_policy, due_at, created_at, updated_at)
		SELECT business_id, 'booking', id, 'paid', 'stripe', 'acct', total, currency, '{}', starts_at, starts_at, starts_at FROM bookings WHERE source = 'page'`)
	exec(`VACUUM ANALYZE`)
	return s, exec, business
}

// BenchmarkReports reads each report for a year with 100,000 bookings, by week. It also runs a plain SQL statement that
// sums the same rows; `make bench` compares the two.
func BenchmarkReports(b *testing.B) {
	s, exec, business := fillYear(b)
	q := report.Query{From: timespan.NewDate(2027, time.January, 1), To: timespan.NewDate(2027, time.December, 31),
		By: report.Week}
	for _, c := range []struct {
		name, plain string
		read        func() error
	}{
		{"bookings", `SELECT date_trunc('week', local_start), source, status, count(*), sum(party_size) FROM bookings
			WHERE business_id = $1 AND local_start >= '2027-01-01' AND local_start < '2028-01-01' GROUP BY 1, 2, 3`, func() error {
			_, err := s.BookingsReport(testkit.AsSystem(b), business, q)
			return err
		}},
		{"revenue",
			`SELECT date_trunc('week', local_start), b.currency, count(*), sum(total), sum(amount), sum(refunded)
			FROM bookings b LEFT JOIN payments p ON p.business_id = b.business_id AND p.subject_kind = 'booking' AND p.subject_id = b.id AND p.status = 'paid'
			WHERE b.business_id = $1 AND local_start >= '2027-01-01' AND local_start < '2028-01-01' AND b.status <> 'cancelled' GROUP BY 1, 2`, func() error {
				_, err := s.RevenueReport(testkit.AsSystem(b), business, q)
				return err
			}},
		{"staff-time",
			`SELECT date_trunc('week', lower(during) AT TIME ZONE 'Europe/Lisbon'), resource_id, sum(upper(during) - lower(during))
			FROM (SELECT * FROM occupied_time UNION ALL SELECT * FROM past_occupied_time) AS held
			WHERE business_id = $1 AND lane = 0 AND during && tstzrange('2027-01-01', '2028-01-01') GROUP BY 1, 2`, func() error {
				_, err := s.StaffTimeReport(testkit.AsSystem(b), business, q, "Europe/Lisbon")
				return err
			}},
	} {
		b.Run(c.name+"/report", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.read(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+"/plain", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				exec(c.plain, business)
			}
		})
	}
}
