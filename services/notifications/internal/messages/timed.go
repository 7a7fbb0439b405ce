package messages

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// timedJob holds the arguments of a job for messages that are due at a certain time, such as reminders. The job runs
// when a message about its subject may be due. It reads the current subject and the business's current settings, writes
// the messages that are due, and inserts the next job of this kind.
type timedJob struct {
	BusinessID uuid.UUID     `json:"business_id"`
	Subject    event.Subject `json:"subject"`
	TimeKey    string        `json:"fixed"` // plan.TimeKey of the subject; if it has changed, this job writes nothing
	Since      time.Time     `json:"since"` // messages that were due before this time are not sent
}

func (timedJob) Kind() string { return "timed_messages" }
func (timedJob) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueWrite, Priority: 2}
}

// newTimedJob returns a job that checks at the due time of the message `t` whether messages about the subject are due.
// If `t` is nil, newTimedJob returns nil.
func newTimedJob(businessID uuid.UUID, about event.Subject, subject plan.Subject,
	t *plan.TimedMessage) *river.InsertManyParams {
	if t == nil {
		return nil
	}
	return &river.InsertManyParams{
		Args: timedJob{BusinessID: businessID, Subject: about, TimeKey: plan.TimeKey(about.Kind, subject),
			Since: t.Due},
		InsertOpts: &river.InsertOpts{ScheduledAt: t.Due},
	}
}

type timer struct {
	river.WorkerDefaults[timedJob]
	m *Messages
}

// rereadPause is the pause before a subject is read again because a customer may have been erased during the first
// read.
const rereadPause = time.Second

// Work writes the messages that are due now about the job's subject.
func (w *timer) Work(ctx context.Context, job *river.Job[timedJob]) error {
	start, err := w.m.Store.DatabaseTime(ctx)
	if err != nil {
		return err
	}
	list, next, err := w.m.composeDue(ctx, job.Args)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, w.m.Pool, func(tx pgx.Tx) error {
		isCurrent, err := w.m.Store.LockErasure(ctx, tx, job.Args.BusinessID, start)
		if err != nil {
			return err
		}
		if !isCurrent {
			return river.JobSnooze(rereadPause)
		}
		if err := w.m.storeMessages(ctx, tx, list, next, job.Priority); err != nil {
			return err
		}
		_, err = river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
}

// readCurrent reads a business and one of its subjects in their current state. If the business or the subject no longer
// exists, it returns nil without an error.
func (m *Messages) readCurrent(ctx context.Context, businessID uuid.UUID,
	subject event.Subject) (*catalog.Snapshot, json.RawMessage, error) {
	offer, err := m.Peers.Offer(ctx, businessID)
	if err == nil {
		var data json.RawMessage
		if data, err = m.Peers.Subject(ctx, businessID, subject); err == nil {
			return offer, data, nil
		}
	}
	if fault.Is(err, fault.NotFound) || isRemoved(err) {
		return nil, nil, nil
	}
	return nil, nil, err
}

// uncheckedFor is the age below which a message is sent without a check by [Messages.checkTimely].
const uncheckedFor = time.Minute

// errOver means that a reminder, or another message that is due at a certain time, is outdated: its subject has begun,
// has ended, or was rescheduled or cancelled.
var errOver = &mail.RefusedError{Reason: "What it was to remind of had begun, was over, moved or cancelled before it " +
	"could be sent."}

// checkTimely checks before an attempt whether a timed message ([plan.IsTimed]) is still up to date, because the
// subject may have changed. checkTimely accepts all messages of other kinds, and messages younger than uncheckedFor.
// Errors: [errOver]; the errors of [Peers].
func (m *Messages) checkTimely(ctx context.Context, message store.Message) error {
	now := m.Clock.Now()
	if !plan.IsTimed(letter.Kind(message.Kind)) || now.Sub(message.CreatedAt) < uncheckedFor {
		return nil
	}
	offer, data, err := m.readCurrent(ctx, message.BusinessID, message.About)
	if err != nil {
		return err
	}
	if offer == nil {
		return errOver
	}
	subject, err := plan.ParseSubject(data)
	if err != nil {
		return err
	}
	if !plan.IsStillDue(plan.ComputeTimes(message.About.Kind, subject, newSettings(offer)), subject, message.EventID,
		message.About.ID,
		now) {
		return errOver
	}
	return nil
}

// composeDue returns the messages about a job's subject that are due now, and the next job that checks the subject.
func (m *Messages) composeDue(ctx context.Context, job timedJob) ([]store.Message, *river.InsertManyParams, error) {
	offer, data, err := m.readCurrent(ctx, job.BusinessID, job.Subject)
	if err != nil || offer == nil {
		return nil, nil, err
	}
	subject, err := plan.ParseSubject(data)
	if err != nil || plan.TimeKey(job.Subject.Kind, subject) != job.TimeKey {
		return nil, nil, err
	}
	send, next := plan.SelectDue(plan.ComputeTimes(job.Subject.Kind, subject, newSettings(offer)), subject, job.Since,
		m.Clock.Now())
	var list []store.Message
	for _, t := range send {
		if subject.Email == "" {
			break
		}
		e := event.Event{BusinessID: job.BusinessID, Subject: job.Subject, At: subject.UpdatedAt,
			Sequence: subject.Sequence, Data: data}
		written, err := m.composeChange(ctx, offer, plan.Change{Event: e, Subject: subject}, nil,
			[]plan.Draft{t.NewDraft(job.Subject.ID, subject.Email)})
		if err != nil {
			return nil, nil, err
		}
		list = append(list, written...)
	}
	return list, newTimedJob(job.BusinessID, job.Subject, subject, next), nil
}
