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
	// maxAttemptTime is how long the service attempts to send a message. The time starts with the first attempt, or
	// with the first attempt after a retry by the owner.
	maxAttemptTime = 24 * time.Hour
	// minPause and maxPause are the limits of the pause before an attempt. Between these limits, the pause is half of
	// the time since the first attempt. There are about thirty attempts a day.
	minPause = 30 * time.Second
	maxPause = time.Hour
	// waitDivisor divides the usual pause if a message waits for an earlier message. Such a wait normally takes
	// seconds, so the next attempt can follow sooner.
	waitDivisor = 20
)

// computePause returns the pause before the next attempt. The argument `elapsed` is the time since the first attempt.
// The argument `chance`, in [0, 1), varies the pause, so that messages that failed together are not retried together.
func computePause(elapsed time.Duration, chance float64) time.Duration {
	interval := min(max(elapsed/2, minPause), maxPause)
	return time.Duration(float64(interval) * (0.9 + 0.2*chance))
}

type sender struct {
	river.WorkerDefaults[sendJob]
	m *Messages
}

// Work makes one attempt at a message. The transaction that ends the job stores the result. If the process dies after
// the mail server accepted the message and before the commit, the message is sent twice.
func (w *sender) Work(ctx context.Context, job *river.Job[sendJob]) error {
	message, err := w.m.Store.BeginSending(ctx, w.m.newSendRequest(job.Args))
	var (
		other *store.StatusError
		held  *store.LimitError
	)
	switch {
	case errors.Is(err, store.ErrNotFound), errors.As(err, &other): // erased, or its status allows no attempt
		return nil
	case errors.Is(err, store.ErrOutdated):
		w.m.countOutcome(ctx, message.Kind, outcomeReplaced)
		return nil
	case errors.As(err, &held):
		return w.postpone(ctx, message, held)
	case errors.Is(err, store.ErrMustWait):
		return river.JobSnooze(computePause(w.m.Clock.Now().Sub(message.QueuedAt), rand.Float64()) / waitDivisor)
	case err != nil:
		return err
	}
	end := store.SendResult{BusinessID: message.BusinessID, ID: message.ID, Status: store.MessageNotSent,
		Reason: reasonNoServer}
	if w.m.Sender != nil {
		end.Status, end.Reason = w.attempt(ctx, message)
	}
	if end.Status == store.MessageSent && w.m.IsPreview {
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
		return river.JobSnooze(computePause(end.Now.Sub(message.QueuedAt), rand.Float64()))
	}
	return err
}

// The reasons, as owners read them, why a message is not sent.
const (
	reasonNoServer = "There is no mail server (SMTP_URL)."
	reasonSandbox  = "The business is a sandbox."
)

// newSendRequest returns the request to begin an attempt at the message of a job, with the limits of the job's
// business.
func (m *Messages) newSendRequest(job sendJob) store.SendRequest {
	limits := m.Limits
	if n, ok := limits.MaxBusinessDays[job.BusinessID.String()]; ok {
		limits.MaxBusinessDay = n
	}
	return store.SendRequest{
		BusinessID: job.BusinessID, ID: job.MessageID, Now: m.Clock.Now(), ReplaceableKinds: plan.ReplaceableKinds(),
		NewestOnlyKinds: []string{string(letter.OwnerNotice)}, MaxPerHour: limits.MaxRecipientHour,
		MaxPerDay:      limits.MaxRecipientDay,
		MaxBusinessDay: limits.MaxBusinessDay, MaxCustomersDay: max(1, limits.MaxBusinessDay*limits.CustomersShare/100),
	}
}

// heldSpread is the time over which the attempts at a business's held messages are spread after the limit of the
// business ends. The limit then allows one message at a time, so simultaneous attempts at all held messages would fail
// again.
const heldSpread = 10 * time.Minute

// postpone makes a job wait until the limit allows the job's message.
func (w *sender) postpone(ctx context.Context, message store.Message, held *store.LimitError) error {
	if held.IsFirst {
		w.m.countOutcome(ctx, message.Kind, outcomeHeld)
		w.m.Telemetry.Logger.WarnContext(ctx, "a message waits, because a limit is reached", "business_id",
			message.BusinessID,
			"message_id", message.ID,
			"kind", message.Kind, "limit", string(held.Limit), "until", held.Until)
	}
	wait := max(held.Until.Sub(w.m.Clock.Now()), time.Second)
	if held.Limit == store.BusinessLimit {
		wait += time.Duration(rand.Float64() * float64(heldSpread))
	}
	return river.JobSnooze(wait)
}

// attempt sends a message if it is not outdated ([Messages.checkTimely]). It returns the message's new status and the
// reason for that status. The log and the metric contain no address.
func (w *sender) attempt(ctx context.Context, message store.Message) (string, string) {
	err := w.m.checkTimely(ctx, message)
	if err == nil {
		offer, _ := w.m.Peers.Offer(ctx, message.BusinessID) // without it, the message has no logo and no decision links
		message = w.m.addDecisionLink(ctx, offer, message)
		var composed mail.Message
		composed, err = addCodes(mail.Message{
			ID: message.ID.String(), Thread: message.About.ID.String(), Date: message.CreatedAt,
			FromName: message.FromName, To: message.Recipient,
			ReplyTo: message.ReplyTo, Language: message.Locale, Subject: message.Subject, Text: message.Text,
			HTML: message.HTML, Calendar: message.Calendar, Method: message.Method,
		}, message.About.ID)
		if err == nil {
			err = w.m.send(ctx, offer, composed)
		}
	}
	var refusal *mail.RefusedError
	elapsed := w.m.Clock.Now().Sub(message.QueuedAt)
	status, outcome, reason := store.MessageQueued, outcomeUnsent, ""
	switch {
	case err == nil:
		w.m.countOutcome(ctx, message.Kind, outcomeSent)
		return store.MessageSent, ""
	case errors.As(err, &refusal):
		status, outcome, reason = store.MessageFailed, outcomeRefused, refusal.Reason
	case elapsed >= maxAttemptTime:
		status, outcome, reason = store.MessageFailed, outcomeGivenUp, "Not taken for 24 hours: "+err.Error()
	default:
		reason = err.Error()
	}
	w.m.countOutcome(ctx, message.Kind, outcome)
	w.m.Telemetry.Logger.WarnContext(ctx, "a message was not sent", "business_id", message.BusinessID, "message_id",
		message.ID, "kind", message.Kind,
		"outcome", outcome, "attempts", message.Attempts)
	return status, reason
}
