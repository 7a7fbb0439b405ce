package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// ReservationPayments serves the payments of rental's reservations over HTTP. The client is ReservationPayments of
// libs/contracts/bookingclient.
type ReservationPayments struct{ payments *usecase.ReservationPayments }

// NewReservationPayments returns the internal API of payments.
func NewReservationPayments(payments *usecase.ReservationPayments) *ReservationPayments {
	return &ReservationPayments{payments: payments}
}

// Mount adds the routes of payments and of open reservations.
func (ch *ReservationPayments) Mount(app fiber.Router) {
	app.Post("/internal/charges", ch.servePayments)
	app.Post("/internal/charges/news", ch.serveReports)
	app.Post("/internal/charges/noted", ch.acknowledgeReports)
	charge := app.Group("/internal/businesses/:business/charges/:reservation", forbidCaching)
	charge.Post("", ch.openPayment)
	charge.Post("/page", ch.serveCheckout)
	charge.Post("/close", ch.closePayment)
	open := app.Group("/internal/businesses/:business/open-reservations/:reservation", forbidCaching)
	open.Put("", ch.countReservation)
	open.Delete("", ch.uncountReservation)
}

func (ch *ReservationPayments) countReservation(c *fiber.Ctx) error {
	businessID, id, err := parsePathIDs(c, "reservation")
	if err != nil {
		return err
	}
	var req booking.OpenReservation
	if err := parseBody(c, &req); err != nil {
		return err
	}
	if err := ch.payments.CountReservation(c.UserContext(), server.Actor(c), businessID, id, req); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (ch *ReservationPayments) uncountReservation(c *fiber.Ctx) error {
	businessID, id, err := parsePathIDs(c, "reservation")
	if err != nil {
		return err
	}
	if err := ch.payments.UncountReservation(c.UserContext(), server.Actor(c), businessID, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (ch *ReservationPayments) openPayment(c *fiber.Ctx) error {
	businessID, id, err := parsePathIDs(c, "reservation")
	if err != nil {
		return err
	}
	var req booking.NewReservationPayment
	if err := parseBody(c, &req); err != nil {
		return err
	}
	checkout, err := ch.payments.Open(c.UserContext(), server.Actor(c), businessID, id, req)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(checkout)
}

func (ch *ReservationPayments) serveCheckout(c *fiber.Ctx) error {
	businessID, id, err := parsePathIDs(c, "reservation")
	if err != nil {
		return err
	}
	checkout, err := ch.payments.FindCheckout(c.UserContext(), businessID, id)
	if err != nil {
		return err
	}
	return c.JSON(checkout)
}

func (ch *ReservationPayments) closePayment(c *fiber.Ctx) error {
	businessID, id, err := parsePathIDs(c, "reservation")
	if err != nil {
		return err
	}
	var req booking.ClosePayment
	if err := parseBody(c, &req); err != nil {
		return err
	}
	state, err := ch.payments.Close(c.UserContext(), server.Actor(c), businessID, id, req)
	if err != nil {
		return err
	}
	return c.JSON(state)
}

func (ch *ReservationPayments) servePayments(c *fiber.Ctx) error {
	var req booking.ReservationPaymentsRequest
	if err := parseBody(c, &req); err != nil {
		return err
	}
	payments, err := ch.payments.List(c.UserContext(), req.Reservations)
	if err != nil {
		return err
	}
	return c.JSON(booking.ReservationPayments{Payments: payments})
}

func (ch *ReservationPayments) serveReports(c *fiber.Ctx) error {
	payments, err := ch.payments.ListReports(c.UserContext())
	if err != nil {
		return err
	}
	return c.JSON(booking.ReservationPayments{Payments: payments})
}

func (ch *ReservationPayments) acknowledgeReports(c *fiber.Ctx) error {
	var req booking.ReportAcknowledgements
	if err := parseBody(c, &req); err != nil {
		return err
	}
	if err := ch.payments.AcknowledgeReports(c.UserContext(), req.Acknowledgements); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// parseBody parses the JSON body of a request into the value to
// which the argument `into` points. Fault: invalid_parameter.
func parseBody(c *fiber.Ctx, into any) error {
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fault.Newf(fault.InvalidParameter, "The body cannot be read: %s.", describeJSONError(err))
	}
	return nil
}
