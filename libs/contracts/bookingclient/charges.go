package bookingclient

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/typed"
)

// Charges is the client with which the rental service manages the
// charges of reservations. The booking service stores these charges.
type Charges struct{ peer Caller }

// NewCharges returns a client that sends its requests through the argument `caller`.
func NewCharges(caller Caller) *Charges { return &Charges{peer: caller} }

// Open opens the charge of a reservation. If the charge is already open, Open returns
// it. After a fault outcome_unknown or service_unavailable, the charge may be open.
//
// Faults: payment_unavailable if no provider can charge the amount, or if the provider did not answer;
// conflict if the charge is closed; idempotency_in_progress while another request opens the charge.
func (c *Charges) Open(ctx context.Context, businessID, id uuid.UUID,
	asked booking.NewCharge) (*booking.OpenedCharge, error) {
	return typed.Call[booking.OpenedCharge](ctx, c.peer, http.MethodPost, chargePath(businessID, id, ""), asked)
}

// Charges returns the charges of the given reservations, which may belong
// to different businesses. It leaves out reservations without a charge.
func (c *Charges) Charges(ctx context.Context, asked []booking.ReservationID) ([]booking.ReservationCharge, error) {
	var out booking.Charges
	if err := c.peer.Ask(ctx, "/internal/charges", booking.ChargesRequest{Reservations: asked}, &out); err != nil {
		return nil, err
	}
	return out.Charges, nil
}

// News returns charges about which the provider has sent reports that the rental service has not yet acknowledged
// with [Charges.Noted]. Only reports after the payment count. The result has at most booking.MaxCharges charges.
func (c *Charges) News(ctx context.Context) ([]booking.ReservationCharge, error) {
	var out booking.Charges
	if err := c.peer.Ask(ctx, "/internal/charges/news", nil, &out); err != nil {
		return nil, err
	}
	return out.Charges, nil
}

// Noted acknowledges the provider's reports about charges. It is idempotent.
func (c *Charges) Noted(ctx context.Context, noted []booking.NotedCharge) error {
	return c.peer.Call(ctx, http.MethodPost, "/internal/charges/noted", booking.NotedCharges{Noted: noted}, nil)
}

// Page returns an open charge with its payment page, so that the customer can continue
// to pay. Faults: conflict if the charge cannot be paid now; payment_unavailable.
func (c *Charges) Page(ctx context.Context, businessID, id uuid.UUID) (*booking.OpenedCharge, error) {
	return typed.Ask[booking.OpenedCharge](ctx, c.peer, chargePath(businessID, id, "/page"), nil)
}

// Close closes the charge of a cancelled reservation and returns it. A repeated
// call changes nothing. Faults: not_found if the reservation has no charge.
func (c *Charges) Close(ctx context.Context, businessID, id uuid.UUID,
	asked booking.CloseCharge) (*booking.Charge, error) {
	return typed.Call[booking.Charge](ctx, c.peer, http.MethodPost, chargePath(businessID, id, "/close"), asked)
}

// Count records that a reservation counts towards the customer's limit of open bookings until the
// reservation ends. The rental service calls Count only for reservations from the booking page. A
// repeated call changes nothing. Faults: too_many_open_bookings if the customer has reached the limit.
func (c *Charges) Count(ctx context.Context, businessID, id uuid.UUID, asked booking.OpenReservation) error {
	return c.peer.Call(ctx, http.MethodPut, path(businessID, "open-reservations/"+id.String()), asked, nil)
}

// Uncount records that a reservation no longer counts towards the customer's limit of open bookings. It is idempotent.
func (c *Charges) Uncount(ctx context.Context, businessID, id uuid.UUID) error {
	return c.peer.Call(ctx, http.MethodDelete, path(businessID, "open-reservations/"+id.String()), nil, nil)
}

func chargePath(businessID, id uuid.UUID, below string) string {
	return path(businessID, "charges/"+id.String()+below)
}
