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
	recordCreated = eventlog.Record(event.Booking, event.BookingCreated, "booked",
		row("booked")+` || jsonb_build_object('payment', (SELECT to_jsonb(charged) FROM charged))`)

	recordMoved = eventlog.Record(event.Booking, "", "moved",
		row("moved")+` || jsonb_build_object('payment', coalesce((SELECT to_jsonb(uncharged) FROM uncharged), (SELECT to_jsonb(charge) FROM charge)))`)

	recordSold            = eventlog.Record(event.Ticket, event.TicketSold, "ticket", row("ticket"))
	recordTicketCancelled = eventlog.Record(event.Ticket, event.TicketCancelled, "cancelled", row("cancelled"))

	recordKeyCreated = eventlog.Record(event.Key, event.KeyCreated, "made", row("made"))
	recordKeyRevoked = eventlog.Record(event.Key, event.KeyRevoked, "revoked", row("revoked"))
)

// changeCharge changes the state of a charge.
const changeCharge = `
UPDATE payments
SET status = @status, reference = coalesce(nullif(@reference, ''), reference), due_at = @now, attempts = 0, updated_at = @now
WHERE business_id = @business_id AND booking_id = @id`

// changeChargeRecorded changes the state of a charge of a booking that the transaction has locked, and records that for the booking.
var changeChargeRecorded = `
WITH changed AS (` + changeCharge + `
    RETURNING *
), booking AS (
    UPDATE bookings SET sequence = sequence + 1
    WHERE business_id = @business_id AND id = @id AND EXISTS (SELECT FROM changed)
    RETURNING *
)
` + eventlog.Record(event.Booking, "", "booking", row("booking")+` || jsonb_build_object('payment', (SELECT to_jsonb(changed) FROM changed))`)

// chargeEvents are what is told of a charge that comes to a state; the others are on the way to one of these. One that was paid although
// its booking is off has succeeded before it is refunded.
var chargeEvents = map[string]event.Type{
	statusPaid:      event.PaymentSucceeded,
	statusRefunding: event.PaymentSucceeded,
	statusCancelled: event.PaymentExpired,
	statusRefunded:  event.PaymentRefunded,
}

// KeptBookings reads bookings from what events keep of them.
func (s *Store) KeptBookings(ctx context.Context, kept []json.RawMessage) ([]Booking, error) {
	return eventlog.Rows(ctx, s.pool, "bookings", bookingColumns, kept, scanBooking)
}

// KeptTickets reads orders of tickets from what events keep of them.
func (s *Store) KeptTickets(ctx context.Context, kept []json.RawMessage) ([]Ticket, error) {
	return eventlog.Rows(ctx, s.pool, "tickets", ticketColumns, kept, scanTicket)
}

// KeptKeys reads API keys from what events keep of them.
func (s *Store) KeptKeys(ctx context.Context, kept []json.RawMessage) ([]Key, error) {
	return eventlog.Rows(ctx, s.pool, "api_keys", keyColumns, kept, func(row pgx.CollectableRow) (Key, error) { return scanKey(row) })
}
