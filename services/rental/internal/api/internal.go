package api

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// Internal serves the peer API under /internal.
type Internal struct {
	owner   *usecase.Owner
	news    *usecase.Reconciliation
	offers  Offers
	records Records
	links   *link.Links
	clock   clock.Clock
}

// NewInternal returns the internal API. The argument news fetches the current state of charges from booking.
func NewInternal(owner *usecase.Owner, news *usecase.Reconciliation, offers Offers, records Records, links *link.Links,
	now clock.Clock) *Internal {
	return &Internal{owner: owner, news: news, offers: offers, records: records, links: links, clock: now}
}

// Mount adds the routes.
func (in *Internal) Mount(router fiber.Router) {
	business := router.Group("/internal/businesses/:slug")
	business.Get("/ceilings", in.ceilings)
	business.Post("/reservations", in.once(in.reserve, fiber.StatusCreated))
	business.Get("/reservations", in.reservations)
	business.Get("/reports/revenue", in.revenueReport)
	business.Get("/reservations/ahead", in.ahead)
	business.Post("/reservations/outside", in.outside)
	business.Get("/reservations/:id", in.reservation)
	business.Post("/customers/search", in.customers)
	business.Post("/customers/held", in.held)
	business.Post("/customers/expiring", in.expiringCustomers)
	business.Post("/customers/erase", in.eraseCustomer())
	business.Get("/reservations/:id/link", in.linkTo)
	business.Get("/reservations/:id/cancellation", in.cancellation)
	business.Post("/reservations/:id/cancel", in.once(in.cancel, fiber.StatusOK))
	business.Post("/reservations/:id/refund", in.once(in.refund, fiber.StatusOK))
	business.Post("/reservations/:id/:move", in.once(in.move, fiber.StatusOK))
}

// business returns the offer of the business with the slug of the path. Fault: business_not_found.
//
// If the caller sends a business id, the offer must have this id, otherwise the fault is
// business_not_found too. After a business is removed, another business can get its slug, and the cached
// offer may still be the old one. Without the check, a business could see customers of the other.
func (in *Internal) business(c *fiber.Ctx) (*catalog.Offer, error) {
	id, err := server.Query(c).OptionalID(rental.QueryBusinessID)
	if err != nil {
		return nil, err
	}
	slug := c.Params("slug")
	offer, err := in.offers.Get(c.UserContext(), slug)
	if err != nil || id == nil || offer.ID == *id {
		return offer, err
	}
	if offer, err = in.offers.Fresh(c.UserContext(), slug); err != nil {
		return nil, err
	}
	if offer.ID != *id {
		return nil, fault.New(fault.BusinessNotFound, "Business not found")
	}
	return offer, nil
}

// once returns the handler of an owner's write, which runs once for each
// Idempotency-Key of a business. The argument status is the HTTP status of the answer.
func (in *Internal) once(write func(*fiber.Ctx) (usecase.Made, error), status int) fiber.Handler {
	return server.HandleIdempotently(func(c *fiber.Ctx) error {
		written, err := write(c)
		if err != nil {
			return err
		}
		return in.sendOne(c, status, written)
	}, in.outcome, func(c *fiber.Ctx, answer []byte) error {
		var made usecase.Made
		if err := json.Unmarshal(answer, &made.Reservation); err != nil {
			return err
		}
		if status != fiber.StatusCreated {
			return in.sendOne(c, status, made)
		}
		offer, err := in.business(c)
		if err != nil {
			return fault.Unknown(err)
		}
		if made, err = in.owner.Again(c.UserContext(), server.Actor(c), offer.ID, made.Reservation); err != nil {
			return err
		}
		return in.sendOne(c, status, made)
	})
}

// ceilings answers with the field max_bookable_online of each
// rental of a business: the most units that can be reserved.
func (in *Internal) ceilings(c *fiber.Ctx) error {
	version, err := strconv.ParseInt(c.Query("offer_version"), 10, 64)
	if err != nil {
		return request.Invalid("offer_version: send the version of the offer as a whole number.")
	}
	offer, err := in.offers.AtLeast(c.UserContext(), c.Params("slug"), version)
	if err != nil {
		return err
	}
	answer := rental.Ceilings{Ceilings: make(map[uuid.UUID]int, len(offer.Rentals))}
	for i := range offer.Rentals {
		answer.Ceilings[offer.Rentals[i].ID] = occupancy.StockOf(&offer.Rentals[i]).Ceiling()
	}
	return c.JSON(answer)
}

func (in *Internal) reserve(c *fiber.Ctx) (usecase.Made, error) {
	var asked rental.NewReservation
	if err := server.JSON(c, &asked); err != nil {
		return usecase.Made{}, err
	}
	by := server.Actor(c)
	wanted, err := parseReservation(asked, by)
	if err != nil {
		return usecase.Made{}, err
	}
	return in.owner.Reserve(c.UserContext(), by, c.Params("slug"), wanted)
}

func (in *Internal) move(c *fiber.Ctx) (usecase.Made, error) {
	id, err := reservationID(c)
	if err != nil {
		return usecase.Made{}, err
	}
	offer, err := in.business(c)
	if err != nil {
		return usecase.Made{}, err
	}
	moved, err := in.owner.Move(c.UserContext(), server.Actor(c), offer, id, state.Move(c.Params("move")))
	return usecase.Made{Reservation: moved}, err
}

// reservationID reads the id of the reservation in the path. Fault:
// not_found, also for an invalid id, because no reservation has it.
func reservationID(c *fiber.Ctx) (uuid.UUID, error) {
	id, err := request.ID("id", c.Params("id"))
	if err != nil {
		return uuid.Nil, errNoReservation()
	}
	return id, nil
}

func errNoReservation() error { return fault.New(fault.NotFound, "Reservation not found") }

func (in *Internal) reservations(c *fiber.Ctx) error {
	query := server.Query(c)
	from, to, err := query.OptionalDates("from", "to")
	if err != nil {
		return err
	}
	status, err := query.Text("status")
	if err != nil {
		return err
	}
	if status != "" && !slices.Contains(rental.Statuses(), status) {
		return request.Invalid("status: send pending, reserved, picked_up, returned or cancelled.")
	}
	payment, err := bookingclient.ReadPayment(query)
	if err != nil {
		return err
	}
	page, err := query.Page()
	if err != nil {
		return err
	}
	offer, err := in.business(c)
	if err != nil {
		return err
	}
	filter := rental.Filter{From: from, To: to, Status: status, Payment: payment}
	found, next, err := in.records.Reservations(c.UserContext(), offer.ID, filter, page)
	if err != nil {
		return err
	}
	list := rental.ReservationList{Reservations: make([]rental.Reservation, len(found)), NextCursor: next}
	for i, r := range found {
		list.Reservations[i] = in.show(offer, r)
	}
	return send(c, list)
}

func (in *Internal) reservation(c *fiber.Ctx) error {
	id, err := reservationID(c)
	if err != nil {
		return err
	}
	offer, err := in.business(c)
	if err != nil {
		return err
	}
	found, err := in.lookAt(c.UserContext(), offer.ID, id)
	if errors.Is(err, store.ErrNotFound) {
		return errNoReservation()
	}
	if err != nil {
		return err
	}
	return c.JSON(in.show(offer, found))
}

// lookAt reads a reservation with the newest state of its charge.
func (in *Internal) lookAt(ctx context.Context, businessID, id uuid.UUID) (store.Reservation, error) {
	found, err := in.records.Reservation(ctx, businessID, id)
	if err != nil || found.Payment == nil {
		return found, err
	}
	in.news.Look(ctx, booking.ReservationID{BusinessID: businessID, ID: id}, found.Payment)
	return in.records.Reservation(ctx, businessID, id)
}

func (in *Internal) ahead(c *fiber.Ctx) error {
	n, err := in.owner.Ahead(c.UserContext(), c.Params("slug"))
	if err != nil {
		return err
	}
	return c.JSON(rental.AheadCount{Count: n})
}

// sendOne answers with a reservation that was written. If the offer cannot be read, the
// fault is outcome_unknown, because the reservation was written but cannot be rendered.
func (in *Internal) sendOne(c *fiber.Ctx, status int, r usecase.Made) error {
	offer, err := in.business(c)
	if err != nil {
		return fault.Unknown(err)
	}
	shown := in.show(offer, r.Reservation)
	shown.Warnings = r.Warnings
	if status == fiber.StatusCreated {
		shown.CheckoutURL, shown.ManageURL = r.CheckoutURL, in.links.URL(event.Reservation, r.ID, r.LinkHash)
	}
	return send(c.Status(status), shown)
}

// show renders a reservation. Overdue is true if the reservation is
// picked up and its time has ended, in the time of the business.
func (in *Internal) show(offer *catalog.Offer, r store.Reservation) rental.Reservation {
	now, shown := in.clock.Now(), agreed(r)
	ended := r.Dates.To < timespan.DateOf(now, timespan.Zone(r.Timezone, offer.Location()))
	if r.Hours != nil {
		ended = now.Unix() >= r.Hours.During.End
	}
	shown.Overdue = ended && r.Status == state.PickedUp
	return shown
}

// ShowEvents returns functions that render the subjects of rental's events. They render a reservation as lists
// do, but never as overdue: when a reservation becomes overdue, it does not change, and no event is recorded.
func ShowEvents(records *store.Store) map[event.SubjectKind]eventlog.Show {
	return map[event.SubjectKind]eventlog.Show{event.Reservation: eventlog.As(records.Kept, agreed)}
}

// agreed renders the stored data of a reservation.
func agreed(r store.Reservation) rental.Reservation {
	shown := rental.Reservation{
		ID: r.ID, RentalID: r.RentalID, RentalName: r.RentalName, Status: string(r.Status), Withdrawn: r.Withdrawn,
		Quantity:  r.Quantity,
		StartDate: r.Dates.From, EndDate: r.Dates.To, Extras: showExtras(r), Units: showUnits(r),
		CustomerName: r.CustomerName, CustomerEmail: r.CustomerEmail,
		CustomerPhone: r.CustomerPhone, FormData: r.FormData, Locale: r.Locale, Timezone: r.Timezone,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if r.Hours != nil {
		shown.StartTime, shown.EndTime = &r.Hours.Start, &r.Hours.End
	}
	if p := r.Price; p != nil {
		shown.Price, shown.Total, shown.Currency = new(p.Currency.JSON(p.Own)), new(p.Currency.JSON(p.Total)),
			p.Currency.Code
		shown.PriceChanges = p.Changes
		shown.Payment = r.Payment.Shown(p.Currency)
	}
	return shown
}

// showUnits renders the units that were handed out.
func showUnits(r store.Reservation) []rental.Unit {
	shown := make([]rental.Unit, len(r.Units))
	for i, u := range r.Units {
		shown[i] = rental.Unit{RentalID: u.RentalID, Unit: u.Key}
	}
	return shown
}

// showExtras renders the extras of a reservation.
func showExtras(r store.Reservation) []rental.Extra {
	shown := make([]rental.Extra, len(r.Extras))
	for i, extra := range r.Extras {
		shown[i] = rental.Extra{RentalID: extra.RentalID, RentalName: extra.Name, Quantity: extra.Quantity}
		if r.Price != nil && extra.Price != nil {
			shown[i].Price = new(r.Price.Currency.JSON(*extra.Price))
		}
	}
	return shown
}
