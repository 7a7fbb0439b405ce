package api

import (
	"context"
	"encoding/json"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// ReservationPayments serves the payments of rental's reservations over HTTP. The client is
// [bookingclient.ReservationPayments].
type ReservationPayments struct{ payments *usecase.ReservationPayments }

// NewReservationPayments returns the internal API of payments.
func NewReservationPayments(payments *usecase.ReservationPayments) *ReservationPayments {
	return &ReservationPayments{payments: payments}
}

// Mount adds the endpoints of payments and of open reservations.
func (ch *ReservationPayments) Mount(r *server.Internal) {
	server.Mount(r, bookingclient.ListPayments, ch.listPayments, decodeBody)
	server.Mount(r, bookingclient.ListReports, ch.listReports)
	server.Mount(r, bookingclient.AcknowledgeReports, ch.acknowledgeReports, decodeBody)
	server.Mount(r, bookingclient.OpenPayment, ch.openPayment, decodeChange)
	server.Mount(r, bookingclient.FindCheckout, ch.findCheckout)
	server.Mount(r, bookingclient.ClosePayment, ch.closePayment, decodeChange)
	server.Mount(r, bookingclient.CountReservation, ch.countReservation, decodeChange)
	server.Mount(r, bookingclient.UncountReservation, ch.uncountReservation)
}

func (ch *ReservationPayments) countReservation(ctx context.Context,
	r bookingclient.PaymentChange[booking.OpenReservation]) (*endpoints.None, error) {
	return nil, ch.payments.CountReservation(ctx, actor.Of(ctx), r.At.Business, r.At.ID, r.Body)
}

func (ch *ReservationPayments) uncountReservation(ctx context.Context,
	r bookingclient.ReservationID) (*endpoints.None, error) {
	return nil, ch.payments.UncountReservation(ctx, actor.Of(ctx), r.Business, r.ID)
}

func (ch *ReservationPayments) openPayment(ctx context.Context,
	r bookingclient.PaymentChange[booking.NewReservationPayment]) (*booking.ReservationCheckout, error) {
	checkout, err := ch.payments.Open(ctx, actor.Of(ctx), r.At.Business, r.At.ID, r.Body)
	return &checkout, err
}

func (ch *ReservationPayments) findCheckout(ctx context.Context,
	r bookingclient.ReservationID) (*booking.ReservationCheckout, error) {
	checkout, err := ch.payments.FindCheckout(ctx, r.Business, r.ID)
	return &checkout, err
}

func (ch *ReservationPayments) closePayment(ctx context.Context,
	r bookingclient.PaymentChange[booking.ClosePayment]) (*booking.PaymentState, error) {
	state, err := ch.payments.Close(ctx, actor.Of(ctx), r.At.Business, r.At.ID, r.Body)
	return &state, err
}

func (ch *ReservationPayments) listPayments(ctx context.Context,
	r booking.ReservationPaymentsRequest) (*booking.ReservationPayments, error) {
	payments, err := ch.payments.List(ctx, r.Reservations)
	return &booking.ReservationPayments{Payments: payments}, err
}

func (ch *ReservationPayments) listReports(ctx context.Context,
	_ endpoints.None) (*booking.ReservationPayments, error) {
	payments, err := ch.payments.ListReports(ctx)
	return &booking.ReservationPayments{Payments: payments}, err
}

func (ch *ReservationPayments) acknowledgeReports(ctx context.Context,
	r booking.ReportAcknowledgements) (*endpoints.None, error) {
	return nil, ch.payments.AcknowledgeReports(ctx, r.Acknowledgements)
}

func decodeChange[Body any](body []byte, r *bookingclient.PaymentChange[Body]) error {
	return decodeBody(body, &r.Body)
}

// decodeBody decodes a JSON body. It ignores unknown fields. Fault: invalid_parameter.
func decodeBody[Body any](body []byte, into *Body) error {
	if err := json.Unmarshal(body, into); err != nil {
		return fault.Newf(fault.InvalidParameter, "The body cannot be read: %s.", describeJSONError(err))
	}
	return nil
}
