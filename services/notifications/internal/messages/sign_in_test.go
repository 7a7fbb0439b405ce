package messages_test

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/notifications/internal/messages"
)

const signInLink = "https://book.example/b/harbor/mine/0123456789abcdefghijkl"

// addSignIn makes the booking service know a sign-in, and returns its id.
func (w *fixture) addSignIn(email string, isCustomer bool) uuid.UUID {
	id := uuid.New()
	w.peers.lockAndChange(func(p *fakePeers) {
		if p.signIns == nil {
			p.signIns = map[uuid.UUID]booking.SignIn{}
		}
		p.signIns[id] = booking.SignIn{Email: email, Locale: "pt", URL: signInLink,
			ExpiresAt: w.clock.Now().Add(booking.SignInLifetime), IsCustomer: isCustomer}
	})
	return id
}

func (w *fixture) queueSignIn(id uuid.UUID) {
	w.t.Helper()
	if err := w.messages.QueueSignIn(w.t.Context(), w.client, w.business, id); err != nil {
		w.t.Fatal(err)
	}
}

// readableText returns the decoded plain text of a mail, which is its first part.
func readableText(t *testing.T, m mailbox.Mail) string {
	t.Helper()
	parsed, err := mail.ReadMessage(bytes.NewReader(m.Raw))
	if err != nil {
		t.Fatal(err)
	}
	_, parameters, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	part, err := multipart.NewReader(parsed.Body, parameters["boundary"]).NextRawPart()
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(quotedprintable.NewReader(part))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSignInLinkGoesToKnownAddressesOnly shows that customers with bookings or with reservations get the link, that
// other addresses get no mail, and that neither the address nor the link is stored.
func TestSignInLinkGoesToKnownAddressesOnly(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{})
	w.peers.lockAndChange(func(p *fakePeers) { p.renters = []string{"renter@example.com"} })
	w.queueSignIn(w.addSignIn("stranger@example.com", false))
	w.queueSignIn(uuid.New()) // used or expired
	w.awaitIdle()
	w.queueSignIn(w.addSignIn("ada@example.com", true))
	w.queueSignIn(w.addSignIn("renter@example.com", false))
	w.awaitIdle()
	mails := w.awaitMails(2)
	to := map[string]bool{}
	for _, m := range mails {
		to[strings.Join(m.To, ",")] = true
		text := readableText(t, m)
		if !strings.Contains(text, signInLink) || !strings.Contains(text, "Harbor Studio") ||
			!strings.Contains(text, "As suas reservas") {
			t.Errorf("%s", text)
		}
	}
	if len(mails) != 2 || !to["ada@example.com"] || !to["renter@example.com"] {
		t.Errorf("mails to %v", to)
	}
	if found := testkit.FindInTables(t, w.pool, "ada@example.com", "renter@example.com", "stranger@example.com",
		"0123456789abcdefghijkl"); len(found) > 0 {
		t.Errorf("the tables hold %v", found)
	}
}

// TestSignInLinkIsRetriedWhileValid shows that a mail that the server does not accept now is sent later, but not after
// the booking service has no such sign-in any longer.
func TestSignInLinkIsRetriedWhileValid(t *testing.T) {
	t.Parallel()
	var attempts atomic.Int32
	w := newFixture(t, &mailbox.Options{Lose: func(mailbox.Mail) error {
		attempts.Add(1)
		return &smtp.SMTPError{Code: 450, Message: "not now for ada@example.com"}
	}})
	id := w.addSignIn("ada@example.com", true)
	w.queueSignIn(id)
	w.awaitIdle()
	w.clock.Advance(time.Minute)
	w.awaitIdle()
	if n := attempts.Load(); n != 2 {
		t.Errorf("%d attempts", n)
	}
	w.peers.lockAndChange(func(p *fakePeers) { delete(p.signIns, id) })
	w.clock.Advance(time.Minute)
	w.awaitIdle()
	w.await("completed", `SELECT state::text FROM river_job WHERE kind = 'send_sign_in_link'`)
	if n := attempts.Load(); n != 2 {
		t.Errorf("%d attempts, some after the link expired", n)
	}
	if found := testkit.FindInTables(t, w.pool, "ada@example.com"); len(found) > 0 {
		t.Errorf("the tables hold %v", found)
	}
}

func TestSignInLinkNeedsMailServer(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	id := w.addSignIn("ada@example.com", true)
	if err := w.messages.QueueSignIn(t.Context(), w.client, w.business, id); !errors.Is(err, messages.ErrNoServer) {
		t.Errorf("without a mail server: %v", err)
	}
	sandbox := newFixture(t, &mailbox.Options{})
	sandbox.peers.lockAndChange(func(p *fakePeers) { p.offer.Account.Sandbox = true })
	if err := sandbox.messages.QueueSignIn(t.Context(), sandbox.client, sandbox.business, id); !errors.Is(err,
		messages.ErrSandbox) {
		t.Errorf("of a sandbox: %v", err)
	}
}
