package api

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// RentalCalendar returns the answer of the rental service to /rental-available-dates.
// [rental.Client] implements RentalCalendar. The errors of RentalCalendar are faults:
// peer_unavailable if the rental service does not answer, or a fault of the rental service.
type RentalCalendar interface {
	AvailableDates(ctx context.Context, slug string, query url.Values) (json.RawMessage, error)
}

// RentalDates serves /rental-available-dates with the answer of the rental service.
// If the rental service does not answer, the field "computed" of the response is false.
type RentalDates struct {
	public  *Public
	rentals RentalCalendar
}

// NewRentalDates returns the calendar of rentals. NewRentalDates uses the offers and the ReadTimeout of `public`.
func NewRentalDates(public *Public, rentals RentalCalendar) *RentalDates {
	return &RentalDates{public: public, rentals: rentals}
}

// Mount adds the route /api/public/{slug}/rental-available-dates.
func (r *RentalDates) Mount(router fiber.Router) {
	router.Get("/api/public/:slug/rental-available-dates",
		server.WithParameters(r.serveDates, rentalDatesParameters...))
}

// rentalDatesParameters lists the query parameters that are forwarded to the rental service.
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

// serveUncomputed responds after the rental service did not answer in time. The field "computed" of the response is
// false. If the business is unknown, it returns the fault business_not_found instead. If the
// offer is not cached, serveUncomputed waits for the offer for up to another ReadTimeout.
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
