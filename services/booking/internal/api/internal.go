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

// withIdempotency returns a handler that runs the handler `write` at most once for each Idempotency-Key of a business.
// The function `answerRetry` answers a repeated request. Its second argument is the stored result of the first request.
func (in *Internal) withIdempotency(write fiber.Handler, answerRetry func(*fiber.Ctx, []byte) error) fiber.Handler {
	return withIdempotency(in.records, write, answerRetry)
}

func withIdempotency(records *store.Store, write fiber.Handler,
	answerRetry func(*fiber.Ctx, []byte) error) fiber.Handler {
	return server.HandleIdempotently(write, func(c *fiber.Ctx) ([]byte, error) {
		businessID, err := parsePathID(c, "business")
		if err != nil {
			return nil, err
		}
		return records.FindIdempotencyResult(c.UserContext(), businessID)
	}, answerRetry)
}

// newRetryAnswer returns a function that answers a repeated request. The function decodes the stored result
// of the first request, converts it with the argument `show`, and answers with the given status.
func newRetryAnswer[T, W any](status int, show func(T) W) func(*fiber.Ctx, []byte) error {
	return func(c *fiber.Ctx, answer []byte) error {
		var result T
		if err := json.Unmarshal(answer, &result); err != nil {
			return err
		}
		return c.Status(status).JSON(show(result))
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
	business.Get("/occupied", in.serveOccupied)
	business.Put("/offer", in.storePublished)
	business.Post("/keys", in.withIdempotency(in.createKey, refuseRepeatedKey))
	business.Get("/keys", in.serveKeys)
	business.Delete("/keys", in.withIdempotency(in.revokeAllKeys, server.AnswerWithResult(fiber.StatusNoContent)))
	business.Delete("/keys/:key", in.withIdempotency(in.revokeKey, server.AnswerWithResult(fiber.StatusNoContent)))
	business.Get("/bookings", in.serveBookings)
	business.Get("/bookings/ahead", in.serveAhead)
	business.Get("/bookings/:booking", in.serveBooking)
	business.Get("/bookings/:id/link", in.serveLink(event.Booking))
	business.Get("/bookings/:booking/cancellation", in.serveCancellation)
	business.Post("/bookings/:booking/cancel",
		in.withIdempotency(in.cancel, newRetryAnswer(fiber.StatusOK, in.showBooking)))
	business.Post("/bookings/:booking/refund",
		in.withIdempotency(in.refund, newRetryAnswer(fiber.StatusOK, in.showBooking)))
	business.Post("/bookings", server.StoreIdempotencyKey, in.book)
	business.Post("/bookings/:booking/reschedule",
		in.withIdempotency(in.reschedule, newRetryAnswer(fiber.StatusOK, in.showBooking)))
	business.Post("/bookings/:booking/relocate",
		in.withIdempotency(in.relocate, newRetryAnswer(fiber.StatusOK, in.showBooking)))
	business.Post("/bookings/:booking/:move",
		in.withIdempotency(in.applyTransition, newRetryAnswer(fiber.StatusOK, in.showBooking)))
	business.Get("/reports/bookings", in.serveBookingsReport)
	business.Get("/reports/revenue", in.serveRevenueReport)
	business.Get("/reports/staff-time", in.serveStaffTimeReport)
	business.Post("/customers/search", in.serveCustomers)
	business.Post("/customers/held", in.serveCustomerData)
	business.Post("/customers/expiring", in.serveExpiringCustomers)
	business.Post("/customers/erase", in.withIdempotency(in.eraseCustomer, server.AnswerWithResult(fiber.StatusOK)))
	business.Post("/tickets", in.withIdempotency(in.sellTickets, in.answerRepeatedSale))
	business.Get("/tickets", in.listTickets)
	business.Get("/tickets/ahead", in.serveTicketsAhead)
	business.Post("/tickets/sales", in.serveSales)
	business.Get("/tickets/:ticket", in.serveTicket)
	business.Get("/tickets/:id/link", in.serveLink(event.Ticket))
	business.Get("/tickets/:ticket/cancellation", in.serveTicketCancellation)
	business.Post("/tickets/:ticket/cancel",
		in.withIdempotency(in.cancelTickets, newRetryAnswer(fiber.StatusOK, showTicket)))
	business.Post("/tickets/:ticket/refund",
		in.withIdempotency(in.refundTickets, newRetryAnswer(fiber.StatusOK, showTicket)))
}

// storePublished handles PUT /offer: it stores the version of a business's newest offer. When an
// owner publishes an offer, the catalog service sends this request before it answers the owner.
func (in *Internal) storePublished(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
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
	if err := in.records.StorePublished(c.UserContext(), businessID, newest.Version); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (in *Internal) serveOccupied(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	from, to, err := parseWindow(c.Query("from"), c.Query("to"))
	if err != nil {
		return err
	}
	except, err := server.Query(c).OptionalID("moving")
	if err != nil {
		return err
	}
	occupied, err := in.readOccupied(c.UserContext(), businessID, from, to, booking.OccupiedQuery{
		Seats: c.Query("seats") == "true", Locations: c.Query("locations") == "true", Except: except,
	})
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

// readOccupied reads the occupied time of a business in a window. The arguments `from`
// (included) and `to` (excluded) are the limits of the window. The argument
// `asked` selects further data, and a booking whose time is left out.
func (in *Internal) readOccupied(ctx context.Context, businessID uuid.UUID, from, to time.Time,
	asked booking.OccupiedQuery) (booking.Occupied, error) {
	req := store.SnapshotRequest{Seats: asked.Seats, Locations: asked.Locations}
	if asked.Except != nil {
		req.Except = *asked.Except
	}
	now, err := in.records.Snapshot(ctx, businessID, from, to, req)
	return now.Occupied, err
}

// parseWindow parses the start and the end of a window, in Unix seconds. Fault: invalid_parameter
// if a value is invalid, or if the window is empty or longer than [booking.MaxOccupiedWindow].
func parseWindow(from, to string) (time.Time, time.Time, error) {
	start, err := parseInstant("from", from)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	end, err := parseInstant("to", to)
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

// maxSeconds is the largest absolute value of an instant in Unix seconds: about 8,700
// years. The maximum keeps the year of an instant in the range that dates support.
const maxSeconds = 1 << 38

func parseInstant(name, text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < -maxSeconds || seconds > maxSeconds {
		return time.Time{}, fault.Newf(fault.InvalidParameter, "%s: send an instant in whole seconds since "+
			"1970-01-01T00:00:00Z.", name)
	}
	return time.Unix(seconds, 0), nil
}

func (in *Internal) createKey(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	var req booking.NewKey
	if err := json.Unmarshal(body, &req); err != nil {
		return fault.Newf(fault.InvalidParameter,
			"The body must be {\"name\": \"…\", \"scope\": \"read\", \"write\" or \"all\", \"expires_at\": an RFC "+
				"3339 instant or null}: %s.", describeJSONError(err))
	}
	key, secret, err := in.owner.CreateKey(c.UserContext(), server.Actor(c), businessID, req)
	if err != nil {
		return err
	}
	rendered := showKey(key)
	rendered.Secret = secret
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(rendered)
}

func refuseRepeatedKey(_ *fiber.Ctx, answer []byte) error {
	var existing store.KeyExistsError
	if err := json.Unmarshal(answer, &existing); err != nil {
		return err
	}
	return usecase.NewKeyExistsFault(existing.ID)
}

// describeJSONError describes an error of json.Unmarshal for an error message.
// If a field has the wrong type, the description names the field.
func describeJSONError(err error) string {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) && typeErr.Field != "" {
		return fmt.Sprintf("%s is a %s", request.FieldOf(typeErr), typeErr.Value)
	}
	var instant *time.ParseError
	if errors.As(err, &instant) {
		return "expires_at is no RFC 3339 instant"
	}
	return "it is not a JSON object"
}

func (in *Internal) serveKeys(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
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
	return c.JSON(booking.KeyList{Keys: convertAll(keys, showKey), NextCursor: next})
}

func (in *Internal) revokeKey(c *fiber.Ctx) error {
	businessID, keyID, err := parsePathIDs(c, "key")
	if err != nil {
		return err
	}
	if err := in.owner.RevokeKey(c.UserContext(), server.Actor(c), businessID, keyID); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (in *Internal) revokeAllKeys(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	if err := in.owner.RevokeAllKeys(c.UserContext(), server.Actor(c), businessID); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (in *Internal) serveBookings(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
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
	return c.JSON(booking.BookingList{Bookings: convertAll(bookings, in.showBooking), NextCursor: next})
}

func (in *Internal) serveBooking(c *fiber.Ctx) error {
	businessID, bookingID, err := parsePathIDs(c, "booking")
	if err != nil {
		return err
	}
	stored, err := in.records.Booking(c.UserContext(), businessID, bookingID)
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, "Booking not found")
	}
	if err != nil {
		return err
	}
	return c.JSON(in.showBooking(stored))
}

func (in *Internal) serveAhead(c *fiber.Ctx) error {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return err
	}
	n, err := in.records.CountAhead(c.UserContext(), businessID, in.clock.Now())
	if err != nil {
		return err
	}
	return c.JSON(booking.AheadCount{Count: n})
}

func (in *Internal) applyTransition(c *fiber.Ctx) error {
	businessID, bookingID, err := parsePathIDs(c, "booking")
	if err != nil {
		return err
	}
	updated, err := in.owner.ApplyTransition(c.UserContext(), server.Actor(c), businessID, bookingID,
		state.TransitionName(c.Params("move")))
	if err != nil {
		return err
	}
	return c.JSON(in.showBooking(updated))
}

// parsePathID parses the UUID in the path parameter with the given name. Fault: invalid_parameter.
func parsePathID(c *fiber.Ctx, name string) (uuid.UUID, error) {
	return request.ID(name, c.Params(name))
}

// parsePathIDs parses the id of the business and a second id in the path. The argument
// `name` is the name of the path parameter with the second id. Fault: invalid_parameter.
func parsePathIDs(c *fiber.Ctx, name string) (uuid.UUID, uuid.UUID, error) {
	businessID, err := parsePathID(c, "business")
	if err != nil {
		return uuid.Nil, uuid.Nil, err
	}
	id, err := parsePathID(c, name)
	return businessID, id, err
}
