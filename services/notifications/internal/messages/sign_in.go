package messages

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
)

// signInJob holds the arguments of the job that mails the one-time link of a customer's sign-in. They do not contain
// the address, which the booking service stores.
type signInJob struct {
	BusinessID uuid.UUID `json:"business_id"`
	SignInID   uuid.UUID `json:"sign_in_id"`
}

func (signInJob) Kind() string                 { return "send_sign_in_link" }
func (signInJob) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: queueSend} }

// QueueSignIn inserts a job that mails the link of a customer's sign-in. The caller's answer must not show whether the
// business knows the address; therefore only the job finds it out. Errors: [ErrNoServer]; [ErrSandbox]; the faults of
// [Peers].
func (m *Messages) QueueSignIn(ctx context.Context, jobs Inserter, businessID, id uuid.UUID) error {
	if m.Sender == nil {
		return ErrNoServer
	}
	offer, err := m.Peers.Offer(ctx, businessID)
	if err != nil {
		return err
	}
	if offer.Account.Sandbox {
		return ErrSandbox
	}
	return pgx.BeginFunc(ctx, m.Pool, func(tx pgx.Tx) error {
		_, err := jobs.InsertManyFastTx(ctx, tx,
			[]river.InsertManyParams{{Args: signInJob{BusinessID: businessID, SignInID: id}}})
		return err
	})
}

type signInSender struct {
	river.WorkerDefaults[signInJob]
	m *Messages
}

// Work mails the link of a sign-in if the business knows the address. It stores nothing. If the mail server does not
// accept the mail now, attempts continue until the link expires: the booking service then no longer has the sign-in. If
// the process dies after the mail server accepted the mail, the mail is sent again with the same link.
func (w *signInSender) Work(ctx context.Context, job *river.Job[signInJob]) error {
	business := job.Args.BusinessID
	in, err := w.m.Peers.SignIn(ctx, business, job.Args.SignInID)
	if fault.Is(err, fault.NotFound) { // used, expired or erased
		return nil
	}
	if err != nil {
		return err
	}
	offer, err := w.m.Peers.Offer(ctx, business)
	if fault.Is(err, fault.BusinessNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	isKnown := in.IsCustomer
	if !isKnown {
		if isKnown, err = w.m.Peers.HasReservations(ctx, business, in.Email); err != nil {
			return err
		}
	}
	if !isKnown {
		return nil
	}
	return w.send(ctx, offer, job.Args, in)
}

// send makes one attempt at the mail. The error is nil if no further attempt is necessary. The log, the metric and the
// error contain no address.
func (w *signInSender) send(ctx context.Context, offer *catalog.Snapshot, job signInJob, in *booking.SignIn) error {
	l, err := letter.RenderSignIn(in.Locale, w.m.newBusiness(offer, locale.RegionOf(offer.Timezone)), in.URL)
	if err != nil { // without PAGES_URL, the booking service shows no links
		w.report(ctx, job, outcomeUnwritten)
		return nil
	}
	err = w.m.send(ctx, offer, mail.Message{
		ID: job.SignInID.String(), Date: w.m.Clock.Now(), FromName: l.From, To: in.Email,
		ReplyTo: offer.Notifications.ReplyTo, Language: l.Language, Subject: l.Subject, Text: l.Text, HTML: l.HTML,
	})
	var refusal *mail.RefusedError
	switch {
	case err == nil:
		w.m.countOutcome(ctx, string(letter.SignIn), outcomeSent)
		return nil
	case errors.As(err, &refusal):
		w.report(ctx, job, outcomeRefused)
		return nil
	}
	w.report(ctx, job, outcomeUnsent)
	return river.JobSnooze(computePause(0, rand.Float64()))
}

func (w *signInSender) report(ctx context.Context, job signInJob, outcome string) {
	w.m.countOutcome(ctx, string(letter.SignIn), outcome)
	w.m.Telemetry.Logger.WarnContext(ctx, "the link to a customer's bookings was not sent", "business_id",
		job.BusinessID, "sign_in_id", job.SignInID, "outcome", outcome)
}
