package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// fillBusiness returns a store with a year of bookings of one business: 20 members with 8 bookings a day each.
func fillBusiness(b *testing.B) (*store.Store, func(sql string, args ...any), uuid.UUID) {
	b.Helper()
	s, pool := open(b)
	business := uuid.New()
	exec := func(sql string, args ...any) {
		if _, err := pool.Exec(testkit.AsSystem(b), sql, args...); err != nil {
			b.Fatal(err)
		}
	}
	exec(`
		WITH slots AS (
			SELECT gen_random_uuid() AS id, staff, $2::timestamptz - day * interval '1 day' + hour * interval '1 hour' AS start
			FROM (SELECT gen_random_uuid() AS staff FROM generate_series(1, 20)) AS members, generate_series(1, 365) AS day, generate_series(0, 7) AS hour
		), held AS (
			INSERT INTO occupied_time SELECT $1, id, 1, staff, 0, tstzrange(start, start + interval '55 minutes'), gen_random_uuid() FROM slots
		)
		INSERT INTO bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id, staff_name, party_size,
			total, currency, first_booking, source, customer_name, customer_email, form_data, locale, offer_version, created_at, updated_at)
		SELECT $1, id, 'confirmed', start, start + interval '45 minutes', start, start, '[{"name": "Haircut"}]', staff, 'Anna', 1,
			4000, 'EUR', false, 'api', 'Zoë', id || '@example.com', '{}', 'en', 1, start, start
		FROM slots`, business, noon)
	exec(`ANALYZE`)
	return s, exec, business
}

// BenchmarkBook measures how long it takes to write a booking; compare it with BenchmarkBareInsert of the same run.
func BenchmarkBook(b *testing.B) {
	s, _, business := fillBusiness(b)
	minute := 0
	for b.Loop() {
		minute += 60
		if err := s.Book(testkit.AsSystem(b),
			newBooking(business, newPart(business, 0, minute, minute+45))); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBookParallel measures the same with many connections, each for another member.
func BenchmarkBookParallel(b *testing.B) {
	s, _, business := fillBusiness(b)
	var members atomic.Int64
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		member, minute := uuid.NewSHA1(business, []byte{byte(members.Add(1))}), 0
		for pb.Next() {
			minute += 60
			if err := s.Book(testkit.AsSystem(b),
				newBooking(business, newPart(member, 0, minute, minute+45))); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkBareInsert measures how long it takes to insert one row of occupied time under the same constraint.
func BenchmarkBareInsert(b *testing.B) {
	_, exec, business := fillBusiness(b)
	exec(`ALTER TABLE occupied_time DROP CONSTRAINT occupied_time_business_id_booking_id_fkey`)
	start := noon
	for b.Loop() {
		start = start.Add(time.Hour)
		exec(`INSERT INTO occupied_time VALUES ($1, $2, 1, $1, 0, tstzrange($3, $4), gen_random_uuid())`, business,
			uuid.New(), start, start.Add(45*time.Minute))
	}
}

// BenchmarkLostRace measures how long it takes to refuse a booking of a busy time.
func BenchmarkLostRace(b *testing.B) {
	s, _, business := fillBusiness(b)
	if err := s.Book(testkit.AsSystem(b), newBooking(business, newPart(business, 0, 0, 45))); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Book(testkit.AsSystem(b), newBooking(business, newPart(business, 0, 0, 45))); err == nil {
			b.Fatal("sold twice")
		}
	}
}

// BenchmarkOccupied measures how long it takes to read the occupied time of 20 members in 62 days, which is 9,920
// bookings.
func BenchmarkOccupied(b *testing.B) {
	s, _, business := fillBusiness(b)
	from := noon.AddDate(0, 0, -70)
	for b.Loop() {
		if _, err := s.Occupied(testkit.AsSystem(b), business, from, from.AddDate(0, 0, 62), false); err != nil {
			b.Fatal(err)
		}
	}
}
