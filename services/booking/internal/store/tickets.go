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
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Ticket is a stored order of tickets for one event, with its charge.
type Ticket struct {
	ID           uuid.UUID
	Status       string // booking.StatusPending, booking.StatusSold or booking.StatusCancelled
	EventID      uuid.UUID
	EventName    string
	Tiers        []SoldTier // each ordered tier occurs only once
	LocalStart   time.Time  // the local start of the event, stored as UTC
	StartsAt     time.Time
	EndsAt       time.Time
	Timezone     string      // the time zone of the sale as an IANA name; "" if it is unknown
	FormerStarts []time.Time // the earlier starts of the event, if the business has rescheduled it
	Withdrawn    bool        // the event is no longer offered
	Quantity     int         // the number of tickets of all tiers
	Total        *int64      // minor units of Currency; nil: the owner sold the order without a price
	Currency     money.Currency
	PriceChanges []booking.PriceChange // the pricing rules that changed a price, each only once
	CustomerName string
	// CustomerEmail is nil if the customer gave no address. The customer then receives no messages.
	CustomerEmail *string
	CustomerPhone *string
	FormData      json.RawMessage // answers to the questions of the business, a JSON object
	Locale        string          // the customer's language; one of the business's languages
	CreatedAt     time.Time
	CancelledAt   *time.Time
	LinkHash      []byte   // hash of the customer's link (libs/sale/link); nil if anonymized
	Sequence      int      // the number of the order's newest event; 0 before the first event
	Payment       *Payment // nil: no online payment was necessary
}

// SoldTier is one tier of an order with its number of tickets. The JSON names are those in the column
// tiers. Price is the price of one ticket in minor units; it is nil if the order has no price.
type SoldTier struct {
	ID       uuid.UUID `json:"id"`
	Name     string    `json:"name"`
	Quantity int       `json:"quantity"`
	Price    *int64    `json:"price,omitempty"`
}

// NewTicket is the argument of [Store.SellTicket]: an order, and
// the capacities of its event and tiers in the current offer.
type NewTicket struct {
	Ticket
	BusinessID     uuid.UUID
	EventCapacity  int
	TierCapacities []int // one capacity for each element of Tiers
	OfferVersion   int64
	// MaxOpen is set only for an order from the booking page. It is the maximum number of open bookings,
	// orders and reservations of the customer. If MaxOpen is set, CustomerEmail must be set, too.
	MaxOpen *int
	// NewPayment is set if the order must be paid online. The provider creates the charge
	// after the order is stored. The order stays pending until the customer pays.
	NewPayment *NewPayment
}

// SoldOutError means that an order exceeds a capacity. EventLeft is the number of tickets
// that are left for the event; TiersLeft has the number for each tier of the order. A
// number is 0, not negative, if more tickets are sold than the current capacity allows.
type SoldOutError struct {
	EventLeft int
	TiersLeft []int
}

func (e *SoldOutError) Error() string {
	return fmt.Sprintf("%d tickets of the event and %d of its tiers are left", e.EventLeft, e.TiersLeft)
}

// ownTicketColumns are the columns of the table tickets that [scanTicket] reads.
const ownTicketColumns = `id, status, event_id, event_name, tiers, local_start, starts_at, ends_at, quantity, total, currency,
	customer_name, customer_email, customer_phone, form_data, locale, created_at, cancelled_at, link_hash, sequence,
	coalesce(timezone, ''), coalesce(former_starts, '{}'), coalesce(withdrawn, false), price_changes`

// ticketColumns are all columns that [scanTicket] reads: those of the order, and the row of its charge or null.
//
// The subquery compares business_id with the parameter instead of the column of the order.
// The reason is that a sharded database cannot use the outer row to choose the shard.
const ticketColumns = ownTicketColumns + `,
	(SELECT to_jsonb(p) FROM payments AS p WHERE p.business_id = @business_id AND p.subject_id = tickets.id) AS payment`

// The statements of a sale are sent together, in one round trip. lockEventSQL locks the counter of the event's tickets.
// Therefore the orders of one event are stored one after another, even if they are for different tiers. sellSQL then
// sees the counters as the previous order left them. It raises either all counters that the order changes or none.
// maySellSQL comes last, because a transaction must not wait for another lock while it holds the lock of may_sell.
const (
	maySellSQL = `SELECT may_sell(@business_id, @offer_version, NULL)`

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

// SellTicket stores an order, at most once for each Idempotency-Key (postgres.WriteIdempotently). It stores
// nothing if the order exceeds the capacity of a tier or of the event, or if a newer version of the offer was
// published. Errors: [*SoldOutError], [ErrTooManyOpen], [ErrOfferChanged].
func (s *Store) SellTicket(ctx context.Context, t NewTicket) (Ticket, error) {
	return postgres.WriteIdempotently(ctx, s.pool, t.BusinessID, func(ctx context.Context, tx pgx.Tx) (Ticket, error) {
		if t.NewPayment == nil {
			t.Sequence = 1
		}
		return t.Ticket, sellTicket(ctx, tx, t)
	})
}

func sellTicket(ctx context.Context, tx pgx.Tx, t NewTicket) error {
	var (
		batch     pgx.Batch
		fits      bool
		eventSold int // the number of tickets sold before this order
		tiersSold []int
		args      = eventlog.Add(ctx, sellArgs(t), t.CreatedAt)
	)
	if err := addPayment(args, t.NewPayment); err != nil {
		return err
	}
	batch.Queue(ensureEventSQL, args)
	batch.Queue(lockEventSQL, args)
	batch.Queue(ensureTiersSQL, args)
	batch.Queue(sellSQL, args).QueryRow(func(row pgx.Row) error { return row.Scan(&fits, &eventSold, &tiersSold) })
	if t.MaxOpen != nil {
		batch.Queue(mayOpenSQL, args)
	}
	batch.Queue(maySellSQL, args)
	err := tx.SendBatch(ctx, &batch).Close()
	switch {
	case postgres.Code(err) == tooManyOpen:
		return ErrTooManyOpen
	case postgres.Code(err) == offerChanged:
		return ErrOfferChanged
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
		"local_start": t.LocalStart, "starts_at": t.StartsAt, "ends_at": t.EndsAt, "timezone": t.Timezone,
		"link_hash":     t.LinkHash,
		"price_changes": append([]booking.PriceChange{}, t.PriceChanges...),
		"quantity":      t.Quantity, "total": t.Total, "currency": t.Currency.Code,
		"customer_name": t.CustomerName, "customer_email": t.CustomerEmail,
		"customer_phone": t.CustomerPhone, "form_data": t.FormData, "locale": t.Locale,
		"offer_version": t.OfferVersion, "now": t.CreatedAt, "most_open": t.MaxOpen,
	}
}

// paidTicketSQL changes the status of an order to sold after its payment.
var paidTicketSQL = `
WITH sold AS (
    UPDATE tickets SET status = 'sold', sequence = sequence + 1
    WHERE business_id = @business_id AND id = @id AND status = 'pending'
    RETURNING *
)
` + recordTicketPaid

// cancelTicketSQL cancels an order that is not cancelled yet. It lowers the counter of the event's
// tickets and then the counters of the tiers. If the charge is not paid, the reconciliation closes
// it. If the charge is paid, cancelTicketSQL starts a refund of the given amount.
//
// The caller must lock the order by an earlier statement of the transaction, so that cancelTicketSQL sees the current
// charge. If the SQL parameter `untold` is true and the order has no event yet, cancelTicketSQL records no event.
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

// ErrCancelled means that the order of tickets is already cancelled.
var ErrCancelled = errors.New("cancelled already")

// CancelTicket cancels an order and frees its tickets, at most once for each Idempotency-Key
// (postgres.WriteIdempotently). It also starts the refund that the function `part` returns. Errors:
// [ErrNotFound], [ErrCancelled], and the errors of `part`. If CancelTicket returns an error, nothing has changed.
func (s *Store) CancelTicket(ctx context.Context, businessID, id uuid.UUID, now time.Time,
	part func(Ticket) (refund.Part, error)) (Ticket, error) {
	allowed := func(t Ticket) (refund.Part, error) {
		if t.Status == booking.StatusCancelled {
			return refund.Part{}, ErrCancelled
		}
		return part(t)
	}
	return changeSale(ctx, s, event.Ticket, findTicket, businessID, id, allowed,
		func(ctx context.Context, tx pgx.Tx, _ Ticket, refundPart refund.Part) (Ticket, error) {
			return postgres.Row(ctx, tx, scanTicket, "cancel tickets", cancelTicketSQL,
				cancelTicketArgs(ctx, businessID, id, refundPart, false, now))
		})
}

// RefundTicket starts a refund of an order, at most once for each Idempotency-Key. The
// function `part` returns the amount and percentage of the refund. Errors: [ErrNotFound],
// and the errors of `part`. If RefundTicket returns an error, nothing has changed.
func (s *Store) RefundTicket(ctx context.Context, businessID, id uuid.UUID, now time.Time,
	part func(Ticket) (refund.Part, error)) (Ticket, error) {
	return refundSale(ctx, s, event.Ticket, findTicket, businessID, id, now, part)
}

func cancelTicketArgs(ctx context.Context, businessID, id uuid.UUID, part refund.Part, isSilent bool,
	now time.Time) pgx.NamedArgs {
	return eventlog.Add(ctx, pgx.NamedArgs{
		"business_id": businessID, "id": id, "refund_amount": part.Amount, "refund_percent": part.Percent,
		"untold": isSilent, "now": now,
	}, now)
}

// openTicketSQL stores that the charge of an order is open, and records
// the first event of the order. It locks the order before the charge.
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

// OpenTicketPayment stores that the charge of an order is open. The argument `reference` is the provider's
// reference of the charge. The charge expires at the time in the argument `due`. Errors: [ErrPaymentOver].
func (s *Store) OpenTicketPayment(ctx context.Context, businessID, id uuid.UUID, reference string,
	due, now time.Time) error {
	var opened bool
	err := s.pool.QueryRow(ctx, openTicketSQL, eventlog.Add(ctx, pgx.NamedArgs{
		"business_id": businessID, "id": id, "reference": reference, "due_at": due, "now": now,
	}, now)).Scan(&opened)
	if err != nil {
		return fmt.Errorf("store an open charge: %w", err)
	}
	if !opened {
		return ErrPaymentOver
	}
	return nil
}

// DeleteIdempotencyResult deletes the idempotency result of the request that made the order.
// Callers use DeleteIdempotencyResult if the order was cancelled before any answer contained it.
func (s *Store) DeleteIdempotencyResult(ctx context.Context, businessID, write, id uuid.UUID) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		return postgres.DeleteIdempotencyResult(ctx, tx, businessID, write, id)
	})
}

func scanTicket(row pgx.CollectableRow) (Ticket, error) {
	var (
		t        Ticket
		currency string
	)
	err := row.Scan(&t.ID, &t.Status, &t.EventID, &t.EventName, &t.Tiers, &t.LocalStart, &t.StartsAt, &t.EndsAt,
		&t.Quantity, &t.Total, &currency,
		&t.CustomerName, &t.CustomerEmail, &t.CustomerPhone, &t.FormData, &t.Locale, &t.CreatedAt, &t.CancelledAt,
		&t.LinkHash, &t.Sequence,
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

// Tickets returns a page of the orders of a business that match the filter, oldest first. It also returns
// the cursor of the next page, or "" after the last page. Fault: invalid_parameter for an invalid cursor.
func (s *Store) Tickets(ctx context.Context, businessID uuid.UUID, filter booking.TicketFilter,
	page request.Page) ([]Ticket, string, error) {
	after, afterID, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	list, err := postgres.Rows(ctx, s.pool, scanTicket, "list tickets", `
		SELECT `+ticketColumns+` FROM tickets
		WHERE business_id = @business_id
		  AND (@event_id::uuid IS NULL OR event_id = @event_id)
		  AND `+customerSearchSQL+`
		  AND `+paymentFilterSQL("tickets.id")+`
		  AND (@after::timestamptz IS NULL OR (created_at, id) > (@after, @after_id))
		ORDER BY created_at, id
		LIMIT @limit`, pgx.NamedArgs{
		"business_id": businessID, "event_id": filter.EventID, "query": filter.Query, "after": after,
		"after_id": afterID, "limit": page.Limit + 1,
		"charges": booking.ExpandPaymentFilter(filter.Payment), "payment": filter.Payment,
	})
	if err != nil {
		return nil, "", err
	}
	list, next := request.Cut(list, page.Limit, func(t Ticket) string { return request.ByTime(t.CreatedAt, t.ID) })
	return list, next, nil
}

// CountTicketsAhead returns the number of tickets of events that begin on
// the date `today` or later. Tickets of cancelled orders do not count.
func (s *Store) CountTicketsAhead(ctx context.Context, businessID uuid.UUID, today timespan.Date) (int, error) {
	var n int
	err := s.pool.QueryRow(ctx, `
		SELECT coalesce(sum(quantity), 0) FROM tickets WHERE business_id = $1 AND local_start >= $2::date AND status <> $3`,
		businessID, today.String(), booking.StatusCancelled).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count tickets ahead: %w", err)
	}
	return n, nil
}

// Sales returns the numbers of sold tickets of the given events, all
// read at one moment. It leaves out events that never had an order.
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
