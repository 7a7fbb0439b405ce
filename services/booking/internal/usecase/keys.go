package usecase

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/apikey"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/plain"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

const maxKeyName = 100

// CreateKey makes an API key. It returns the key and its secret, which no later call can return (semantics.md §10).
//
// Faults: invalid_parameter; conflict if the business has too many API keys, or if
// an earlier request with the same Idempotency-Key made the API key ([NewKeyExistsFault]).
func (o *Owner) CreateKey(ctx context.Context, by actor.Actor, businessID uuid.UUID,
	req booking.NewKey) (store.Key, string, error) {
	ctx = actor.With(ctx, by)
	now := o.now()
	if err := checkKey(&req, now); err != nil {
		return store.Key{}, "", err
	}
	secret, err := apikey.Generate(o.random)
	if err != nil {
		return store.Key{}, "", err
	}
	key := store.Key{
		BusinessID: businessID, ID: uuid.New(), Name: req.Name, Scope: req.Scope, Prefix: apikey.Display(secret),
		CreatedAt: now, CreatedBy: by.Maker(), ExpiresAt: req.ExpiresAt,
	}
	err = o.records.CreateKey(ctx, key, apikey.Hash(secret))
	var existing *store.KeyExistsError
	if errors.As(err, &existing) {
		err = NewKeyExistsFault(existing.ID)
	}
	if errors.Is(err, store.ErrTooManyKeys) {
		err = fault.Wrap(fault.Conflict, err, fmt.Sprintf("A business has at most %d API keys; revoke one first.",
			store.MaxKeys))
	}
	return key, secret, err
}

// NewKeyExistsFault returns the answer to a repeated request to make an API key: a fault with code conflict. The
// API key with the given id exists, but only the answer to the first request contained the secret.
func NewKeyExistsFault(id uuid.UUID) error {
	return fault.Newf(fault.Conflict,
		"Idempotency-Key: a request with this key made the API key %s; its secret is shown once, in "+
			"that answer, and kept nowhere. If that answer was lost, revoke this API key and make another one with a new "+
			"Idempotency-Key.", id)
}

// checkKey checks the fields of a new API key. It trims the name, and truncates the expiry
// to microseconds, which is the precision of the database. Fault: invalid_parameter.
func checkKey(key *booking.NewKey, now time.Time) error {
	key.Name = strings.TrimSpace(key.Name)
	switch {
	case !isLine(key.Name, maxKeyName):
		return fault.Newf(fault.InvalidParameter,
			"name: send 1 to %d characters on one line, by which you will know the key.", maxKeyName)
	case key.Scope != booking.ScopeRead && key.Scope != booking.ScopeWrite && key.Scope != booking.ScopeAll:
		return fault.New(fault.InvalidParameter, "scope: send read, write or all.")
	case key.ExpiresAt != nil && (!key.ExpiresAt.After(now) || key.ExpiresAt.Year() > 9999):
		return fault.New(fault.InvalidParameter,
			"expires_at: send an instant in the future, or leave it out for a key that does not expire.")
	}
	if key.ExpiresAt != nil {
		whole := key.ExpiresAt.UTC().Truncate(time.Microsecond)
		key.ExpiresAt = &whole
	}
	return nil
}

// isLine reports whether `s` is one line of plain text: at least one
// visible character, at most `limit` characters, no hidden characters.
func isLine(s string, limit int) bool {
	return !plain.IsBlank(s) && !plain.HasHidden(s) && utf8.RuneCountInString(s) <= limit && utf8.ValidString(s) &&
		!strings.ContainsFunc(s, unicode.IsControl)
}

// RevokeKey revokes an API key with immediate effect. If the key
// is already revoked, RevokeKey changes nothing. Fault: not_found.
func (o *Owner) RevokeKey(ctx context.Context, by actor.Actor, businessID, id uuid.UUID) error {
	ctx = actor.With(ctx, by)
	err := o.records.RevokeKey(ctx, businessID, id, o.clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, "This business has no such API key.")
	}
	return err
}

// RevokeAllKeys revokes every API key of a business with immediate
// effect. The console calls RevokeAllKeys when it removes the business.
func (o *Owner) RevokeAllKeys(ctx context.Context, by actor.Actor, businessID uuid.UUID) error {
	ctx = actor.With(ctx, by)
	return o.records.RevokeAllKeys(ctx, businessID, o.clock.Now())
}
