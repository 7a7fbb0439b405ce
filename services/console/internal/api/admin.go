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
	business.Get("/versions", listBySlug(a.Owner.Businesses.Versions))
	business.Post("/rollback", a.rollback)
	business.Post("/keys", a.createKey)
	business.Get("/keys", listOf(a, a.Owner.Bookings.Keys))
	business.Delete("/keys/:id", discard("Key", a.Owner.RevokeKey))
	business.Post("/bookings", create(a.Owner.Book))
	business.Get("/bookings", a.listBookings)
	business.Post("/bookings/:id/reschedule", change("Booking", a.Owner.Reschedule))
	business.Get("/bookings/:id/cancellation", read("Booking", a.Owner.PreviewCancellation))
	business.Post("/bookings/:id/cancel", a.cancelBooking)
	business.Post("/bookings/:id/refund", a.refundBooking)
	for _, move := range []string{booking.MoveConfirm, booking.MoveComplete, booking.MoveNoShow} {
		business.Post("/bookings/:id/"+move, transition("Booking", move, a.Owner.MoveBooking))
	}
	business.Post("/reservations", create(a.Owner.Reserve))
	business.Get("/reservations", a.listReservations)
	for _, move := range []string{rental.MovePickup, rental.MoveReturn, rental.MoveCancel} {
		business.Post("/reservations/:id/"+move, transition("Reservation", move, a.Owner.MoveReservation))
	}
	business.Get("/events", a.listEvents)
	business.Get("/explain", a.explain)
	business.Post("/calendars", a.createCalendar)
	business.Get("/calendars", listOf(a, a.Owner.Bookings.Calendars))
	business.Delete("/calendars/:id", discard("Calendar", a.Owner.RevokeCalendar))
	a.mountWebhooks(business)
	a.mountMessages(business)
	business.Get("/customers", a.listCustomers)
	business.Get("/customers/export", a.exportCustomer)
	business.Post("/customers/erase", a.eraseCustomer)
	business.Post("/tickets", a.sellTickets)
	business.Get("/tickets", a.listTickets)
	business.Post("/tickets/:id/cancel", ofID("Tickets", fiber.StatusOK, a.Owner.CancelTickets))
}

// business finds the business of the path, as catalog has it now.
func (a *Admin) business(c *fiber.Ctx) (*catalog.Offer, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return nil, err
	}
	return a.Owner.Business(c.UserContext(), slug)
}
