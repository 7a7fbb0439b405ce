package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// The statuses of a delivery.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"
)

// Delivery is the delivery of one event to one endpoint, in any status.
type Delivery struct {
	ID          uuid.UUID
	EndpointID  uuid.UUID
	EventID     uuid.UUID
	EventType   string
	SubjectKind string
	SubjectID   uuid.UUID
	Sequence    int
	Status      string
	// DueAt is the time of the next attempt. It is nil if the delivery has ended, or if the delivery waits for an
	// earlier delivery of the same subject.
	DueAt     *time.Time
	CreatedAt time.Time
	Body      []byte    // body of the HTTP request
	Attempts  []Attempt // all attempts so far, in order
}

// Attempt is one attempt at a delivery.
type Attempt struct {
	Number       int       `json:"number"`
	At           time.Time `json:"at"`
	Milliseconds int       `json:"milliseconds"`
	Status       *int      `json:"http_status"` // nil if there was no answer
	Error        *string   `json:"error"`       // the reason why there was no answer
	Answer       string    `json:"answer"`      // the beginning of the answer's body
}

// deliveryColumns are the columns of the delivery with the alias d, together with its attempts. The subquery for the
// attempts compares the business ID with $1, not with d.business_id: on a sharded database, the router finds the shard
// of the subquery only through $1.
const deliveryColumns = `d.id, d.endpoint_id, d.event_id, d.event_type, d.subject_kind, d.subject_id, d.sequence, d.status, d.due_at, d.created_at, d.body,
    coalesce((SELECT jsonb_agg(jsonb_build_object('number', a.number, 'at', a.at, 'milliseconds', a.milliseconds,
        'http_status', a.http_status, 'error', a.error, 'answer', a.answer) ORDER BY a.number)
     FROM webhook_attempts a WHERE a.business_id = $1 AND a.delivery_id = d.id), '[]')`

func scanDelivery(row pgx.CollectableRow) (Delivery, error) {
	var d Delivery
	err := row.Scan(&d.ID, &d.EndpointID, &d.EventID, &d.EventType, &d.SubjectKind, &d.SubjectID, &d.Sequence,
		&d.Status, &d.DueAt, &d.CreatedAt, &d.Body, &d.Attempts)
	d.CreatedAt = d.CreatedAt.UTC()
	return d, err
}

const listDeliveriesSQL = `
SELECT ` + deliveryColumns + ` FROM webhook_deliveries d
WHERE d.business_id = $1 AND d.endpoint_id = $2 AND ($3::text = '' OR d.status = $3)
  AND ($4::timestamptz IS NULL OR (d.created_at, d.id) < ($4, $5::uuid))
ORDER BY d.created_at DESC, d.id DESC LIMIT $6`

// maxDeliveries is the maximum page size. A page of 100 deliveries with ten attempts each has about four megabytes.
const maxDeliveries = 100

// Deliveries returns at most maxDeliveries deliveries of an endpoint, newest first, and the cursor of the next page.
// The argument `status` selects the deliveries with that status; "" selects all deliveries. Error: [ErrNotFound].
// Fault: invalid_parameter if the cursor is invalid.
func (s *Store) Deliveries(ctx context.Context, businessID, endpointID uuid.UUID, status string,
	page request.Page) ([]Delivery, string, error) {
	page.Limit = min(page.Limit, maxDeliveries)
	at, id, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	var exists bool
	err = s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM webhook_endpoints WHERE business_id = $1 AND id = $2)`,
		businessID, endpointID).Scan(&exists)
	if err != nil {
		return nil, "", fmt.Errorf("list deliveries: %w", err)
	}
	if !exists {
		return nil, "", ErrNotFound
	}
	rows, _ := s.pool.Query(ctx, listDeliveriesSQL, businessID, endpointID, status, at, id, page.Limit+1)
	list, err := pgx.CollectRows(rows, scanDelivery)
	if err != nil {
		return nil, "", fmt.Errorf("list deliveries: %w", err)
	}
	list, next := request.Cut(list, page.Limit, func(d Delivery) string { return request.ByTime(d.CreatedAt, d.ID) })
	return list, next, nil
}

// NewDelivery is the data of a delivery that is to be added. The delivery sends one event to one endpoint.
type NewDelivery struct {
	BusinessID, EndpointID, EventID, SubjectID uuid.UUID
	EventType, SubjectKind                     string
	Sequence                                   int
	Body                                       []byte
	CustomerEmail                              string // address of the customer whose data Body contains, or ""
}

// Listener is an active endpoint with the types of events to which it is subscribed. The field State decides in which
// queue the endpoint's jobs run.
type Listener struct {
	BusinessID, ID uuid.UUID
	Events         []string
	State          EndpointState
}

// LockActiveEndpoints returns the active endpoints of the given businesses and locks the rows of these endpoints. Until
// the transaction ends, no delivery lock of these endpoints can be released. A release during the transaction would not
// find the deliveries that the transaction adds.
func LockActiveEndpoints(ctx context.Context, tx pgx.Tx, businesses []uuid.UUID) ([]Listener, error) {
	rows, _ := tx.Query(ctx, `SELECT business_id, id, events, failing_since IS NOT NULL FROM webhook_endpoints
WHERE business_id = ANY($1) AND active ORDER BY business_id, id FOR SHARE`, businesses)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Listener, error) {
		var l Listener
		err := row.Scan(&l.BusinessID, &l.ID, &l.Events, &l.State.IsFailing)
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("find webhook endpoints: %w", err)
	}
	return list, nil
}

// addDeliveriesSQL inserts new deliveries. For each endpoint and subject, only the first new delivery gets a due time,
// which is the current time. If an older delivery of that subject is pending, no new delivery gets a due time. A
// delivery without a due time waits until the delivery before it has ended. No delivery waits for test deliveries, or
// for deliveries that an owner sends again. A delivery that is already stored is left out: the feed may return an event
// again after an operator has reset its cursor, or after the publisher's database was restored.
const addDeliveriesSQL = `
INSERT INTO webhook_deliveries (business_id, endpoint_id, id, event_id, event_type, subject_kind, subject_id, sequence, body, customer_email, status, created_at, due_at)
SELECT n.business_id, n.endpoint_id, n.id, n.event_id, n.event_type, n.subject_kind, n.subject_id, n.sequence, n.body, nullif(lower(n.customer_email), ''), 'pending', $10,
    CASE WHEN row_number() OVER (PARTITION BY n.business_id, n.endpoint_id, n.subject_id ORDER BY n.ordinality) = 1
          AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.business_id = n.business_id AND d.endpoint_id = n.endpoint_id
                AND d.subject_id = n.subject_id AND d.status = 'pending' AND NOT d.again)
         THEN $10::timestamptz END
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::uuid[], $8::integer[], $9::bytea[], $11::text[]) WITH ORDINALITY
    AS n (business_id, endpoint_id, id, event_id, event_type, subject_kind, subject_id, sequence, body, customer_email, ordinality)
WHERE NOT EXISTS (SELECT FROM webhook_deliveries d
    WHERE d.business_id = n.business_id AND d.endpoint_id = n.endpoint_id AND d.event_id = n.event_id)`

// AddDeliveries adds deliveries to endpoints that [LockActiveEndpoints] has locked. The argument `deliveries` must be
// in order for each subject.
func AddDeliveries(ctx context.Context, tx pgx.Tx, deliveries []NewDelivery, now time.Time) error {
	var (
		businesses, endpoints, ids, events, subjects []uuid.UUID
		types, kinds, emails                         []string
		sequences                                    []int
		bodies                                       [][]byte
	)
	for _, d := range deliveries {
		businesses, endpoints, ids = append(businesses, d.BusinessID), append(endpoints, d.EndpointID),
			append(ids, uuid.Must(uuid.NewV7()))
		events, subjects = append(events, d.EventID), append(subjects, d.SubjectID)
		types, kinds = append(types, d.EventType), append(kinds, d.SubjectKind)
		sequences, bodies, emails = append(sequences, d.Sequence), append(bodies, d.Body),
			append(emails, d.CustomerEmail)
	}
	_, err := tx.Exec(ctx, addDeliveriesSQL, businesses, endpoints, ids, events, types, kinds, subjects, sequences,
		bodies, now, emails)
	if err != nil {
		return fmt.Errorf("add deliveries: %w", err)
	}
	return nil
}

// SendTest adds a test delivery to an active or disabled endpoint, once per Idempotency-Key. SendTest then calls `wake`
// with the endpoint; `wake` must insert the job that sends the delivery. A test delivery is due at once and does not
// wait for other deliveries. Error: [ErrNotFound].
func (s *Store) SendTest(ctx context.Context, n NewDelivery, now time.Time,
	wake func(context.Context, pgx.Tx, uuid.UUID, EndpointState) error) (Delivery, error) {
	return postgres.WriteIdempotently(ctx, s.pool, n.BusinessID, func(ctx context.Context, tx pgx.Tx) (Delivery,
		error) {
		state, err := lockEndpoint(ctx, tx, n.BusinessID, n.EndpointID)
		if err != nil {
			return Delivery{}, err
		}
		id := uuid.Must(uuid.NewV7())
		_, err = tx.Exec(ctx, `
INSERT INTO webhook_deliveries (business_id, endpoint_id, id, event_id, event_type, subject_kind, subject_id, sequence, body, status, created_at, due_at, again)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', $10, $10, true)`,
			n.BusinessID, n.EndpointID, id, n.EventID, n.EventType, n.SubjectKind, n.SubjectID, n.Sequence, n.Body, now)
		if err != nil {
			return Delivery{}, fmt.Errorf("send a test event: %w", err)
		}
		if err := wake(ctx, tx, n.EndpointID, state); err != nil {
			return Delivery{}, err
		}
		return findDelivery(ctx, tx, n.BusinessID, id)
	})
}

func findDelivery(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID) (Delivery, error) {
	rows, _ := tx.Query(ctx,
		`SELECT `+deliveryColumns+` FROM webhook_deliveries d WHERE d.business_id = $1 AND d.id = $2`, businessID, id)
	d, err := pgx.CollectExactlyOneRow(rows, scanDelivery)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Delivery{}, ErrNotFound
	case err != nil:
		return Delivery{}, fmt.Errorf("read a delivery: %w", err)
	}
	return d, nil
}

// ErrBlocked means that a delivery waits for an earlier delivery of the same subject.
var ErrBlocked = errors.New("it waits for an earlier event of the same subject")

// RetryDelivery makes a delivery due now, whatever its status is, once per Idempotency-Key. RetryDelivery then calls
// `wake` with the delivery's endpoint; `wake` must insert the job that sends the delivery. If the delivery had ended
// (delivered or failed), it gets the full number of attempts again and does not wait for other deliveries. Errors:
// [ErrNotFound], [ErrBlocked].
func (s *Store) RetryDelivery(ctx context.Context, businessID, id uuid.UUID, now time.Time,
	wake func(context.Context, pgx.Tx, uuid.UUID, EndpointState) error) (Delivery, error) {
	return postgres.WriteIdempotently(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (Delivery, error) {
		d, err := findDelivery(ctx, tx, businessID, id)
		if err != nil {
			return Delivery{}, err
		}
		state, err := lockEndpoint(ctx, tx, businessID, d.EndpointID)
		if err != nil {
			return Delivery{}, err
		}
		tag, err := tx.Exec(ctx, `
UPDATE webhook_deliveries SET due_at = $3, again = again OR status <> 'pending', attempts = CASE WHEN status = 'pending' THEN attempts ELSE 0 END, status = 'pending'
WHERE business_id = $1 AND id = $2 AND (status <> 'pending' OR due_at IS NOT NULL)`, businessID, id, now)
		switch {
		case err != nil:
			return Delivery{}, fmt.Errorf("send again: %w", err)
		case tag.RowsAffected() == 0:
			return Delivery{}, ErrBlocked
		}
		if err := wake(ctx, tx, d.EndpointID, state); err != nil {
			return Delivery{}, err
		}
		return findDelivery(ctx, tx, businessID, id)
	})
}

// SweepDeliveries deletes at most sweepStep ended deliveries with their attempts. The argument `before` is the time
// before which these deliveries were created. SweepDeliveries reports whether more such deliveries may exist.
func (s *Store) SweepDeliveries(ctx context.Context, before time.Time) (bool, error) {
	tag, err := s.pool.Exec(ctx, `
		DELETE FROM webhook_deliveries
		WHERE (business_id, id) IN (SELECT business_id, id FROM webhook_deliveries WHERE created_at < $1 AND status <> 'pending' LIMIT $2)`, before, sweepStep)
	if err != nil {
		return false, fmt.Errorf("sweep deliveries: %w", err)
	}
	return tag.RowsAffected() == sweepStep, nil
}

const sweepPendingSQL = `
DELETE FROM webhook_deliveries WHERE business_id = $1
    AND id IN (SELECT id FROM webhook_deliveries WHERE business_id = $1 AND created_at < $2 AND status = 'pending' LIMIT $3)
RETURNING id, endpoint_id, subject_id, true`

// SweepPending deletes at most sweepStep pending deliveries of one business. The argument `before` is the time before
// which these deliveries were created. SweepPending reports whether more such deliveries may exist, for any business.
// Deliveries of later events that waited for the deleted deliveries become due; SweepPending then calls `wake` with
// their endpoints.
func (s *Store) SweepPending(ctx context.Context, before, now time.Time, wake func(context.Context, pgx.Tx, uuid.UUID,
	uuid.UUID, EndpointState) error) (bool, error) {
	var business uuid.UUID
	err := s.pool.QueryRow(ctx,
		`SELECT business_id FROM webhook_deliveries WHERE created_at < $1 AND status = 'pending' LIMIT 1`,
		before).Scan(&business)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			states, err := lockEndpoints(ctx, tx, business)
			if err != nil {
				return err
			}
			deleted, err := postgres.Rows(ctx, tx, pgx.RowToStructByPos[erasedDelivery], "remove pending deliveries",
				sweepPendingSQL, business, before, sweepStep)
			if err != nil {
				return err
			}
			return makeWaitingDue(ctx, tx, business, deleted, states, now,
				func(ctx context.Context, tx pgx.Tx, endpoint uuid.UUID, state EndpointState) error {
					return wake(ctx, tx, business, endpoint, state)
				})
		})
	}
	if err != nil {
		return false, fmt.Errorf("sweep pending deliveries: %w", err)
	}
	return true, nil
}
