package messages

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// sendJob holds the arguments of the job that sends a message.
type sendJob struct {
	BusinessID uuid.UUID `json:"business_id"`
	MessageID  uuid.UUID `json:"message_id"`
}

func (sendJob) Kind() string                 { return "send_message" }
func (sendJob) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: queueSend} }

const (
	// triedFor is how long attempts at a message are made, counted from the first attempt, or from the
	// first one after a retry by the owner.
	triedFor = 24 * time.Hour
	// The limits of the pause before an attempt. The pause is half of the time since the first attempt,
	// within these limits. This makes about thirty attempts a day.
	pauseLeast = 30 * time.Second
	pauseMost  = time.Hour
	// waitShare shortens the pause of a message that waits for another one: the usual pause is divided by
	// it, because such waits normally take seconds.
	waitShare = 20
)

// pause returns the time to the next attempt. The argument tried is the time since the first attempt.
// chance, in [0, 1), varies the pause, so that messages that failed together are not retried together.
func pause(tried time.Duration, chance float64) time.Duration {
	between := min(max(tried/2, pauseLeast), pauseMost)
	return time.Duration(float64(between) * (0.9 + 0.2*chance))
}

type sender struct {
	river.WorkerDefaults[sendJob]
	m *Messages
}

// Work makes one attempt at a message. The transaction that ends the job stores the result. If the
// process dies between the mail server's acceptance and that commit, the message is sent twice.
func (w *sender) Work(ctx context.Context, job *river.Job[sendJob]) error {
	message, err := w.m.Store.BeginSending(ctx, w.m.sending(job.Args))
	var (
		other *store.StatusError
		held  *store.HeldError
	)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.As(err, &other): // erased, or done
		return nil
	case errors.Is(err, store.ErrOutdated):
		w.m.count(ctx, message.Kind, replaced)
		return nil
	case errors.As(err, &held):
		return w.hold(ctx, message, held)
	case errors.Is(err, store.ErrWaits):
		return river.JobSnooze(pause(w.m.Clock.Now().Sub(message.QueuedAt), rand.Float64()) / waitShare)
	case err != nil:
		return err
	}
	end := store.Outcome{BusinessID: message.BusinessID, ID: message.ID, Status: store.MessageNotSent,
		Reason: reasonNoServer}
	if w.m.Sender != nil {
		end.Status, end.Reason = w.attempt(ctx, message)
	}
	if end.Status == store.MessageSent && w.m.Preview {
		end.Status, end.Reason = store.MessageNotSent, reasonNoServer
	}
	end.Now = w.m.Clock.Now()
	err = pgx.BeginFunc(ctx, w.m.Pool, func(tx pgx.Tx) error {
		if err := w.m.Store.EndSending(ctx, tx, end); err != nil {
			return err
		}
		if end.Status == store.MessageQueued {
			return nil
		}
		_, err := river.JobCompleteTx[*riverpgxv5.Driver](ctx, tx, job)
		return err
	})
	if err == nil && end.Status == store.MessageQueued {
		return river.JobSnooze(pause(end.Now.Sub(message.QueuedAt), rand.Float64()))
	}
	return err
}

// Reasons, for owners, why messages are not sent.
const (
	reasonNoServer = "There is no mail server (SMTP_URL)."
	reasonSandbox  = "The business is a sandbox."
)

// sending returns the request to begin an attempt at the message of a job, with the limits of its business.
func (m *Messages) sending(job sendJob) store.Sending {
	limits := m.Limits
	if n, ok := limits.BusinessDays[job.BusinessID.String()]; ok {
		limits.BusinessDay = n
	}
	return store.Sending{
		BusinessID: job.BusinessID, ID: job.MessageID, Now: m.Clock.Now(), Replaceable: plan.Replaceable(),
		Newest: []string{string(letter.OwnerNotice)}, PerHour: limits.RecipientHour, PerDay: limits.RecipientDay,
		BusinessDay: limits.BusinessDay, CustomersDay: max(1, limits.BusinessDay*limits.CustomersShare/100),
	}
}

// heldApart is the time over which attempts are spread when the limit of the business ends. Each time the limit
// allows a message, only one of the held messages can be sent, so attempts at the same time would be useless.
const heldApart = 10 * time.Minute

// hold snoozes a job until the limit allows its message.
func (w *sender) hold(ctx context.Context, message store.Message, held *store.HeldError) error {
	if held.First {
		w.m.count(ctx, message.Kind, heldBack)
		w.m.Telemetry.Logger.WarnContext(ctx, "a limit holds a message back", "business_id", message.BusinessID,
			"message_id", message.ID,
			"kind", message.Kind, "limit", string(held.Limit), "until", held.Until)
	}
	wait := max(held.Until.Sub(w.m.Clock.Now()), time.Second)
	if held.Limit == store.BusinessLimit {
		wait += time.Duration(rand.Float64() * float64(heldApart))
	}
	return river.JobSnooze(wait)
}

// attempt sends a message if it is still timely, and returns its
// new status and reason. The log and the metric contain no address.
func (w *sender) attempt(ctx context.Context, message store.Message) (string, string) {
	err := w.m.timely(ctx, message)
	if err == nil {
		err = w.m.Sender.Send(ctx, mail.Message{
			ID: message.ID.String(), Thread: message.About.ID.String(), Date: message.CreatedAt,
			FromName: message.FromName, To: message.Recipient,
			ReplyTo: message.ReplyTo, Language: message.Locale, Subject: message.Subject, Text: message.Text,
			HTML: message.HTML, Calendar: message.Calendar, Method: message.Method,
		})
	}
	var refusal *mail.RefusedError
	tried := w.m.Clock.Now().Sub(message.QueuedAt)
	status, outcome, reason := store.MessageQueued, unsent, ""
	switch {
	case err == nil:
		w.m.count(ctx, message.Kind, sent)
		return store.MessageSent, ""
	case errors.As(err, &refusal):
		status, outcome, reason = store.MessageFailed, refused, refusal.Reason
	case tried >= triedFor:
		status, outcome, reason = store.MessageFailed, givenUp, "Not taken for 24 hours: "+err.Error()
	default:
		reason = err.Error()
	}
	w.m.count(ctx, message.Kind, outcome)
	w.m.Telemetry.Logger.WarnContext(ctx, "a message was not sent", "business_id", message.BusinessID, "message_id",
		message.ID, "kind", message.Kind,
		"outcome", outcome, "attempts", message.Attempts)
	return status, reason
}
