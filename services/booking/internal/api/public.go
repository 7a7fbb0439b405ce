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

// Offers reads the offers of businesses. The method Trusted returns a cached offer,
// which may be slightly stale. The other methods are those of [usecase.Offers].
type Offers interface {
	usecase.Offers
	Trusted(ctx context.Context, slug string) (*catalog.Snapshot, error)
}

// Public serves POST /api/public/{slug}/book for clients with an API
// key, and the routes of [Public.MountAgents] for the MCP server.
type Public struct {
	keys     Keys
	offers   Offers
	booker   *usecase.Booker
	limits   Limits
	keyCache *lru.Cache[[sha256.Size]byte, store.Key] // cache of API keys by hash; an entry may be stale
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
		keyCache: lru.New[[sha256.Size]byte](maxCachedKeys, func(store.Key) int { return 1 }), outcomes: newOutcomes(tel),
	}
}

// Mount adds the route of POST /book.
func (p *Public) Mount(app fiber.Router) { app.Post("/api/public/:slug/book", p.book) }

func (p *Public) book(c *fiber.Ctx) error { return p.respond(c, p.admit) }

// respond makes a booking, sends the answer and counts the outcome
// of the request. The argument `authenticate` finds the API key.
//
// The checks are made in the order of semantics.md §3. [Public.Limit] has already checked the
// limit per IP address. The booker checks the business's account, and makes all later checks.
func (p *Public) respond(c *fiber.Ctx, authenticate func(*fiber.Ctx) (presentedKey, error)) error {
	var confirmation store.Confirmation
	key, err := authenticate(c)
	if err == nil {
		confirmation, err = p.bookWithCache(c, key)
	}
	p.outcomes.count(c.UserContext(), confirmation, err)
	if err != nil {
		return err
	}
	if confirmation.IsRepeated {
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

func (o outcomes) count(ctx context.Context, confirmation store.Confirmation, err error) {
	outcome := "booked"
	switch {
	case err != nil:
		outcome = server.FaultOf(err).Kind.Code
	case confirmation.IsRepeated:
		outcome = "replayed"
	}
	o.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
}

// bookWithCache books with the cached API key and the cached offer. The statement
// that writes the booking checks that the key and the offer are still current.
//
// An attempt may write nothing, for example if it returns a refusal or a stored confirmation.
// In this case, bookWithCache itself checks that the key and the offer are current. If the
// key or the offer is stale, bookWithCache reads both again and makes a second attempt.
func (p *Public) bookWithCache(c *fiber.Ctx, key presentedKey) (store.Confirmation, error) {
	ctx, slug := c.UserContext(), c.Params("slug")
	read := sync.OnceValue(func() parsedRequest { return parseRequest(c, actor.Actor{Kind: actor.APIKey, ID: key.ID}) })
	offer, readErr := p.offers.Trusted(ctx, slug)
	confirmation, err := p.attempt(ctx, key, offer, readErr, read)
	if err == nil && !confirmation.IsRepeated || fault.Is(err, fault.OutcomeUnknown) {
		return confirmation, err
	}
	by := store.Basis{KeyBusiness: key.BusinessID, Key: key.ID}
	if offer != nil {
		by.OfferBusiness, by.Version = offer.ID, offer.Version
	}
	current, unknown := p.keys.IsCurrent(ctx, by)
	switch {
	case current || unknown != nil && err != nil && server.FaultOf(err).Kind.Status == fiber.StatusServiceUnavailable:
		return confirmation, err
	case unknown != nil:
		return store.Confirmation{}, unknown
	}
	if key, err = p.lookUp(c, key.hash); err != nil {
		return store.Confirmation{}, err
	}
	offer, readErr = p.offers.Fresh(ctx, slug)
	return p.attempt(ctx, key, offer, readErr, read)
}

// attempt makes all checks that come after the limit of the key, and then books. The
// function `parse` parses the request. If the offer could not be read, the argument `offer`
// is nil and `readErr` is the error of the read. The API key then identifies the business.
func (p *Public) attempt(ctx context.Context, key presentedKey, offer *catalog.Snapshot, readErr error,
	parse func() parsedRequest) (store.Confirmation, error) {
	by := actor.Actor{Kind: actor.APIKey, ID: key.ID}
	if readErr != nil {
		return p.booker.RefuseWithoutOffer(ctx, key.BusinessID, by, parse().idemKey, readErr)
	}
	if err := authorize(key.Key, offer); err != nil {
		return store.Confirmation{}, err
	}
	req := parse()
	if req.err != nil {
		return p.booker.Refuse(ctx, offer, by, req.idemKey, req.err)
	}
	return p.booker.Book(ctx, offer, by, req.idemKey, req.request)
}

// parsedRequest is the result of parsing a request to book: the request, or the fault in the field `err`. The
// field `idemKey` is empty if the request has no valid Idempotency-Key, or if the body cannot be read.
type parsedRequest struct {
	idemKey idempotency.Request
	request *request.Request
	err     error
}

func parseRequest(c *fiber.Ctx, by actor.Actor) parsedRequest {
	key, noKey := server.IdempotencyKey(c)
	body, readErr := server.Body(c)
	var idemKey idempotency.Request
	if key != "" && readErr == nil {
		idemKey = idempotency.Request{Key: key, Hash: request.Hash(body)}
	}
	if err := cmp.Or(noKey, checkContentType(c.Get(fiber.HeaderContentType)), readErr); err != nil {
		return parsedRequest{idemKey: idemKey, err: err}
	}
	r, err := request.Parse(body, by)
	return parsedRequest{idemKey, r, err}
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
