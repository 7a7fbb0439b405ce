package bench

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// minimalTablesSQL creates copies of the tables that a booking writes to, with all their constraints.
const minimalTablesSQL = `
CREATE SCHEMA IF NOT EXISTS least;
CREATE TABLE least.bookings (LIKE booking.bookings INCLUDING ALL);
CREATE TABLE least.occupied_time (LIKE booking.occupied_time INCLUDING ALL, FOREIGN KEY (business_id, booking_id) REFERENCES least.bookings (business_id, id));
CREATE TABLE least.events (LIKE booking.events INCLUDING ALL)`

// makeMinimalTables creates the tables of [minimalTablesSQL]. makeMinimalTables also opens a pool of connections whose
// search path contains booking's SQL functions.
func (w *system) makeMinimalTables() error {
	ctx := context.Background()
	cfg := w.pool.Config().Copy()
	cfg.ConnConfig.RuntimeParams["search_path"] = "booking, public"
	var err error
	if w.minimalPool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return err
	}
	_, err = w.minimalPool.Exec(ctx, minimalTablesSQL)
	return err
}

// bookMinimally does the minimum work of a booking in two statements, for comparison. bookMinimally books the same
// slots as [system.insertBooking].
//
// The first statement reads the occupied time around the slot, which every decision about a booking needs. The second
// statement writes the booking with the hash of its link, its occupied time and its event. It also calls two SQL
// functions of booking: may_write checks that the write was not refused in the meantime, and may_sell that the offer
// and the API key are still valid.
func (w *system) bookMinimally(n int64) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	s, i := w.salons[int(n)%len(w.salons)], n/int64(len(w.salons))
	starts := tomorrow.Add(time.Duration(i/salonStaff) * 30 * time.Minute)
	rows, err := w.minimalPool.Query(ctx, `SELECT resource_id, lane, lower(during), upper(during) FROM least.occupied_time
		WHERE business_id = (SELECT $1::uuid) AND during && (SELECT tstzrange($2, $3))`, s.id, starts.Add(-3*time.Hour), starts.Add(3*time.Hour+30*time.Minute))
	if err != nil {
		return 0, err
	}
	if _, err := pgx.ForEachRow(rows, newRowScan(), func() error { return nil }); err != nil {
		return 0, err
	}
	var (
		booked bool
		id     = uuid.Must(uuid.NewV7())
		link   = make([]byte, 32)
	)
	_, _ = randomReader{}.Read(link)
	err = w.minimalPool.QueryRow(ctx, `
		WITH taken AS (
			INSERT INTO least.occupied_time (business_id, booking_id, part, resource_id, lane, during, holder)
			VALUES ($1, $2, 1, $3, 0, tstzrange($4, $5), $2) ON CONFLICT DO NOTHING RETURNING 1
		), booked AS (
			INSERT INTO least.bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id, staff_name, party_size,
				total, currency, first_booking, source, customer_name, customer_email, form_data, locale, offer_version, created_at, updated_at, link_hash)
			SELECT $1, $2, 'pending', $4, $5, $4, $5, '[{}]', $3, 'Member', 1, 0, 'EUR', false, 'bench', 'C', $6, '{}', 'en', 1, now(), now(), $7
			FROM taken RETURNING *
		), told AS (
			INSERT INTO least.events (business_id, subject_id, sequence, subject_kind, id, type, at, actor_kind, data)
			SELECT business_id, id, 1, 'booking', $8, 'booking.created', now(), 'api_key', to_jsonb(booked) FROM booked
		)
		SELECT EXISTS (SELECT FROM booked) AND may_write($1, $2, now()) AND may_sell($1, $9, $10)`,
		s.id, id, s.staff[i%salonStaff], starts, starts.Add(30*time.Minute), fmt.Sprintf("c%d@example.com", n), link,
		uuid.Must(uuid.NewV7()),
		int64(1), s.keyIDs[int(n/2)%len(s.keyIDs)]).Scan(&booked)
	switch {
	case err != nil:
		return 0, err
	case !booked:
		return http.StatusConflict, nil
	}
	return http.StatusCreated, nil
}
