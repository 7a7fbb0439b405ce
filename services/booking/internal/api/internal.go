package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// once returns a handler that runs the handler `write` at most once for each Idempotency-Key of a business. The
// argument `again` is a function that answers a repeated request. It gets the stored result of the first request.
func (in *Internal) once(write fiber.Handler, again func(*fiber.Ctx, []byte) error) fiber.Handler {
	return once(in.records, write, again)
}

func once(records *store.Store, write fiber.Handler, again func(*fiber.Ctx, []byte) error) fiber.Handler {
	return server.HandleIdempotently(write, func(c *fiber.Ctx) ([]byte, error) {
		businessID, err := pathID(c, "business")
		if err != nil {
			return nil, err
		}
		return records.FindIdempotencyResult(c.UserContext(), businessID)
	}, again)
}

// again returns a function that answers a repeated request. The function decodes the stored result
// of the first request, converts it with the argument `show`, and answers with the given status.
func again[T, W any](status int, show func(T) W) func(*fiber.Ctx, []byte) error {
	return func(c *fiber.Ctx, answer []byte) error {
		var made T
		if err := json.Unmarshal(answer, &made); err != nil {
			return err
		}
		return c.Status(status).JSON(show(made))
	}
}

// Internal serves booking's API for other services over HTTP,
// under /internal. The client is libs/contracts/bookingclient.
type Internal struct {
	owner         *usecase.Owner
	booker        *usecase.Booker
	tickets       *usecase.Tickets
	cancellations *usecase.Cancellations
	records       *store.Store
	links         *link.Links
	clock         clock.Clock
	outcomes      outcomes
}

// NewInternal returns the internal API of bookings, orders of tickets, API keys and customers.
func NewInternal(owner *usecase.Owner, booker *usecase.Booker, cancellations *usecase.Cancellations,
	records *store.Store, links *link.Links, c clock.Clock) *Internal {
	return &Internal{owner: owner, booker: booker, tickets: usecase.NewTickets(records, booker),
		cancellations: cancellations,
		records:       records, links: links, clock: c, outcomes: newOutcomes(booker.Telemetry)}
}

// Mount adds the routes of bookings, orders of tickets, API keys, customers and reports.
func (in *Internal) Mount(app fiber.Router) {
	business := app.Group("/internal/businesses/:business")
	business.Get("/occupied", in.occupied)
	business.Put("/offer", in.published)
	business.Post("/keys", in.once(in.createKey, keyMadeAgain))
	business.Get("/keys", in.keys)
	business.Delete("/keys", in.once(in.revokeAllKeys, server.AnswerWithResult(fiber.StatusNoContent)))
	business.Delete("/keys/:key", in.once(in.revokeKey, server.AnswerWithResult(fiber.StatusNoContent)))
	business.Get("/bookings", in.bookings)
	business.Get("/bookings/ahead", in.ahead)
	business.Get("/bookings/:booking", in.booking)
	business.Get("/bookings/:id/link", in.linkTo(event.Booking))
	business.Get("/bookings/:booking/cancellation", in.cancellation)
	business.Post("/bookings/:booking/cancel", in.once(in.cancel, again(fiber.StatusOK, showBooking)))
	business.Post("/bookings/:booking/refund", in.once(in.refund, again(fiber.StatusOK, showBooking)))
	business.Post("/bookings", server.StoreIdempotencyKey, in.book)
	business.Post("/bookings/:booking/reschedule", in.once(in.reschedule, again(fiber.StatusOK, showBooking)))
	business.Post("/bookings/:booking/:move", in.once(in.move, again(fiber.StatusOK, showBooking)))
	business.Get("/reports/bookings", in.bookingsReport)
	business.Get("/reports/revenue", in.revenueReport)
	business.Get("/reports/staff-time", in.staffTimeReport)
	business.Post("/customers/search", in.customers)
	business.Post("/customers/held", in.held)
	business.Post("/customers/expiring", in.expiringCustomers)
	business.Post("/customers/erase", in.once(in.eraseCustomer, server.AnswerWithResult(fiber.StatusOK)))
	business.Post("/tickets", in.once(in.sellTickets, in.soldAgain))
	business.Get("/tickets", in.listTickets)
	business.Get("/tickets/ahead", in.ticketsAhead)
	business.Post("/tickets/sales", in.sales)
	business.Get("/tickets/:ticket", in.ticket)
	business.Get("/tickets/:id/link", in.linkTo(event.Ticket))
	business.Get("/tickets/:ticket/cancellation", in.ticketCancellation)
	business.Post("/tickets/:ticket/cancel", in.once(in.cancelTickets, again(fiber.StatusOK, showTicket)))
	business.Post("/tickets/:ticket/refund", in.once(in.refundTickets, again(fiber.StatusOK, showTicket)))
}

// published handles PUT /offer: it stores the version of a business's newest offer. When an
// owner publishes an offer, the catalog service sends this request before it answers the owner.
func (in *Internal) published(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	var newest booking.PublishedOffer
	if err := json.Unmarshal(body, &newest); err != nil || newest.Version < 1 {
		return fault.New(fault.InvalidParameter,
			`version: missing or not a whole number from 1 on; send {"version": 3}.`)
	}
	if err := in.records.Published(c.UserContext(), businessID, newest.Version); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (in *Internal) occupied(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	from, to, err := window(c.Query("from"), c.Query("to"))
	if err != nil {
		return err
	}
	moving, err := server.Query(c).OptionalID("moving")
	if err != nil {
		return err
	}
	occupied, err := in.occupiedBut(c.UserContext(), businessID, from, to, c.Query("seats") == "true", moving)
	if err != nil {
		return err
	}
	body, err := occupied.AppendBinary(nil)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, booking.OccupiedType)
	return c.Send(body)
}

// occupiedBut reads the occupied time of a business in a window. The arguments `from` (included)
// and `to` (excluded) are the limits of the window. If the argument `moving` is not nil, it is the
// id of a booking that will be rescheduled; occupiedBut then leaves out the time of this booking.
func (in *Internal) occupiedBut(ctx context.Context, businessID uuid.UUID, from, to time.Time, seats bool,
	moving *uuid.UUID) (booking.Occupied, error) {
	if moving == nil {
		return in.records.Occupied(ctx, businessID, from, to, seats)
	}
	now, err := in.records.Snapshot(ctx, businessID, from, to, store.Asked{Seats: seats, Moving: *moving})
	return now.Occupied, err
}

// window parses the start and the end of a window, in Unix seconds. Fault: invalid_parameter
// if a value is invalid, or if the window is empty or longer than [booking.MaxOccupiedWindow].
func window(from, to string) (time.Time, time.Time, error) {
	start, err := instant("from", from)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	end, err := instant("to", to)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	if length := end.Sub(start); length <= 0 || length > booking.MaxOccupiedWindow {
		return time.Time{}, time.Time{}, fault.Newf(fault.InvalidParameter,
			"to: the window must end after it begins and be at most %d days long.",
			int(booking.MaxOccupiedWindow.Hours()/24))
	}
	return start, end, nil
}

// mostSeconds is the largest absolute value of an instant in Unix seconds: about 8,700 years. It
// keeps the year of an instant in the range that dates support.
const mostSeconds = 1 << 38

func instant(name, text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < -mostSeconds || seconds > mostSeconds {
		return time.Time{}, fault.Newf(fault.InvalidParameter, "%s: send an instant in whole seconds since "+
			"1970-01-01T00:00:00Z.", name)
	}
	return time.Unix(seconds, 0), nil
}

func (in *Internal) createKey(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	var asked booking.NewKey
	if err := json.Unmarshal(body, &asked); err != nil {
		return fault.Newf(fault.InvalidParameter,
			"The body must be {\"name\": \"…\", \"scope\": \"read\", \"write\" or \"all\", \"expires_at\": an RFC "+
				"3339 instant or null}: %s.", jsonReason(err))
	}
	key, secret, err := in.owner.MakeKey(c.UserContext(), server.Actor(c), businessID, asked)
	if err != nil {
		return err
	}
	shown := showKey(key)
	shown.Secret = secret
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(shown)
}

func keyMadeAgain(_ *fiber.Ctx, answer []byte) error {
	var made store.KeyMadeError
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	return usecase.KeyMade(made.ID)
}

// jsonReason describes an error of json.Unmarshal for an error message.
// If a field has the wrong type, the description names the field.
func jsonReason(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Sprintf("%s is a %s", request.FieldOf(wrong), wrong.Value)
	}
	var instant *time.ParseError
	if errors.As(err, &instant) {
		return "expires_at is no RFC 3339 instant"
	}
	return "it is not a JSON object"
}

func (in *Internal) keys(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	keys, next, err := in.records.Keys(c.UserContext(), businessID, page)
	if err != nil {
		return err
	}
	return c.JSON(booking.KeyList{Keys: all(keys, showKey), NextCursor: next})
}

func (in *Internal) revokeKey(c *fiber.Ctx) error {
	businessID, keyID, err := businessAnd(c, "key")
	if err != nil {
		return err
	}
	if err := in.owner.RevokeKey(c.UserContext(), server.Actor(c), businessID, keyID); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (in *Internal) revokeAllKeys(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	if err := in.owner.RevokeAllKeys(c.UserContext(), server.Actor(c), businessID); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (in *Internal) bookings(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	filter, err := bookingclient.ReadFilter(server.Query(c))
	if err != nil {
		return err
	}
	bookings, next, err := in.records.Bookings(c.UserContext(), businessID, filter, page)
	if err != nil {
		return err
	}
	return c.JSON(booking.BookingList{Bookings: all(bookings, showBooking), NextCursor: next})
}

func (in *Internal) booking(c *fiber.Ctx) error {
	businessID, bookingID, err := businessAnd(c, "booking")
	if err != nil {
		return err
	}
	found, err := in.records.Booking(c.UserContext(), businessID, bookingID)
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, "Booking not found")
	}
	if err != nil {
		return err
	}
	return c.JSON(showBooking(found))
}

func (in *Internal) ahead(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	n, err := in.records.Ahead(c.UserContext(), businessID, in.clock.Now())
	if err != nil {
		return err
	}
	return c.JSON(booking.AheadCount{Count: n})
}

func (in *Internal) move(c *fiber.Ctx) error {
	businessID, bookingID, err := businessAnd(c, "booking")
	if err != nil {
		return err
	}
	moved, err := in.owner.MoveBooking(c.UserContext(), server.Actor(c), businessID, bookingID,
		state.Move(c.Params("move")))
	if err != nil {
		return err
	}
	return c.JSON(showBooking(moved))
}

// pathID parses the UUID in the path parameter with the given name. Fault: invalid_parameter.
func pathID(c *fiber.Ctx, name string) (uuid.UUID, error) { return request.ID(name, c.Params(name)) }

// businessAnd parses the id of the business and a second id in the path. The argument
// `name` is the name of the path parameter with the second id. Fault: invalid_parameter.
func businessAnd(c *fiber.Ctx, name string) (uuid.UUID, uuid.UUID, error) {
	businessID, err := pathID(c, "business")
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	id, err := pathID(c, name)
	return businessID, id, err
}
