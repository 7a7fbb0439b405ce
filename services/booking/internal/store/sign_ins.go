package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
)

// SignIn is a customer's sign-in to the page with all own bookings at one business. Email is the canonical spelling of
// the address. LinkHash is the hash of the token of the mailed link.
type SignIn struct {
	BusinessID uuid.UUID
	ID         uuid.UUID
	Email      string
	Locale     string
	LinkHash   []byte
	ExpiresAt  time.Time
}

// CreateSignIn stores a sign-in whose link is not used yet. It does not read the bookings of the address, so its work
// is the same for every address.
func (s *Store) CreateSignIn(ctx context.Context, in SignIn) error {
	if _, err := s.pool.Exec(ctx, `
		INSERT INTO customer_sign_ins (business_id, id, customer_email, locale, link_hash, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6)`,
		in.BusinessID, in.ID, in.Email, in.Locale, in.LinkHash, in.ExpiresAt); err != nil {
		return fmt.Errorf("store a customer's sign-in: %w", err)
	}
	return nil
}

// FindSignIn returns a sign-in whose link can still be used. The second result reports whether a
// booking or an order of tickets of the business has the address. Errors: [ErrNotFound].
func (s *Store) FindSignIn(ctx context.Context, businessID, id uuid.UUID, now time.Time) (SignIn, bool, error) {
	found := SignIn{BusinessID: businessID, ID: id}
	isCustomer := false
	err := s.pool.QueryRow(ctx, `
		SELECT customer_email, locale, link_hash, expires_at,
		       EXISTS (SELECT FROM bookings AS b WHERE b.business_id = $1 AND lower(b.customer_email) = s.customer_email)
		       OR EXISTS (SELECT FROM tickets AS t WHERE t.business_id = $1 AND lower(t.customer_email) = s.customer_email)
		FROM customer_sign_ins AS s
		WHERE business_id = $1 AND id = $2 AND session_hash IS NULL AND expires_at > $3`, businessID, id, now).
		Scan(&found.Email, &found.Locale, &found.LinkHash, &found.ExpiresAt, &isCustomer)
	if errors.Is(err, pgx.ErrNoRows) {
		return SignIn{}, false, ErrNotFound
	}
	if err != nil {
		return SignIn{}, false, fmt.Errorf("read a customer's sign-in: %w", err)
	}
	found.ExpiresAt = found.ExpiresAt.UTC()
	return found, isCustomer, nil
}

// StartSession uses the mailed link with the given hash and stores the hash of the session's secret. The row is updated
// at most once, so only one of several concurrent requests with the same link succeeds. Errors: [ErrNotFound] if the
// link is unknown, expired, used, or of another business.
func (s *Store) StartSession(ctx context.Context, businessID uuid.UUID, linkHash, sessionHash []byte, now,
	until time.Time) error {
	tag, err := s.pool.Exec(ctx, `
		UPDATE customer_sign_ins SET session_hash = $3, expires_at = $5
		WHERE business_id = $1 AND link_hash = $2 AND session_hash IS NULL AND expires_at > $4`,
		businessID, linkHash, sessionHash, now, until)
	if err != nil {
		return fmt.Errorf("start a customer's session: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return ErrNotFound
	}
	return nil
}

// FindSession returns the canonical address of the customer of a session. Errors: [ErrNotFound].
func (s *Store) FindSession(ctx context.Context, businessID uuid.UUID, sessionHash []byte,
	now time.Time) (string, error) {
	var email string
	err := s.pool.QueryRow(ctx, `
		SELECT customer_email FROM customer_sign_ins
		WHERE business_id = $1 AND session_hash = $2 AND expires_at > $3`, businessID, sessionHash, now).Scan(&email)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", ErrNotFound
	}
	if err != nil {
		return "", fmt.Errorf("read a customer's session: %w", err)
	}
	return email, nil
}

// EndSession deletes a session. It succeeds even if the session does not exist.
func (s *Store) EndSession(ctx context.Context, businessID uuid.UUID, sessionHash []byte) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM customer_sign_ins WHERE business_id = $1 AND session_hash = $2`,
		businessID, sessionHash); err != nil {
		return fmt.Errorf("end a customer's session: %w", err)
	}
	return nil
}

// SweepSignIns deletes expired links and sessions.
func (s *Store) SweepSignIns(ctx context.Context, now time.Time) error {
	if _, err := s.pool.Exec(ctx, `DELETE FROM customer_sign_ins WHERE expires_at <= $1`, now); err != nil {
		return fmt.Errorf("remove expired sign-ins of customers: %w", err)
	}
	return nil
}

// deleteSignInsSQL deletes the links and sessions of e-mail addresses.
const deleteSignInsSQL = `DELETE FROM customer_sign_ins WHERE business_id = $1 AND customer_email = ANY($2)`

// Sale is a booking or an order of tickets of one customer. If Kind is [event.Ticket], Ticket is set; otherwise Booking
// is set.
type Sale struct {
	Position booking.SalePosition
	Kind     event.SubjectKind
	LinkHash []byte
	Booking  Booking
	Ticket   Ticket
}

// salesSQL returns the statement that lists a page of the bookings and orders of one customer. If `isPast` is false,
// the page has those that are neither cancelled nor over, from the next to the last. Otherwise it has all others,
// from the latest to the earliest.
func salesSQL(isPast bool) string {
	not, order, beyond := "", "", ">"
	if isPast {
		not, order, beyond = "NOT ", " DESC", "<"
	}
	after := ` AND (@after::timestamptz IS NULL OR (starts_at, id) ` + beyond + ` (@after, @after_id))`
	last := ` ORDER BY starts_at` + order + `, id` + order + ` LIMIT @limit`
	return `
		(SELECT 'booking' AS kind, id, starts_at, link_hash FROM bookings
		 WHERE business_id = @business_id AND lower(customer_email) = @email
		   AND ` + not + `(status IN ('pending', 'confirmed') AND ends_at > @now)` + after + last + `)
		UNION ALL
		(SELECT 'ticket', id, starts_at, link_hash FROM tickets
		 WHERE business_id = @business_id AND lower(customer_email) = @email
		   AND ` + not + `(status <> 'cancelled' AND ends_at > @now)` + after + last + `)` + last
}

// SalesQuery selects a page of the bookings and orders of one customer. Email is the canonical spelling.
type SalesQuery struct {
	Email  string
	IsPast bool
	After  *booking.SalePosition // position of the last sale on the page before; nil: first page
	Limit  int
	Now    time.Time
}

// CustomerSales returns a page of the bookings and orders of one customer with one business.
func (s *Store) CustomerSales(ctx context.Context, businessID uuid.UUID, q SalesQuery) ([]Sale, error) {
	args := pgx.NamedArgs{"business_id": businessID, "email": q.Email, "now": q.Now, "limit": q.Limit, "after": nil,
		"after_id": uuid.Nil}
	if q.After != nil {
		args["after"], args["after_id"] = q.After.StartsAt, q.After.ID
	}
	rows, err := s.pool.Query(ctx, salesSQL(q.IsPast), args)
	if err != nil {
		return nil, fmt.Errorf("list the sales of a customer: %w", err)
	}
	sales, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Sale, error) {
		var sale Sale
		err := row.Scan(&sale.Kind, &sale.Position.ID, &sale.Position.StartsAt, &sale.LinkHash)
		sale.Position.StartsAt = sale.Position.StartsAt.UTC()
		return sale, err
	})
	if err != nil {
		return nil, fmt.Errorf("list the sales of a customer: %w", err)
	}
	return s.readSales(ctx, businessID, sales)
}

// readSales reads the bookings and orders of the given sales. It leaves out those that no longer exist.
func (s *Store) readSales(ctx context.Context, businessID uuid.UUID, sales []Sale) ([]Sale, error) {
	ids := make([]uuid.UUID, len(sales))
	for i, sale := range sales {
		ids[i] = sale.Position.ID
	}
	var (
		bookings []Booking
		tickets  []Ticket
		batch    pgx.Batch
	)
	args := pgx.NamedArgs{"business_id": businessID, "ids": ids}
	const condition = ` WHERE business_id = @business_id AND id = ANY(@ids)`
	batch.Queue(`SELECT `+bookingColumns+` FROM bookings`+condition, args).Query(func(rows pgx.Rows) error {
		var err error
		bookings, err = pgx.CollectRows(rows, scanBooking)
		return err
	})
	batch.Queue(`SELECT `+ticketColumns+` FROM tickets`+condition, args).Query(func(rows pgx.Rows) error {
		var err error
		tickets, err = pgx.CollectRows(rows, scanTicket)
		return err
	})
	if err := s.pool.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, fmt.Errorf("read the sales of a customer: %w", err)
	}
	bookingsByID, ticketsByID := map[uuid.UUID]Booking{}, map[uuid.UUID]Ticket{}
	for _, b := range bookings {
		bookingsByID[b.ID] = b
	}
	for _, t := range tickets {
		ticketsByID[t.ID] = t
	}
	existing := sales[:0]
	for _, sale := range sales {
		isFound := false
		if sale.Kind == event.Ticket {
			sale.Ticket, isFound = ticketsByID[sale.Position.ID]
		} else {
			sale.Booking, isFound = bookingsByID[sale.Position.ID]
		}
		if isFound {
			existing = append(existing, sale)
		}
	}
	return existing, nil
}
