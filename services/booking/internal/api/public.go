// Package api is booking's HTTP: POST /book for servers with an API key, and the internal API for peers.
package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"mime"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/apikey"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/idempotency"
	"github.com/slotmesh/slotmesh/libs/link"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// Keys looks API keys up; [store.Store] says what its methods do and return.
type Keys interface {
	KeyByHash(ctx context.Context, hash [sha256.Size]byte) (store.Key, error)
	TouchKey(ctx context.Context, businessID, id uuid.UUID, now, since time.Time) error
}

// Limits counts a request by its API key; [limits.Gate] does. Faults: rate_limited (401).
type Limits interface {
	PassKey(ctx context.Context, keyID string, answer server.Header) error
}

// Public serves POST /api/public/{slug}/book.
type Public struct {
	keys     Keys
	offers   usecase.Offers
	booker   *usecase.Booker
	limits   Limits
	links    *link.Links
	clock    clock.Clock
	tel      *telemetry.Telemetry
	outcomes outcomes
}

// NewPublic returns the public API.
func NewPublic(keys Keys, offers usecase.Offers, booker *usecase.Booker, limits Limits, links *link.Links, c clock.Clock, tel *telemetry.Telemetry) *Public {
	return &Public{
		keys: keys, offers: offers, booker: booker, limits: limits, links: links, clock: c, tel: tel,
		outcomes: newOutcomes(tel),
	}
}

// Mount adds the route.
func (p *Public) Mount(app fiber.Router) { app.Post("/api/public/:slug/book", p.book) }

func (p *Public) book(c *fiber.Ctx) error { return p.respond(c, p.counted) }

// respond books for the key that authenticate finds, sends what became of the request and counts it. The checks are made in the order
// of semantics.md §3, of which the limit by address has been made; the booker makes those from the business's account on.
func (p *Public) respond(c *fiber.Ctx, authenticate func(*fiber.Ctx) (store.Key, error)) error {
	var confirmation store.Confirmation
	key, err := authenticate(c)
	if err == nil {
		confirmation, err = p.bookWith(c, key)
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

// outcomes counts requests to book, whoever sent them.
type outcomes struct{ metric.Int64Counter }

func newOutcomes(tel *telemetry.Telemetry) outcomes {
	return outcomes{tel.Counter("slotmesh.bookings", "Requests to book by outcome: booked, replayed, or the messageCode of the refusal.")}
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

// counted finds the caller's key, counts the request against its limit and notes its use.
func (p *Public) counted(c *fiber.Ctx) (store.Key, error) {
	ctx := c.UserContext()
	key, err := p.authenticate(c)
	if err != nil {
		return store.Key{}, err
	}
	if err := p.limits.PassKey(ctx, key.ID.String(), server.AnswerHeader(c)); err != nil {
		return store.Key{}, err
	}
	p.touch(ctx, key)
	return key, nil
}

// bookWith makes the checks that follow those of the caller, and books.
func (p *Public) bookWith(c *fiber.Ctx, key store.Key) (store.Confirmation, error) {
	ctx := c.UserContext()
	offer, err := p.offers.Fresh(ctx, c.Params("slug"))
	if err != nil {
		return store.Confirmation{}, usecase.Unverified(err)
	}
	if err := authorize(key, offer); err != nil {
		return store.Confirmation{}, err
	}
	by := actor.Actor{Kind: actor.APIKey, ID: key.ID}
	named, asked, err := parse(c, by)
	if err != nil {
		return p.booker.Refuse(ctx, offer, by, named, err)
	}
	return p.booker.Book(ctx, offer, by, named, asked)
}

// authenticate finds the key of the Authorization header. What cannot be a key is refused without a look into the store.
func (p *Public) authenticate(c *fiber.Ctx) (store.Key, error) {
	scheme, secret, _ := strings.Cut(strings.TrimSpace(c.Get(fiber.HeaderAuthorization)), " ")
	secret = strings.TrimSpace(secret)
	if !strings.EqualFold(scheme, "Bearer") || secret == "" {
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
		return store.Key{}, fault.New(fault.MissingAPIKey, "An API key is required; send it as Authorization: Bearer sm_….")
	}
	key, err := p.find(c.UserContext(), secret)
	if fault.Is(err, fault.InvalidAPIKey) {
		c.Set(fiber.HeaderWWWAuthenticate, `Bearer error="invalid_token"`)
	}
	return key, err
}

func (p *Public) find(ctx context.Context, secret string) (store.Key, error) {
	if !apikey.WellFormed(secret) {
		return store.Key{}, invalidKey("The API key is not one; it is sm_ and 64 hexadecimal digits, as it was shown when it was made.")
	}
	key, err := p.keys.KeyByHash(ctx, apikey.Hash(secret))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return store.Key{}, invalidKey("The API key is not known.")
	case err != nil:
		return store.Key{}, err
	case key.RevokedAt != nil:
		return store.Key{}, invalidKey("The API key has been revoked.")
	case key.ExpiresAt != nil && !p.clock.Now().Before(*key.ExpiresAt):
		return store.Key{}, invalidKey("The API key has expired.")
	}
	return key, nil
}

func invalidKey(sentence string) error { return fault.New(fault.InvalidAPIKey, sentence) }

// useNotedEvery is how often the use of a key is written down.
const useNotedEvery = time.Minute

// touch notes the key's use, at most once a minute. A booking does not fail for it.
func (p *Public) touch(ctx context.Context, key store.Key) {
	now := p.clock.Now()
	since := now.Add(-useNotedEvery)
	if key.LastUsedAt != nil && key.LastUsedAt.After(since) {
		return
	}
	if err := p.keys.TouchKey(ctx, key.BusinessID, key.ID, now, since); err != nil {
		p.tel.Logger.WarnContext(ctx, "the use of an API key was not noted", "error", err)
	}
}

// authorize refuses a key of another business, then one whose scope does not reach POST /book.
func authorize(key store.Key, offer *catalog.Offer) error {
	if key.BusinessID != offer.ID {
		return invalidKey("The API key belongs to another business.")
	}
	if key.Scope != booking.ScopeWrite && key.Scope != booking.ScopeAll {
		return fault.New(fault.ScopeForbidden, "The API key's scope is read; booking takes a key of scope write or all.")
	}
	return nil
}

// parse reads what is asked for, and by which name: none where the request has none that can be kept, or no body that can be read.
func parse(c *fiber.Ctx, by actor.Actor) (idempotency.Request, *request.Request, error) {
	key, noKey := server.IdempotencyKey(c)
	body, unread := server.Body(c)
	var named idempotency.Request
	if key != "" && unread == nil {
		named = idempotency.Request{Key: key, Hash: request.Hash(body)}
	}
	if err := cmp.Or(noKey, checkContentType(c.Get(fiber.HeaderContentType)), unread); err != nil {
		return named, nil, err
	}
	asked, err := request.Parse(body, by)
	return named, asked, err
}

// checkContentType refuses a body that says it is something else than JSON. One that does not say what it is, is read as JSON.
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
