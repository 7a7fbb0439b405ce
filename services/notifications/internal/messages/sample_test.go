package messages_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
)

// TestPreviewWritesEveryKind shows that every kind of message can be written with sample facts, even for a business
// that offers nothing yet, and that the texts of the request replace the published ones.
func TestPreviewWritesEveryKind(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	intro, note := "Dear {customer_name}, see you on {date}!", "Bring a towel."
	for _, kind := range append(manifest.MessageKinds(), string(letter.OwnerNotice)) {
		l, err := w.messages.Preview(t.Context(), w.business,
			notifications.SampleMessage{Kind: kind, Intro: &intro, Note: &note})
		if err != nil || l.Subject == "" || !strings.Contains(l.Text, "Harbor Studio") {
			t.Errorf("%s: %+v, %v", kind, l, err)
		}
		hasOwnWords := strings.Contains(l.Text, "see you on") && strings.Contains(l.Text, note)
		if hasOwnWords == (kind == string(letter.OwnerNotice)) {
			t.Errorf("%s has the own words: %t\n%s", kind, hasOwnWords, l.Text)
		}
	}
}

// TestSendTestMailsOneAddress shows that a test message goes to the given address only, says in its subject line
// and in its text that it is a test, has no calendar entry, and is not stored.
func TestSendTestMailsOneAddress(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{})
	test := notifications.TestMessage{To: "ana@example.com",
		SampleMessage: notifications.SampleMessage{Kind: string(letter.BookingConfirmed), Language: "pt"}}
	result, err := w.messages.SendTest(t.Context(), w.business, test)
	if err != nil || result.Status != notifications.MessageSent || result.Recipient != test.To ||
		!strings.HasPrefix(result.Subject, "Teste: ") {
		t.Fatalf("%+v, %v", result, err)
	}
	mails := w.awaitMails(1)
	if len(mails) != 1 || len(mails[0].To) != 1 || mails[0].To[0] != test.To ||
		strings.Contains(string(mails[0].Raw), "text/calendar") ||
		!strings.Contains(string(mails[0].Raw), "Teste com dados de exemplo.") || parseSubjectLine(t, mails[0]) != result.Subject {
		t.Errorf("%+v", mails)
	}
	if found := testkit.FindInTables(t, w.pool, "ana@example.com", "Maria Lopes"); len(found) > 0 {
		t.Errorf("the tables hold %v", found)
	}
}
