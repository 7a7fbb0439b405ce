package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/ical"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// ByLink serves to the customers' pages what customers see by the link of a reservation (lifecycle.md §5).
type ByLink struct{ links *usecase.ByLink }

// NewByLink returns the internal API of customers' links.
func NewByLink(links *usecase.ByLink) *ByLink { return &ByLink{links: links} }

// Mount adds the routes.
func (l *ByLink) Mount(router fiber.Router) {
	router.Get("/internal/manage/:token", l.view)
	router.Get("/internal/manage/:token/calendar", l.calendar)
}

func (l *ByLink) view(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	m, err := l.links.View(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	r := agreed(m.Reservation)
	return c.JSON(rental.Managed{
		Kind: event.Reservation, Business: m.Offer.Managed(),
		Reservation: rental.ManagedReservation{
			ID: r.ID, RentalName: r.RentalName, Status: r.Status, Quantity: r.Quantity, StartDate: r.StartDate, EndDate: r.EndDate,
			StartTime: r.StartTime, EndTime: r.EndTime, Extras: r.Extras, Price: r.Price, Total: r.Total, Currency: r.Currency,
			CustomerName: r.CustomerName, Locale: r.Locale, CreatedAt: r.CreatedAt,
		},
	})
}

func (l *ByLink) calendar(c *fiber.Ctx) error {
	c.Set(fiber.HeaderCacheControl, "no-store")
	text, err := l.links.Calendar(c.UserContext(), c.Params("token"))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, ical.MediaType)
	return c.Send(text)
}
