package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/request"
)

// States of a delivery.
const (
	Pending   = "pending"
	Delivered = "delivered"
	Failed    = "failed"
)

// Delivery is what is sent to an endpoint of one event, or was.
type Delivery struct {
	ID          uuid.UUID
	EndpointID  uuid.UUID
	EventID     uuid.UUID
	EventType   string
	SubjectKind string
	SubjectID   uuid.UUID
	Sequence    int
	Status      string
	DueAt       *time.Time // of the next attempt; nil: it is over, or waits for an earlier one of its subject
	CreatedAt   time.Time
	Body        []byte    // as it is sent
	Attempts    []Attempt // in their order
}

// Attempt is one attempt at a delivery.
type Attempt struct {
	Number       int       `json:"number"`
	At           time.Time `json:"at"`
	Milliseconds int       `json:"milliseconds"`
	Status       *int      `json:"http_status"` // nil: there was no answer
	Error        *string   `json:"error"`       // why there was none
	Answer       string    `json:"answer"`      // its beginning
}

// deliveryColumns are those of a delivery d and its attempts. $1 is the business of both: where tables are sharded, a subquery is not routed by
// the row around it.
const deliveryColumns = `d.id, d.endpoint_id, d.event_id, d.event_type, d.subject_kind, d.subject_id, d.sequence, d.status, d.due_at, d.created_at, d.body,
    coalesce((SELECT jsonb_agg(jsonb_build_object('number', a.number, 'at', a.at, 'milliseconds', a.milliseconds,
        'http_status', a.http_status, 'error', a.error, 'answer', a.answer) ORDER BY a.number)
     FROM webhook_attempts a WHERE a.business_id = $1 AND a.delivery_id = d.id), '[]')`

func scanDelivery(row pgx.CollectableRow) (Delivery, error) {
	var d Delivery
	err := row.Scan(&d.ID, &d.EndpointID, &d.EventID, &d.EventType, &d.SubjectKind, &d.SubjectID, &d.Sequence, &d.Status, &d.DueAt, &d.CreatedAt, &d.Body, &d.Attempts)
	d.CreatedAt = d.CreatedAt.UTC()
	return d, err
}

const listDeliveriesSQL = `
SELECT ` + deliveryColumns + ` FROM webhook_deliveries d
WHERE d.business_id = $1 AND d.endpoint_id = $2 AND ($3::text = '' OR d.status = $3)
  AND ($4::timestamptz IS NULL OR (d.created_at, d.id) < ($4, $5::uuid))
ORDER BY d.created_at DESC, d.id DESC LIMIT $6`

// maxDeliveries is how many deliveries a page holds at most: with ten attempts each they are four megabytes.
const maxDeliveries = 100

// Deliveries lists a page of what an endpoint was sent, newest first, those of one status or of all (""), and gives the cursor of the page that
// follows; a page holds 100 at most. Errors: [ErrNotFound]. Fault: invalid_parameter for a cursor that is none.
func (s *Store) Deliveries(ctx context.Context, businessID, endpointID uuid.UUID, status string, page request.Page) ([]Delivery, string, error) {
	page.Limit = min(page.Limit, maxDeliveries)
	at, id, err := page.AfterTime()
	if err != nil {
		return nil, "", err
	}
	var there bool
	err = s.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM webhook_endpoints WHERE business_id = $1 AND id = $2)`, businessID, endpointID).Scan(&there)
	if err != nil {
		return nil, "", fmt.Errorf("list deliveries: %w", err)
	}
	if !there {
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

// NewDelivery is a delivery that is to be made of an event, for one endpoint.
type NewDelivery struct {
	BusinessID, EndpointID, EventID, SubjectID uuid.UUID
	EventType, SubjectKind                     string
	Sequence                                   int
	Body                                       []byte
	CustomerEmail                              string // whose data the body holds; "" for nobody's
}

// Listener is an endpoint that may be told of an event, and how it does.
type Listener struct {
	BusinessID, ID uuid.UUID
	Events         []string
	Lane           LaneState
}

// WantedBy returns the active endpoints of these businesses, locked so that none of their lanes ends before the transaction: a lane that
// is just left would not see what the transaction adds.
func WantedBy(ctx context.Context, tx pgx.Tx, businesses []uuid.UUID) ([]Listener, error) {
	rows, _ := tx.Query(ctx, `SELECT business_id, id, events, failing_since IS NOT NULL FROM webhook_endpoints
WHERE business_id = ANY($1) AND active ORDER BY business_id, id FOR SHARE`, businesses)
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (Listener, error) {
		var l Listener
		err := row.Scan(&l.BusinessID, &l.ID, &l.Events, &l.Lane.Failing)
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("find webhook endpoints: %w", err)
	}
	return list, nil
}

// The first of a subject is due at once, unless an earlier one of the subject is pending; the others wait for it.
const addDeliveriesSQL = `
INSERT INTO webhook_deliveries (business_id, endpoint_id, id, event_id, event_type, subject_kind, subject_id, sequence, body, customer_email, status, created_at, due_at)
SELECT n.business_id, n.endpoint_id, n.id, n.event_id, n.event_type, n.subject_kind, n.subject_id, n.sequence, n.body, nullif(lower(n.customer_email), ''), 'pending', $10,
    CASE WHEN row_number() OVER (PARTITION BY n.business_id, n.endpoint_id, n.subject_id ORDER BY n.ordinality) = 1
          AND NOT EXISTS (SELECT FROM webhook_deliveries d WHERE d.business_id = n.business_id AND d.endpoint_id = n.endpoint_id
                AND d.subject_id = n.subject_id AND d.status = 'pending' AND NOT d.again)
         THEN $10::timestamptz END
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::uuid[], $8::integer[], $9::bytea[], $11::text[]) WITH ORDINALITY
    AS n (business_id, endpoint_id, id, event_id, event_type, subject_kind, subject_id, sequence, body, customer_email, ordinality)`

// AddDeliveries adds deliveries, those of a subject in their order, of endpoints that [WantedBy] has locked.
func AddDeliveries(ctx context.Context, tx pgx.Tx, all []NewDelivery, now time.Time) error {
	var (
		businesses, endpoints, ids, events, subjects []uuid.UUID
		types, kinds, emails                         []string
		sequences                                    []int
		bodies                                       [][]byte
	)
	for _, d := range all {
		businesses, endpoints, ids = append(businesses, d.BusinessID), append(endpoints, d.EndpointID), append(ids, uuid.Must(uuid.NewV7()))
		events, subjects = append(events, d.EventID), append(subjects, d.SubjectID)
		types, kinds = append(types, d.EventType), append(kinds, d.SubjectKind)
		sequences, bodies, emails = append(sequences, d.Sequence), append(bodies, d.Body), append(emails, d.CustomerEmail)
	}
	_, err := tx.Exec(ctx, addDeliveriesSQL, businesses, endpoints, ids, events, types, kinds, subjects, sequences, bodies, now, emails)
	if err != nil {
		return fmt.Errorf("add deliveries: %w", err)
	}
	return nil
}

// SendTest adds a delivery to an endpoint, active or not, that keeps no order, and calls wake with its endpoint, once for each
// Idempotency-Key. Errors: [ErrNotFound].
func (s *Store) SendTest(ctx context.Context, n NewDelivery, now time.Time, wake func(context.Context, pgx.Tx, uuid.UUID, LaneState) error) (Delivery, error) {
	return postgres.Once(ctx, s.pool, n.BusinessID, func(ctx context.Context, tx pgx.Tx) (Delivery, error) {
		lane, err := lockLane(ctx, tx, n.BusinessID, n.EndpointID)
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
		if err := wake(ctx, tx, n.EndpointID, lane); err != nil {
			return Delivery{}, err
		}
		return delivery(ctx, tx, n.BusinessID, id)
	})
}

func delivery(ctx context.Context, tx pgx.Tx, businessID, id uuid.UUID) (Delivery, error) {
	rows, _ := tx.Query(ctx, `SELECT `+deliveryColumns+` FROM webhook_deliveries d WHERE d.business_id = $1 AND d.id = $2`, businessID, id)
	d, err := pgx.CollectExactlyOneRow(rows, scanDelivery)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return Delivery{}, ErrNotFound
	case err != nil:
		return Delivery{}, fmt.Errorf("read a delivery: %w", err)
	}
	return d, nil
}

// ErrBlocked says that a delivery waits for an earlier one of its subject.
var ErrBlocked = errors.New("it waits for an earlier event of the same subject")

// SendAgain makes a delivery due now, whatever became of it, and calls wake with its endpoint, once for each Idempotency-Key. One that is over
// is tried as a new one is, and keeps no order. Errors: [ErrNotFound], [ErrBlocked].
func (s *Store) SendAgain(ctx context.Context, businessID, id uuid.UUID, now time.Time, wake func(context.Context, pgx.Tx, uuid.UUID, LaneState) error) (Delivery, error) {
	return postgres.Once(ctx, s.pool, businessID, func(ctx context.Context, tx pgx.Tx) (Delivery, error) {
		d, err := delivery(ctx, tx, businessID, id)
		if err != nil {
			return Delivery{}, err
		}
		lane, err := lockLane(ctx, tx, businessID, d.EndpointID)
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
		if err := wake(ctx, tx, d.EndpointID, lane); err != nil {
			return Delivery{}, err
		}
		return delivery(ctx, tx, businessID, id)
	})
}

// SweepDeliveries removes deliveries that are over and were made before the instant, whose attempts go with them, a part of them at a time, and
// reports whether there may be more.
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

// SweepPending removes deliveries of one business that were made before the instant and are pending still, a part of them at a time, and reports whether
// there may be more, of it or another. Later events of their subjects, which waited behind them, are due by that: wake is called with their endpoints.
func (s *Store) SweepPending(ctx context.Context, before, now time.Time, wake func(context.Context, pgx.Tx, uuid.UUID, uuid.UUID, LaneState) error) (bool, error) {
	var business uuid.UUID
	err := s.pool.QueryRow(ctx, `SELECT business_id FROM webhook_deliveries WHERE created_at < $1 AND status = 'pending' LIMIT 1`, before).Scan(&business)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			lanes, err := lockLanes(ctx, tx, business)
			if err != nil {
				return err
			}
			gone, err := postgres.Rows(ctx, tx, pgx.RowToStructByPos[erasedDelivery], "remove what is pending", sweepPendingSQL, business, before, sweepStep)
			if err != nil {
				return err
			}
			return releaseBehind(ctx, tx, business, gone, lanes, now, func(ctx context.Context, tx pgx.Tx, endpoint uuid.UUID, state LaneState) error {
				return wake(ctx, tx, business, endpoint, state)
			})
		})
	}
	if err != nil {
		return false, fmt.Errorf("sweep pending deliveries: %w", err)
	}
	return true, nil
}
