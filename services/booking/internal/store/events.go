package store

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/eventlog"
)

// row is what an event keeps of a row: all of it but the hashes of secrets.
func row(of string) string { return `to_jsonb(` + of + `) - '{hash,link_hash}'::text[]` }

// What an event keeps of its subject is the row, and of a booking that is paid online also the row of its charge, as payment: both as
// the statement leaves them.
var (
	// A booking that is paid online is told of when its charge is open: until then it may come to nothing, and nobody hears of it.
	recordCreated = eventlog.Record(event.Booking, event.BookingCreated, "booked WHERE sequence > 0", row("booked")+` || '{"payment": null}'`)
	recordOpened  = eventlog.Record(event.Booking, event.BookingCreated, "told",
		row("told")+` || jsonb_build_object('payment', (SELECT to_jsonb(opened) FROM opened))`)

	recordMoved = eventlog.Record(event.Booking, "", "moved WHERE sequence > 0",
		row("moved")+` || jsonb_build_object('payment', `+movedCharge+`)`)

	// A booking that moved also keeps where it was.
	recordRescheduled = eventlog.Record(event.Booking, event.BookingRescheduled, "moved",
		row("moved")+` || jsonb_build_object('from', (SELECT to_jsonb(before) FROM before), 'payment',
			(SELECT to_jsonb(p) FROM payments AS p WHERE p.business_id = moved.business_id AND p.booking_id = moved.id))`)

	recordSold            = eventlog.Record(event.Ticket, event.TicketSold, "ticket", row("ticket"))
	recordTicketCancelled = eventlog.Record(event.Ticket, event.TicketCancelled, "cancelled", row("cancelled"))

	recordKeyCreated = eventlog.Record(event.Key, event.KeyCreated, "made", row("made"))
	recordKeyRevoked = eventlog.Record(event.Key, event.KeyRevoked, "revoked", row("revoked"))
)

// movedCharge is the charge of a booking that moveSQL moves.
const movedCharge = `coalesce((SELECT to_jsonb(uncharged) FROM uncharged), (SELECT to_jsonb(refunding) FROM refunding), (SELECT to_jsonb(charge) FROM charge))`

// recordCharge is a statement that makes a change to a charge, an UPDATE of payments, of a booking that the transaction has locked, and
// records that for the booking.
func recordCharge(change string) string {
	return `
WITH changed AS (` + change + `
    RETURNING *
), booking AS (
    UPDATE bookings SET sequence = sequence + 1
    WHERE business_id = @business_id AND id = @id AND EXISTS (SELECT FROM changed)
    RETURNING *
)
` + eventlog.Record(event.Booking, "", "booking", row("booking")+` || jsonb_build_object('payment', (SELECT to_jsonb(changed) FROM changed))`)
}

// KeptBookings reads bookings from what events keep of them.
func (s *Store) KeptBookings(ctx context.Context, kept []json.RawMessage) ([]Booking, error) {
	return eventlog.Rows(ctx, s.pool, "bookings", ownColumns+`, nullif(kept_row->'payment', 'null')`, kept, scanBooking)
}

// KeptTickets reads orders of tickets from what events keep of them.
func (s *Store) KeptTickets(ctx context.Context, kept []json.RawMessage) ([]Ticket, error) {
	return eventlog.Rows(ctx, s.pool, "tickets", ticketColumns, kept, scanTicket)
}

// KeptKeys reads API keys from what events keep of them.
func (s *Store) KeptKeys(ctx context.Context, kept []json.RawMessage) ([]Key, error) {
	return eventlog.Rows(ctx, s.pool, "api_keys", keyColumns, kept, func(row pgx.CollectableRow) (Key, error) { return scanKey(row) })
}
