package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
)

// eventDataSQL returns an SQL expression for the data of an event: all columns of a table row, except the hashes of
// secrets.
func eventDataSQL(table string) string { return `to_jsonb(` + table + `) - '{hash,link_hash}'::text[]` }

// These SQL expressions record events. An event contains the row of its subject. If
// the subject is paid online, the event also contains the row of the charge, under the
// key "payment". The event contains both rows after their change by the statement.
var (
	// recordCreated records the first event of a booking without an online payment.
	// If a booking is paid online, recordOpened records the first event when the
	// charge is open. Until then, the booking may be cancelled without an event.
	//
	// The subquery `booked` of bookSQL returns exactly the columns of the event. Therefore
	// recordCreated need not remove columns from the jsonb value, which would take more time.
	recordCreated = eventlog.RecordOne(event.Booking, event.BookingCreated, "booked WHERE sequence > 0",
		`to_jsonb(booked)`)
	recordOpened = eventlog.Record(event.Booking, event.BookingCreated, "told",
		eventDataSQL("told")+` || jsonb_build_object('payment', (SELECT to_jsonb(opened) FROM opened))`)

	recordTransition = eventlog.Record(event.Booking, "", "moved WHERE sequence > 0",
		eventDataSQL("moved")+` || jsonb_build_object('payment', `+movedCharge+`)`)

	// The event of a rescheduled or relocated booking also contains the former time and location, under the key "from".
	recordRescheduled = eventlog.Record(event.Booking, "", "moved",
		eventDataSQL("moved")+` || jsonb_build_object('from', (SELECT to_jsonb(before) FROM before), 'payment',
			(SELECT to_jsonb(p) FROM payments AS p WHERE p.business_id = @business_id AND p.subject_id = moved.id))`)

	// For an order without an online payment, recordSold records the first event. For an
	// order with an online payment, recordTicketCreated records the first event when the
	// charge is open. recordTicketPaid records another event when the charge is paid.
	recordSold = eventlog.Record(event.Ticket, event.TicketSold, "ticket WHERE sequence > 0",
		eventDataSQL("ticket")+` || '{"payment": null}'`)
	recordTicketCreated = eventlog.Record(event.Ticket, event.TicketCreated, "told",
		eventDataSQL("told")+` || jsonb_build_object('payment', (SELECT to_jsonb(opened) FROM opened))`)
	recordTicketPaid = eventlog.Record(event.Ticket, event.TicketSold, "sold",
		eventDataSQL("sold")+` || jsonb_build_object('payment',
			(SELECT to_jsonb(p) FROM payments AS p WHERE p.business_id = @business_id AND p.subject_id = sold.id))`)
	recordTicketCancelled = eventlog.Record(event.Ticket, event.TicketCancelled, "cancelled WHERE sequence > 0",
		eventDataSQL("cancelled")+` || jsonb_build_object('payment', `+movedCharge+`)`)

	recordKeyCreated = eventlog.Record(event.Key, event.KeyCreated, "made", eventDataSQL("made"))
	recordKeyRevoked = eventlog.Record(event.Key, event.KeyRevoked, "revoked", eventDataSQL("revoked"))
)

// movedCharge is an SQL expression for the charge of a booking or
// order after the changes that transitionSQL or cancelTicketSQL makes.
const movedCharge = `coalesce((SELECT to_jsonb(uncharged) FROM uncharged), (SELECT to_jsonb(refunding) FROM refunding), (SELECT to_jsonb(charge) FROM charge))`

// recordPayment returns an SQL statement for each kind of subject: booking, order of
// tickets and reservation. The statement changes a charge and records an event for the
// subject of the charge. The argument `change` is the UPDATE of the table payments.
//
// The caller must lock the subject in the same transaction. The statement for
// reservations records no event, because rental records the events of reservations.
func recordPayment(change string) map[event.SubjectKind]string {
	statements := map[event.SubjectKind]string{event.Reservation: change}
	for kind, table := range subjectTable {
		statements[kind] = `
WITH changed AS (` + change + `
    RETURNING *
), subject AS (
    UPDATE ` + table + ` SET sequence = sequence + 1
    WHERE business_id = @business_id AND id = @id AND EXISTS (SELECT FROM changed)
    RETURNING *
)
` + eventlog.Record(kind, "", "subject", eventDataSQL("subject")+` || jsonb_build_object('payment', (SELECT to_jsonb(changed) FROM changed))`)
	}
	return statements
}

// keptColumns are the columns that [scanBooking] reads. They are
// taken from `kept_row`, a query column with the data of an event.
const keptColumns = ownColumns + `, nullif(kept_row->'payment', 'null')`

// DecodeBookings decodes bookings from the data of events.
func (s *Store) DecodeBookings(ctx context.Context, records []json.RawMessage) ([]Booking, error) {
	return eventlog.QueryRows(ctx, s.pool, "bookings", keptColumns, records, scanBooking)
}

// OriginalBooking returns a booking as its first event contains it, without later changes. If the customer
// was anonymized after the booking, the result contains no data of the customer. Errors: [ErrNotFound].
func (s *Store) OriginalBooking(ctx context.Context, businessID, id uuid.UUID) (Booking, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT `+keptColumns+`
		FROM (SELECT data AS kept_row FROM events WHERE business_id = $1 AND subject_id = $2 AND sequence = 1) AS made,
		     jsonb_populate_record(NULL::bookings, kept_row) AS bookings`, businessID, id)
	if err != nil {
		return Booking{}, fmt.Errorf("read how a booking was made: %w", err)
	}
	original, err := pgx.CollectExactlyOneRow(rows, scanBooking)
	if errors.Is(err, pgx.ErrNoRows) {
		return Booking{}, ErrNotFound
	}
	if err != nil {
		return Booking{}, fmt.Errorf("read how a booking was made: %w", err)
	}
	return original, nil
}

// DecodeTickets decodes orders of tickets from the data of events.
func (s *Store) DecodeTickets(ctx context.Context, records []json.RawMessage) ([]Ticket, error) {
	return eventlog.QueryRows(ctx, s.pool, "tickets", ownTicketColumns+`, nullif(kept_row->'payment', 'null')`, records,
		scanTicket)
}

// DecodeKeys decodes API keys from the data of events.
func (s *Store) DecodeKeys(ctx context.Context, records []json.RawMessage) ([]Key, error) {
	return eventlog.QueryRows(ctx, s.pool, "api_keys", keyColumns, records, func(row pgx.CollectableRow) (Key, error) {
		return scanKey(row)
	})
}
