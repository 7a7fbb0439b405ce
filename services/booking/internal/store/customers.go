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

// customersSQL lists the e-mail addresses of customers, with the number of bookings and
// the number of orders of each address. It lists an address if one booking or order of the
// address matches the search. The numbers include all bookings and orders of the address.
var customersSQL = `
SELECT email, (array_agg(name ORDER BY created_at DESC))[1], (array_agg(phone ORDER BY created_at DESC) FILTER (WHERE phone IS NOT NULL))[1],
       count(*) FILTER (WHERE kind = 'booking'), count(*) FILTER (WHERE kind = 'ticket'), min(created_at), max(created_at)
FROM (
    SELECT lower(customer_email) AS email, customer_name AS name, customer_phone AS phone, 'booking' AS kind, created_at
    FROM bookings WHERE business_id = @business_id AND lower(customer_email) > @after
    UNION ALL
    SELECT lower(customer_email), customer_name, customer_phone, 'ticket', created_at
    FROM tickets WHERE business_id = @business_id AND lower(customer_email) > @after
) AS held
GROUP BY email
HAVING CASE WHEN @of::text[] <> '{}' THEN email = ANY(@of) ELSE bool_or(` + postgres.CustomerCondition("name", "email", "phone") + `) END
ORDER BY email
LIMIT @limit`

// Customers returns the customers of a business that match the search, in the order
// of e-mail addresses. Anonymized customers have no address and are left out.
func (s *Store) Customers(ctx context.Context, businessID uuid.UUID,
	req customer.Search) ([]customer.Customer, error) {
	return postgres.Rows(ctx, s.pool, func(row pgx.CollectableRow) (customer.Customer, error) {
		var c customer.Customer
		err := row.Scan(&c.Email, &c.Name, &c.Phone, &c.Bookings, &c.Tickets, &c.FirstAt, &c.LastAt)
		c.FirstAt, c.LastAt = c.FirstAt.UTC(), c.LastAt.UTC()
		return c, err
	}, "list customers", customersSQL, pgx.NamedArgs{
		"business_id": businessID, "after": req.After, "query": req.Query, "of": append([]string{}, req.Of...),
		"limit": req.Limit,
	})
}

// FindCustomerData returns the stored bookings and orders of tickets of a customer, oldest
// first. The result has at most `limit` bookings and at most `limit` orders.
func (s *Store) FindCustomerData(ctx context.Context, businessID uuid.UUID, email string,
	limit int) ([]Booking, []Ticket, error) {
	var (
		bookings []Booking
		tickets  []Ticket
		batch    pgx.Batch
	)
	args := pgx.NamedArgs{"business_id": businessID, "email": email, "limit": limit}
	const query = ` WHERE business_id = @business_id AND lower(customer_email) = lower(@email) ORDER BY created_at, id LIMIT @limit`
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
    FROM bookings WHERE business_id = @business_id AND lower(customer_email) = lower(@email)
    ORDER BY id FOR UPDATE
), ordered AS (
    SELECT 'ticket', id, status, starts_at, status <> 'cancelled' AND ends_at > @now
    FROM tickets WHERE business_id = @business_id AND lower(customer_email) = lower(@email)
    ORDER BY id FOR UPDATE
)
SELECT * FROM booked UNION ALL SELECT * FROM ordered`

// EraseCustomer anonymizes the bookings and orders of tickets of a customer, at most once
// for each Idempotency-Key (postgres.WriteIdempotently). If `req.Force` is false,
// EraseCustomer does not change bookings and orders that have not ended, but returns them.
//
// EraseCustomer also ends the sign-ins of the address. It records an event that does not contain the e-mail address.
// Fault: conflict if EraseCustomer would return more than customer.MaxExported bookings and orders, because one answer
// cannot contain all of them.
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
		if _, err := tx.Exec(ctx, deleteReservationsSQL, businessID, req.Email, req.Force, now); err != nil {
			return customer.Erased{}, fmt.Errorf("erase a customer: %w", err)
		}
		if _, err := tx.Exec(ctx, deleteSignInsSQL, businessID, req.Email); err != nil {
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
	rows, err := tx.Query(ctx, customerRowsSQL, pgx.NamedArgs{"business_id": businessID, "email": req.Email,
		"now": now})
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
