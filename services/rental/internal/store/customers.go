package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// customersSQL lists the keys of customers' addresses, each with a summary of all reservations
// of the address. An address is listed if any of its reservations matches the search.
var customersSQL = `
SELECT key, (array_agg(name ORDER BY created_at DESC))[1],
       (array_agg(phone ORDER BY created_at DESC) FILTER (WHERE phone IS NOT NULL))[1], count(*), min(created_at), max(created_at)
FROM (SELECT ` + postgres.CustomerKey + ` COLLATE "C" AS key, customer_name AS name, customer_phone AS phone, created_at
      FROM reservations WHERE business_id = @business_id) AS reserved
WHERE key > @after AND (@phones OR key LIKE '%@%')
GROUP BY key
HAVING CASE WHEN @of::text[] <> '{}' THEN key = ANY(@of)
            ELSE bool_or(` + postgres.CustomerCondition("name", "key", "phone") + `) END
ORDER BY key
LIMIT @limit`

// Customers lists the customers of a business that match a search, ordered by key.
// It does not list an anonymized customer, because such a customer has no address.
func (s *Store) Customers(ctx context.Context, businessID uuid.UUID,
	req customer.Search) ([]customer.Customer, error) {
	return postgres.Rows(ctx, s.pool, func(row pgx.CollectableRow) (customer.Customer, error) {
		var c customer.Customer
		err := row.Scan(&c.Key, &c.Name, &c.Phone, &c.Reservations, &c.FirstAt, &c.LastAt)
		if customer.IsEmail(c.Key) {
			c.Email = c.Key
		}
		c.FirstAt, c.LastAt = c.FirstAt.UTC(), c.LastAt.UTC()
		return c, err
	}, "list customers", customersSQL, pgx.NamedArgs{
		"business_id": businessID, "after": req.After, "query": req.Query, "of": append([]string{}, req.Of...),
		"phones": req.Phones, "limit": req.Limit,
	})
}

// FindCustomerReservations returns the reservations of the customer with the given
// addresses, oldest first. The argument `limit` is the maximum number of reservations.
func (s *Store) FindCustomerReservations(ctx context.Context, businessID uuid.UUID, addresses []string,
	limit int) ([]Reservation, error) {
	return postgres.Rows(ctx, s.pool, scanReservation, "read the data of a customer", `
		SELECT `+reservationColumns+` FROM reservations
		WHERE business_id = @business_id AND `+postgres.CustomerMatch+` ORDER BY created_at, id LIMIT @limit`,
		pgx.NamedArgs{"business_id": businessID, "addresses": addresses, "limit": limit})
}

// customerReservationsSQL locks the reservations of a customer in the order of their ids. For each reservation,
// it also returns whether the reservation has not ended yet or its units are not returned yet.
const customerReservationsSQL = `
SELECT id, status, coalesce(starts_at, start_date::timestamp AT TIME ZONE @zone),
       status = 'picked_up' OR status IN ('pending', 'reserved') AND CASE WHEN ends_at IS NULL THEN end_date >= ` + epoch + ` + @today::integer ELSE ends_at > @now END
FROM reservations WHERE business_id = @business_id AND ` + postgres.CustomerMatch + `
ORDER BY id FOR UPDATE`

// EraseRequest is a request to anonymize a customer. Today and Zone are the current date and the time zone of the
// business.
type EraseRequest struct {
	customer.Erase
	Now   time.Time
	Today timespan.Date
	Zone  *time.Location
}

// EraseCustomer anonymizes a customer's reservations in one idempotent write ([postgres.WriteIdempotently]).
// If `req.Force` is false, EraseCustomer does not change reservations that have not ended or are not returned
// yet, but returns them. Fault: conflict if there are more than [customer.MaxExported] such reservations.
func (s *Store) EraseCustomer(ctx context.Context, businessID uuid.UUID, req EraseRequest) (customer.Erased, error) {
	return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (customer.Erased,
		error) {
		if err := eventlog.LockFeed(ctx, tx); err != nil {
			return customer.Erased{}, fmt.Errorf("erase a customer: %w", err)
		}
		erased, ahead, err := lockCustomerReservations(ctx, tx, businessID, req)
		if err != nil {
			return customer.Erased{}, fmt.Errorf("erase a customer: %w", err)
		}
		if len(ahead) > customer.MaxExported {
			return customer.Erased{}, fault.Newf(fault.Conflict, "More than %d reservations of this address lie "+
				"ahead; send force to erase them, too.", customer.MaxExported)
		}
		if err := anonymize(ctx, tx, businessID, erased); err != nil {
			return customer.Erased{}, fmt.Errorf("erase a customer: %w", err)
		}
		return customer.Erased{Reservations: len(erased), Ahead: ahead}, nil
	})
}

// lockCustomerReservations locks the reservations of a customer. It returns the ids
// of the reservations to anonymize, and the reservations to keep.
func lockCustomerReservations(ctx context.Context, tx pgx.Tx, businessID uuid.UUID,
	req EraseRequest) ([]uuid.UUID, []customer.Ahead, error) {
	rows, err := tx.Query(ctx, customerReservationsSQL, pgx.NamedArgs{
		"business_id": businessID, "addresses": req.Addresses, "now": req.Now, "today": int32(req.Today),
		"zone": req.Zone.String(),
	})
	if err != nil {
		return nil, nil, err
	}
	var (
		erased  = []uuid.UUID{}
		ahead   = []customer.Ahead{}
		entry   = customer.Ahead{Kind: "reservation"}
		isAhead bool
	)
	_, err = pgx.ForEachRow(rows, []any{&entry.ID, &entry.Status, &entry.StartsAt, &isAhead}, func() error {
		if isAhead && !req.Force {
			entry.StartsAt = entry.StartsAt.UTC()
			ahead = append(ahead, entry)
		} else {
			erased = append(erased, entry.ID)
		}
		return nil
	})
	return erased, ahead, err
}
