// Package deliver sends webhooks (lifecycle.md §2). The package creates deliveries from events and sends the due
// deliveries to each endpoint. At most one job at a time sends to an endpoint.
//
// Each endpoint has a delivery lock. A River job, whose only argument is an endpoint, acquires the lock. The job sends
// due deliveries for a few seconds, several at a time, and releases the lock. If more deliveries are due, the release
// inserts the next job, which runs after the waiting jobs of other endpoints. If several jobs run for one endpoint, one
// job acquires the lock and the other jobs end at once.
//
// No delivery is missed. Each transaction that adds a delivery locks the endpoint's row. The release of the delivery
// lock locks the same row and then looks for due deliveries again (docs/decisions).
//
// An endpoint therefore uses at most one worker and [Parallel] concurrent calls, even if many events are due. Endpoints
// whose last attempt failed have workers of their own. Even if many such endpoints hang, the workers of all other
// endpoints stay free.
package deliver

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/notifications/internal/jobs"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
)

const (
	// Parallel is the maximum number of concurrent calls to one endpoint.
	Parallel = 8
	// turnDuration is how long a job sends to one endpoint before its worker becomes free for other endpoints.
	turnDuration = 5 * time.Second
	// lockDuration is the time after which the delivery lock of a dead job expires. It is longer than turnDuration plus
	// the time limit of the last call.
	lockDuration = turnDuration + webhook.SendTimeout + 15*time.Second
	// rescueEvery is the interval at which expired delivery locks are released. Because of rescueEvery and
	// lockDuration, the webhooks of an endpoint resume within 60 s after the process with the delivery lock has died.
	rescueEvery = 10 * time.Second
	// The number of workers in each replica for working endpoints, and the number for failing endpoints.
	workers        = 64
	workersFailing = 32
	// RetentionPeriod is the time after which a delivery is deleted.
	RetentionPeriod = 30 * 24 * time.Hour

	queue        = "webhooks"
	queueFailing = "webhooks_failing"
	sweepEvery   = time.Hour
)

// Webhooks creates deliveries from events and sends them to the endpoints.
type Webhooks struct {
	Store     *store.Store
	Sender    *webhook.Sender
	Clock     clock.Clock
	Telemetry *telemetry.Telemetry
	// NotifyDisabled returns jobs that write the notice to the owner of a disabled endpoint. [Webhooks] calls
	// NotifyDisabled in the transaction that disables the endpoint.
	NotifyDisabled func(context.Context, pgx.Tx, store.Endpoint) ([]river.InsertManyParams, error)

	// FindSlug returns the slug of a business, or "" if the business was removed.
	FindSlug func(ctx context.Context, businessID uuid.UUID) (string, error)

	jobs     Jobs
	attempts metric.Int64Counter
}

// Jobs inserts jobs into River's queue. Its implementation is *jobs.Client, except in tests.
type Jobs interface {
	InsertManyFastTx(ctx context.Context, tx pgx.Tx, params []river.InsertManyParams) (int, error)
}

// sendArgs holds the arguments of the job that sends an endpoint's due deliveries.
type sendArgs struct {
	BusinessID  uuid.UUID `json:"business_id"`
	EndpointID  uuid.UUID `json:"endpoint_id"`
	IsScheduled bool      `json:"scheduled,omitempty"` // scheduled for a later due time
}

func (sendArgs) Kind() string { return "webhook_lane" }

// sweepArgs holds the arguments of the job that deletes old deliveries.
type sweepArgs struct{}

func (sweepArgs) Kind() string { return "webhook_sweep" }

// rescueArgs holds the arguments of the job that releases expired delivery locks and resumes their endpoints.
type rescueArgs struct{}

func (rescueArgs) Kind() string { return "webhook_rescue" }

// rescue releases the expired delivery locks and inserts a job for the endpoint of each lock.
func (w *Webhooks) rescue(ctx context.Context, _ *river.Job[rescueArgs]) error {
	return w.Store.ReleaseExpiredLocks(ctx, w.Wake)
}

// AddTo adds the workers, queues and periodic jobs for webhooks to the argument `work`.
func (w *Webhooks) AddTo(work *jobs.Work) {
	w.attempts = w.Telemetry.Counter("slotmesh.webhooks.attempts", "Attempts to deliver webhooks by outcome.")
	river.AddWorker(work.Workers, river.WorkFunc(func(ctx context.Context, job *river.Job[sendArgs]) error {
		return w.sendToEndpoint(ctx, job.ID, job.Args)
	}))
	river.AddWorker(work.Workers, river.WorkFunc(w.sweep))
	work.Queues[queue] = river.QueueConfig{MaxWorkers: workers}
	work.Queues[queueFailing] = river.QueueConfig{MaxWorkers: workersFailing}
	work.Periodic = append(work.Periodic, river.NewPeriodicJob(river.PeriodicInterval(sweepEvery),
		func() (river.JobArgs, *river.InsertOpts) { return sweepArgs{}, &river.InsertOpts{Queue: queue} }, nil))
	river.AddWorker(work.Workers, river.WorkFunc(w.rescue))
	work.Periodic = append(work.Periodic, river.NewPeriodicJob(river.PeriodicInterval(rescueEvery),
		func() (river.JobArgs, *river.InsertOpts) {
			return rescueArgs{}, &river.InsertOpts{Queue: queue, Priority: 1}
		}, nil))
}

// SetJobs sets the client that inserts jobs. SetJobs must be called after [Webhooks.AddTo], because the client is
// created from the [jobs.Work] to which AddTo adds the workers.
func (w *Webhooks) SetJobs(jobs Jobs) { w.jobs = jobs }

// Take adds a delivery of each event for each active endpoint that is subscribed to the event's type. It returns one
// job for each endpoint with a new delivery. The argument `tx` is the transaction that takes the events from the feed.
func (w *Webhooks) Take(ctx context.Context, tx pgx.Tx, events []event.Event) ([]river.InsertManyParams, error) {
	endpoints, err := store.LockActiveEndpoints(ctx, tx, collectBusinesses(events))
	if err != nil || len(endpoints) == 0 {
		return nil, err
	}
	var (
		deliveries []store.NewDelivery
		params     []river.InsertManyParams
		hasJob     = map[uuid.UUID]bool{}
	)
	for _, e := range events {
		var (
			body     []byte
			customer string
		)
		for _, to := range endpoints {
			if to.BusinessID != e.BusinessID || !webhook.Wants(to.Events, e.Type) {
				continue
			}
			if body == nil {
				slug, err := w.FindSlug(ctx, e.BusinessID)
				if err != nil {
					return nil, err
				}
				if body, err = e.Webhook(slug); err != nil {
					return nil, err
				}
				if customer, err = webhook.ParseCustomer(e); err != nil {
					return nil, err
				}
			}
			deliveries = append(deliveries, store.NewDelivery{
				BusinessID: e.BusinessID, EndpointID: to.ID, EventID: e.ID, EventType: string(e.Type),
				SubjectKind: string(e.Subject.Kind), SubjectID: e.Subject.ID, Sequence: e.Sequence, Body: body,
				CustomerEmail: customer,
			})
			if !hasJob[to.ID] {
				hasJob[to.ID] = true
				params = append(params, newSendJob(to.BusinessID, to.ID, to.State))
			}
		}
	}
	if len(deliveries) == 0 {
		return nil, nil
	}
	return params, store.AddDeliveries(ctx, tx, deliveries, w.Clock.Now())
}

func collectBusinesses(events []event.Event) []uuid.UUID {
	seen := map[uuid.UUID]bool{}
	var ids []uuid.UUID
	for _, e := range events {
		if !seen[e.BusinessID] {
			seen[e.BusinessID] = true
			ids = append(ids, e.BusinessID)
		}
	}
	return ids
}

// newSendJob returns a job that sends an endpoint's due deliveries as soon as a worker is free.
func newSendJob(businessID, endpointID uuid.UUID, state store.EndpointState) river.InsertManyParams {
	return river.InsertManyParams{Args: sendArgs{BusinessID: businessID, EndpointID: endpointID},
		InsertOpts: &river.InsertOpts{Queue: chooseQueue(state)}}
}

func chooseQueue(state store.EndpointState) string {
	if state.IsFailing {
		return queueFailing
	}
	return queue
}

// Wake inserts a job that sends an endpoint's due deliveries. The argument `tx` is the transaction that makes a
// delivery due.
func (w *Webhooks) Wake(ctx context.Context, tx pgx.Tx, businessID, endpointID uuid.UUID,
	state store.EndpointState) error {
	_, err := w.jobs.InsertManyFastTx(ctx, tx, []river.InsertManyParams{newSendJob(businessID, endpointID, state)})
	return err
}

// retryPause is the pause before a job runs again after a failure. A job fails, for example, if the database is
// unavailable.
const retryPause = 10 * time.Second

// sendToEndpoint runs a job: it acquires an endpoint's delivery lock, sends the due deliveries and releases the lock.
// If another job holds the lock, sendToEndpoint does nothing.
//
// If sendToEndpoint cannot send, record a result or release the lock, the same job runs again after retryPause. During
// the pause the job keeps the lock, and other jobs for the endpoint end at once. A permanent failure therefore does not
// cause calls without a pause. If the job was cancelled, for example because the process stops, sendToEndpoint releases
// the lock, so that another job can continue.
func (w *Webhooks) sendToEndpoint(ctx context.Context, jobID int64, args sendArgs) error {
	l := store.DeliveryLock{BusinessID: args.BusinessID, EndpointID: args.EndpointID, Holder: deriveHolder(jobID)}
	isAcquired, err := w.Store.AcquireDeliveryLock(ctx, l, lockDuration, args.IsScheduled)
	if err == nil && !isAcquired {
		return nil
	}
	if err == nil {
		if err = w.sendDue(ctx, l); err == nil || ctx.Err() != nil {
			err = w.releaseLock(ctx, l)
		}
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		w.Telemetry.Logger.WarnContext(ctx, "sending webhooks to an endpoint failed; the job runs again", "business_id",
			l.BusinessID, "endpoint_id",
			l.EndpointID, "error", err)
		return river.JobSnooze(retryPause)
	}
	return nil
}

// deriveHolder derives the ID under which a job holds delivery locks from the job's ID. The ID is the same in all runs
// of the job.
func deriveHolder(jobID int64) uuid.UUID {
	var holder uuid.UUID
	binary.BigEndian.PutUint64(holder[8:], uint64(jobID)) // River's job IDs are positive
	return holder
}

// sendDue sends due deliveries, at most [Parallel] at a time, until no delivery is due or turnDuration is over.
// Concurrent deliveries cannot change the order of a subject's events, because at most one delivery of each subject is
// due at a time.
func (w *Webhooks) sendDue(ctx context.Context, l store.DeliveryLock) error {
	for start := time.Now(); time.Since(start) < turnDuration; { //nolint:forbidigo // bounds a turn
		due, err := w.Store.DueDeliveries(ctx, l, Parallel, w.Clock.Now())
		if err != nil || len(due) == 0 {
			return err
		}
		var (
			calls sync.WaitGroup
			errs  = make([]error, len(due))
		)
		for i, d := range due {
			calls.Go(func() { errs[i] = w.send(ctx, l, d) })
		}
		calls.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}

// send makes one attempt at a delivery and stores the result.
func (w *Webhooks) send(ctx context.Context, l store.DeliveryLock, d store.DueDelivery) error {
	a, err := w.Sender.Send(ctx, webhook.Message{URL: d.URL, ID: d.EventID.String(), Body: d.Body,
		Secrets: d.Secrets()})
	if err != nil {
		return err // ctx has ended: the result is unknown, and another attempt follows
	}
	now := w.Clock.Now()
	o := store.AttemptResult{Delivery: d, IsGone: a.IsGone(), Status: store.DeliveryFailed, Attempt: store.Attempt{
		At: a.At, Milliseconds: int(a.Took.Milliseconds()), Answer: a.Answer,
	}}
	if a.Status != 0 {
		o.Attempt.Status = &a.Status
	} else {
		o.Attempt.Error = &a.Error
	}
	if a.IsDelivered() {
		o.Status = store.DeliveryDelivered
	} else if pause, hasNext := webhook.NextPause(d.Attempts+1, a.RetryAfter, rand.Float64()); hasNext && !o.IsGone {
		o.Status, o.NextAt = store.DeliveryPending, now.Add(pause)
	}
	w.attempts.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", describeOutcome(a))))
	isDisabled, err := w.Store.RecordAttempt(ctx, l, o, now, w.insertNotices)
	if isDisabled {
		w.Telemetry.Logger.WarnContext(ctx, "a webhook endpoint is disabled", "business_id", l.BusinessID,
			"endpoint_id", l.EndpointID, "gone", o.IsGone)
	}
	return err
}

func describeOutcome(a webhook.Attempt) string {
	switch {
	case a.IsDelivered():
		return "delivered"
	case a.Status == 0:
		return "unanswered"
	}
	return "refused"
}

func (w *Webhooks) insertNotices(ctx context.Context, tx pgx.Tx, e store.Endpoint) error {
	notices, err := w.NotifyDisabled(ctx, tx, e)
	if err != nil || len(notices) == 0 {
		return err
	}
	_, err = w.jobs.InsertManyFastTx(ctx, tx, notices)
	return err
}

// releaseTimeout limits the release of a delivery lock after the job was cancelled, for example because the process
// stops.
const releaseTimeout = 3 * time.Second

// releaseLock releases the delivery lock. If deliveries remain, releaseLock inserts the next job. It must also be
// called if sending failed.
func (w *Webhooks) releaseLock(ctx context.Context, l store.DeliveryLock) error {
	releaseCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(releaseTimeout, cancel) })()
	ctx = releaseCtx
	now := w.Clock.Now()
	return w.Store.ReleaseDeliveryLock(ctx, l, now, func(ctx context.Context, tx pgx.Tx, state store.EndpointState,
		next time.Time) error {
		job := newSendJob(l.BusinessID, l.EndpointID, state)
		if next.After(now) {
			job.Args = sendArgs{BusinessID: l.BusinessID, EndpointID: l.EndpointID, IsScheduled: true}
			job.InsertOpts.ScheduledAt = next
		}
		_, err := w.jobs.InsertManyFastTx(ctx, tx, []river.InsertManyParams{job})
		return err
	})
}

// sweep deletes deliveries older than [RetentionPeriod], in any status, and replaced secrets that no longer sign.
func (w *Webhooks) sweep(ctx context.Context, _ *river.Job[sweepArgs]) error {
	if err := w.Store.DropOldSecrets(ctx, w.Clock.Now()); err != nil {
		return err
	}
	before := w.Clock.Now().Add(-RetentionPeriod)
	for hasMore := true; hasMore; {
		var err error
		if hasMore, err = w.Store.SweepDeliveries(ctx, before); err != nil {
			return err
		}
	}
	for hasMore := true; hasMore; {
		var err error
		if hasMore, err = w.Store.SweepPending(ctx, before, w.Clock.Now(), w.Wake); err != nil {
			return err
		}
	}
	return nil
}
