package api

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// RentalCalendar fetches the answer of /rental-available-dates from rental; [rental.Client]
// implements it. Errors are faults. The fault peer_unavailable means that rental does not answer.
type RentalCalendar interface {
	AvailableDates(ctx context.Context, slug string, query url.Values) (json.RawMessage, error)
}

// RentalDates serves /rental-available-dates with the answer of rental. If
// rental does not answer, RentalDates itself answers with computed false.
type RentalDates struct {
	public  *Public
	rentals RentalCalendar
}

// NewRentalDates returns the calendar of rentals. It uses the offers and the time bound of public.
func NewRentalDates(public *Public, rentals RentalCalendar) *RentalDates {
	return &RentalDates{public: public, rentals: rentals}
}

// Mount adds the route.
func (r *RentalDates) Mount(router fiber.Router) {
	router.Get("/api/public/:slug/rental-available-dates",
		server.WithParameters(r.serveDates, rentalDatesParameters...))
}

// rentalDatesParameters lists the parameters that rental reads.
var rentalDatesParameters = []string{"start", "end", "rental_id"}

func (r *RentalDates) serveDates(c *fiber.Ctx) error {
	get, query := server.Query(c), url.Values{}
	for _, name := range rentalDatesParameters {
		query[name] = get(name)
	}
	ctx, cancel := r.public.withReadTimeout(c.UserContext())
	defer cancel()
	body, err := r.rentals.AvailableDates(ctx, c.Params("slug"), query)
	if fault.Is(err, fault.PeerUnavailable) {
		return r.serveUncomputed(c, err)
	}
	if err != nil {
		return err
	}
	return send(c, "no-store", func(b []byte) []byte { return append(b, body...) })
}

// serveUncomputed answers with computed false if rental does not answer in time. It still reports an unknown
// business as a fault. If the offer is not cached, it waits for the offer for up to another ReadTimeout.
func (r *RentalDates) serveUncomputed(c *fiber.Ctx, cause error) error {
	r.public.recordDegraded(c.UserContext(), "rentals", cause)
	ctx, cancel := r.public.withReadTimeout(c.UserContext())
	defer cancel()
	offer, err := r.public.offers.Get(ctx, c.Params("slug"))
	if fault.Is(err, fault.BusinessNotFound) {
		return err
	}
	var a answer
	if err == nil {
		a.timezone = offer.Timezone
	}
	return send(c, "no-store", func(b []byte) []byte { return a.appendDays(b, query{}) })
}
