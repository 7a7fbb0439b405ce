package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
)

// Unit identifies one unit of a rental by the key that the owner gave to the unit.
type Unit struct {
	RentalID uuid.UUID `json:"rental_id"`
	Key      string    `json:"unit"`
}

// HandedOut describes the units of a rental that customers have picked up and not returned: their number and
// their keys. An earlier version of the service stored no keys, so Units may be larger than the number of keys.
type HandedOut struct {
	Units int
	Keys  []string
}

// handedOutSQL reads, for each rental, the number and the keys of the units that are handed out.
const handedOutSQL = `
SELECT o.rental_id, sum(o.quantity), (SELECT coalesce(array_agg(h.unit), '{}') FROM handed_out AS h WHERE h.business_id = $1 AND h.rental_id = o.rental_id)
FROM (
    SELECT rental_id, quantity FROM reservations WHERE business_id = $1 AND rental_id = ANY($2) AND status = 'picked_up'
    UNION ALL
    SELECT rental_id, quantity FROM extra_units WHERE business_id = $1 AND rental_id = ANY($2) AND held_until = 'infinity'
) AS o
GROUP BY o.rental_id`

// PickUp hands out the units of a reservation in one idempotent write. The function `assign` chooses the units; its
// second argument contains the units that are already handed out, by rental. Until the write ends, no other request
// can hand out units of these rentals. Errors: [ErrNotFound], [*NotAllowedError], and the errors of `assign`.
func (s *Store) PickUp(ctx context.Context, businessID, id uuid.UUID, now time.Time,
	assign func(Reservation, map[uuid.UUID]HandedOut) ([]Unit, error)) (Reservation, error) {
	transition, _ := state.FindTransition(state.Pickup)
	return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (Reservation,
		error) {
		r, err := postgres.Row(ctx, tx, scanReservation, "read a reservation", `SELECT `+reservationColumns+
			` FROM reservations WHERE business_id = $1 AND id = $2`, businessID, id)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return Reservation{}, ErrNotFound
		case err != nil:
			return Reservation{}, err
		case !transition.Allows(r.Status):
			return Reservation{}, &NotAllowedError{Status: r.Status}
		}
		out, err := lockHandedOut(ctx, tx, businessID, r.rentals())
		if err != nil {
			return Reservation{}, fmt.Errorf("read handed-out units: %w", err)
		}
		units, err := assign(r, out)
		if err != nil {
			return Reservation{}, err
		}
		return applyTransition(ctx, tx, businessID, id, transition, units, now)
	})
}

// rentals returns the ids of the main rental and of the extras of a reservation.
func (r *Reservation) rentals() []uuid.UUID {
	ids := []uuid.UUID{r.RentalID}
	for _, extra := range r.Extras {
		ids = append(ids, extra.RentalID)
	}
	return ids
}

// lockHandedOut acquires the same locks on the rentals as [Store.Reserve].
// It then reads which units of the rentals are handed out.
func lockHandedOut(ctx context.Context, tx pgx.Tx, businessID uuid.UUID,
	rentals []uuid.UUID) (map[uuid.UUID]HandedOut, error) {
	if _, err := tx.Exec(ctx, lockSQL, businessID, rentals); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, handedOutSQL, businessID, rentals)
	if err != nil {
		return nil, err
	}
	var (
		id  uuid.UUID
		o   HandedOut
		out = make(map[uuid.UUID]HandedOut, len(rentals))
	)
	_, err = pgx.ForEachRow(rows, []any{&id, &o.Units, &o.Keys}, func() error {
		out[id] = o
		o.Keys = nil
		return nil
	})
	return out, err
}
