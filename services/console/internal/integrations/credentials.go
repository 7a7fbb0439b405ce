package integrations

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// Credentials has the valid API keys, calendar feeds, webhooks and tokens that a person created in a business. It
// includes the credentials that other programs created with the person's tokens.
type Credentials struct {
	Keys      []booking.Key
	Calendars []booking.Calendar
	Webhooks  []notifications.Webhook
	Tokens    []store.Token
}

// IsEmpty reports whether all lists are empty.
func (m *Credentials) IsEmpty() bool {
	return len(m.Keys)+len(m.Calendars)+len(m.Webhooks)+len(m.Tokens) == 0
}

// TokenStore lists and revokes the tokens that a person created. *store.Store implements it.
type TokenStore interface {
	// ListTokensCreatedBy lists the tokens that a person created for a business, and the tokens that were created with
	// these tokens. The list includes revoked tokens.
	ListTokensCreatedBy(ctx context.Context, businessID, personID uuid.UUID) ([]store.Token, error)
	// RevokeTokensCreatedBy revokes the tokens that ListTokensCreatedBy lists.
	RevokeTokensCreatedBy(ctx context.Context, by peers.Principal, businessID, personID uuid.UUID, now time.Time) error
}

var _ TokenStore = (*store.Store)(nil)

// ListCredentials returns the valid API keys, calendar feeds, webhooks and tokens that a person created in a business.
// The person may no longer be a member of the team. If one of the services cannot answer, the whole call fails. Faults:
// forbidden; service_unavailable.
func (o *UseCases) ListCredentials(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	personID uuid.UUID) (*Credentials, error) {
	for _, action := range []access.Action{access.ManageTeam, access.Integrate} {
		if err := by.Require(business.ID, action); err != nil {
			return nil, err
		}
	}
	tokens, err := o.Tokens.ListTokensCreatedBy(ctx, business.ID, personID)
	if err != nil {
		return nil, err
	}
	makers := []uuid.UUID{personID}
	for _, t := range tokens {
		makers = append(makers, t.ID)
	}
	mine := func(maker *uuid.UUID) bool { return maker != nil && slices.Contains(makers, *maker) }
	now := o.Clock.Now()
	credentials := &Credentials{Tokens: slices.DeleteFunc(tokens, func(t store.Token) bool {
		return t.RevokedAt != nil || t.ExpiresAt != nil && !t.ExpiresAt.After(now)
	})}
	credentials.Keys, err = listAll(func(page request.Page) ([]booking.Key, string, error) {
		list, err := o.Bookings.Keys(ctx, business.ID, page)
		if err != nil {
			return nil, "", err
		}
		return list.Keys, list.NextCursor, nil
	}, func(k booking.Key) bool {
		return mine(k.CreatedBy) && k.RevokedAt == nil && (k.ExpiresAt == nil || k.ExpiresAt.After(now))
	})
	if err != nil {
		return nil, err
	}
	credentials.Calendars, err = listAll(func(page request.Page) ([]booking.Calendar, string, error) {
		list, err := o.Bookings.Calendars(ctx, business.ID, page)
		if err != nil {
			return nil, "", err
		}
		return list.Calendars, list.NextCursor, nil
	}, func(c booking.Calendar) bool { return mine(c.CreatedBy) && c.RevokedAt == nil })
	if err != nil {
		return nil, err
	}
	credentials.Webhooks, err = listAll(func(page request.Page) ([]notifications.Webhook, string, error) {
		list, err := o.Notifications.Webhooks(ctx, business.ID, page)
		if err != nil {
			return nil, "", err
		}
		return list.Webhooks, list.NextCursor, nil
	}, func(w notifications.Webhook) bool { return mine(w.CreatedBy) })
	return credentials, err
}

// listAll reads all pages of a list by calling the function `read`. It returns the entries for which the function
// `wanted` returns true.
func listAll[T any](read func(request.Page) ([]T, string, error), wanted func(T) bool) ([]T, error) {
	var all []T
	for page := (request.Page{Limit: MaxWebhooks}); ; {
		list, next, err := read(page)
		if err != nil {
			return nil, err
		}
		for _, entry := range list {
			if wanted(entry) {
				all = append(all, entry)
			}
		}
		if page.Cursor = next; next == "" {
			return all, nil
		}
	}
}

// RevokeCredentials revokes all credentials that [UseCases.ListCredentials] lists for a person. If a call fails after
// it has revoked some credentials, a repeated call revokes the other credentials. Faults: forbidden; outcome_unknown if
// a service was unavailable after a part of the credentials was revoked.
func (o *UseCases) RevokeCredentials(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	personID uuid.UUID) error {
	credentials, err := o.ListCredentials(ctx, by, business, personID)
	if err != nil {
		return err
	}
	// Each of the following writes can be repeated safely without an Idempotency-Key. The writes must not share the
	// Idempotency-Key of this request, because a service would treat the second write as a repetition of the first.
	ctx = idempotency.With(ctx, idempotency.Request{})
	if err := o.Tokens.RevokeTokensCreatedBy(ctx, by, business.ID, personID, o.Clock.Now()); err != nil {
		return err
	}
	for _, k := range credentials.Keys {
		if err := o.Bookings.RevokeKey(ctx, business.ID, k.ID); err != nil {
			return peers.ToUnfinishedFault(err)
		}
	}
	for _, c := range credentials.Calendars {
		if err := o.Bookings.RevokeCalendar(ctx, business.ID, c.ID); err != nil {
			return peers.ToUnfinishedFault(err)
		}
	}
	for _, w := range credentials.Webhooks {
		if err := o.Notifications.DeleteWebhook(ctx, business.ID, w.ID); err != nil && !fault.Is(err, fault.NotFound) {
			return peers.ToUnfinishedFault(err)
		}
	}
	o.LogChange(ctx, by, "end what a person made", business.Slug, slog.String("person_id", personID.String()),
		slog.Int("keys", len(credentials.Keys)), slog.Int("calendars", len(credentials.Calendars)),
		slog.Int("webhooks", len(credentials.Webhooks)),
		slog.Int("tokens", len(credentials.Tokens)))
	return nil
}
