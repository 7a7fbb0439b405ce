package mail

import (
	"bytes"
	"mime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/values/message"
	letters "github.com/slotmesh/slotmesh/services/notifications/internal/letter"
)

// newFactsOfAllKinds returns facts for each kind of message and each notice.
func newFactsOfAllKinds() map[string]letters.Facts {
	list := map[string]letters.Facts{}
	add := func(kind letters.Kind, subject letters.SubjectKind, notice letters.Notice) {
		start := time.Date(2027, time.March, 5, 14, 5, 0, 0, time.UTC)
		money := letters.Money{Amount: "40.00", Currency: "EUR"}
		list[string(kind)+" "+string(notice)] = letters.Facts{
			Business: letters.Business{Name: "Zoë's Studio", Zone: time.UTC, ReplyTo: "hello@harbor.example"},
			Customer: letters.Person{Name: "Ada 山田", Email: "ada@example.com"},
			Subject: letters.Subject{
				Kind: subject, ID: "b1", Sequence: 3, Items: []string{"Haircut"}, Quantity: 2, Total: money,
				When: letters.When{Start: start, End: start.Add(time.Hour)},
			},
			FormerTime: &letters.When{Start: start.Add(time.Hour)}, Refund: &money,
			Payment: letters.Payment{Amount: money, Due: start}, Notice: notice,
			Webhook: letters.Webhook{URL: "https://harbor.example/hook"}, Link: "https://book.example/m/x",
			Note: letters.Note{Text: "Bring a towel.\n.\nFrom us"}, Stamp: writtenAt,
		}
	}
	for kind := range strings.FieldsSeq("booking_received booking_confirmed booking_moved booking_withdrawn booking_cancelled reminder payment_due payment_failed refunded") {
		add(letters.Kind(kind), letters.BookingSubject, "")
	}
	add(letters.Ticket, letters.TicketSubject, "")
	add(letters.TicketRescheduled, letters.TicketSubject, "")
	add(letters.TicketWithdrawn, letters.TicketSubject, "")
	add(letters.TicketCancelled, letters.TicketSubject, "")
	for kind := range strings.FieldsSeq("reservation reservation_withdrawn reservation_due reservation_cancelled") {
		add(letters.Kind(kind), letters.ReservationSubject, "")
	}
	for _, notice := range []letters.Notice{letters.NoticeCreated, letters.NoticeRescheduled, letters.NoticeCancelled,
		letters.NoticeWebhookDisabled} {
		add(letters.OwnerNotice, letters.BookingSubject, notice)
	}
	return list
}

// A mail program can parse every kind of message in every language.
func TestComposeWritesValidMessages(t *testing.T) {
	t.Parallel()
	sender, err := NewSender(Config{URL: "smtp://127.0.0.1", From: "no-reply@slotmesh.example", Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := message.Load()
	if err != nil {
		t.Fatal(err)
	}
	for name, facts := range newFactsOfAllKinds() {
		kind, _, _ := strings.Cut(name, " ")
		for _, code := range catalog.Languages() {
			l, err := letters.Render(letters.Kind(kind), code, facts)
			if err != nil {
				t.Fatalf("%s in %s: %v", name, code, err)
			}
			if fault := findDifference(t, sender, l); fault != "" {
				t.Errorf("%s in %s (-written +read):\n%s", name, code, fault)
			}
		}
	}
}

// findDifference composes a letter, parses the result, and describes the first difference. It returns
// "" if there is none.
func findDifference(t *testing.T, sender *Sender, l letters.Letter) string {
	t.Helper()
	msg, err := sender.compose(Message{
		ID: "m1", Date: writtenAt, FromName: "Zoë's Studio", To: "ada@example.com", Subject: l.Subject, Text: l.Text,
		HTML: l.HTML, Calendar: l.Calendar, Method: l.Method,
	})
	if err != nil {
		t.Fatal(err)
	}
	var raw bytes.Buffer
	if _, err := msg.WriteTo(&raw); err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(raw.String(), "\r\n") {
		if len(line) > 998 || strings.ContainsAny(line, "\r\n\x00") {
			return "invalid line in a message: " + line
		}
	}
	head, parts := parseMessage(t, raw.Bytes())
	subject, err := new(mime.WordDecoder).DecodeHeader(head.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	want := []part{{Type: "text/plain", Body: l.Text}, {Type: "text/html", Body: l.HTML}}
	if len(l.Calendar) > 0 {
		calendar := strings.ReplaceAll(string(l.Calendar), "\r\n", "\n")
		want = append(want, part{Type: "text/calendar", Method: l.Method, Body: calendar},
			part{Type: "application/ics", File: "booking.ics", Body: calendar})
	}
	return cmp.Diff(want, parts) + cmp.Diff(strings.Fields(l.Subject), strings.Fields(subject))
}
