package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// NewReservation is a reservation to write. If Hours is set, the reservation is for hours, otherwise for whole dates.
type NewReservation struct {
	BusinessID uuid.UUID
	ID         uuid.UUID
	RentalID   uuid.UUID
	RentalName string
	Quantity   int
	Dates      occupancy.Dates
	Hours      *Hours
	Extras     []Extra
	Price      *Price // nil if the owner reserves, because the owner sets no price
	// Payment is set if the reservation is paid online. The reservation then begins as pending, and the first event of
	// the reservation is recorded when the payment is open.
	Payment       *booking.PaymentState
	IsCounted     bool // booking counts the reservation as an open booking of its customer
	CustomerName  string
	CustomerEmail *string
	CustomerPhone *string
	FormData      json.RawMessage // a JSON object with the customer's answers; nil: no answers
	Locale        string
	Timezone      string // the time zone of Dates and Hours
	OfferVersion  int64
	LinkHash      []byte // the hash of the customer's link (libs/sale/link)
	Now           time.Time
	Warnings      []booking.Warning // see [Reservation.Warnings]
}

// Hours holds the start and the end of a reservation for hours, both as wall-clock times and as instants.
type Hours struct {
	Start, End timespan.TimeOfDay
	Span       timespan.Span `json:"During"` // the name in the stored JSON
}

// Extra is another rental that is reserved together with the main rental, for the same time. The row of
// the reservation contains its extras as JSON. If ByDay is true, the extra is reserved for whole dates.
type Extra struct {
	RentalID uuid.UUID `json:"rental_id"`
	Name     string    `json:"name"`
	Quantity int       `json:"quantity"`
	ByDay    bool      `json:"by_day"`
	Price    *int64    `json:"price,omitempty"` // the price of all units of the extra for the whole time
}

// Price is the price of a reservation in minor units of Currency. Own is the
// price of the main rental; Total also includes the prices of the extras.
type Price struct {
	Own, Total int64
	Currency   money.Currency
	Changes    []booking.PriceChange // the pricing rules that changed Own or the price of an extra, each listed once
}

// insertRowsSQL inserts missing rows for the rentals; lockSQL then locks the rows. Both statements process
// the rentals in the order of their ids, so that requests for several rentals cannot deadlock. A statement
// after lockSQL in the same transaction sees all rows that earlier holders of the locks have written.
const (
	insertRowsSQL = `INSERT INTO rentals (business_id, rental_id) SELECT $1, id FROM unnest($2::uuid[]) AS ids (id) ORDER BY id ON CONFLICT DO NOTHING`
	lockSQL       = `SELECT FROM rentals WHERE business_id = $1 AND rental_id = ANY($2) ORDER BY rental_id FOR NO KEY UPDATE`
)

var reserveSQL = `
WITH reserved AS (
    INSERT INTO reservations (business_id, id, rental_id, rental_name, status, quantity, start_date, end_date, start_minute,
                              end_minute, starts_at, ends_at, extras, price, total, currency, payment, customer_name, customer_email,
                              customer_phone, form_data, locale, offer_version, link_hash, counted, timezone, price_changes, sequence, created_at, updated_at)
    VALUES (@business_id, @id, @rental_id, @rental_name, @status, @quantity, ` + epoch + ` + @start_date::integer,
            ` + epoch + ` + @end_date::integer, @start_minute, @end_minute, @starts_at, @ends_at, @extras, @price, @total, @currency, @payment, @customer_name,
            @customer_email, @customer_phone, coalesce(@form_data::jsonb, '{}'), @locale, @offer_version, @link_hash, @counted, @timezone, @price_changes,
            CASE WHEN @payment::jsonb IS NULL THEN 1 ELSE 0 END, @now::timestamptz, @now::timestamptz)
    RETURNING *
), held AS (
    INSERT INTO extra_units (business_id, rental_id, reservation_id, quantity, by_day, held_until)
    SELECT business_id, extra.rental_id, id, extra.quantity, extra.by_day, end_date
    FROM reserved, jsonb_to_recordset(extras) AS extra (rental_id uuid, quantity integer, by_day boolean)
), recorded AS (
    ` + eventlog.Record(event.Reservation, event.ReservationCreated, "reserved WHERE sequence > 0", eventDataSQL("reserved")) + `
)
SELECT ` + reservationColumns + ` FROM reserved`

// Reserve writes a reservation in one idempotent write ([postgres.WriteIdempotently]),
// if the function `hasUnits` returns true. Errors: [ErrTooFewUnits] if `hasUnits` returns false.
//
// The function `hasUnits` gets the reservations that may occupy units on the dates, as [Store.FindOccupying]
// returns them. It reports whether enough units are free for the reservation and its extras. From the call
// of `hasUnits` until the write ends, no other request can reserve units of these rentals.
func (s *Store) Reserve(ctx context.Context, r NewReservation,
	hasUnits func(map[uuid.UUID][]occupancy.Reservation) bool) (Reservation, error) {
	written, err := postgres.WriteIdempotently(ctx, s.pool, r.BusinessID,
		func(ctx context.Context, tx pgx.Tx) (Reservation, error) {
			occupying, err := lockAndRead(ctx, tx, r)
			if err != nil {
				return Reservation{}, fmt.Errorf("read reservations that occupy units: %w", err)
			}
			if !hasUnits(occupying) {
				return Reservation{}, ErrTooFewUnits
			}
			rows, err := tx.Query(ctx, reserveSQL, eventlog.Add(ctx, reserveArgs(r), r.Now))
			if err != nil {
				return Reservation{}, err
			}
			reserved, err := pgx.CollectExactlyOneRow(rows, scanReservation)
			reserved.Warnings = r.Warnings
			return reserved, err
		})
	if err != nil {
		return Reservation{}, fmt.Errorf("reserve: %w", err)
	}
	return written, nil
}

// lockAndRead locks the rentals of a reservation and then reads the reservations
// that may occupy their units. It needs one round trip to the database.
func lockAndRead(ctx context.Context, tx pgx.Tx, r NewReservation) (map[uuid.UUID][]occupancy.Reservation, error) {
	rentals := []uuid.UUID{r.RentalID}
	for _, extra := range r.Extras {
		rentals = append(rentals, extra.RentalID)
	}
	batch := &pgx.Batch{}
	batch.Queue(insertRowsSQL, r.BusinessID, rentals)
	batch.Queue(lockSQL, r.BusinessID, rentals)
	batch.Queue(occupyingSQL, occupyingArgs(r.BusinessID, rentals, r.Dates))
	results := tx.SendBatch(ctx, batch)
	occupying, err := readOccupying(results)
	if err := errors.Join(err, results.Close()); err != nil {
		return nil, err
	}
	return occupying, nil
}

func readOccupying(results pgx.BatchResults) (map[uuid.UUID][]occupancy.Reservation, error) {
	for range 2 { // the results of insertRowsSQL and lockSQL
		if _, err := results.Exec(); err != nil {
			return nil, err
		}
	}
	rows, err := results.Query()
	if err != nil {
		return nil, err
	}
	return collectOccupying(rows)
}

func reserveArgs(r NewReservation) pgx.NamedArgs {
	args := pgx.NamedArgs{
		"business_id": r.BusinessID, "id": r.ID, "rental_id": r.RentalID, "rental_name": r.RentalName,
		"status": string(state.Reserved), "payment": r.Payment, "quantity": r.Quantity,
		"start_date": int32(r.Dates.From), "end_date": int32(r.Dates.To),
		"start_minute": nil, "end_minute": nil, "starts_at": nil, "ends_at": nil,
		"customer_name": r.CustomerName, "customer_email": r.CustomerEmail, "customer_phone": r.CustomerPhone,
		"form_data": r.FormData, "locale": r.Locale,
		"offer_version": r.OfferVersion, "link_hash": r.LinkHash, "now": r.Now, "counted": r.IsCounted,
		"timezone": r.Timezone,
		"extras":   append([]Extra{}, r.Extras...), "price": nil, "total": nil, "currency": nil,
		"price_changes": []booking.PriceChange{},
	}
	if r.Payment != nil {
		args["status"] = string(state.Pending)
	}
	if p := r.Price; p != nil {
		args["price"], args["total"], args["currency"] = p.Own, p.Total, p.Currency.Code
		args["price_changes"] = append([]booking.PriceChange{}, p.Changes...)
	}
	if h := r.Hours; h != nil {
		args["start_minute"], args["end_minute"] = int32(h.Start), int32(h.End)
		args["starts_at"], args["ends_at"] = time.Unix(h.Span.Start, 0), time.Unix(h.Span.End, 0)
	}
	return args
}
