package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/sale/link"
)

// subjectTable maps kinds of subjects to their tables. It has an entry for each kind with a customer's link. It has
// no entry for reservations: the booking service stores their charges, but the rental service stores the reservations.
var subjectTable = map[event.SubjectKind]string{event.Booking: "bookings", event.Ticket: "tickets"}

// LinkHash returns the hash of the customer's link to a booking or an order of
// tickets. The result is nil if the customer was anonymized. Errors: [ErrNotFound].
func (s *Store) LinkHash(ctx context.Context, businessID uuid.UUID, kind event.SubjectKind,
	id uuid.UUID) ([]byte, error) {
	var hash []byte
	err := s.pool.QueryRow(ctx, `SELECT link_hash FROM `+subjectTable[kind]+` WHERE business_id = $1 AND id = $2`,
		businessID, id).Scan(&hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read the hash of a link: %w", err)
	}
	return hash, nil
}

// LinkTarget identifies the booking or the ticket order to which a customer's link belongs.
type LinkTarget struct {
	Kind       event.SubjectKind
	BusinessID uuid.UUID
	ID         uuid.UUID
	EndsAt     time.Time // the end of the booking or of the ticketed event
}

// FindByLink returns the booking or order whose link has the given hash. Errors: [ErrNotFound].
func (s *Store) FindByLink(ctx context.Context, hash []byte) (LinkTarget, error) {
	var (
		linked     LinkTarget
		storedHash []byte
	)
	err := s.pool.QueryRow(ctx, `
		SELECT 'booking', business_id, id, ends_at, link_hash FROM bookings WHERE link_hash = $1
		UNION ALL
		SELECT 'ticket', business_id, id, ends_at, link_hash FROM tickets WHERE link_hash = $1`, hash).
		Scan(&linked.Kind, &linked.BusinessID, &linked.ID, &linked.EndsAt, &storedHash)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return LinkTarget{}, ErrNotFound
	case err != nil:
		return LinkTarget{}, fmt.Errorf("follow a link: %w", err)
	case !link.IsSame(storedHash, hash):
		return LinkTarget{}, ErrNotFound
	}
	return linked, nil
}

// Ticket returns one order of tickets of the business. Errors: [ErrNotFound].
func (s *Store) Ticket(ctx context.Context, businessID, id uuid.UUID) (Ticket, error) {
	return findTicket(ctx, s.pool, businessID, id)
}

func findTicket(ctx context.Context, q postgres.Querier, businessID, id uuid.UUID) (Ticket, error) {
	order, err := postgres.Row(ctx, q, scanTicket, "read an order of tickets",
		`SELECT `+ticketColumns+` FROM tickets WHERE business_id = @business_id AND id = @id`,
		pgx.NamedArgs{"business_id": businessID, "id": id})
	if errors.Is(err, pgx.ErrNoRows) {
		return Ticket{}, ErrNotFound
	}
	return order, err
}

// PaymentHandle is an open payment that the customer can pay until DueAt. Amount is in minor units.
type PaymentHandle struct {
	Provider  string
	Account   string
	Reference string
	Amount    int64
	DueAt     time.Time
	// OnCheckout means that the customer pays on the provider's own page. Reference is then the reference of the page.
	OnCheckout bool
}

// FindOpenPayment returns the open payment of a booking, order or reservation.
// Errors: [ErrNotFound] if no payment is open or the time to pay has ended.
func (s *Store) FindOpenPayment(ctx context.Context, businessID, subjectID uuid.UUID,
	now time.Time) (PaymentHandle, error) {
	var p PaymentHandle
	err := s.pool.QueryRow(ctx, `
		SELECT provider, account, reference, amount, due_at, on_checkout FROM payments
		WHERE business_id = $1 AND subject_id = $2 AND status = 'open' AND due_at > $3`, businessID, subjectID, now).
		Scan(&p.Provider, &p.Account, &p.Reference, &p.Amount, &p.DueAt, &p.OnCheckout)
	if errors.Is(err, pgx.ErrNoRows) {
		return PaymentHandle{}, ErrNotFound
	}
	if err != nil {
		return PaymentHandle{}, fmt.Errorf("read an open payment: %w", err)
	}
	p.DueAt = p.DueAt.UTC()
	return p, nil
}
