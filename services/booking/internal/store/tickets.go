package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/eventlog"
	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/refund"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Ticket is an order of tickets of one event.
type Ticket struct {
	ID           uuid.UUID
	Status       string // booking.StatusPending, booking.StatusSold or booking.StatusCancelled
	EventID      uuid.UUID
	EventName    string
	Tiers        []SoldTier // each tier once
	LocalStart   time.Time  // what the business's wall clock shows when the event starts, written as UTC
	StartsAt     time.Time
	EndsAt       time.Time
	Timezone     string      // in which it was sold: an IANA name, or "" where that is not known
	FormerStarts []time.Time // that the business has moved the event from since
	Withdrawn    bool        // the event is no longer offered
	Quantity     int         // of all tiers
	Total        *int64      // minor units of Currency; nil: the order has no price, as the owner sold it
	Currency     money.Currency
	PriceChanges []booking.PriceChange // the pricing rules that changed a price of it, each once
	CustomerName string
	// CustomerEmail is nil where nothing is to be mailed.
	CustomerEmail *string
	CustomerPhone *string
	FormData      json.RawMessage // answers to the business's own questions, an object
	Locale        string          // the customer's language, one of the business's
	CreatedAt     time.Time
	CancelledAt   *time.Time
	LinkHash      []byte   // what is kept of the customer's link (libs/link); nil where the customer was forgotten
	Sequence      int      // of its newest event; 0 where nobody was told of it
	Payment       *Payment // nil: nothing of it is paid online
}

// SoldTier is what an order holds of one tier, as its row keeps it. Price is that of one ticket, nil where the order has none.
type SoldTier struct {
	ID       uuid.UUID `json:"id"`
	Name     string    `json:"name"`
	Quantity int       `json:"quantity"`
	Price    *int64    `json:"price,omitempty"`
}

// NewTicket is an order to write, with the capacities that the offer has now.
type NewTicket struct {
	Ticket
	BusinessID     uuid.UUID
	EventCapacity  int
	TierCapacities []int // of Tiers
	OfferVersion   int64
	// MaxOpen is set on the booking page: how much the customer may have open there. It needs a CustomerEmail.
	MaxOpen *int
	// Charge is set when it is paid online: it is created once the order is written, which is pending until then.
	Charge *NewPayment
}

// SoldOutError says that an order does not fit, and how many tickets are left of the event and of each tier of the order: 0 where more
// are sold than the capacity of today.
type SoldOutError struct {
	EventLeft int
	TiersLeft []int
}

func (e *SoldOutError) Error() string {
	return fmt.Sprintf("%d tickets of the event and %d of its tiers are left", e.EventLeft, e.TiersLeft)
}

// ownTicketColumns are those of the row.
const ownTicketColumns = `id, status, event_id, event_name, tiers, local_start, starts_at, ends_at, quantity, total, currency,
	customer_name, customer_email, customer_phone, form_data, locale, created_at, cancelled_at, link_hash, sequence,
	coalesce(timezone, ''), coalesce(former_starts, '{}'), coalesce(withdrawn, false), price_changes`

// ticketColumns are what [scanTicket] reads: the row, and that of the charge where it is paid online. The argument names the business of
// both: where tables are sharded, a subquery is not routed by the row around it.
const ticketColumns = ownTicketColumns + `,
	(SELECT to_jsonb(p) FROM payments AS p WHERE p.business_id = @business_id AND p.subject_id = tickets.id) AS payment`

// The statements of a sale are sent together, in one round trip. The second locks the event's counter, so that orders of one event come
// one after another, whichever tiers they are of; the last then sees what the order before it has left, in all counters, and raises all
// or none.
const (
	ensureEventSQL = `
INSERT INTO event_sales (business_id, event_id, sold) VALUES (@business_id, @event_id, 0) ON CONFLICT DO NOTHING`

	ensureTiersSQL = `
INSERT INTO tier_sales (business_id, event_id, tier_id, sold)
SELECT @business_id, @event_id, id, 0 FROM unnest(@tier_ids::uuid[]) AS tiers (id) ON CONFLICT DO NOTHING`

	lockEventSQL = `
SELECT FROM event_sales WHERE business_id = @business_id AND event_id = @event_id FOR UPDATE`
)

var sellSQL = `
WITH tier AS MATERIALIZED (
    SELECT s.tier_id, s.sold, o.quantity, o.capacity, o.place
    FROM unnest(@tier_ids::uuid[], @quantities::integer[], @capacities::integer[]) WITH ORDINALITY AS o (tier_id, quantity, capacity, place)
    JOIN tier_sales AS s ON s.business_id = @business_id AND s.event_id = @event_id AND s.tier_id = o.tier_id
), event AS (
    UPDATE event_sales SET sold = sold + @quantity
    WHERE business_id = @business_id AND event_id = @event_id AND sold + @quantity <= @event_capacity
      AND NOT EXISTS (SELECT FROM tier WHERE sold + quantity > capacity)
    RETURNING 1
), counted AS (
    UPDATE tier_sales SET sold = tier_sales.sold + tier.quantity
    FROM tier
    WHERE tier_sales.business_id = @business_id AND tier_sales.event_id = @event_id AND tier_sales.tier_id = tier.tier_id
      AND EXISTS (SELECT FROM event)
), ticket AS (
    INSERT INTO tickets (business_id, id, status, event_id, event_name, tiers, local_start, starts_at, ends_at, quantity, total, currency,
                         customer_name, customer_email, customer_phone, form_data, locale, offer_version, created_at, link_hash, timezone, price_changes,
                         on_page, sequence)
    SELECT @business_id, @id, @status, @event_id, @event_name, @tiers, @local_start, @starts_at, @ends_at, @quantity, @total, @currency,
           @customer_name, @customer_email, @customer_phone, coalesce(@form_data::jsonb, '{}'), @locale, @offer_version, @now::timestamptz, @link_hash,
           @timezone, @price_changes, @most_open::integer IS NOT NULL, CASE WHEN @provider::text IS NULL THEN 1 ELSE 0 END
    FROM event
    RETURNING *
), charged AS (
    INSERT INTO payments (business_id, subject_kind, subject_id, status, provider, account, amount, currency, cancellation_policy, due_at,
                          on_checkout, created_at, updated_at)
    SELECT @business_id, 'ticket', @id, 'creating', @provider::text, @account::text, @amount::bigint, @currency,
           @cancellation_policy::jsonb, @due_at::timestamptz, @on_checkout::boolean, @now::timestamptz, @now::timestamptz
    FROM ticket WHERE @provider::text IS NOT NULL
), recorded AS (
    ` + recordSold + `
)
SELECT EXISTS (SELECT FROM ticket),
       (SELECT sold FROM event_sales WHERE business_id = @business_id AND event_id = @event_id),
       (SELECT array_agg(sold ORDER BY place) FROM tier)`

// SellTicket writes an order, once (postgres.Once), where all of it fits into the capacities of its tiers and of the event, else
// nothing. Errors: [*SoldOutError], [ErrTooManyOpen].
func (s *Store) SellTicket(ctx context.Context, t NewTicket) (Ticket, error) {
	return postgres.Once(ctx, s.pool, t.BusinessID, func(ctx context.Context, tx pgx.Tx) (Ticket, error) {
		if t.Charge == nil {
			t.Sequence = 1
		}
		return t.Ticket, sell(ctx, tx, t)
	})
}

func sell(ctx context.Context, tx pgx.Tx, t NewTicket) error {
	var (
		batch     pgx.Batch
		fits      bool
		eventSold int // before the order
		tiersSold []int
		args      = eventlog.Add(ctx, sellArgs(t), t.CreatedAt)
	)
	if err := addPayment(args, t.Charge); err != nil {
		return err
	}
	batch.Queue(ensureEventSQL, args)
	batch.Queue(lockEventSQL, args)
	batch.Queue(ensureTiersSQL, args)
	batch.Queue(sellSQL, args).QueryRow(func(row pgx.Row) error { return row.Scan(&fits, &eventSold, &tiersSold) })
	if t.MaxOpen != nil {
		batch.Queue(mayOpenSQL, args)
	}
	err := tx.SendBatch(ctx, &batch).Close()
	switch {
	case postgres.Code(err) == tooManyOpen:
		return ErrTooManyOpen
	case err != nil:
		return fmt.Errorf("sell tickets: %w", err)
	}
	if fits {
		return nil
	}
	soldOut := &SoldOutError{EventLeft: max(0, t.EventCapacity-eventSold)}
	for i, sold := range tiersSold {
		soldOut.TiersLeft = append(soldOut.TiersLeft, max(0, t.TierCapacities[i]-sold))
	}
	return soldOut
}

func sellArgs(t NewTicket) pgx.NamedArgs {
	ids, quantities := make([]uuid.UUID, len(t.Tiers)), make([]int, len(t.Tiers))
	for i, tier := range t.Tiers {
		ids[i], quantities[i] = tier.ID, tier.Quantity
	}
	return pgx.NamedArgs{
		"business_id": t.BusinessID, "id": t.ID, "status": t.Status,
		"event_id": t.EventID, "event_name": t.EventName, "event_capacity": t.EventCapacity,
		"tiers": t.Tiers, "tier_ids": ids, "quantities": quantities, "capacities": t.TierCapacities,
		"local_start": t.LocalStart, "starts_at": t.StartsAt, "ends_at": t.EndsAt, "timezone": t.Timezone, "link_hash": t.LinkHash,
		"price_changes": append([]booking.PriceChange{}, t.PriceChanges...),
		"quantity":      t.Quantity, "total": t.Total, "currency": t.Currency.Code,
		"customer_name": t.CustomerName, "customer_email": t.CustomerEmail,
		"customer_phone": t.CustomerPhone, "form_data": t.FormData, "locale": t.Locale,
		"offer_version": t.OfferVersion, "now": t.CreatedAt, "most_open": t.MaxOpen,
	}
}

// paidTicketSQL sells an order that waited for its payment.
var paidTicketSQL = `
WITH sold AS (
    UPDATE tickets SET status = 'sold', sequence = sequence + 1
    WHERE business_id = @business_id AND id = @id AND status = 'pending'
    RETURNING *
)
` + recordTicketPaid

// cancelTicketSQL changes the status once; the counters go down by the row that it changed, the event's first. What is to be paid no longer
// is, and of what was paid as much goes back as is owed. Its transaction has locked the order before, so that it sees what has become of the
// charge. Of an order that nobody was told of no event is recorded where it is untold.
var cancelTicketSQL = `
WITH cancelled AS (
    UPDATE tickets
    SET status = 'cancelled', sequence = sequence + CASE WHEN @untold::boolean AND sequence = 0 THEN 0 ELSE 1 END, cancelled_at = @now
    WHERE business_id = @business_id AND id = @id AND status <> 'cancelled'
    RETURNING *
), charge AS (
    SELECT p.* FROM payments AS p JOIN cancelled AS c ON p.business_id = c.business_id AND p.subject_id = c.id
), event AS (
    UPDATE event_sales SET sold = event_sales.sold - cancelled.quantity
    FROM cancelled
    WHERE event_sales.business_id = @business_id AND event_sales.event_id = cancelled.event_id
    RETURNING cancelled.event_id, cancelled.tiers
), tier AS (
    UPDATE tier_sales SET sold = tier_sales.sold - tier.quantity
    FROM event, jsonb_to_recordset(event.tiers) AS tier (id uuid, quantity integer)
    WHERE tier_sales.business_id = @business_id AND tier_sales.event_id = event.event_id AND tier_sales.tier_id = tier.id
), uncharged AS (
    UPDATE payments SET status = 'cancelling', due_at = @now, attempts = 0, updated_at = @now
    WHERE business_id = @business_id AND subject_id = @id AND status IN ('creating', 'open') AND EXISTS (SELECT FROM cancelled)
    RETURNING *
), refunding AS (` + refundSQL + `
      AND EXISTS (SELECT FROM cancelled)
    RETURNING *
), recorded AS (
    ` + recordTicketCancelled + `
)
SELECT ` + ownTicketColumns + `, ` + movedCharge + ` FROM cancelled`

// ErrCancelled says that an order of tickets is cancelled already.
var ErrCancelled = errors.New("cancelled already")

// CancelTicket cancels an order, once (postgres.Once), and frees its tickets; what owed says of it is to be refunded from then on. Errors:
// [ErrNotFound], [ErrCancelled], and owed's own, after which nothing is changed.
func (s *Store) CancelTicket(ctx context.Context, businessID, id uuid.UUID, now time.Time, owed func(Ticket) (refund.Owed, error)) (Ticket, error) {
	return s.changeTicket(ctx, businessID, id, func(ctx context.Context, tx pgx.Tx, t Ticket) (Ticket, error) {
		if t.Status == booking.StatusCancelled {
			return Ticket{}, ErrCancelled
		}
		back, err := owed(t)
		if err != nil {
			return Ticket{}, err
		}
		return postgres.Row(ctx, tx, scanTicket, "cancel tickets", cancelTicketSQL, cancelTicketArgs(ctx, businessID, id, back, false, now))
	})
}

// RefundTicket has an order refunded as owed says, once. Errors: [ErrNotFound], and owed's own, after which nothing is changed.
func (s *Store) RefundTicket(ctx context.Context, businessID, id uuid.UUID, now time.Time, owed func(Ticket) (refund.Owed, error)) (Ticket, error) {
	return s.changeTicket(ctx, businessID, id, func(ctx context.Context, tx pgx.Tx, t Ticket) (Ticket, error) {
		back, err := owed(t)
		if err != nil {
			return Ticket{}, err
		}
		if err := refundCharge(ctx, tx, businessID, id, back, now); err != nil {
			return Ticket{}, err
		}
		return findTicket(ctx, tx, businessID, id)
	})
}

// changeTicket makes a write of an order that it locks first, and then reads: what a statement that waits for a lock reads beside the row
// is older than the row.
func (s *Store) changeTicket(ctx context.Context, businessID, id uuid.UUID, change func(context.Context, pgx.Tx, Ticket) (Ticket, error)) (Ticket, error) {
	return postgres.Once(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (Ticket, error) {
		if _, err := tx.Exec(ctx, `SELECT FROM tickets WHERE business_id = $1 AND id = $2 FOR UPDATE`, businessID, id); err != nil {
			return Ticket{}, fmt.Errorf("lock tickets: %w", err)
		}
		t, err := findTicket(ctx, tx, businessID, id)
		if err != nil {
			return Ticket{}, err
		}
		return change(ctx, tx, t)
	})
}

func cancelTicketArgs(ctx context.Context, businessID, id uuid.UUID, owed refund.Owed, untold bool, now time.Time) pgx.NamedArgs {
	return eventlog.Add(ctx, pgx.NamedArgs{
		"business_id": businessID, "id": id, "refund_amount": owed.Amount, "refund_percent": owed.Percent, "untold": untold, "now": now,
	}, now)
}

// openTicketSQL notes that the charge of an order is open, and tells of the order. It locks the order before the charge.
var openTicketSQL = `
WITH ticket AS MATERIALIZED (
    SELECT 1 FROM tickets WHERE business_id = @business_id AND id = @id AND status = 'pending' FOR UPDATE
), opened AS (
    UPDATE payments SET status = 'open', reference = @reference, due_at = @due_at, updated_at = @now
    WHERE business_id = @business_id AND subject_id = @id AND status = 'creating' AND EXISTS (SELECT FROM ticket)
    RETURNING *
), told AS (
    UPDATE tickets SET sequence = sequence + 1
    WHERE business_id = @business_id AND id = @id AND EXISTS (SELECT FROM opened)
    RETURNING *
), recorded AS (
    ` + recordTicketCreated + `
)
SELECT EXISTS (SELECT FROM opened)`

// OpenTicketPayment notes that the charge of an order is open until due. Errors: [ErrPaymentOver].
func (s *Store) OpenTicketPayment(ctx context.Context, businessID, id uuid.UUID, reference string, due, now time.Time) error {
	var opened bool
	err := s.pool.QueryRow(ctx, openTicketSQL, eventlog.Add(ctx, pgx.NamedArgs{
		"business_id": businessID, "id": id, "reference": reference, "due_at": due, "now": now,
	}, now)).Scan(&opened)
	if err != nil {
		return fmt.Errorf("note an open charge: %w", err)
	}
	if !opened {
		return ErrPaymentOver
	}
	return nil
}

// AbandonTicket takes an order back whose charge failed, as [Store.AbandonPayment] does a booking; write is that of its request, which may
// be made anew then, the nil UUID where it has no name.
func (s *Store) AbandonTicket(ctx context.Context, businessID, id uuid.UUID, reference string, none bool, write uuid.UUID, now time.Time) error {
	return s.underLock(ctx, businessID, id, func(tx pgx.Tx, p charged) error {
		if abandoned, err := p.abandon(ctx, tx, reference, none, now); !abandoned || err != nil {
			return err
		}
		return postgres.Unmake(ctx, tx, businessID, write, id)
	})
}

// UnmakeWrite forgets that a write made this order, which was taken back before anybody was told of it.
func (s *Store) UnmakeWrite(ctx context.Context, businessID, write, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return postgres.Unmake(ctx, tx, businessID, write, id) })
}

func scanTicket(row pgx.CollectableRow) (Ticket, error) {
	var (
		t        Ticket
		currency string
	)
	err := row.Scan(&t.ID, &t.Status, &t.EventID, &t.EventName, &t.Tiers, &t.LocalStart, &t.StartsAt, &t.EndsAt, &t.Quantity, &t.Total, &currency,
		&t.CustomerName, &t.CustomerEmail, &t.CustomerPhone, &t.FormData, &t.Locale, &t.CreatedAt, &t.CancelledAt, &t.LinkHash, &t.Sequence,
		&t.Timezone, &t.FormerStarts, &t.Withdrawn, &t.PriceChanges, &t.Payment)
	if err != nil {
		return Ticket{}, err
	}
	t.StartsAt, t.EndsAt = t.StartsAt.UTC(), t.EndsAt.UTC()
	if len(t.FormerStarts) == 0 {
		t.FormerStarts = nil
	}
	if len(t.PriceChanges) == 0 {
		t.PriceChanges = nil
	}
	for i, start := range t.FormerStarts {
		t.FormerStarts[i] = start.UTC()
	}
	t.CreatedAt, t.CancelledAt = t.CreatedAt.UTC(), utc(t.CancelledAt)
	t.Currency, err = money.ParseCurrency(currency)
	return t, err
}

// Tickets lists the orders that the filter leaves, oldest first, and the cursor of the page that follows, "" after the last. Faults:
// invalid_parameter for a cursor that it has not given.
func (s *Store) Tickets(ctx context.Context, businessID uuid.UUID, filter booking.TicketFilter, page request.Page) ([]Ticket, string, error) {
	after, afterID, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	list, err := postgres.Rows(ctx, s.pool, scanTicket, "list tickets", `
		SELECT `+ticketColumns+` FROM tickets
		WHERE business_id = @business_id
		  AND (@event_id::uuid IS NULL OR event_id = @event_id)
		  AND `+customerFound+`
		  AND `+paidAs("tickets.id")+`
		  AND (@after::timestamptz IS NULL OR (created_at, id) > (@after, @after_id))
		ORDER BY created_at, id
		LIMIT @limit`, pgx.NamedArgs{
		"business_id": businessID, "event_id": filter.EventID, "query": filter.Query, "after": after, "after_id": afterID, "limit": page.Limit + 1,
		"charges": booking.ChargeStatuses(filter.Payment), "payment": filter.Payment,
	})
	if err != nil {
		return nil, "", err
	}
	list, next := request.Cut(list, page.Limit, func(t Ticket) string { return request.ByTime(t.CreatedAt, t.ID) })
	return list, next, nil
}

// TicketsAhead counts the tickets, not cancelled, of events that begin on the date or later.
func (s *Store) TicketsAhead(ctx context.Context, businessID uuid.UUID, today timespan.Date) (int, error) {
	var n int
	err := s.pool.QueryRow(ctx, `
		SELECT coalesce(sum(quantity), 0) FROM tickets WHERE business_id = $1 AND local_start >= $2::date AND status <> $3`,
		businessID, today.String(), booking.StatusCancelled).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count tickets ahead: %w", err)
	}
	return n, nil
}

// Sales returns what is sold of those of the events that have counters, all as of one moment.
func (s *Store) Sales(ctx context.Context, businessID uuid.UUID, eventIDs []uuid.UUID) ([]booking.EventSales, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT e.event_id, e.sold, t.tier_id, t.sold
		FROM event_sales AS e JOIN tier_sales AS t USING (business_id, event_id)
		WHERE e.business_id = $1 AND e.event_id = ANY($2)
		ORDER BY e.event_id, t.tier_id`, businessID, eventIDs)
	if err != nil {
		return nil, fmt.Errorf("count tickets: %w", err)
	}
	var (
		events = []booking.EventSales{}
		event  booking.EventSales
		tier   booking.TierSales
	)
	_, err = pgx.ForEachRow(rows, []any{&event.EventID, &event.Sold, &tier.TierID, &tier.Sold}, func() error {
		if len(events) == 0 || events[len(events)-1].EventID != event.EventID {
			events = append(events, event)
		}
		last := &events[len(events)-1]
		last.Tiers = append(last.Tiers, tier)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("count tickets: %w", err)
	}
	return events, nil
}
