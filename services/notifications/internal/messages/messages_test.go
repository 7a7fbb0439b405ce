package messages_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/messages"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// parseSubjectLine returns the decoded Subject header of a mail.
func parseSubjectLine(t *testing.T, m mailbox.Mail) string {
	t.Helper()
	parsed, err := mail.ReadMessage(bytes.NewReader(m.Raw))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	return subject
}

// newBookingWith returns a booking with additional fields.
func (w *fixture) newBookingWith(id uuid.UUID, status string, start time.Time, fields map[string]any) map[string]any {
	b := w.newBooking(id, status, start)
	maps.Copy(b, fields)
	return b
}

func newTicketWithStatus(status string) func(uuid.UUID) map[string]any {
	return func(id uuid.UUID) map[string]any {
		return map[string]any{"id": id, "status": status, "event_name": "Gala", "tier_name": "VIP",
			"date": "2027-12-31", "start_time": "20:00:00", "quantity": 2,
			"customer_name": "Ada", "customer_email": "ada@example.com", "created_at": monday}
	}
}

func newReservationWithStatus(status string) func(uuid.UUID) map[string]any {
	return func(id uuid.UUID) map[string]any {
		return map[string]any{"id": id, "status": status, "rental_name": "Kayak", "start_date": "2027-03-01",
			"end_date": "2027-03-01", "start_time": "08:00",
			"end_time": "10:00", "quantity": 2, "customer_name": "Ada", "customer_email": "ada@example.com",
			"created_at": monday, "updated_at": monday}
	}
}

// disableEndpoint inserts the job that sends the owner the notice about a disabled endpoint.
func (w *fixture) disableEndpoint() {
	w.t.Helper()
	err := pgx.BeginFunc(w.t.Context(), w.pool, func(tx pgx.Tx) error {
		params, err := w.messages.NewDisabledNotice(w.t.Context(), tx, w.business, uuid.New(),
			"https://hooks.example/a",
			true)
		if err != nil {
			return err
		}
		_, err = w.client.InsertManyFastTx(w.t.Context(), tx, []river.InsertManyParams{params})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// countSentByKind counts the stored messages by kind. It checks that each was sent once and arrived as
// it is stored.
func (w *fixture) countSentByKind(mails []mailbox.Mail) map[string]int {
	w.t.Helper()
	got := map[string]int{}
	for _, m := range w.listMessages() {
		got[m.Kind]++
		to := "ada@example.com"
		if m.Kind == "owner_notice" {
			to = "hello@harbor.example"
		}
		if m.Status != store.MessageSent || m.SentAt == nil || m.Attempts != 1 || m.Recipient != to ||
			m.FromName != "Harbor Studio" {
			w.t.Errorf("%s to %s is %s after %d attempts: %s", m.Kind, m.Recipient, m.Status, m.Attempts, m.Reason)
		}
		if hasLink := strings.Contains(m.Text, "https://book.example/m/"); hasLink != (m.Kind != "owner_notice") {
			w.t.Errorf("%s has the customer's link: %v", m.Kind, hasLink)
		}
		if !slices.ContainsFunc(mails, func(sent mailbox.Mail) bool {
			return bytes.Contains(sent.Raw, []byte("<"+m.ID.String()+"@slotmesh.example>")) &&
				parseSubjectLine(w.t, sent) == m.Subject && slices.Equal(sent.To, []string{m.Recipient})
		}) {
			w.t.Errorf("the stored %s has not arrived", m.Kind)
		}
	}
	return got
}

// newEventsOfAllTypes returns an event of each type that leads to messages, and the number of messages
// of each kind that are sent at once. The bookings start at the argument start.
func (w *fixture) newEventsOfAllTypes(start time.Time) ([]event.Event, map[string]int) {
	w.t.Helper()
	payment := map[string]any{"payment": map[string]any{"status": "open", "amount": 40.00, "refunded": 0,
		"due_at": monday.Add(time.Hour)}}
	refund := map[string]any{"payment": map[string]any{"status": "paid", "amount": 40.00, "refunded": 20.00,
		"refund": map[string]any{"amount": 20.00}}}
	former := map[string]any{"from": map[string]any{"starts_at": start.Add(-time.Hour), "ends_at": start}}
	bookingData := func(status string, more map[string]any) func(uuid.UUID) map[string]any {
		return func(id uuid.UUID) map[string]any { return w.newBookingWith(id, status, start, more) }
	}
	var events []event.Event
	kinds := map[string]int{}
	for _, e := range []struct {
		typ   event.Type
		about event.SubjectKind
		by    actor.Kind
		data  func(uuid.UUID) map[string]any
		kinds []string
	}{
		{event.BookingCreated, event.Booking, actor.APIKey, bookingData("pending", payment),
			[]string{"booking_received", "owner_notice"}},
		{event.BookingCreated, event.Booking, actor.Owner, bookingData("confirmed", nil),
			[]string{"booking_confirmed"}},
		{event.BookingConfirmed, event.Booking, actor.Owner, bookingData("confirmed", nil),
			[]string{"booking_confirmed"}},
		{event.BookingRescheduled, event.Booking, actor.Customer, bookingData("confirmed", former),
			[]string{"booking_moved", "owner_notice"}},
		{event.BookingWithdrawn, event.Booking, actor.System,
			bookingData("confirmed", map[string]any{"withdrawn": true}),
			[]string{"booking_withdrawn"}},
		{event.BookingCancelled, event.Booking, actor.Customer, bookingData("cancelled", refund),
			[]string{"booking_cancelled", "owner_notice"}},
		{event.PaymentFailed, event.Booking, actor.Provider, bookingData("pending", payment),
			[]string{"payment_failed"}},
		{event.PaymentRefunded, event.Booking, actor.Provider, bookingData("cancelled", refund), []string{"refunded"}},
		{event.TicketSold, event.Ticket, actor.Owner, newTicketWithStatus("sold"), []string{"ticket"}},
		{event.TicketRescheduled, event.Ticket, actor.System, newTicketWithStatus("sold"), []string{"ticket_moved"}},
		{event.TicketWithdrawn, event.Ticket, actor.System, newTicketWithStatus("sold"), []string{"ticket_withdrawn"}},
		{event.TicketCancelled, event.Ticket, actor.Owner, newTicketWithStatus("cancelled"),
			[]string{"ticket_cancelled"}},
		{event.ReservationCreated, event.Reservation, actor.Owner, newReservationWithStatus("reserved"),
			[]string{"reservation"}},
		{event.ReservationWithdrawn, event.Reservation, actor.System, newReservationWithStatus("reserved"),
			[]string{"reservation_withdrawn"}},
		{event.ReservationCancelled, event.Reservation, actor.Owner, newReservationWithStatus("cancelled"),
			[]string{"reservation_cancelled"}},
		// the reminder is due an hour before the end, which is now
		{event.ReservationPickedUp, event.Reservation, actor.Owner, newReservationWithStatus("picked_up"),
			[]string{"reservation_due"}},
	} {
		id := uuid.New()
		events = append(events, w.newEvent(e.typ, e.about, id, e.by, e.data(id)))
		for _, kind := range e.kinds {
			kinds[kind]++
		}
	}
	return events, kinds
}

// Every kind of message arrives once at its recipient, even if its event is taken several times.
func TestMessagesSendEachKindOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{})
	w.messages.Limits.MaxRecipientHour = 100 // one customer gets every kind
	events, want := w.newEventsOfAllTypes(monday.Add(48 * time.Hour))
	w.peers.lockAndChange(func(p *fakePeers) { p.offer.Notifications.RemindersHoursBefore = []int{48}; p.failures = 3 })
	want["reminder"] = 3 // for the three active bookings, which start in 48 hours
	want["payment_due"] = 1
	w.take(events...)
	w.disableEndpoint()
	want["owner_notice"]++
	w.take(events...) // as if the process died before it stored the cursor
	wantMails := 0
	for _, n := range want {
		wantMails += n
	}
	w.awaitMails(wantMails - 1)
	w.awaitIdle()
	w.clock.Advance(31 * time.Minute) // half of the time to pay has passed
	mails := w.awaitMails(wantMails)
	w.take(events...)
	w.awaitIdle()
	if got := w.box.Mails(); len(got) != wantMails {
		t.Errorf("%d mails, want %d", len(got), wantMails)
	}
	if diff := cmp.Diff(want, w.countSentByKind(mails)); diff != "" {
		t.Errorf("messages by kind (-want +got):\n%s", diff)
	}
	w.await("0", `SELECT count(*)::text FROM message_events`)
	w.await("0", `SELECT count(*)::text FROM river_job WHERE args::text LIKE '%ada@%' OR errors::text LIKE '%ada@%'`)
}

var calendarField = regexp.MustCompile(`(?m)^(UID|SEQUENCE|METHOD):(.*?)\r?$`)

// All messages about a booking have the same UID in calendars. Each message has a higher SEQUENCE than
// the message before it.
func TestMessagesOfBookingKeepOrder(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{})
	id := uuid.New()
	w.take(w.newEvent(event.BookingCreated, event.Booking, id, actor.Owner,
		w.newBooking(id, "pending", monday.Add(48*time.Hour))))
	w.await("0", `SELECT count(*)::text FROM message_events`) // events that are stored together become one message
	w.take(w.newEvent(event.BookingConfirmed, event.Booking, id, actor.Owner,
		w.newBooking(id, "confirmed", monday.Add(48*time.Hour))))
	w.await("0", `SELECT count(*)::text FROM message_events`)
	data := w.newBooking(id, "confirmed", monday.Add(72*time.Hour))
	data["from"] = map[string]any{"starts_at": monday.Add(48 * time.Hour), "ends_at": monday.Add(49 * time.Hour)}
	w.take(w.newEvent(event.BookingRescheduled, event.Booking, id, actor.Owner, data))
	w.await("0", `SELECT count(*)::text FROM message_events`)
	cancelled := w.newBooking(id, "cancelled", monday.Add(72*time.Hour))
	cancelled["cancel_reason"] = "Anna is ill.\nSorry!"
	w.take(w.newEvent(event.BookingCancelled, event.Booking, id, actor.Owner, cancelled))
	w.awaitMails(4) // each message waits for the one before it
	w.await("4", `SELECT count(*)::text FROM messages WHERE status = 'sent'`)
	var kinds, methods []string
	last := -1
	for _, m := range w.listMessages() {
		kinds = append(kinds, m.Kind)
		var sequence int
		for _, field := range calendarField.FindAllStringSubmatch(string(m.Calendar), -1) {
			switch field[1] {
			case "UID":
				if !strings.Contains(field[2], id.String()) {
					t.Errorf("%s: UID %s", m.Kind, field[2])
				}
			case "SEQUENCE":
				_, _ = fmt.Sscan(field[2], &sequence)
			case "METHOD":
				methods = append(methods, field[2])
			}
		}
		if len(m.Calendar) > 0 {
			if sequence <= last {
				t.Errorf("%s: SEQUENCE %d after %d", m.Kind, sequence, last)
			}
			last = sequence
		}
	}
	if text := w.listMessages()[3].Text; !strings.Contains(text, "Reason\n  Anna is ill.\n  Sorry!\n") {
		t.Errorf("the reason is not in\n%s", text)
	}
	if diff := cmp.Diff([]string{"booking_received", "booking_confirmed", "booking_moved", "booking_cancelled"},
		kinds); diff != "" {
		t.Errorf("kinds in order (-want +got):\n%s", diff)
	}
	if len(methods) < 3 || methods[len(methods)-1] != "CANCEL" || methods[0] != "REQUEST" {
		t.Errorf("methods %v", methods)
	}
	for i, m := range w.box.Mails() {
		if kept := w.listMessages()[i]; !bytes.Contains(m.Raw, []byte(kept.ID.String())) {
			t.Errorf("mail %d is not the %s", i+1, kept.Kind)
		}
	}
}

// TestMessageAboutNewAddressShowsBothAddresses shows that a customer gets a message with the former and the new address
// of the place, for a booking with a location and for one at the only place of a business.
func TestMessageAboutNewAddressShowsBothAddresses(t *testing.T) {
	t.Parallel()
	harbour := uuid.New()
	for name, location := range map[string]map[string]any{
		"location":   {"id": harbour, "kind": "place", "name": "Harbour"},
		"only place": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, &mailbox.Options{})
			w.peers.lockAndChange(func(p *fakePeers) {
				p.offer.Locations = []catalog.Location{{ID: harbour, Kind: catalog.KindPlace,
					Name: catalog.Label{Text: "Harbour"}, Address: postal.Address{Street: "Neuer Wall 2", City: "Hamburg"}}}
				if location != nil {
					p.offer.Locations = append(p.offer.Locations, catalog.Location{ID: uuid.New(), Kind: catalog.KindPlace})
				}
			})
			id, start := uuid.New(), monday.Add(48*time.Hour)
			data := w.newBooking(id, "confirmed", start)
			if location != nil {
				data["location"] = location
			}
			data["from"] = map[string]any{"starts_at": start, "ends_at": data["ends_at"],
				"location": map[string]any{"id": harbour, "kind": "place", "name": "Kai 1, 20457 Hamburg"}}
			w.take(w.newEvent(event.BookingRelocated, event.Booking, id, actor.System, data))
			w.awaitMails(1)
			w.await("0", `SELECT count(*)::text FROM message_events`)
			list := w.listMessages()
			if len(list) != 1 || list[0].Kind != "booking_moved" {
				t.Fatalf("messages: %+v", list)
			}
			for _, text := range []string{"Neuer Wall 2, Hamburg\n", "Previously\n  Kai 1, 20457 Hamburg\n", "The time stays the same."} {
				if !strings.Contains(list[0].Text, text) {
					t.Errorf("%q is not in\n%s", text, list[0].Text)
				}
			}
		})
	}
}

func TestMessagesWithoutServerAreNotSent(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	id := uuid.New()
	w.take(w.newEvent(event.BookingConfirmed, event.Booking, id, actor.Owner,
		w.newBooking(id, "confirmed", monday.Add(48*time.Hour))))
	w.await("not_sent", `SELECT status FROM messages`)
	kept := w.listMessages()[0]
	if kept.SentAt != nil || kept.Attempts != 0 || !strings.Contains(kept.Text, "Haircut") {
		t.Errorf("got %+v", kept)
	}
	w.await("0", `SELECT count(*)::text FROM river_job WHERE kind = 'send_message'`)
	if _, err := w.messages.Retry(testkit.AsSystem(t), w.client, w.business, kept.ID); !errors.Is(err,
		messages.ErrNoServer) {
		t.Errorf("sent again without a mail server: %v", err)
	}
}

func TestMessagesOfSandboxAreNotSent(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{})
	w.peers.lockAndChange(func(p *fakePeers) { p.offer.Account.Sandbox = true })
	id := uuid.New()
	w.take(w.newEvent(event.BookingConfirmed, event.Booking, id, actor.Owner,
		w.newBooking(id, "confirmed", monday.Add(48*time.Hour))))
	w.await("not_sent", `SELECT status FROM messages`)
	kept := w.listMessages()[0]
	if _, err := w.messages.Retry(testkit.AsSystem(t), w.client, w.business, kept.ID); !errors.Is(err,
		messages.ErrSandbox) {
		t.Errorf("a retry for a sandbox: %v", err)
	}
	w.await("0", `SELECT count(*)::text FROM river_job WHERE kind = 'send_message'`)
	w.peers.lockAndChange(func(p *fakePeers) { p.offer.Account.Sandbox = false })
	if _, err := w.messages.Retry(testkit.AsSystem(t), w.client, w.business, kept.ID); err != nil {
		t.Errorf("a retry after the business has left the sandbox: %v", err)
	}
	w.awaitMails(1)
}

func TestRetrySendsRefusedMessage(t *testing.T) {
	t.Parallel()
	var isOpen atomic.Bool
	w := newFixture(t, &mailbox.Options{Refuse: func(string) error {
		if isOpen.Load() {
			return nil
		}
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such user"}
	}})
	id := uuid.New()
	w.take(w.newEvent(event.BookingConfirmed, event.Booking, id, actor.Owner,
		w.newBooking(id, "confirmed", monday.Add(48*time.Hour))))
	w.await("failed", `SELECT status FROM messages`)
	kept := w.listMessages()[0]
	if kept.Attempts != 1 || !strings.Contains(kept.Reason, "No such user") {
		t.Errorf("got %d attempts, %q", kept.Attempts, kept.Reason)
	}
	isOpen.Store(true)
	if _, err := w.messages.Retry(testkit.AsSystem(t), w.client, w.business, kept.ID); err != nil {
		t.Fatal(err)
	}
	w.awaitMails(1)
	w.await("sent", `SELECT status FROM messages`)
	var status *store.StatusError
	if _, err := w.messages.Retry(testkit.AsSystem(t), w.client, w.business, kept.ID); !errors.As(err, &status) ||
		status.Status != store.MessageSent {
		t.Errorf("a retry of a sent message: %v", err)
	}
	if _, err := w.messages.Retry(testkit.AsSystem(t), w.client, w.business, uuid.New()); !errors.Is(err,
		store.ErrNotFound) {
		t.Errorf("a retry of an unknown message: %v", err)
	}
	if _, err := w.messages.Retry(testkit.AsSystem(t), w.client, uuid.New(), kept.ID); !errors.Is(err,
		store.ErrNotFound) {
		t.Errorf("a message of another business: %v", err)
	}
}

// A message is retried for a day. Later messages about the same booking wait for it; other messages do
// not.
func TestSenderRetriesForADay(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{Refuse: func(to string) error {
		if to == "ada@example.com" {
			return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "Greylisted"}
		}
		return nil
	}})
	id := uuid.New()
	data := w.newBooking(id, "confirmed", monday.Add(48*time.Hour))
	w.take(w.newEvent(event.BookingConfirmed, event.Booking, id, actor.Owner, data))
	w.await("1",
		`SELECT attempts::text FROM messages WHERE recipient = 'ada@example.com' AND kind = 'booking_confirmed' AND reason <> ''`)
	w.take(w.newEvent(event.BookingCancelled, event.Booking, id, actor.Owner,
		w.newBooking(id, "cancelled", monday.Add(48*time.Hour))))
	w.await("0", `SELECT count(*)::text FROM message_events`)
	other := uuid.New()
	data = w.newBooking(other, "confirmed", monday.Add(48*time.Hour))
	data["customer_email"] = "bob@example.com"
	w.take(w.newEvent(event.BookingConfirmed, event.Booking, other, actor.Owner, data))
	w.awaitMails(1)
	for _, m := range w.listMessages() {
		if m.Kind == "booking_cancelled" && m.Attempts != 0 || m.Recipient == "ada@example.com" &&
			m.Status != store.MessageQueued {
			t.Errorf("%s is %s after %d attempts", m.Kind, m.Status, m.Attempts)
		}
	}
	w.awaitIdle() // the retry is scheduled relative to the current clock
	w.clock.Advance(24*time.Hour - time.Minute)
	w.await("2",
		`SELECT attempts::text FROM messages WHERE recipient = 'ada@example.com' AND kind = 'booking_confirmed'`)
	w.awaitIdle()
	w.await("queued", `SELECT status FROM messages WHERE recipient = 'ada@example.com' AND kind = 'booking_confirmed'`)
	w.clock.Advance(2 * time.Hour)
	w.await("failed", `SELECT status FROM messages WHERE recipient = 'ada@example.com' AND kind = 'booking_confirmed'`)
	if m := w.listMessages()[0]; !strings.HasPrefix(m.Reason, "Not taken for 24 hours: ") || !strings.Contains(m.Reason,
		"Greylisted") {
		t.Errorf("the reason is %q", m.Reason)
	}
}

// The jobs of a business that brings thousands of events come after those of one that brings few.
func TestBacklogOfBusinessDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.peers.lockAndChange(func(p *fakePeers) { p.failures = 1 << 30 }) // no message is written in the meantime
	var many []event.Event
	for range 2500 {
		id := uuid.New()
		many = append(many, w.newEvent(event.BookingConfirmed, event.Booking, id, actor.Owner,
			w.newBooking(id, "confirmed", monday.Add(48*time.Hour))))
	}
	for page := range slices.Chunk(many, 200) {
		w.take(page...)
	}
	w.business = uuid.New()
	id := uuid.New()
	w.take(w.newEvent(event.BookingConfirmed, event.Booking, id, actor.Owner,
		w.newBooking(id, "confirmed", monday.Add(48*time.Hour))))
	rows, _ := w.pool.Query(t.Context(), `SELECT args->>'business_id' = $1, priority FROM river_job WHERE kind = 'write_messages' ORDER BY id DESC LIMIT 200`, w.business.String())
	few, last := 0, 0
	var isFew bool
	var priority int
	if _, err := pgx.ForEachRow(rows, []any{&isFew, &priority}, func() error {
		if isFew {
			few = priority
		} else {
			last = priority
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if few != 1 || last != 4 {
		t.Errorf("the priority is %d for a business with one message, and %d for a business with thousands", few, last)
	}
}

func TestEraseCustomerDeletesMessages(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	past, future := uuid.New(), uuid.New()
	w.take(w.newEvent(event.BookingCreated, event.Booking, past, actor.APIKey,
		w.newBooking(past, "confirmed", monday.Add(-48*time.Hour))),
		w.newEvent(event.BookingCreated, event.Booking, future, actor.APIKey,
			w.newBooking(future, "confirmed", monday.Add(48*time.Hour))))
	w.await("4", `SELECT count(*)::text FROM messages`) // both to the customer and to the owner
	w.peers.lockAndChange(func(p *fakePeers) { p.failures = 1 << 30 })
	w.take(w.newEvent(event.BookingCompleted, event.Booking, past, actor.Owner,
		w.newBooking(past, "completed", monday.Add(-48*time.Hour))),
		w.newEvent(event.BookingCancelled, event.Booking, past, actor.Owner,
			w.newBooking(past, "cancelled", monday.Add(-48*time.Hour))))
	erase := func(stay ...uuid.UUID) (store.ErasureCounts, error) {
		return w.store.EraseCustomer(testkit.AsSystem(t),
			store.Erasure{BusinessID: w.business, Email: "ADA@example.com",
				KeptSubjects: stay}, monday, nil)
	}
	if n, err := erase(future); err != nil || n.Messages != 3 {
		t.Errorf("erased %+v, %v; want both messages and the event about what has ended", n, err)
	}
	w.await("2", `SELECT count(*)::text FROM messages WHERE about_id = $1`, future)
	if _, err := erase(); err != nil {
		t.Fatal(err)
	}
	w.await("0", `SELECT ((SELECT count(*) FROM messages) + (SELECT count(*) FROM message_events))::text`)
	w.await("0", `SELECT count(*)::text FROM river_job WHERE river_job::text ILIKE '%ada@example.com%'`)
}

// A customer is erased while a reminder is written: after the booking was read, and before the
// reminder is stored. The reminder is not stored.
func TestTimerWritesNothingAboutErasedCustomer(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.peers.lockAndChange(func(p *fakePeers) { p.offer.Notifications.RemindersHoursBefore = []int{24} })
	id := uuid.New()
	w.take(w.newEvent(event.BookingCreated, event.Booking, id, actor.Owner,
		w.newBooking(id, "confirmed", monday.Add(30*time.Hour))))
	w.await("1", `SELECT count(*)::text FROM messages`)
	reads := 0
	w.peers.lockAndChange(func(p *fakePeers) {
		p.onRead = func() {
			if reads++; reads > 1 {
				return
			}
			anonymized := w.newBooking(id, "confirmed", monday.Add(30*time.Hour))
			anonymized["customer_name"], anonymized["customer_email"], anonymized["sequence"] = "", "", 1
			data, _ := json.Marshal(anonymized)
			w.peers.lockAndChange(func(p *fakePeers) { p.subjects[id] = data })
			if _, err := w.store.EraseCustomer(testkit.AsSystem(t),
				store.Erasure{BusinessID: w.business, Email: "ada@example.com"}, monday, nil); err != nil {
				t.Error(err)
			}
		}
	})
	w.clock.Advance(6 * time.Hour)
	w.awaitIdle()
	w.advanceToNextJob()
	w.awaitIdle()
	if reads != 2 {
		t.Errorf("the booking is read %d times", reads)
	}
	w.await("0", `SELECT count(*)::text FROM messages`)
}

func TestAnonymizeEndedDeletesOldMessages(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	id := uuid.New()
	w.take(w.newEvent(event.BookingConfirmed, event.Booking, id, actor.Owner,
		w.newBooking(id, "confirmed", monday.Add(48*time.Hour))))
	w.await("1", `SELECT count(*)::text FROM messages`)
	end := monday.Add(48*time.Hour + 45*time.Minute)
	if n, err := w.store.AnonymizeEnded(t.Context(), w.business, end.Add(-time.Second)); err != nil || n != 0 {
		t.Errorf("deleted %d, %v before the end", n, err)
	}
	if n, err := w.store.SweepMessages(t.Context(), monday); err != nil || n != 0 {
		t.Errorf("deleted %d, %v new messages", n, err)
	}
	if n, err := w.store.AnonymizeEnded(t.Context(), w.business, end); err != nil || n != 1 {
		t.Errorf("deleted %d, %v after the end", n, err)
	}
}

func TestTimerSendsReminders(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{})
	w.peers.lockAndChange(func(p *fakePeers) { p.offer.Notifications.RemindersHoursBefore = []int{24} })
	kinds := func() []string {
		var kinds []string
		for _, m := range w.listMessages() {
			if m.Kind == "reminder" {
				kinds = append(kinds, m.About.ID.String())
			}
		}
		return kinds
	}
	book := func(start time.Duration) uuid.UUID {
		id := uuid.New()
		w.take(w.newEvent(event.BookingCreated, event.Booking, id, actor.Owner,
			w.newBooking(id, "confirmed", monday.Add(start))))
		return id
	}
	unchanged, cancelled, rescheduled, late := book(30*time.Hour), book(30*time.Hour), book(30*time.Hour),
		book(23*time.Hour)
	w.awaitMails(4)
	w.take(w.newEvent(event.BookingCancelled, event.Booking, cancelled, actor.Owner,
		w.newBooking(cancelled, "cancelled", monday.Add(30*time.Hour))))
	data := w.newBooking(rescheduled, "confirmed", monday.Add(50*time.Hour))
	data["from"] = map[string]any{"starts_at": monday.Add(30 * time.Hour), "ends_at": monday.Add(31 * time.Hour)}
	w.take(w.newEvent(event.BookingRescheduled, event.Booking, rescheduled, actor.Owner, data))
	w.awaitMails(6)
	w.clock.Advance(6 * time.Hour)
	w.awaitMails(7)
	w.awaitIdle()
	if diff := cmp.Diff([]string{unchanged.String()}, kinds()); diff != "" {
		t.Fatalf("reminders after 6 hours; cancelled %s, rescheduled %s, late %s (-want +got):\n%s", cancelled, rescheduled,
			late,
			diff)
	}
	w.await("1",
		`SELECT count(*)::text FROM river_job WHERE kind = 'timed_messages' AND state = 'scheduled' AND args->'subject'->>'id' = $1`, rescheduled.String())
	w.clock.Advance(20 * time.Hour)
	w.awaitMails(8)
	w.awaitIdle()
	if diff := cmp.Diff([]string{unchanged.String(), rescheduled.String()}, kinds()); diff != "" {
		t.Fatalf("reminded after 26 hours (-want +got):\n%s", diff)
	}
	if body, err := io.ReadAll(bytes.NewReader(w.box.Mails()[7].Raw)); err != nil || !bytes.Contains(body,
		[]byte("slotmesh.example")) {
		t.Errorf("got %s, %v", body, err)
	}
}

// The owner retries reminders that could not be sent for an hour. Each is sent only if it is still
// valid.
func TestCheckTimelyRejectsOutdatedReminder(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{})
	w.peers.lockAndChange(func(p *fakePeers) { p.offer.Notifications.RemindersHoursBefore = []int{24} })
	startsAt, reminder := monday.Add(2*time.Hour),
		plan.TimedMessage{Kind: letter.Reminder, Due: monday.Add(-22 * time.Hour)}
	// half of two hours are over then
	paymentRequest := plan.TimedMessage{Kind: letter.PaymentDue, Due: monday.Add(-30 * time.Minute)}
	payment := func(status string) map[string]any {
		return map[string]any{"created_at": monday.Add(-90 * time.Minute),
			"payment": map[string]any{"status": status, "due_at": monday.Add(30 * time.Minute)}}
	}
	want := map[uuid.UUID]string{}
	for name, c := range map[string]struct {
		was    plan.TimedMessage
		status string // of the booking now; "": there is none
		starts time.Time
		more   map[string]any
		then   string
	}{
		"comes": {reminder, "confirmed", startsAt, nil, store.MessageSent},
		"has begun": {plan.TimedMessage{Kind: letter.Reminder, Due: monday.Add(-24 * time.Hour)}, "confirmed", monday,
			nil,
			store.MessageFailed},
		"is moved":     {reminder, "confirmed", startsAt.Add(time.Hour), nil, store.MessageFailed},
		"is cancelled": {reminder, "cancelled", startsAt, nil, store.MessageFailed},
		"is no more":   {reminder, "", startsAt, nil, store.MessageFailed},
		"is to pay":    {paymentRequest, "pending", startsAt, payment("open"), store.MessageSent},
		"has paid":     {paymentRequest, "confirmed", startsAt, payment("paid"), store.MessageFailed},
		"hears of it": {plan.TimedMessage{Kind: letter.BookingCancelled, Due: monday}, "cancelled", startsAt, nil,
			store.MessageSent},
	} {
		id, about := uuid.New(), uuid.New()
		recipient := about.String() + "@example.com" // a recipient for each message, so that no limit holds them back
		if c.status != "" {
			w.newEvent(event.BookingCreated, event.Booking, about, actor.Owner,
				w.newBookingWith(about, c.status, c.starts, c.more))
		}
		err := pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error {
			_, err := w.store.AddMessage(t.Context(), tx, store.Message{
				BusinessID: w.business, ID: id, Kind: string(c.was.Kind),
				EventID: c.was.NewDraft(about, recipient).EventID,
				About:   event.Subject{Kind: event.Booking, ID: about}, Recipient: recipient, Locale: "en",
				FromName: "Harbor Studio", Subject: name, Text: name,
				HTML: name, Status: store.MessageFailed, AboutEndsAt: startsAt, CreatedAt: monday.Add(-time.Hour),
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.messages.Retry(testkit.AsSystem(t), w.client, w.business, id); err != nil {
			t.Fatal(err)
		}
		want[id] = c.then
	}
	w.await("0", `SELECT count(*)::text FROM messages WHERE status = 'queued'`)
	for _, m := range w.listMessages() {
		if m.Status != want[m.ID] || (m.Reason == "") != (m.Status == store.MessageSent) {
			t.Errorf("%s: the %s is %s: %q", m.Subject, m.Kind, m.Status, m.Reason)
		}
	}
	if n := len(w.box.Mails()); n != 3 {
		t.Errorf("%d mails, want 3", n)
	}
}

func TestMessagesOfRemovedBusinessAreNotWritten(t *testing.T) {
	t.Parallel()
	w := newFixture(t, nil)
	w.peers.lockAndChange(func(p *fakePeers) { p.isRemoved = true })
	id := uuid.New()
	w.take(w.newEvent(event.BookingCancelled, event.Booking, id, actor.Owner,
		w.newBooking(id, "cancelled", monday.Add(48*time.Hour))))
	w.await("0", `SELECT count(*)::text FROM message_events`)
	if got := w.listMessages(); len(got) != 0 {
		t.Errorf("got %d messages", len(got))
	}
}
