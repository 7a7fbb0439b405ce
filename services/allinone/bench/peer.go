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

// peerSQL creates tables of the usual design of booking systems, for comparison. They have no
// constraint on times; a booking locks the row of the staff member first.
const peerSQL = `
CREATE SCHEMA IF NOT EXISTS peer;
CREATE TABLE peer.staff (business_id uuid NOT NULL, id uuid NOT NULL, PRIMARY KEY (business_id, id));
CREATE TABLE peer.bookings (LIKE booking.bookings INCLUDING ALL);
CREATE INDEX ON peer.bookings (business_id, staff_id, starts_at)`

// makePeerTables creates the tables once, with the members of all salons.
func (w *world) makePeerTables() error {
	ctx := context.Background()
	if w.peer != nil {
		return nil
	}
	cfg := w.pool.Config().Copy()
	cfg.MaxConns = peerConnections
	var err error
	if w.peer, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return err
	}
	if _, err := w.peer.Exec(ctx, peerSQL); err != nil {
		return err
	}
	for _, s := range append([]salon{w.hot}, w.salons...) {
		if _, err := w.peer.Exec(ctx, `INSERT INTO peer.staff SELECT $1, unnest($2::uuid[])`, s.id,
			s.staff); err != nil {
			return err
		}
	}
	return nil
}

// peerConnections is the default number of connections of a service (libs/platform/postgres).
const peerConnections = 16

// peerAnywhere books the same slots in the same order as [world.bookAnywhere]; peerHot books those of [world.bookHot].
func (w *world) peerAnywhere(n int64) (int, error) {
	return w.peerBook(w.salons[int(n)%len(w.salons)], anywhere(n, len(w.salons)), n)
}

func (w *world) peerHot(n int64) (int, error) { return w.peerBook(w.hot, hottest(n), n) }

// peerBook books in the usual way of booking systems, for comparison. One transaction locks the staff
// member's row, checks that the time is free, and inserts the booking. It needs five round trips.
func (w *world) peerBook(s salon, i, n int64) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	member := s.staff[i%salonStaff]
	starts := tomorrow.AddDate(0, 0, int(i/(salonStaff*startsADay))).Add(opens*time.Hour +
		time.Duration(i/salonStaff%startsADay)*30*time.Minute)
	status := http.StatusConflict
	err := pgx.BeginFunc(ctx, w.peer, func(tx pgx.Tx) error {
		var id uuid.UUID
		if err := tx.QueryRow(ctx, `SELECT id FROM peer.staff WHERE business_id = $1 AND id = $2 FOR UPDATE`, s.id,
			member).Scan(&id); err != nil {
			return err
		}
		var taken bool
		err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM peer.bookings WHERE business_id = $1 AND staff_id = $2
			AND starts_at < $4 AND starts_at > $3::timestamptz - interval '1 day' AND ends_at > $3 AND status <> 'cancelled')`,
			s.id, member, starts, starts.Add(30*time.Minute)).Scan(&taken)
		if err != nil || taken {
			return err
		}
		status = http.StatusCreated
		_, err = tx.Exec(ctx, `
			INSERT INTO peer.bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id, staff_name, party_size,
				total, currency, first_booking, source, customer_name, customer_email, form_data, locale, offer_version, created_at, updated_at)
			VALUES ($1, $2, 'pending', $4::timestamptz, $5::timestamptz, $4 AT TIME ZONE 'UTC', $5 AT TIME ZONE 'UTC', '[{}]', $3, 'Member', 1, 0, 'EUR', false, 'bench', 'C', $6, '{}', 'en', 1, now(), now())`,
			s.id, uuid.New(), member, starts, starts.Add(30*time.Minute), fmt.Sprintf("c%d@example.com", n))
		return err
	})
	if err != nil {
		return 0, err
	}
	return status, nil
}
