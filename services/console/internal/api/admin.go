// Package api serves the admin API of admin.md: businesses, API keys, bookings and rental reservations. It checks who asks and what a
// request looks like, hands it to the service that owns the answer, and logs every change with who made it.
package api

import (
	"context"
	"log/slog"
	"net/netip"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/manifest"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/bookingclient"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/catalogclient"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/server"
)

// MaxBody is the largest request body: that of a manifest.
const MaxBody = manifest.MaxBytes

// Businesses publishes manifests and reads them back; *catalogclient.Owner is the one outside tests. Errors are faults.
type Businesses interface {
	Publish(ctx context.Context, slug string, text []byte, mediaType, ifMatch string) (*catalog.Published, error)
	Get(ctx context.Context, slug string, version int64, accept string) (*catalog.Manifest, error)
	List(ctx context.Context, page request.Page) (*catalog.BusinessList, error)
	Versions(ctx context.Context, slug string, page request.Page) (*catalog.VersionList, error)
	Rollback(ctx context.Context, slug string, version int64) (*catalog.Published, error)
	Delete(ctx context.Context, slug string) error
}

// Offers finds a business by its slug; *catalogclient.Client is the one outside tests. Errors are faults, business_not_found
// among them.
type Offers interface {
	Fresh(ctx context.Context, slug string) (*catalog.Offer, error)
}

// Bookings keeps keys and bookings; *bookingclient.Client is the one outside tests. Errors are faults.
type Bookings interface {
	CreateKey(ctx context.Context, businessID uuid.UUID, key booking.NewKey) (*booking.Key, error)
	Keys(ctx context.Context, businessID uuid.UUID, page request.Page) (*booking.KeyList, error)
	RevokeKey(ctx context.Context, businessID, keyID uuid.UUID) error
	RevokeAllKeys(ctx context.Context, businessID uuid.UUID) error
	Bookings(ctx context.Context, businessID uuid.UUID, filter booking.Filter, page request.Page) (*booking.BookingList, error)
	Move(ctx context.Context, businessID, bookingID uuid.UUID, move string) (*booking.Booking, error)
	Ahead(ctx context.Context, businessID uuid.UUID) (int, error)
}

var (
	_ Businesses = (*catalogclient.Owner)(nil)
	_ Offers     = (*catalogclient.Client)(nil)
	_ Bookings   = (*bookingclient.Client)(nil)
)

// Limits counts wrong tokens by address; [limits.Gate] does. Faults: rate_limited (429).
type Limits interface {
	TokensRefused(ctx context.Context, client netip.Addr) error
	WrongToken(ctx context.Context, client netip.Addr, answer server.Header) error
}

// Admin serves the admin API.
type Admin struct {
	Token      Token
	Limits     Limits
	Businesses Businesses
	Offers     Offers
	Bookings   Bookings
	Rentals    Reservations
	Tickets    Tickets
	Logger     *slog.Logger
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
	business.Get("/bookings", a.listBookings)
	for _, move := range []string{booking.MoveConfirm, booking.MoveCancel, booking.MoveComplete, booking.MoveNoShow} {
		business.Post("/bookings/:id/"+move, a.move(move))
	}
	a.mountReservations(business)
	a.mountTickets(business)
}

// business finds the business of the path, as catalog has it now.
func (a *Admin) business(c *fiber.Ctx) (*catalog.Offer, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return nil, err
	}
	return a.Offers.Fresh(c.UserContext(), slug)
}

// changed logs who changed what. The attributes name things by id; customers' data has no place in them.
func (a *Admin) changed(c *fiber.Ctx, change, slug string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{
		slog.String("change", change), slog.String("slug", slug), slog.String("by", fingerprint(c)),
	}, attrs...)
	a.Logger.LogAttrs(c.UserContext(), slog.LevelInfo, "admin change", attrs...)
}
