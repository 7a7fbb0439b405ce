// Package deliver sends webhooks: it makes deliveries of events, and sends what is due to each endpoint (lifecycle.md §2).
//
// Each endpoint has a lane. A job of River, which names an endpoint and nothing else, takes the lane, sends what is due for a few seconds, a
// few at a time, and leaves it; what is then still due is the next job's, behind those of other endpoints. Of several jobs for one
// endpoint one has the lane, and the others end at once: who leaves it looks again, under the lock that whoever adds a
// delivery holds, so that nothing is left behind (docs/decisions).
//
// An endpoint therefore never has more than one worker of the pool and [Parallel] calls on their way, however many events it is to be sent. Those whose
// last attempt failed have a pool of their own: however many hang, they take no worker from those that answer.
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

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/notifications/internal/jobs"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
)

const (
	// Parallel is how many calls to one endpoint are on their way at a time.
	Parallel = 8
	// turn is how long a job sends before it lets other endpoints have its worker.
	turn = 5 * time.Second
	// laneFor is how long a lane is held where its job dies: longer than a turn and a last call.
	laneFor = turn + webhook.SendWithin + 15*time.Second
	// rescueEvery is how often the lanes of jobs that died are looked for. With laneFor, webhooks of an endpoint go on within 60 s.
	rescueEvery = 10 * time.Second
	// workers of each replica
	workers        = 64
	workersFailing = 32
	// Kept is how long deliveries are logged.
	Kept = 30 * 24 * time.Hour

	queue        = "webhooks"
	queueFailing = "webhooks_failing"
	sweepEvery   = time.Hour
)

// Webhooks makes deliveries of events and sends them.
type Webhooks struct {
	Store     *store.Store
	Sender    *webhook.Sender
	Clock     clock.Clock
	Telemetry *telemetry.Telemetry
	// Disabled returns the jobs that tell the owner of an endpoint that Slotmesh disables in this transaction.
	Disabled func(context.Context, pgx.Tx, store.Endpoint) ([]river.InsertManyParams, error)

	// Slug returns the slug of a business, "" once it is removed.
	Slug func(ctx context.Context, businessID uuid.UUID) (string, error)

	jobs     Jobs
	attempts metric.Int64Counter
}

// Jobs inserts jobs; *jobs.Client is the one outside tests.
type Jobs interface {
	InsertManyFastTx(ctx context.Context, tx pgx.Tx, params []river.InsertManyParams) (int, error)
}

// laneArgs is the job that sends what is due to an endpoint.
type laneArgs struct {
	BusinessID uuid.UUID `json:"business_id"`
	EndpointID uuid.UUID `json:"endpoint_id"`
	Scheduled  bool      `json:"scheduled,omitempty"` // for later, and noted in the endpoint
}

func (laneArgs) Kind() string { return "webhook_lane" }

// sweepArgs is the job that removes what is too old.
type sweepArgs struct{}

func (sweepArgs) Kind() string { return "webhook_sweep" }

// rescueArgs is the job that goes on where a job died that held a lane.
type rescueArgs struct{}

func (rescueArgs) Kind() string { return "webhook_rescue" }

// rescue makes a job for each endpoint whose lane is held longer than a job may hold it.
func (w *Webhooks) rescue(ctx context.Context, _ *river.Job[rescueArgs]) error {
	return w.Store.RescueLanes(ctx, w.Wake)
}

// Join adds what webhooks do to the work of the service.
func (w *Webhooks) Join(work *jobs.Work) {
	w.attempts = w.Telemetry.Counter("slotmesh.webhooks.attempts", "Attempts to deliver webhooks by outcome.")
	river.AddWorker(work.Workers, river.WorkFunc(func(ctx context.Context, job *river.Job[laneArgs]) error { return w.lane(ctx, job.ID, job.Args) }))
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

// InsertBy says who inserts the jobs: the client that is made of the work that [Webhooks.Join] has joined.
func (w *Webhooks) InsertBy(jobs Jobs) { w.jobs = jobs }

// Take makes a delivery of each event for each endpoint that wants it, and a job for each endpoint that has got one.
func (w *Webhooks) Take(ctx context.Context, tx pgx.Tx, events []event.Event) ([]river.InsertManyParams, error) {
	endpoints, err := store.WantedBy(ctx, tx, businessesOf(events))
	if err != nil || len(endpoints) == 0 {
		return nil, err
	}
	var (
		all  []store.NewDelivery
		made []river.InsertManyParams
		told = map[uuid.UUID]bool{}
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
				slug, err := w.Slug(ctx, e.BusinessID)
				if err != nil {
					return nil, err
				}
				if body, err = e.Webhook(slug); err != nil {
					return nil, err
				}
				if customer, err = webhook.Customer(e); err != nil {
					return nil, err
				}
			}
			all = append(all, store.NewDelivery{
				BusinessID: e.BusinessID, EndpointID: to.ID, EventID: e.ID, EventType: string(e.Type),
				SubjectKind: string(e.Subject.Kind), SubjectID: e.Subject.ID, Sequence: e.Sequence, Body: body, CustomerEmail: customer,
			})
			if !told[to.ID] {
				told[to.ID] = true
				made = append(made, laneJob(to.BusinessID, to.ID, to.Lane))
			}
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return made, store.AddDeliveries(ctx, tx, all, w.Clock.Now())
}

func businessesOf(events []event.Event) []uuid.UUID {
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

// laneJob looks after an endpoint at once.
func laneJob(businessID, endpointID uuid.UUID, state store.LaneState) river.InsertManyParams {
	return river.InsertManyParams{Args: laneArgs{BusinessID: businessID, EndpointID: endpointID}, InsertOpts: &river.InsertOpts{Queue: queueOf(state)}}
}

func queueOf(state store.LaneState) string {
	if state.Failing {
		return queueFailing
	}
	return queue
}

// Wake makes a job that looks after an endpoint at once, in the transaction that gives it something to send.
func (w *Webhooks) Wake(ctx context.Context, tx pgx.Tx, businessID, endpointID uuid.UUID, state store.LaneState) error {
	_, err := w.jobs.InsertManyFastTx(ctx, tx, []river.InsertManyParams{laneJob(businessID, endpointID, state)})
	return err
}

// again is the pause after a job that could not do its work, as where the database is away.
const again = 10 * time.Second

// lane sends what is due to an endpoint. A job that could not send, write down what became of it or leave its lane is run again after a pause, with the ID
// that holds the lane: anybody else finds it taken, and relies on its holder. So what fails however often it is done calls nobody in a tight loop. A
// job that was broken off, as where its process stops, leaves the lane to another one.
func (w *Webhooks) lane(ctx context.Context, jobID int64, args laneArgs) error {
	l := store.Lane{BusinessID: args.BusinessID, EndpointID: args.EndpointID, Holder: holderOf(jobID)}
	taken, err := w.Store.TakeLane(ctx, l, laneFor, args.Scheduled)
	if err == nil && !taken {
		return nil
	}
	if err == nil {
		if err = w.sendDue(ctx, l); err == nil || ctx.Err() != nil {
			err = w.leave(ctx, l)
		}
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		w.Telemetry.Logger.WarnContext(ctx, "webhooks of an endpoint wait", "business_id", l.BusinessID, "endpoint_id", l.EndpointID, "error", err)
		return river.JobSnooze(again)
	}
	return nil
}

// holderOf is a job as the holder of a lane.
func holderOf(jobID int64) uuid.UUID {
	var holder uuid.UUID
	binary.BigEndian.PutUint64(holder[8:], uint64(jobID)) // River counts up from 1
	return holder
}

// sendDue sends for a turn, a few at a time. Of a subject one is due at a time, so that those that are sent together need no order.
func (w *Webhooks) sendDue(ctx context.Context, l store.Lane) error {
	for begun := time.Now(); time.Since(begun) < turn; { //nolint:forbidigo // bounds a turn
		due, err := w.Store.Due(ctx, l, Parallel, w.Clock.Now())
		if err != nil || len(due) == 0 {
			return err
		}
		var (
			calls  sync.WaitGroup
			failed = make([]error, len(due))
		)
		for i, d := range due {
			calls.Go(func() { failed[i] = w.send(ctx, l, d) })
		}
		calls.Wait()
		if err := errors.Join(failed...); err != nil {
			return err
		}
	}
	return nil
}

// send sends one delivery once and writes down what became of it.
func (w *Webhooks) send(ctx context.Context, l store.Lane, d store.Due) error {
	a, err := w.Sender.Send(ctx, webhook.Message{URL: d.URL, ID: d.EventID.String(), Body: d.Body, Secrets: d.Secrets()})
	if err != nil {
		return err // nothing is known of it: it is sent again
	}
	now := w.Clock.Now()
	o := store.AttemptOutcome{Delivery: d, Gone: a.Gone(), Status: store.Failed, Attempt: store.Attempt{
		At: a.At, Milliseconds: int(a.Took.Milliseconds()), Answer: a.Answer,
	}}
	if a.Status != 0 {
		o.Attempt.Status = &a.Status
	} else {
		o.Attempt.Error = &a.Error
	}
	if a.Delivered() {
		o.Status = store.Delivered
	} else if pause, more := webhook.Next(d.Attempts+1, a.RetryAfter, rand.Float64()); more && !o.Gone {
		o.Status, o.Again = store.Pending, now.Add(pause)
	}
	w.attempts.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcomeOf(a))))
	off, err := w.Store.Record(ctx, l, o, now, w.disabled)
	if off {
		w.Telemetry.Logger.WarnContext(ctx, "a webhook endpoint is disabled", "business_id", l.BusinessID, "endpoint_id", l.EndpointID, "gone", o.Gone)
	}
	return err
}

func outcomeOf(a webhook.Attempt) string {
	switch {
	case a.Delivered():
		return "delivered"
	case a.Status == 0:
		return "unanswered"
	}
	return "refused"
}

func (w *Webhooks) disabled(ctx context.Context, tx pgx.Tx, e store.Endpoint) error {
	tell, err := w.Disabled(ctx, tx, e)
	if err != nil || len(tell) == 0 {
		return err
	}
	_, err = w.jobs.InsertManyFastTx(ctx, tx, tell)
	return err
}

// leaveWithin is how long a lane may still be left once its job is broken off, as where the process stops.
const leaveWithin = 3 * time.Second

// leave frees the lane, whatever became of the turn, and makes the job that goes on.
func (w *Webhooks) leave(ctx context.Context, l store.Lane) error {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(leaveWithin, cancel) })()
	ctx = own
	now := w.Clock.Now()
	return w.Store.LeaveLane(ctx, l, now, func(ctx context.Context, tx pgx.Tx, state store.LaneState, next time.Time) error {
		job := laneJob(l.BusinessID, l.EndpointID, state)
		if next.After(now) {
			job.Args = laneArgs{BusinessID: l.BusinessID, EndpointID: l.EndpointID, Scheduled: true}
			job.InsertOpts.ScheduledAt = next
		}
		_, err := w.jobs.InsertManyFastTx(ctx, tx, []river.InsertManyParams{job})
		return err
	})
}

// sweep removes old deliveries, whatever became of them, and secrets that sign no more.
func (w *Webhooks) sweep(ctx context.Context, _ *river.Job[sweepArgs]) error {
	if err := w.Store.DropOldSecrets(ctx, w.Clock.Now()); err != nil {
		return err
	}
	before := w.Clock.Now().Add(-Kept)
	for more := true; more; {
		var err error
		if more, err = w.Store.SweepDeliveries(ctx, before); err != nil {
			return err
		}
	}
	for more := true; more; {
		var err error
		if more, err = w.Store.SweepPending(ctx, before, w.Clock.Now(), w.Wake); err != nil {
			return err
		}
	}
	return nil
}
