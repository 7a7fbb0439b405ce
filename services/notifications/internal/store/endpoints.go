package store

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// The reasons why Slotmesh disabled an endpoint.
const (
	ReasonGone    = "gone"    // the receiver answered 410
	ReasonFailing = "failing" // all attempts failed for five days
)

// Endpoint is a URL to which Slotmesh sends a business's events.
type Endpoint struct {
	BusinessID     uuid.UUID
	ID             uuid.UUID
	URL            string
	Events         []string
	Active         bool
	DisabledReason string // "" if the endpoint is active, or if the owner disabled it
	CreatedAt      time.Time
	CreatedBy      *uuid.UUID // the user or the API token that created the endpoint; nil if unknown
}

const endpointColumns = `business_id, id, url, events, active, coalesce(disabled_reason, ''), created_at, created_by`

func scanEndpoint(row pgx.CollectableRow) (Endpoint, error) { return scanEndpointWith(row) }

// scanEndpointWith scans the columns of an endpoint from a row. It scans the remaining columns into the pointers
// `more`.
func scanEndpointWith(row pgx.CollectableRow, more ...any) (Endpoint, error) {
	var e Endpoint
	err := row.Scan(append([]any{
		&e.BusinessID, &e.ID, &e.URL, &e.Events, &e.Active, &e.DisabledReason, &e.CreatedAt, &e.CreatedBy,
	}, more...)...)
	e.CreatedAt = e.CreatedAt.UTC()
	return e, err
}

// MaxEndpoints is the maximum number of endpoints of a business.
const MaxEndpoints = 20

// ErrTooMany means that a business already has [MaxEndpoints] endpoints.
var ErrTooMany = errors.New("too many endpoints")

// EndpointSecret is an endpoint with a new secret. The idempotency result does not contain the secret. If a request is
// repeated, Secret is therefore nil, and [Store.FindSecret] reads the secret.
type EndpointSecret struct {
	Endpoint Endpoint
	Secret   []byte `json:"-"`
	Digest   []byte // SHA-256 of Secret
}

func newEndpointSecret(e Endpoint, secret []byte) EndpointSecret {
	digest := sha256.Sum256(secret)
	return EndpointSecret{Endpoint: e, Secret: secret, Digest: digest[:]}
}

// ErrSecretReplaced means that the endpoint no longer has the secret that the repeated request created.
var ErrSecretReplaced = errors.New("the secret was replaced")

// FindSecret reads the secret that an earlier request created. FindSecret compares the digests of the endpoint's
// secrets with created.Digest. Errors: [ErrNotFound], [ErrSecretReplaced].
func (s *Store) FindSecret(ctx context.Context, created EndpointSecret) (EndpointSecret, error) {
	var current, previous []byte
	err := s.pool.QueryRow(ctx,
		`SELECT secret, previous_secret FROM webhook_endpoints WHERE business_id = $1 AND id = $2`,
		created.Endpoint.BusinessID, created.Endpoint.ID).
		Scan(&current, &previous)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return EndpointSecret{}, ErrNotFound
	case err != nil:
		return EndpointSecret{}, fmt.Errorf("read a webhook's secret: %w", err)
	}
	for _, secret := range [][]byte{current, previous} {
		if found := newEndpointSecret(created.Endpoint, secret); subtle.ConstantTimeCompare(found.Digest,
			created.Digest) == 1 {
			return found, nil
		}
	}
	return EndpointSecret{}, ErrSecretReplaced
}

// CreateEndpoint adds an endpoint, once per Idempotency-Key. Error: [ErrTooMany].
func (s *Store) CreateEndpoint(ctx context.Context, e Endpoint, secret []byte) (EndpointSecret, error) {
	return postgres.WriteIdempotently(ctx, s.pool, e.BusinessID, func(ctx context.Context, tx pgx.Tx) (EndpointSecret,
		error) {
		// The lock serializes concurrent transactions that create endpoints of this business. Each transaction
		// therefore counts the endpoints that the transactions before it created.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('webhook_endpoints ' || $1::uuid::text, 0))`, e.BusinessID); err != nil {
			return EndpointSecret{}, err
		}
		var n int
		if err := tx.QueryRow(ctx, `SELECT count(*) FROM webhook_endpoints WHERE business_id = $1`,
			e.BusinessID).Scan(&n); err != nil {
			return EndpointSecret{}, err
		}
		if n >= MaxEndpoints {
			return EndpointSecret{}, ErrTooMany
		}
		_, err := tx.Exec(ctx, `INSERT INTO webhook_endpoints (business_id, id, url, events, active, secret, created_at, created_by) VALUES ($1, $2, $3, $4, true, $5, $6, $7)`,
			e.BusinessID, e.ID, e.URL, e.Events, secret, e.CreatedAt, e.CreatedBy)
		if err != nil {
			return EndpointSecret{}, fmt.Errorf("create a webhook endpoint: %w", err)
		}
		return newEndpointSecret(e, secret), nil
	})
}

const listEndpointsSQL = `
SELECT ` + endpointColumns + ` FROM webhook_endpoints
WHERE business_id = $1 AND ($2::timestamptz IS NULL OR (created_at, id) > ($2, $3::uuid)) ORDER BY created_at, id LIMIT $4`

// Endpoints returns a page of a business's endpoints, oldest first, and the cursor of the next page. Fault:
// invalid_parameter if the cursor is invalid.
func (s *Store) Endpoints(ctx context.Context, businessID uuid.UUID, page request.Page) ([]Endpoint, string, error) {
	at, id, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	list, err := postgres.Rows(ctx, s.pool, scanEndpoint, "list webhook endpoints", listEndpointsSQL, businessID, at,
		id, page.Limit+1)
	if err != nil {
		return nil, "", err
	}
	list, next := request.Cut(list, page.Limit, func(e Endpoint) string { return request.ByTime(e.CreatedAt, e.ID) })
	return list, next, nil
}

// EndpointChange holds the changes of an endpoint. A nil field leaves the value as it is.
type EndpointChange struct {
	URL    *string
	Events []string
	Active *bool
}

// ChangeEndpoint changes an endpoint, once per Idempotency-Key. If the change enables the endpoint, ChangeEndpoint
// clears the reason why the endpoint was disabled, and the time at which its attempts began to fail. If the change
// disables the endpoint, its pending deliveries get the status failed. Error: [ErrNotFound].
func (s *Store) ChangeEndpoint(ctx context.Context, businessID, id uuid.UUID, change EndpointChange) (Endpoint, error) {
	return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (Endpoint, error) {
		rows, _ := tx.Query(ctx, `
UPDATE webhook_endpoints SET url = coalesce($3, url), events = coalesce($4, events), active = coalesce($5, active),
    disabled_reason = CASE WHEN $5 THEN NULL ELSE disabled_reason END, failing_since = CASE WHEN $5 OR $3 IS NOT NULL THEN NULL ELSE failing_since END
WHERE business_id = $1 AND id = $2 RETURNING `+endpointColumns, businessID, id, change.URL, change.Events, change.Active)
		e, err := pgx.CollectExactlyOneRow(rows, scanEndpoint)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return Endpoint{}, ErrNotFound
		case err != nil:
			return Endpoint{}, fmt.Errorf("change a webhook endpoint: %w", err)
		}
		if change.Active != nil && !*change.Active {
			err = failPending(ctx, tx, businessID, id)
		}
		return e, err
	})
}

// failPending sets the status of the pending deliveries of the given endpoint to failed.
func failPending(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID) error {
	_, err := tx.Exec(ctx, `UPDATE webhook_deliveries SET status = 'failed', due_at = NULL WHERE business_id = $1 AND endpoint_id = $2 AND status = 'pending'`,
		businessID, id)
	if err != nil {
		return fmt.Errorf("cancel pending deliveries: %w", err)
	}
	return nil
}

// DeleteEndpoint deletes an endpoint and its deliveries, once per Idempotency-Key. Error: [ErrNotFound].
func (s *Store) DeleteEndpoint(ctx context.Context, businessID, id uuid.UUID) error {
	_, err := postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (bool, error) {
		tag, err := tx.Exec(ctx, `DELETE FROM webhook_endpoints WHERE business_id = $1 AND id = $2`, businessID, id)
		switch {
		case err != nil:
			return false, fmt.Errorf("delete a webhook endpoint: %w", err)
		case tag.RowsAffected() == 0:
			return false, ErrNotFound
		}
		return true, nil
	})
	return err
}

// RotateSecret gives an endpoint a new secret, once per Idempotency-Key. Deliveries are signed with the new secret. The
// argument `until` is the time until which the previous secret also signs. Error: [ErrNotFound].
func (s *Store) RotateSecret(ctx context.Context, businessID, id uuid.UUID, secret []byte,
	until time.Time) (EndpointSecret, error) {
	return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (EndpointSecret,
		error) {
		rows, _ := tx.Query(ctx, `UPDATE webhook_endpoints SET previous_secret = secret, previous_until = $4, secret = $3
WHERE business_id = $1 AND id = $2 RETURNING `+endpointColumns, businessID, id, secret, until)
		e, err := pgx.CollectExactlyOneRow(rows, scanEndpoint)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return EndpointSecret{}, ErrNotFound
		case err != nil:
			return EndpointSecret{}, fmt.Errorf("rotate a webhook's secret: %w", err)
		}
		return newEndpointSecret(e, secret), nil
	})
}

// DropOldSecrets deletes the replaced secrets that no longer sign at the time in the argument `now`.
func (s *Store) DropOldSecrets(ctx context.Context, now time.Time) error {
	_, err := s.pool.Exec(ctx,
		`UPDATE webhook_endpoints SET previous_secret = NULL, previous_until = NULL WHERE previous_until <= $1`, now)
	if err != nil {
		return fmt.Errorf("drop old secrets of webhooks: %w", err)
	}
	return nil
}
