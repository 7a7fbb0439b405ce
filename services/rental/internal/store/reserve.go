package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/eventlog"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// NewReservation is a reservation to write: for whole dates, or for hours where Hours is set.
type NewReservation struct {
	BusinessID    uuid.UUID
	ID            uuid.UUID
	RentalID      uuid.UUID
	RentalName    string
	Quantity      int
	Dates         occupancy.Dates
	Hours         *Hours
	CustomerName  string
	CustomerEmail *string
	Locale        string
	OfferVersion  int64
	LinkHash      []byte // what is kept of the customer's link (libs/link)
	Now           time.Time
}

// Hours are the wall clock of a reservation's start and end, and the instants they mean.
type Hours struct {
	Start, End timespan.TimeOfDay
	During     timespan.Span
}

// makeRowSQL makes the rental's row where there is none; lockSQL waits for whoever holds it. What is read by a later
// statement of the transaction is what the holders before have written.
const (
	makeRowSQL = `INSERT INTO rentals (business_id, rental_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	lockSQL    = `SELECT FROM rentals WHERE business_id = $1 AND rental_id = $2 FOR NO KEY UPDATE`
)

var reserveSQL = `
WITH reserved AS (
    INSERT INTO reservations (business_id, id, rental_id, rental_name, status, quantity, start_date, end_date, start_minute,
                              end_minute, starts_at, ends_at, customer_name, customer_email, locale, offer_version, link_hash, created_at, updated_at)
    VALUES (@business_id, @id, @rental_id, @rental_name, @status, @quantity, ` + epoch + ` + @start_date::integer,
            ` + epoch + ` + @end_date::integer, @start_minute, @end_minute, @starts_at, @ends_at, @customer_name,
            @customer_email, @locale, @offer_version, @link_hash, @now::timestamptz, @now::timestamptz)
    RETURNING *
), recorded AS (
    ` + eventlog.Record(event.Reservation, event.ReservationCreated, "reserved", kept("reserved")) + `
)
SELECT ` + reservationColumns + ` FROM reserved`

// Reserve writes the reservation, once (postgres.Once), when fits says that its units are free beside all that is held within its dates, as
// [Store.Holding] returns it. Until it is written or refused nobody else can reserve this rental. Errors: [ErrLacking].
func (s *Store) Reserve(ctx context.Context, r NewReservation, fits func([]occupancy.Reservation) bool) (Reservation, error) {
	written, err := postgres.Once(ctx, s.pool, r.BusinessID, func(ctx context.Context, tx pgx.Tx) (Reservation, error) {
		held, err := lockAndRead(ctx, tx, r)
		if err != nil {
			return Reservation{}, fmt.Errorf("read what is held: %w", err)
		}
		if !fits(held) {
			return Reservation{}, ErrLacking
		}
		rows, err := tx.Query(ctx, reserveSQL, eventlog.Add(ctx, reserveArgs(r), r.Now))
		if err != nil {
			return Reservation{}, err
		}
		return pgx.CollectExactlyOneRow(rows, scanReservation)
	})
	if err != nil {
		return Reservation{}, fmt.Errorf("reserve: %w", err)
	}
	return written, nil
}

// lockAndRead is one round trip.
func lockAndRead(ctx context.Context, tx pgx.Tx, r NewReservation) ([]occupancy.Reservation, error) {
	batch := &pgx.Batch{}
	batch.Queue(makeRowSQL, r.BusinessID, r.RentalID)
	batch.Queue(lockSQL, r.BusinessID, r.RentalID)
	batch.Queue(holdingSQL, holdingArgs(r.BusinessID, []uuid.UUID{r.RentalID}, r.Dates))
	results := tx.SendBatch(ctx, batch)
	held, err := readHeld(results)
	if err := errors.Join(err, results.Close()); err != nil {
		return nil, err
	}
	return held[r.RentalID], nil
}

func readHeld(results pgx.BatchResults) (map[uuid.UUID][]occupancy.Reservation, error) {
	for range 2 { // the row and its lock
		if _, err := results.Exec(); err != nil {
			return nil, err
		}
	}
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	return collectHeld(rows)
}

func reserveArgs(r NewReservation) pgx.NamedArgs {
	args := pgx.NamedArgs{
		"business_id": r.BusinessID, "id": r.ID, "rental_id": r.RentalID, "rental_name": r.RentalName,
		"status": string(state.Reserved), "quantity": r.Quantity,
		"start_date": int32(r.Dates.From), "end_date": int32(r.Dates.To),
		"start_minute": nil, "end_minute": nil, "starts_at": nil, "ends_at": nil,
		"customer_name": r.CustomerName, "customer_email": r.CustomerEmail, "locale": r.Locale,
		"offer_version": r.OfferVersion, "link_hash": r.LinkHash, "now": r.Now,
	}
	if h := r.Hours; h != nil {
		args["start_minute"], args["end_minute"] = int32(h.Start), int32(h.End)
		args["starts_at"], args["ends_at"] = time.Unix(h.During.Start, 0), time.Unix(h.During.End, 0)
	}
	return args
}
