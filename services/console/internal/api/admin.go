// Package api serves the admin API of admin.md: businesses, API keys, bookings, tickets and rental reservations. It checks who asks
// and what a request looks like; what is done, internal/usecase says.
package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/limits"
	"github.com/slotmesh/slotmesh/libs/manifest"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/console/internal/usecase"
)

// MaxBody is the largest request body: that of a manifest.
const MaxBody = manifest.MaxBytes

// Admin serves the admin API.
type Admin struct {
	Token  Token
	Limits *limits.Gate // of wrong tokens
	Owner  *usecase.Owner
}

// Mount adds the routes.
func (a *Admin) Mount(router fiber.Router) {
	admin := router.Group("/admin", a.authenticate, server.Named)
	admin.Get("/businesses", a.listBusinesses)
	business := admin.Group("/businesses/:slug")
	business.Put("", a.publish)
	business.Get("", a.getManifest)
	business.Delete("", a.remove)
	business.Get("/versions", a.listVersions)
	business.Post("/rollback", a.rollback)
	business.Post("/keys", a.createKey)
	business.Get("/keys", a.listKeys)
	business.Delete("/keys/:id", a.revokeKey)
	business.Post("/bookings", a.book)
	business.Get("/bookings", a.listBookings)
	business.Post("/bookings/:id/reschedule", a.reschedule)
	business.Get("/bookings/:id/cancellation", a.previewCancellation)
	business.Post("/bookings/:id/cancel", a.cancelBooking)
	business.Post("/bookings/:id/refund", a.refundBooking)
	for _, move := range []string{booking.MoveConfirm, booking.MoveComplete, booking.MoveNoShow} {
		business.Post("/bookings/:id/"+move, a.moveBooking(move))
	}
	business.Post("/reservations", a.reserve)
	business.Get("/reservations", a.listReservations)
	for _, move := range []string{rental.MovePickup, rental.MoveReturn, rental.MoveCancel} {
		business.Post("/reservations/:id/"+move, a.moveReservation(move))
	}
	business.Get("/events", a.listEvents)
	business.Post("/calendars", a.createCalendar)
	business.Get("/calendars", a.listCalendars)
	business.Delete("/calendars/:id", a.revokeCalendar)
	a.mountWebhooks(business)
	a.mountMessages(business)
	business.Get("/customers", a.listCustomers)
	business.Get("/customers/export", a.exportCustomer)
	business.Post("/customers/erase", a.eraseCustomer)
	business.Post("/tickets", a.sellTickets)
	business.Get("/tickets", a.listTickets)
	business.Post("/tickets/:id/cancel", a.cancelTickets)
}

// business finds the business of the path, as catalog has it now.
func (a *Admin) business(c *fiber.Ctx) (*catalog.Offer, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return nil, err
	}
	return a.Owner.Business(c.UserContext(), slug)
}
