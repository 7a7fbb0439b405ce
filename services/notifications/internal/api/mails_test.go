package api_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
)

// fakeSender is a mail sender that keeps the last mail, and returns err.
type fakeSender struct {
	last mail.Message
	err  error
}

func (s *fakeSender) Send(_ context.Context, m mail.Message) error {
	s.last = m
	return s.err
}

func TestMailsSendStoresNothing(t *testing.T) {
	t.Parallel()
	server := &fakeSender{}
	p := newFixture(t, server)
	mails := &usecase.Mails{Sender: server, Clock: clock.Fixed(monday), Logger: telemetry.Discard().Logger}
	body := notifications.Mail{
		To: "ana@example.com", FromName: "Harbour\r\nBcc: all@example.com", Language: "ar",
		Subject:    "Choose a password",
		Paragraphs: []string{"<b>First</b>", "Second"}, Button: "Choose",
		Link: "https://owner.example.com/sign-in/password/0123abcd", Reason: "It is about your account.",
	}
	if err := mails.Send(t.Context(), body); err != nil {
		t.Fatal(err)
	}
	got := server.last
	if got.To != body.To || !strings.Contains(got.Text, "Second") || !strings.Contains(got.Text, body.Link) ||
		!strings.Contains(got.HTML, "&lt;b&gt;First") || !strings.HasPrefix(got.Text, "Slotmesh\n") ||
		!strings.Contains(got.Text, "Harbour Bcc: all@example.com") ||
		!strings.HasSuffix(got.Text, "\nIt is about your account.\n") ||
		!strings.Contains(got.HTML, `dir="rtl"`) || got.ID == "" || !got.Date.Equal(monday) {
		t.Errorf("%+v", got)
	}
	if found := testkit.FindInTables(t, p.pool, "0123abcd", "ana@example.com"); len(found) > 0 {
		t.Errorf("the tables hold %v", found)
	}
	for _, link := range []string{"", "javascript:alert(1)", "/sign-in"} {
		invalid := body
		invalid.Link = link
		if err := mails.Send(t.Context(), invalid); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("the link %q: %v", link, err)
		}
	}
}

func TestMailsSendReturnsFaultOfMailServer(t *testing.T) {
	t.Parallel()
	body := notifications.Mail{To: "ana@example.com", FromName: "Slotmesh", Language: "en", Subject: "S",
		Paragraphs: []string{"P"}, Button: "B", Link: "https://owner.example.com/"}
	for name, c := range map[string]struct {
		err  error
		want fault.Kind
	}{
		"refused":            {&mail.RefusedError{Reason: "550"}, fault.Conflict},
		"later":              {&mail.UnsentError{Reason: "450", WasAnswered: true}, fault.Conflict},
		"the server is away": {&mail.UnsentError{Reason: "no session with the mail server"}, fault.PeerUnavailable},
		"broken":             {errors.New("x"), fault.PeerUnavailable},
	} {
		mails := &usecase.Mails{Sender: &fakeSender{err: c.err}, Clock: clock.Fixed(monday),
			Logger: telemetry.Discard().Logger}
		if err := mails.Send(t.Context(), body); !fault.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	mails := &usecase.Mails{Clock: clock.Fixed(monday), Logger: telemetry.Discard().Logger}
	if err := mails.Send(t.Context(), body); !fault.Is(err, fault.Conflict) {
		t.Errorf("without a mail server: %v", err)
	}
}
