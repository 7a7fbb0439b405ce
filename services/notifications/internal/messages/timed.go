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

// timedJob holds the arguments of a job for messages that are due at a time, such as reminders. The
// job runs when a message about the subject may be due, writes the due ones, and inserts the next such
// job. It reads the subject and the business's settings when it runs.
type timedJob struct {
	BusinessID uuid.UUID     `json:"business_id"`
	Subject    event.Subject `json:"subject"`
	Fixed      string        `json:"fixed"` // plan.Fixed of the subject; if it changed, other jobs check it
	Since      time.Time     `json:"since"` // messages due before it are not sent
}

func (timedJob) Kind() string { return "timed_messages" }
func (timedJob) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueWrite, Priority: 2}
}

// timing returns a job that checks the subject at the time of t, or nil if t is nil.
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

// readAgain is the pause before a subject is read again because its customer may have been erased during the read.
const readAgain = time.Second

// Work writes the messages about a subject that are due now.
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

// present reads a business and one of its subjects in their present state. It returns nil if either no longer exists.
func (m *Messages) present(ctx context.Context, businessID uuid.UUID,
	of event.Subject) (*catalog.Offer, json.RawMessage, error) {
	offer, err := m.Peers.Offer(ctx, businessID)
	if err == nil {
		var data json.RawMessage
		if data, err = m.Peers.Subject(ctx, businessID, of); err == nil {
			return offer, data, nil
		}
	}
	if fault.Is(err, fault.NotFound) || isGone(err) {
		return nil, nil, nil
	}
	return nil, nil, err
}

// judgedFor is the time after writing for which a reminder counts as still valid without a check.
const judgedFor = time.Minute

// errOver means that the subject of a reminder has begun, is over, or was rescheduled or cancelled.
var errOver = &mail.RefusedError{Reason: "What it was to remind of had begun, was over, moved or cancelled before it " +
	"could be sent."}

// timely checks before an attempt whether a reminder may still be sent, because the subject may have changed. It
// skips messages of other kinds, and those written less than judgedFor ago. Errors: [errOver]; those of the peers.
func (m *Messages) timely(ctx context.Context, message store.Message) error {
	now := m.Clock.Now()
	if !plan.Waits(letter.Kind(message.Kind)) || now.Sub(message.CreatedAt) < judgedFor {
		return nil
	}
	offer, data, err := m.present(ctx, message.BusinessID, message.About)
	if err != nil {
		return err
	}
	if offer == nil {
		return errOver
	}
	subject, err := plan.Read(data)
	if err != nil {
		return err
	}
	if !plan.Holds(plan.Times(message.About.Kind, subject, settings(offer)), subject, message.EventID, message.About.ID,
		now) {
		return errOver
	}
	return nil
}

// due returns the messages about a subject that must be sent now, and the job that checks the subject next.
func (m *Messages) due(ctx context.Context, at timedJob) ([]store.Message, *river.InsertManyParams, error) {
	offer, data, err := m.present(ctx, at.BusinessID, at.Subject)
	if err != nil || offer == nil {
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
		e := event.Event{BusinessID: at.BusinessID, Subject: at.Subject, At: subject.UpdatedAt,
			Sequence: subject.Sequence, Data: data}
		written, err := m.letters(ctx, offer, plan.Change{Event: e, Subject: subject}, nil,
			[]plan.Draft{t.Draft(at.Subject.ID, subject.Email)})
		if err != nil {
			return nil, nil, err
		}
		list = append(list, written...)
	}
	return list, timing(at.BusinessID, at.Subject, subject, next), nil
}
