package bookingclient

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
)

// Charges is what rental asks of booking, which keeps the charges of reservations.
type Charges struct{ peer Caller }

// NewCharges returns a client that speaks through caller.
func NewCharges(caller Caller) *Charges { return &Charges{peer: caller} }

// Open opens the charge of a reservation, or returns the one that is open. Faults: payment_unavailable where nobody can charge it, or the
// provider did not answer; conflict where the charge is over; idempotency_in_progress while another request opens it. After
// outcome_unknown, and after service_unavailable, it may be open.
func (c *Charges) Open(ctx context.Context, businessID, id uuid.UUID, asked booking.NewCharge) (*booking.OpenedCharge, error) {
	return typed.Call[booking.OpenedCharge](ctx, c.peer, http.MethodPost, chargePath(businessID, id, ""), asked)
}

// Charges returns the charges of reservations of any businesses, those that have one, in one call.
func (c *Charges) Charges(ctx context.Context, asked []booking.ReservationID) ([]booking.ReservationCharge, error) {
	var out booking.Charges
	if err := c.peer.Ask(ctx, "/internal/charges", booking.ChargesRequest{Reservations: asked}, &out); err != nil {
		return nil, err
	}
	return out.Charges, nil
}

// News returns charges of which rental has not noted all that the provider reported once they were paid, at most booking.MaxCharges.
func (c *Charges) News(ctx context.Context) ([]booking.ReservationCharge, error) {
	var out booking.Charges
	if err := c.peer.Ask(ctx, "/internal/charges/news", nil, &out); err != nil {
		return nil, err
	}
	return out.Charges, nil
}

// Noted says how much of the provider's reports is noted. To say it twice changes nothing.
func (c *Charges) Noted(ctx context.Context, noted []booking.NotedCharge) error {
	return c.peer.Call(ctx, http.MethodPost, "/internal/charges/noted", booking.NotedCharges{Noted: noted}, nil)
}

// Page returns the page on which an open charge is paid, once more. Faults: conflict where nothing is to be paid; payment_unavailable.
func (c *Charges) Page(ctx context.Context, businessID, id uuid.UUID) (*booking.OpenedCharge, error) {
	return typed.Ask[booking.OpenedCharge](ctx, c.peer, chargePath(businessID, id, "/page"), nil)
}

// Close ends the charge of a reservation that is off and returns it as it is then. To say it twice changes nothing. Faults: not_found where
// there is none.
func (c *Charges) Close(ctx context.Context, businessID, id uuid.UUID, asked booking.CloseCharge) (*booking.Charge, error) {
	return typed.Call[booking.Charge](ctx, c.peer, http.MethodPost, chargePath(businessID, id, "/close"), asked)
}

// Count counts a reservation of the booking page as open for its customer until it ends. To say it twice changes nothing. Faults:
// too_many_open_bookings where the customer has as much open as they may.
func (c *Charges) Count(ctx context.Context, businessID, id uuid.UUID, asked booking.OpenReservation) error {
	return c.peer.Call(ctx, http.MethodPut, path(businessID, "open-reservations/"+id.String()), asked, nil)
}

// Uncount no longer counts a reservation as open. To say it twice changes nothing.
func (c *Charges) Uncount(ctx context.Context, businessID, id uuid.UUID) error {
	return c.peer.Call(ctx, http.MethodDelete, path(businessID, "open-reservations/"+id.String()), nil, nil)
}

func chargePath(businessID, id uuid.UUID, below string) string {
	return path(businessID, "charges/"+id.String()+below)
}
