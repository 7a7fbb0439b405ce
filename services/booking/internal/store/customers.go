package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// customersSQL lists customers by the keys of their addresses, with the number of bookings and the number of orders of
// each customer. All addresses of a record are one customer, whose key is the first address. A customer without a
// record has one address. A customer is listed if a sale or the record matches the search. The numbers include all
// sales.
var customersSQL = `
WITH known AS (
    SELECT r.id, r.name, r.tags, r.created_at, min(a.address) AS key, array_agg(a.address ORDER BY a.address) AS addresses,
           min(a.address) FILTER (WHERE a.address LIKE '%@%') AS email,
           (array_agg(a.spelling ORDER BY a.address) FILTER (WHERE a.address NOT LIKE '%@%'))[1] AS phone
    FROM customer_records AS r JOIN customer_addresses AS a ON a.business_id = r.business_id AND a.record_id = r.id
    WHERE r.business_id = @business_id
    GROUP BY r.business_id, r.id
), sold AS (
    SELECT ` + postgres.CustomerKey + ` COLLATE "C" AS address, customer_name AS name, customer_phone AS phone, 'booking' AS kind, created_at
    FROM bookings WHERE business_id = @business_id AND ` + postgres.CustomerKey + ` COLLATE "C" > @after
    UNION ALL
    SELECT ` + postgres.CustomerKey + ` COLLATE "C", customer_name, customer_phone, 'ticket', created_at
    FROM tickets WHERE business_id = @business_id AND ` + postgres.CustomerKey + ` COLLATE "C" > @after
), held AS (
    SELECT coalesce(k.key, s.address) AS key, k.id, s.*
    FROM sold AS s
    LEFT JOIN customer_addresses AS a ON a.business_id = @business_id AND a.address = s.address
    LEFT JOIN known AS k ON k.id = a.record_id
    UNION ALL
    SELECT k.key, k.id, a.address, k.name, k.phone, 'record', k.created_at FROM known AS k, unnest(k.addresses) AS a (address)
)
SELECT h.key, k.addresses, k.tags, coalesce(k.email, CASE WHEN k.id IS NULL AND h.key LIKE '%@%' THEN h.key ELSE '' END),
       coalesce(nullif(k.name, ''), (array_agg(h.name ORDER BY h.created_at DESC) FILTER (WHERE h.kind <> 'record'))[1], ''),
       coalesce(k.phone, (array_agg(h.phone ORDER BY h.created_at DESC) FILTER (WHERE h.phone IS NOT NULL))[1]),
       count(*) FILTER (WHERE h.kind = 'booking'), count(*) FILTER (WHERE h.kind = 'ticket'),
       coalesce(min(h.created_at) FILTER (WHERE h.kind <> 'record'), min(h.created_at)),
       coalesce(max(h.created_at) FILTER (WHERE h.kind <> 'record'), max(h.created_at))
FROM held AS h LEFT JOIN known AS k ON k.id = h.id
WHERE h.key > @after
GROUP BY h.key, k.id, k.addresses, k.tags, k.email, k.name, k.phone
HAVING (@tag = '' OR @tag = ANY(k.tags)) AND (@phones OR k.email IS NOT NULL OR h.key LIKE '%@%')
   AND CASE WHEN @of::text[] <> '{}' THEN bool_or(h.address = ANY(@of))
            ELSE bool_or(` + postgres.CustomerCondition("concat_ws(' ', h.name, array_to_string(k.tags, ' '))", "h.address", "h.phone") + `) END
ORDER BY h.key
LIMIT @limit`

// Customers returns the customers of a business that match the search, in the order
// of keys. Anonymized customers have no address and are left out.
func (s *Store) Customers(ctx context.Context, businessID uuid.UUID,
	req customer.Search) ([]customer.Customer, error) {
	return postgres.Rows(ctx, s.pool, func(row pgx.CollectableRow) (customer.Customer, error) {
		var c customer.Customer
		err := row.Scan(&c.Key, &c.Addresses, &c.Tags, &c.Email, &c.Name, &c.Phone, &c.Bookings, &c.Tickets,
			&c.FirstAt, &c.LastAt)
		c.FirstAt, c.LastAt = c.FirstAt.UTC(), c.LastAt.UTC()
		return c, err
	}, "list customers", customersSQL, pgx.NamedArgs{
		"business_id": businessID, "after": req.After, "query": req.Query, "of": append([]string{}, req.Of...),
		"tag": req.Tag, "phones": req.Phones, "limit": req.Limit,
	})
}

// FindCustomerData returns the stored bookings and orders of tickets of the customer with the
// given addresses, oldest first. The result has at most `limit` bookings and at most `limit` orders.
func (s *Store) FindCustomerData(ctx context.Context, businessID uuid.UUID, addresses []string,
	limit int) ([]Booking, []Ticket, error) {
	var (
		bookings []Booking
		tickets  []Ticket
		batch    pgx.Batch
	)
	args := pgx.NamedArgs{"business_id": businessID, "addresses": addresses, "limit": limit}
	const query = ` WHERE business_id = @business_id AND ` + postgres.CustomerMatch + ` ORDER BY created_at, id LIMIT @limit`
	batch.Queue(`SELECT `+bookingColumns+` FROM bookings`+query, args).Query(func(rows pgx.Rows) error {
		var err error
		bookings, err = pgx.CollectRows(rows, scanBooking)
		return err
	})
	batch.Queue(`SELECT `+ticketColumns+` FROM tickets`+query, args).Query(func(rows pgx.Rows) error {
		var err error
		tickets, err = pgx.CollectRows(rows, scanTicket)
		return err
	})
	if err := s.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, nil, fmt.Errorf("read the data of a customer: %w", err)
	}
	return bookings, tickets, nil
}

// customerRowsSQL locks the bookings and orders of a customer in the order of
// ids. The result shows which bookings and orders have not ended yet.
const customerRowsSQL = `
WITH booked AS (
    SELECT 'booking' AS kind, id, status, starts_at, status IN ('pending', 'confirmed') AND ends_at > @now AS ahead
    FROM bookings WHERE business_id = @business_id AND ` + postgres.CustomerMatch + `
    ORDER BY id FOR UPDATE
), ordered AS (
    SELECT 'ticket', id, status, starts_at, status <> 'cancelled' AND ends_at > @now
    FROM tickets WHERE business_id = @business_id AND ` + postgres.CustomerMatch + `
    ORDER BY id FOR UPDATE
)
SELECT * FROM booked UNION ALL SELECT * FROM ordered`

// EraseCustomer anonymizes the bookings and orders of tickets of the customer with the addresses `req.Addresses`, at
// most once for each Idempotency-Key (postgres.WriteIdempotently). If `req.Force` is false, EraseCustomer does not
// change bookings and orders that have not ended, but returns them.
//
// EraseCustomer also ends the sign-ins of the addresses. It keeps the record of the customer
// ([Store.RemoveCustomerRecords]), so that a repeated request finds all addresses. It records an event that does not
// contain an address. Fault: conflict if EraseCustomer would return more than customer.MaxExported bookings and orders,
// because one answer cannot contain all of them.
func (s *Store) EraseCustomer(ctx context.Context, businessID uuid.UUID, req customer.Erase,
	now time.Time) (customer.Erased, error) {
	return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (customer.Erased,
		error) {
		if err := eventlog.LockFeed(ctx, tx); err != nil {
			return customer.Erased{}, fmt.Errorf("erase a customer: %w", err)
		}
		bookings, tickets, ahead, err := lockCustomerRows(ctx, tx, businessID, req, now)
		if err != nil {
			return customer.Erased{}, fmt.Errorf("erase a customer: %w", err)
		}
		if len(ahead) > customer.MaxExported {
			return customer.Erased{}, fault.Newf(fault.Conflict, "More than %d bookings and orders of this address "+
				"lie ahead; send force to erase them, too.", customer.MaxExported)
		}
		erased := customer.Erased{Bookings: len(bookings), Tickets: len(tickets), Ahead: ahead}
		if err := anonymize(ctx, tx, businessID, bookings, tickets); err != nil {
			return customer.Erased{}, fmt.Errorf("erase a customer: %w", err)
		}
		if _, err := tx.Exec(ctx, deleteReservationsSQL, businessID, req.Addresses, req.Force, now); err != nil {
			return customer.Erased{}, fmt.Errorf("erase a customer: %w", err)
		}
		if _, err := tx.Exec(ctx, deleteSignInsSQL, businessID, req.Addresses); err != nil {
			return customer.Erased{}, fmt.Errorf("erase a customer: %w", err)
		}
		if _, err := tx.Exec(ctx, recordErased, eventlog.Add(ctx, pgx.NamedArgs{
			"business_id": businessID, "erasure": uuid.New(), "bookings": erased.Bookings, "tickets": erased.Tickets,
			"forced": req.Force,
		}, now)); err != nil {
			return customer.Erased{}, fmt.Errorf("record that a customer is erased: %w", err)
		}
		return erased, nil
	})
}

// recordErased records an event that a customer was anonymized. The subject of the event
// is a new id. The event contains no data of the customer, not even a hash of the address.
var recordErased = `
WITH erasure AS (SELECT @business_id::uuid AS business_id, @erasure::uuid AS id, 1 AS sequence)
` + eventlog.Record(event.Customer, event.CustomerErased, "erasure",
	`jsonb_build_object('bookings', @bookings::integer, 'tickets', @tickets::integer, 'forced', @forced::boolean)`)

func lockCustomerRows(ctx context.Context, tx pgx.Tx, businessID uuid.UUID, req customer.Erase,
	now time.Time) ([]uuid.UUID, []uuid.UUID, []customer.Ahead, error) {
	rows, err := tx.Query(ctx, customerRowsSQL, pgx.NamedArgs{"business_id": businessID,
		"addresses": req.Addresses, "now": now})
	if err != nil {
		return nil, nil, nil, err
	}
	var (
		bookings, tickets = []uuid.UUID{}, []uuid.UUID{}
		ahead             = []customer.Ahead{}
		entry             customer.Ahead
		isAhead           bool
	)
	_, err = pgx.ForEachRow(rows, []any{&entry.Kind, &entry.ID, &entry.Status, &entry.StartsAt, &isAhead},
		func() error {
			switch {
			case isAhead && !req.Force:
				entry.StartsAt = entry.StartsAt.UTC()
				ahead = append(ahead, entry)
			case entry.Kind == string(event.Booking):
				bookings = append(bookings, entry.ID)
			default:
				tickets = append(tickets, entry.ID)
			}
			return nil
		})
	return bookings, tickets, ahead, err
}
