package usecase

import (
	"context"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/messages"
)

// Samples shows and mails messages with sample facts, so that owners can see what their customers read.
type Samples struct {
	Messages *messages.Messages
	Logger   *slog.Logger
}

// maxSampleText is the maximal length of the texts in a sample, as in the manifest.
const maxSampleText = 2000

// Preview returns a sample message. Faults: invalid_parameter; business_not_found; service_unavailable.
func (s *Samples) Preview(ctx context.Context, businessID uuid.UUID,
	sample notifications.SampleMessage) (*notifications.MessagePreview, error) {
	if err := checkSample(sample); err != nil {
		return nil, err
	}
	l, err := s.Messages.Preview(ctx, businessID, sample)
	if err != nil {
		return nil, err
	}
	return &notifications.MessagePreview{Language: l.Language, Subject: l.Subject, Text: l.Text, HTML: l.HTML}, nil
}

// SendTest mails a sample message. Faults: invalid_parameter; conflict if no mail server is configured, if the business
// is a sandbox, or if the server rejects the mail; service_unavailable if the mail server does not respond.
func (s *Samples) SendTest(ctx context.Context, businessID uuid.UUID,
	test notifications.TestMessage) (*notifications.TestResult, error) {
	if err := checkSample(test.SampleMessage); err != nil {
		return nil, err
	}
	if !email.Valid(test.To) {
		return nil, request.Invalid("to: this is not an e-mail address.")
	}
	result, err := s.Messages.SendTest(ctx, businessID, test)
	if err == nil {
		return result, nil
	}
	converted := convertMailError(convertMessageError(err))
	s.Logger.WarnContext(ctx, "a test message was not sent", "business_id", businessID, "kind", test.Kind)
	return nil, converted
}

func checkSample(sample notifications.SampleMessage) error {
	if !letter.Kind(sample.Kind).IsKnown() {
		return request.Invalid("kind: %s is no kind of message; write one such as %s.", request.Quote(sample.Kind),
			letter.BookingConfirmed)
	}
	for _, text := range []*string{sample.Intro, sample.Note} {
		if text != nil && utf8.RuneCountInString(*text) > maxSampleText {
			return request.Invalid("intro, note: send at most %d characters.", maxSampleText)
		}
	}
	if sample.Intro != nil {
		if unknown := manifest.FindUnknownPlaceholder(*sample.Intro); unknown != "" {
			return request.Invalid("intro: it contains %s; the placeholders are %s.", request.Quote(unknown),
				strings.Join(manifest.IntroPlaceholders(), ", "))
		}
	}
	return nil
}
