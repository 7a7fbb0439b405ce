package bookingclient

import (
	"context"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// ReservationPayments is the client with which the rental service manages the
// payments of reservations. The booking service stores these payments.
type ReservationPayments struct{ peer endpoints.Caller }

// NewReservationPayments returns a client that sends its requests through the argument `caller`.
func NewReservationPayments(caller endpoints.Caller) *ReservationPayments {
	return &ReservationPayments{peer: caller}
}

// Open opens the payment of a reservation. If the payment is already open, Open returns
// it. After a fault outcome_unknown or service_unavailable, the payment may be open.
//
// Faults: payment_unavailable if no provider can charge the amount, or if the provider did not answer;
// conflict if the payment is closed; idempotency_in_progress while another request opens the payment.
func (c *ReservationPayments) Open(ctx context.Context, businessID, id uuid.UUID,
	req booking.NewReservationPayment) (*booking.ReservationCheckout, error) {
	return OpenPayment.Call(ctx, c.peer, endpoints.Request(ReservationID{businessID, id}, req))
}

// List returns the payments of the given reservations, which may belong
// to different businesses. It leaves out reservations without a payment.
func (c *ReservationPayments) List(ctx context.Context,
	ids []booking.ReservationID) ([]booking.ReservationPayment, error) {
	out, err := ListPayments.Call(ctx, c.peer, booking.ReservationPaymentsRequest{Reservations: ids})
	if err != nil {
		return nil, err
	}
	return out.Payments, nil
}

// ListReports returns payments about which the provider has sent reports after the customer paid. It
// returns only payments with reports that the rental service has not yet acknowledged with
// [ReservationPayments.AcknowledgeReports]. The result has at most booking.MaxReservationPayments payments.
func (c *ReservationPayments) ListReports(ctx context.Context) ([]booking.ReservationPayment, error) {
	out, err := ListReports.Call(ctx, c.peer, endpoints.None{})
	if err != nil {
		return nil, err
	}
	return out.Payments, nil
}

// AcknowledgeReports acknowledges the provider's reports about payments. It is idempotent.
func (c *ReservationPayments) AcknowledgeReports(ctx context.Context, acks []booking.ReportAcknowledgement) error {
	return AcknowledgeReports.Send(ctx, c.peer, booking.ReportAcknowledgements{Acknowledgements: acks})
}

// FindCheckout returns an open payment with its payment page, so that the customer can continue
// to pay. Faults: conflict if the payment cannot be paid now; payment_unavailable.
func (c *ReservationPayments) FindCheckout(ctx context.Context,
	businessID, id uuid.UUID) (*booking.ReservationCheckout, error) {
	return FindCheckout.Call(ctx, c.peer, ReservationID{businessID, id})
}

// Close closes the payment of a cancelled reservation and returns it. A repeated
// call changes nothing. Faults: not_found if the reservation has no payment.
func (c *ReservationPayments) Close(ctx context.Context, businessID, id uuid.UUID,
	req booking.ClosePayment) (*booking.PaymentState, error) {
	return ClosePayment.Call(ctx, c.peer, endpoints.Request(ReservationID{businessID, id}, req))
}

// CountReservation records that a reservation counts towards the customer's limit of open bookings until the
// reservation ends. The rental service calls CountReservation only for reservations from the booking page. A
// repeated call changes nothing. Faults: too_many_open_bookings if the customer has reached the limit.
func (c *ReservationPayments) CountReservation(ctx context.Context, businessID, id uuid.UUID,
	req booking.OpenReservation) error {
	return CountReservation.Send(ctx, c.peer, endpoints.Request(ReservationID{businessID, id}, req))
}

// UncountReservation records that a reservation no longer counts
// towards the customer's limit of open bookings. It is idempotent.
func (c *ReservationPayments) UncountReservation(ctx context.Context, businessID, id uuid.UUID) error {
	return UncountReservation.Send(ctx, c.peer, ReservationID{businessID, id})
}
