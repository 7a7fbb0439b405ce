// Package api serves the admin API (admin.md) for businesses, API keys, bookings, tickets and rental reservations. It
// authenticates the caller and checks the syntax of each request. Package authorize checks the caller's permissions,
// and the use cases in the other internal packages execute the request.
package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/rooms"
)

// MaxBody is the maximum size of a request's body, in bytes. It is the maximum size of a form that uploads a picture.
// [LimitBodies] limits all other bodies to the maximum size of a manifest.
const MaxBody = catalog.MaxPictureBytes + maxForm

// Admin serves the admin API.
type Admin struct {
	Token  Token        // hashes of the admin tokens from the environment
	Limits *limits.Gate // counts requests with wrong tokens
	Rooms  *rooms.Rooms
}

// Mount adds the routes of the admin API. Each route names the action that the caller must be permitted to do.
func (a *Admin) Mount(router fiber.Router) {
	router.Group("/admin", a.authenticate, server.StoreIdempotencyKey)
	admin := authorize.New(router, "/admin", a.Rooms.FindBusiness, a.Rooms.Accounts)
	admin.Get("/businesses", access.SeeBusinesses, a.listBusinesses)
	admin.Post("/invitations", access.ManageTeam, a.invite)
	a.mountTokens(admin)
	a.mountOperators(admin)
	business := admin.Below("/businesses/:slug")
	a.mountOffer(business)
	a.mountMedia(business)
	a.mountBookings(business)
	a.mountSales(business)
	a.mountReports(business)
	a.mountIntegrations(business)
	a.mountWebhooks(business)
	a.mountMessages(business)
	a.mountCustomers(business)
	a.mountTeam(business)
}

func (a *Admin) mountOffer(business *authorize.Router) {
	business.Put("", access.EditOffer, a.publish)
	business.Get("", access.SeeOffer, a.getManifest)
	business.Delete("", access.Erase, a.remove)
	business.Get("/versions", access.SeeOffer, newSlugListHandler(a.Rooms.Businesses.Versions))
	business.Post("/rollback", access.EditOffer, a.rollback)
	business.Post("/diff", access.EditOffer, a.diff)
}

func (a *Admin) mountBookings(business *authorize.Router) {
	bookings := a.Rooms.Sales.BookingOrders()
	business.Post("/bookings", access.Serve, newCreateHandler(a.book))
	business.Get("/bookings", access.SeeBookings, a.listBookings)
	business.Get("/bookings/affected", access.SeeBookings, a.listAffected)
	business.Get("/bookings/:id", access.SeeBookings,
		newIDHandler("Booking", fiber.StatusOK, a.Rooms.Sales.FindBooking))
	business.Get("/explain", access.Serve, a.explain)
	business.Post("/bookings/:id/reschedule", access.Serve, newChangeHandler("Booking", a.reschedule))
	business.Post("/bookings/:id/relocate", access.Serve, newChangeHandler("Booking", a.relocate))
	business.Get("/bookings/:id/cancellation", access.Serve,
		newIDHandler("Booking", fiber.StatusOK, bookings.Preview))
	business.Post("/bookings/:id/cancel", access.Serve, newRefundHandler("Booking", bookings.Cancel))
	business.Post("/bookings/:id/refund", access.Refund, newRefundHandler("Booking", refuseReason(bookings.Refund)))
	business.Post("/bookings/:id/"+booking.TransitionConfirm, access.Serve, a.confirm)
	for _, transition := range []string{booking.TransitionComplete, booking.TransitionNoShow,
		booking.TransitionReopen} {
		business.Post("/bookings/:id/"+transition, access.Finish,
			newTransitionHandler("Booking", transition, a.Rooms.Sales.TransitionBooking))
	}
}

func (a *Admin) mountSales(business *authorize.Router) {
	reservations, tickets := a.Rooms.Sales.ReservationOrders(), a.Rooms.Sales.TicketOrders()
	business.Post("/reservations", access.Sell, newCreateHandler(a.Rooms.Sales.Reserve))
	business.Get("/reservations", access.SeeSales, a.listReservations)
	for _, transition := range []string{rental.TransitionPickup, rental.TransitionReturn} {
		business.Post("/reservations/:id/"+transition, access.Sell,
			newTransitionHandler("Reservation", transition, a.Rooms.Sales.TransitionReservation))
	}
	business.Get("/reservations/:id/cancellation", access.Sell,
		newIDHandler("Reservation", fiber.StatusOK, reservations.Preview))
	business.Post("/reservations/:id/cancel", access.Sell,
		newRefundHandler("Reservation", reservations.Cancel))
	business.Post("/reservations/:id/refund", access.RefundSales,
		newRefundHandler("Reservation", refuseReason(reservations.Refund)))
	business.Post("/tickets", access.Sell, a.sellTickets)
	business.Get("/tickets", access.SeeSales, a.listTickets)
	business.Get("/tickets/:id/cancellation", access.Sell,
		newIDHandler("Tickets", fiber.StatusOK, tickets.Preview))
	business.Post("/tickets/:id/cancel", access.Sell, newRefundHandler("Tickets", tickets.Cancel))
	business.Post("/tickets/:id/refund", access.RefundSales, newRefundHandler("Tickets", refuseReason(tickets.Refund)))
}

func (a *Admin) mountIntegrations(business *authorize.Router) {
	business.Post("/keys", access.Integrate, a.createKey)
	business.Get("/keys", access.Integrate, newListHandler(a, a.Rooms.Bookings.Keys))
	business.Delete("/keys/:id", access.Integrate, newDiscardHandler("Key", a.Rooms.Integrations.RevokeKey))
	business.Post("/calendars", access.Integrate, a.createCalendar)
	business.Get("/calendars", access.Integrate, newListHandler(a, a.Rooms.Bookings.Calendars))
	business.Delete("/calendars/:id", access.Integrate,
		newDiscardHandler("Calendar", a.Rooms.Integrations.RevokeCalendar))
}

func (a *Admin) mountCustomers(business *authorize.Router) {
	business.Get("/events", access.SeeCustomers, a.listEvents)
	business.Get("/customers", access.SeeCustomers, a.listCustomers)
	business.Get("/customers/export", access.RefundSales, a.exportCustomer)
	business.Post("/customers/erase", access.Erase, a.eraseCustomer)
	business.Get("/customers/one", access.SeeCustomers, a.findCustomer)
	business.Post("/customers/change", access.KeepCustomers, newCustomerHandler(a.Rooms.Sales.ChangeCustomer))
	business.Post("/customers/merge", access.KeepCustomers, newCustomerHandler(a.Rooms.Sales.MergeCustomers))
	business.Post("/customers/separate", access.KeepCustomers, newCustomerHandler(a.Rooms.Sales.SeparateCustomers))
	business.Post("/customers/import", access.ImportCustomers, a.importCustomers)
	business.Get("/customers/imports", access.ImportCustomers, a.listCustomerImports)
	business.Post("/customers/imports/:id/undo", access.ImportCustomers, a.undoCustomerImport)
}

// findBusiness returns the current data of the business in the path, from the catalog service.
func (a *Admin) findBusiness(c *fiber.Ctx) (*catalog.Snapshot, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return nil, err
	}
	return a.Rooms.FindBusiness(c.UserContext(), slug)
}
