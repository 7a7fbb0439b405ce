package messages

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// timedJob looks at a subject when a message about it may be due, and makes the one that looks next. What is due is judged by the subject
// and the business's settings as they are then.
type timedJob struct {
	BusinessID uuid.UUID     `json:"business_id"`
	Subject    event.Subject `json:"subject"`
	Fixed      string        `json:"fixed"` // what the times hang on; where it has changed, other jobs look
	Since      time.Time     `json:"since"` // what was due before is not sent
}

func (timedJob) Kind() string { return "timed_messages" }
func (timedJob) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueWrite, Priority: 2}
}

// timing is the job that looks at a subject when t is due; nil where nothing is.
func timing(businessID uuid.UUID, of event.Subject, subject plan.Subject, t *plan.Timed) *river.InsertManyParams {
	if t == nil {
		return nil
	}
	return &river.InsertManyParams{
		Args:       timedJob{BusinessID: businessID, Subject: of, Fixed: plan.Fixed(of.Kind, subject), Since: t.Due},
		InsertOpts: &river.InsertOpts{ScheduledAt: t.Due},
	}
}

type timer struct {
	river.WorkerDefaults[timedJob]
	m *Messages
}

// readAgain is the pause before a subject is read again, whose customer may have been erased while it was read.
const readAgain = time.Second

// Work writes down what is due about a subject now.
func (w *timer) Work(ctx context.Context, job *river.Job[timedJob]) error {
	begun, err := w.m.Store.Moment(ctx)
	if err != nil {
		return err
	}
	list, next, err := w.m.due(ctx, job.Args)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, w.m.Pool, func(tx pgx.Tx) error {
		unerased, err := w.m.Store.Unerased(ctx, tx, job.Args.BusinessID, begun)
		if err != nil {
			return err
		}
		if !unerased {
			return river.JobSnooze(readAgain)
		}
		if err := w.m.add(ctx, tx, list, next, job.Priority); err != nil {
			return err
		}
		_, err = river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
}

// due returns the messages that are due about a subject, and the job that looks at it next.
func (m *Messages) due(ctx context.Context, at timedJob) ([]store.Message, *river.InsertManyParams, error) {
	offer, err := m.Peers.Offer(ctx, at.BusinessID)
	if isGone(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := m.Peers.Subject(ctx, at.BusinessID, at.Subject)
	if err != nil {
		if fault.Is(err, fault.NotFound) || isGone(err) {
			return nil, nil, nil
		}
		return nil, nil, err
	}
	subject, err := plan.Read(data)
	if err != nil || plan.Fixed(at.Subject.Kind, subject) != at.Fixed {
		return nil, nil, err
	}
	send, next := plan.Due(plan.Times(at.Subject.Kind, subject, settings(offer)), subject, at.Since, m.Clock.Now())
	var list []store.Message
	for _, t := range send {
		if subject.Email == "" {
			break
		}
		e := event.Event{BusinessID: at.BusinessID, Subject: at.Subject, At: subject.UpdatedAt, Sequence: subject.Sequence, Data: data}
		written, err := m.letters(ctx, offer, e, subject, []plan.Draft{t.Draft(at.Subject.ID, subject.Email)})
		if err != nil {
			return nil, nil, err
		}
		list = append(list, written...)
	}
	return list, timing(at.BusinessID, at.Subject, subject, next), nil
}
