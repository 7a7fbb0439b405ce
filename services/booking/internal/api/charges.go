package api

import (
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// Payments serves the charges of rental's reservations over HTTP. The client is Charges of
// libs/contracts/bookingclient.
type Charges struct{ charges *usecase.Charges }

// NewCharges returns the internal API of charges.
func NewCharges(charges *usecase.Charges) *Charges { return &Charges{charges: charges} }

// Mount adds the routes of charges and of open reservations.
func (ch *Charges) Mount(app fiber.Router) {
	app.Post("/internal/charges", ch.known)
	app.Post("/internal/charges/news", ch.news)
	app.Post("/internal/charges/noted", ch.noted)
	charge := app.Group("/internal/businesses/:business/charges/:reservation", private)
	charge.Post("", ch.open)
	charge.Post("/page", ch.page)
	charge.Post("/close", ch.close)
	open := app.Group("/internal/businesses/:business/open-reservations/:reservation", private)
	open.Put("", ch.count)
	open.Delete("", ch.uncount)
}

func (ch *Charges) count(c *fiber.Ctx) error {
	businessID, id, err := businessAnd(c, "reservation")
	if err != nil {
		return err
	}
	var asked booking.OpenReservation
	if err := jsonBody(c, &asked); err != nil {
		return err
	}
	if err := ch.charges.Count(c.UserContext(), server.Actor(c), businessID, id, asked); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (ch *Charges) uncount(c *fiber.Ctx) error {
	businessID, id, err := businessAnd(c, "reservation")
	if err != nil {
		return err
	}
	if err := ch.charges.Uncount(c.UserContext(), server.Actor(c), businessID, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (ch *Charges) open(c *fiber.Ctx) error {
	businessID, id, err := businessAnd(c, "reservation")
	if err != nil {
		return err
	}
	var asked booking.NewReservationPayment
	if err := jsonBody(c, &asked); err != nil {
		return err
	}
	opened, err := ch.charges.Open(c.UserContext(), server.Actor(c), businessID, id, asked)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(opened)
}

func (ch *Charges) page(c *fiber.Ctx) error {
	businessID, id, err := businessAnd(c, "reservation")
	if err != nil {
		return err
	}
	opened, err := ch.charges.Page(c.UserContext(), businessID, id)
	if err != nil {
		return err
	}
	return c.JSON(opened)
}

func (ch *Charges) close(c *fiber.Ctx) error {
	businessID, id, err := businessAnd(c, "reservation")
	if err != nil {
		return err
	}
	var asked booking.ClosePayment
	if err := jsonBody(c, &asked); err != nil {
		return err
	}
	closed, err := ch.charges.Close(c.UserContext(), server.Actor(c), businessID, id, asked)
	if err != nil {
		return err
	}
	return c.JSON(closed)
}

func (ch *Charges) known(c *fiber.Ctx) error {
	var asked booking.ReservationPaymentsRequest
	if err := jsonBody(c, &asked); err != nil {
		return err
	}
	known, err := ch.charges.Known(c.UserContext(), asked.Reservations)
	if err != nil {
		return err
	}
	return c.JSON(booking.ReservationPayments{Payments: known})
}

func (ch *Charges) news(c *fiber.Ctx) error {
	charges, err := ch.charges.News(c.UserContext())
	if err != nil {
		return err
	}
	return c.JSON(booking.ReservationPayments{Payments: charges})
}

func (ch *Charges) noted(c *fiber.Ctx) error {
	var noted booking.ReportAcknowledgements
	if err := jsonBody(c, &noted); err != nil {
		return err
	}
	if err := ch.charges.Noted(c.UserContext(), noted.Acknowledgements); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

// jsonBody parses the JSON body of a request into the value to
// which the argument `into` points. Fault: invalid_parameter.
func jsonBody(c *fiber.Ctx, into any) error {
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fault.Newf(fault.InvalidParameter, "The body cannot be read: %s.", jsonReason(err))
	}
	return nil
}
