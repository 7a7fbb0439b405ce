package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/apikey"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Keys looks up API keys and stores when they were used. [store.Store] implements Keys and documents the methods.
type Keys interface {
	IsCurrent(ctx context.Context, by store.Basis) (bool, error)
	KeyByHash(ctx context.Context, hash [sha256.Size]byte) (store.Key, error)
	TouchKey(ctx context.Context, businessID, id uuid.UUID, now, since time.Time) error
}

// Limits counts requests and refuses requests above a limit. [limits.Gate] implements Limits and documents the faults.
type Limits interface {
	Pass(ctx context.Context, client netip.Addr, method, path string, answer server.Header) error
	PassKey(ctx context.Context, keyID string, answer server.Header) error
	PassBoth(ctx context.Context, client netip.Addr, method, path, keyID string,
		answer server.Header) (limits.KeyDecision,
		error)
}

// maxCachedKeys is the maximum number of API keys in the cache of a process. Each cached key takes about 300 bytes.
const maxCachedKeys = 16_384

// Limit counts each request to the public port against the limit of the client's IP address
// (server.LimitBy). A request to book also counts against the limit of its API key.
//
// If the API key is in the cache, one round trip to Redis counts the request against both
// limits. The limits apply in the order of semantics.md §3. If the key is not in the cache,
// [Public.admit] looks up the key and then counts the request against the key's limit.
func (p *Public) Limit(c *fiber.Ctx) error {
	ctx, client, answer := c.UserContext(), server.ClientIP(c), server.AnswerHeader(c)
	method, path := c.Method(), c.Path()
	if method == http.MethodPost && strings.HasPrefix(path, "/api/public/") && strings.HasSuffix(path, "/book") {
		secret, _ := parseBearer(c)
		if key, isKnown := p.keyCache.Get(apikey.Hash(secret)); isKnown {
			byKey, err := p.limits.PassBoth(ctx, client, method, path, key.ID.String(), answer)
			c.Locals(countedMark{}, byKey)
			return err
		}
	}
	return p.limits.Pass(ctx, client, method, path, answer)
}

// countedMark is the key in fiber's locals under which [Public.Limit] stores the decision about the API key's limit.
type countedMark struct{}

// presentedKey is the API key of a request. If the field `isCached` is true, the key comes from the cache and
// may have been revoked after it was cached. The statement that writes a booking checks that the key is not
// revoked. Code that refuses a request because of the key must first check that the key is not revoked, too.
type presentedKey struct {
	store.Key
	hash     [sha256.Size]byte
	isCached bool
}

// admit finds the API key of a request and counts the request against the key's limit. It also stores the time
// at which the key was used. Faults: missing_api_key, invalid_api_key, and the faults of [Limits].PassKey.
func (p *Public) admit(c *fiber.Ctx) (presentedKey, error) {
	key, err := p.authenticate(c)
	if err != nil {
		return presentedKey{}, err
	}
	byKey, done := c.Locals(countedMark{}).(limits.KeyDecision)
	if key.isCached && (!done || byKey.IsRefused()) { // a revoked key must be refused before its limit applies
		if key, err = p.lookUp(c, key.hash); err != nil {
			return presentedKey{}, err
		}
	}
	if done {
		err = byKey.Pass(c.UserContext(), server.AnswerHeader(c))
	} else {
		err = p.limits.PassKey(c.UserContext(), key.ID.String(), server.AnswerHeader(c))
	}
	if err != nil {
		return presentedKey{}, err
	}
	p.touch(c.UserContext(), key)
	return key, nil
}

// parseBearer returns the secret in the Authorization header. The second result is false if the header has no secret.
func parseBearer(c *fiber.Ctx) (string, bool) {
	scheme, secret, _ := strings.Cut(strings.TrimSpace(c.Get(fiber.HeaderAuthorization)), " ")
	secret = strings.TrimSpace(secret)
	return secret, strings.EqualFold(scheme, "Bearer") && secret != ""
}

// authenticate finds the API key in the Authorization header. It reads the key from the cache if possible, otherwise
// from the database. It refuses a malformed key without a database query. Faults: missing_api_key, invalid_api_key.
func (p *Public) authenticate(c *fiber.Ctx) (presentedKey, error) {
	hash, err := parseKeyHash(c)
	if err != nil {
		return presentedKey{}, err
	}
	if key, isKnown := p.keyCache.Get(hash); isKnown && !p.isExpired(key) {
		return presentedKey{Key: key, hash: hash, isCached: true}, nil
	}
	return p.lookUp(c, hash)
}

// parseKeyHash checks the format of the API key in the Authorization header and
// returns the hash of the key. Faults: missing_api_key, invalid_api_key.
func parseKeyHash(c *fiber.Ctx) ([sha256.Size]byte, error) {
	secret, sent := parseBearer(c)
	if !sent {
		c.Set(fiber.HeaderWWWAuthenticate, "Bearer")
		return [sha256.Size]byte{},
			fault.New(fault.MissingAPIKey, "An API key is required; send it as Authorization: Bearer sm_….")
	}
	if !apikey.IsWellFormed(secret) {
		return [sha256.Size]byte{}, newInvalidKeyFault(c,
			"The API key is not one; it is sm_ and 64 hexadecimal digits, as it was shown when it was made.")
	}
	return apikey.Hash(secret), nil
}

// lookUp reads an API key from the database and updates the cache.
// Fault: invalid_api_key if the key is unknown, revoked or expired.
func (p *Public) lookUp(c *fiber.Ctx, hash [sha256.Size]byte) (presentedKey, error) {
	key, err := p.keys.KeyByHash(c.UserContext(), hash)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return presentedKey{}, err
	}
	p.keyCache.Remove(hash)
	switch {
	case err != nil:
		return presentedKey{}, newInvalidKeyFault(c, "The API key is not known.")
	case key.RevokedAt != nil:
		return presentedKey{}, newInvalidKeyFault(c, "The API key has been revoked.")
	case p.isExpired(key):
		return presentedKey{}, newInvalidKeyFault(c, "The API key has expired.")
	}
	p.keyCache.Put(hash, key)
	return presentedKey{Key: key, hash: hash}, nil
}

func (p *Public) isExpired(key store.Key) bool {
	return key.ExpiresAt != nil && !p.clock.Now().Before(*key.ExpiresAt)
}

func newInvalidKeyFault(c *fiber.Ctx, sentence string) error {
	c.Set(fiber.HeaderWWWAuthenticate, `Bearer error="invalid_token"`)
	return fault.New(fault.InvalidAPIKey, sentence)
}

// touchInterval is the shortest interval between two writes of a key's last
// use. The interval limits the number of writes for a key that is used often.
const touchInterval = time.Minute

// touch stores the time of the key's use, at most once a minute. If the write fails, touch only logs the error.
func (p *Public) touch(ctx context.Context, key presentedKey) {
	now := p.clock.Now()
	since := now.Add(-touchInterval)
	if key.LastUsedAt != nil && key.LastUsedAt.After(since) {
		return
	}
	if err := p.keys.TouchKey(ctx, key.BusinessID, key.ID, now, since); err != nil {
		p.tel.Logger.WarnContext(ctx, "the use of an API key was not stored", "error", err)
		return
	}
	key.LastUsedAt = &now
	p.keyCache.Put(key.hash, key.Key)
}

// authorize refuses an API key of another business, and an API key whose scope does not include POST /book.
// The argument `offer` is the offer of the business in the request. Faults: invalid_api_key, scope_forbidden.
func authorize(key store.Key, offer *catalog.Snapshot) error {
	if key.BusinessID != offer.ID {
		return fault.New(fault.InvalidAPIKey, "The API key belongs to another business.")
	}
	if key.Scope != booking.ScopeWrite && key.Scope != booking.ScopeAll {
		return fault.New(fault.ScopeForbidden,
			"The API key's scope is read; booking takes a key of scope write or all.")
	}
	return nil
}
