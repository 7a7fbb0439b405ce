// Package api is the HTTP API of the booking service: POST /book for
// clients with an API key, and the internal API for other services.
package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"mime"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// Offers reads the offers of businesses. The method Recent returns a cached offer,
// which may be slightly stale. The other methods are those of [usecase.Offers].
type Offers interface {
	usecase.Offers
	Recent(ctx context.Context, slug string) (*catalog.Snapshot, error)
}

// Public serves POST /api/public/{slug}/book for clients with an API
// key, and the routes of [Public.MountAgents] for the MCP server.
type Public struct {
	keys     Keys
	offers   Offers
	booker   *usecase.Booker
	limits   Limits
	known    *lru.Cache[[sha256.Size]byte, store.Key] // cache of API keys by hash; an entry may be stale
	links    *link.Links
	clock    clock.Clock
	tel      *telemetry.Telemetry
	outcomes outcomes
}

// NewPublic returns the handlers of POST /book.
func NewPublic(keys Keys, offers Offers, booker *usecase.Booker, limits Limits, links *link.Links, c clock.Clock,
	tel *telemetry.Telemetry) *Public {
	return &Public{
		keys: keys, offers: offers, booker: booker, limits: limits, links: links, clock: c, tel: tel,
		known: lru.New[[sha256.Size]byte](rememberedKeys, func(store.Key) int { return 1 }), outcomes: newOutcomes(tel),
	}
}

// Mount adds the route of POST /book.
func (p *Public) Mount(app fiber.Router) { app.Post("/api/public/:slug/book", p.book) }

func (p *Public) book(c *fiber.Ctx) error { return p.respond(c, p.admit) }

// respond makes a booking, sends the answer and counts the outcome
// of the request. The argument `authenticate` finds the API key.
//
// The checks are made in the order of semantics.md §3. [Public.Limit] has already checked the
// limit by address. The booker makes the check of the business's account and all checks after it.
func (p *Public) respond(c *fiber.Ctx, authenticate func(*fiber.Ctx) (shown, error)) error {
	var confirmation store.Confirmation
	key, err := authenticate(c)
	if err == nil {
		confirmation, err = p.decide(c, key)
	}
	p.outcomes.count(c.UserContext(), confirmation, err)
	if err != nil {
		return err
	}
	if confirmation.Replayed {
		c.Set("Idempotent-Replayed", "true")
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(p.render(confirmation))
}

// outcomes is the counter of requests to book, by their outcome.
type outcomes struct{ metric.Int64Counter }

func newOutcomes(tel *telemetry.Telemetry) outcomes {
	return outcomes{tel.Counter("slotmesh.bookings",
		"Requests to book by outcome: booked, replayed, or the messageCode of the refusal.")}
}

func (o outcomes) count(ctx context.Context, made store.Confirmation, err error) {
	outcome := "booked"
	switch {
	case err != nil:
		outcome = server.FaultOf(err).Kind.Code
	case made.Replayed:
		outcome = "replayed"
	}
	o.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}

// decide books with the cached API key and the cached offer. The statement
// that writes the booking checks that the key and the offer are still current.
//
// An attempt may write nothing, for example if it returns a refusal or a stored
// confirmation. In this case, decide itself checks that the key and the offer are
// current. If one of them is stale, decide reads both again and makes a second attempt.
func (p *Public) decide(c *fiber.Ctx, key shown) (store.Confirmation, error) {
	ctx, slug := c.UserContext(), c.Params("slug")
	read := sync.OnceValue(func() asked { return parse(c, actor.Actor{Kind: actor.APIKey, ID: key.ID}) })
	offer, unread := p.offers.Recent(ctx, slug)
	made, err := p.attempt(ctx, key, offer, unread, read)
	if err == nil && !made.Replayed || fault.Is(err, fault.OutcomeUnknown) {
		return made, err
	}
	by := store.Basis{KeyOf: key.BusinessID, Key: key.ID}
	if offer != nil {
		by.OfferOf, by.Version = offer.ID, offer.Version
	}
	current, unknown := p.keys.Current(ctx, by)
	switch {
	case current || unknown != nil && err != nil && server.FaultOf(err).Kind.Status == fiber.StatusServiceUnavailable:
		return made, err
	case unknown != nil:
		return store.Confirmation{}, unknown
	}
	if key, err = p.lookUp(c, key.hash); err != nil {
		return store.Confirmation{}, err
	}
	offer, unread = p.offers.Fresh(ctx, slug)
	return p.attempt(ctx, key, offer, unread, read)
}

// attempt makes all checks that come after the limit of the key, and then books. If the offer could not be read,
// the argument `offer` is nil and `unread` is the error of the read. The API key then identifies the business.
func (p *Public) attempt(ctx context.Context, key shown, offer *catalog.Snapshot, unread error,
	read func() asked) (store.Confirmation, error) {
	by := actor.Actor{Kind: actor.APIKey, ID: key.ID}
	if unread != nil {
		return p.booker.RefuseWithoutOffer(ctx, key.BusinessID, by, read().named, unread)
	}
	if err := authorize(key.Key, offer); err != nil {
		return store.Confirmation{}, err
	}
	asked := read()
	if asked.err != nil {
		return p.booker.Refuse(ctx, offer, by, asked.named, asked.err)
	}
	return p.booker.Book(ctx, offer, by, asked.named, asked.request)
}

// asked is the result of parsing a request to book: the request, or the fault in the field `err`. The
// field `named` is empty if the request has no valid Idempotency-Key, or if the body cannot be read.
type asked struct {
	named   idempotency.Request
	request *request.Request
	err     error
}

func parse(c *fiber.Ctx, by actor.Actor) asked {
	key, noKey := server.IdempotencyKey(c)
	body, unread := server.Body(c)
	var named idempotency.Request
	if key != "" && unread == nil {
		named = idempotency.Request{Key: key, Hash: request.Hash(body)}
	}
	if err := cmp.Or(noKey, checkContentType(c.Get(fiber.HeaderContentType)), unread); err != nil {
		return asked{named: named, err: err}
	}
	r, err := request.Parse(body, by)
	return asked{named, r, err}
}

// checkContentType refuses a body whose Content-Type is not JSON. It
// accepts a request without the header. Fault: unsupported_media_type.
func checkContentType(contentType string) error {
	if contentType == "" {
		return nil
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || media != "application/json" && !strings.HasSuffix(media, "+json") {
		return fault.New(fault.UnsupportedMediaType, "Content-Type: the body must be JSON; send application/json.")
	}
	return nil
}
