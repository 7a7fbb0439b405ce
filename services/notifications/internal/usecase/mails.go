package usecase

import (
	"context"
	"errors"
	"log/slog"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
	"github.com/slotmesh/slotmesh/services/notifications/internal/messages"
)

// Mails sends mails about the accounts of people. The links in these mails are secrets, so the service neither stores
// these mails nor shows them to anyone.
type Mails struct {
	Sender messages.Sender // nil if no mail server is configured
	Clock  clock.Clock
	Logger *slog.Logger
}

// Send sends a mail to the mail server. Faults: invalid_parameter; conflict if no mail server is configured, or if the
// server rejects this mail, for now or permanently; service_unavailable if the mail server does not respond.
//
// If the server rejects the recipient, the fault is conflict and not service_unavailable: after service_unavailable,
// callers would stop calling notifications, although the server may accept other mails.
func (m *Mails) Send(ctx context.Context, body notifications.Mail) error {
	l, err := letter.RenderPlain(letter.Plain{
		From: body.FromName, Language: body.Language, Subject: body.Subject, Paragraphs: body.Paragraphs,
		Button: body.Button, Link: body.Link, Reason: body.Reason,
	})
	if err != nil {
		return request.Invalid("%v", err)
	}
	if m.Sender == nil {
		return fault.New(fault.Conflict, "There is no mail server (SMTP_URL).")
	}
	id := uuid.New()
	err = m.Sender.Send(ctx, mail.Message{
		ID: id.String(), Date: m.Clock.Now(), FromName: body.FromName, To: body.To, Language: l.Language,
		Subject: l.Subject, Text: l.Text, HTML: l.HTML,
	})
	if err == nil {
		return nil
	}
	m.Logger.WarnContext(ctx, "a mail about an account was not sent", "mail_id", id)
	return convertMailError(err)
}

// convertMailError converts an error of the mail server to a fault. It returns a fault unchanged.
func convertMailError(err error) error {
	if _, isFault := errors.AsType[*fault.Error](err); isFault {
		return err
	}
	var refusal *mail.RefusedError
	if errors.As(err, &refusal) {
		return fault.Wrap(fault.Conflict, err, "The mail server refuses this mail.")
	}
	var unsent *mail.UnsentError
	if errors.As(err, &unsent) && unsent.WasAnswered {
		return fault.Wrap(fault.Conflict, err, "The mail server does not take this mail now; try again later.")
	}
	return fault.Wrap(fault.PeerUnavailable, err, "The mail server has not taken the mail; try again later.")
}
