package messages_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/services/notifications/internal/messages"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// newReschedule returns the event of a booking that the business reschedules from one start to
// another.
func (w *fixture) newReschedule(id uuid.UUID, from, to time.Time) event.Event {
	data := w.newBooking(id, "confirmed", to)
	data["from"] = map[string]any{"starts_at": from, "ends_at": from.Add(45 * time.Minute)}
	return w.newEvent(event.BookingRescheduled, event.Booking, id, actor.Owner, data)
}

func TestMessagesAboutOwnerChangesWait(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{})
	w.messages.UndoPeriod = messages.DefaultUndoPeriod
	first, second, third := monday.Add(48*time.Hour), monday.Add(49*time.Hour), monday.Add(50*time.Hour)
	undone, rescheduled := uuid.New(), uuid.New()
	w.take(w.newReschedule(undone, first, second), w.newReschedule(rescheduled, first, second))
	w.clock.Advance(15 * time.Second)
	w.take(w.newReschedule(undone, second, first), w.newReschedule(rescheduled, second, third))
	w.clock.Advance(10 * time.Second)
	w.awaitIdle() // the first changes have waited long enough, the second ones have not
	w.await("4", `SELECT count(*)::text FROM message_events`)
	w.clock.Advance(10 * time.Second)
	w.await("0", `SELECT count(*)::text FROM message_events`)
	w.awaitMails(1)
	w.awaitIdle()
	kept := w.listMessages()
	if len(kept) != 1 || kept[0].About.ID != rescheduled || kept[0].Kind != "booking_moved" {
		t.Fatalf("got %d messages, want one about the booking whose time differs at the end", len(kept))
	}
	if text := kept[0].Text; !strings.Contains(text, "11:00") || !strings.Contains(text, "Previously\n") ||
		!strings.Contains(text, "9:00") || strings.Contains(text, "10:00") {
		t.Errorf("the text is:\n%s", text)
	}
}

func TestMessagesOfBatchStateFinalChange(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{})
	w.messages.UndoPeriod = messages.DefaultUndoPeriod
	id := uuid.New()
	first, second := monday.Add(48*time.Hour), monday.Add(49*time.Hour)
	w.take(w.newReschedule(id, first, second))
	w.take(w.newEvent(event.BookingCancelled, event.Booking, id, actor.Customer, w.newBooking(id, "cancelled", second)))
	w.awaitMails(2) // to the customer and to the owner
	w.awaitIdle()
	w.clock.Advance(time.Minute)
	w.awaitIdle()
	if kept := w.listMessages(); len(kept) != 2 {
		t.Errorf("got %d messages, want the cancellation and its notice", len(kept))
	}
}

func TestMessagesOverRecipientLimitAreHeld(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{})
	w.peers.lockAndChange(func(p *fakePeers) { p.offer.Notifications.OwnerEmails = nil })
	id := uuid.New()
	times := []time.Time{monday.Add(48 * time.Hour), monday.Add(49 * time.Hour)}
	for i := range 12 {
		w.take(w.newReschedule(id, times[i%2], times[(i+1)%2]))
		w.awaitIdle()
	}
	w.await("6", `SELECT count(*)::text FROM messages WHERE status = 'sent'`)
	w.await("6", `SELECT count(*)::text FROM messages WHERE status IN ('held', 'not_sent') AND reason <> ''`)
	w.clock.Advance(time.Hour)
	w.awaitMails(7) // the newest message waits for older ones that are not yet replaced
	w.await("7", `SELECT count(*)::text FROM messages WHERE status = 'sent'`)
	w.await("5", `SELECT count(*)::text FROM messages WHERE status = 'not_sent'`)
	list := w.listMessages()
	if newest := list[len(list)-1]; newest.Status != store.MessageSent {
		t.Errorf("the newest message is %s", newest.Status)
	}
	if n := len(w.box.Mails()); n != 7 {
		t.Errorf("%d mails, want 7", n)
	}
}

func TestMessagesOfPreviewAreNotSent(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{})
	w.messages.IsPreview = true
	id := uuid.New()
	w.take(w.newEvent(event.BookingConfirmed, event.Booking, id, actor.Owner,
		w.newBooking(id, "confirmed", monday.Add(48*time.Hour))))
	w.await("not_sent", `SELECT status FROM messages`)
	w.awaitMails(1)
	kept := w.listMessages()[0]
	if kept.Reason == "" || kept.SentAt != nil {
		t.Errorf("got %+v", kept)
	}
	w.messages.IsPreview = false
	if _, err := w.messages.Retry(actor.With(t.Context(), actor.Actor{Kind: actor.Owner}), w.client, w.business,
		kept.ID); err != nil {
		t.Fatal(err)
	}
	w.await("sent", `SELECT status FROM messages`)
}

// countNotices counts the notices to owners by status.
func (w *fixture) countNotices() map[string]int {
	statuses := map[string]int{}
	for _, m := range w.listMessages() {
		if m.Kind == "owner_notice" {
			statuses[m.Status]++
		}
	}
	return statuses
}

// The owner's address for notices may belong to another person, unless a member of the business has
// verified it. An unverified address has the same limit as a customer. The limit also applies while
// console is unavailable.
func TestNoticesToUnverifiedAddressesAreLimited(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		members []string
		noTeam  bool
		most    int
	}{
		"a verified member":    {[]string{"hello@harbor.example"}, false, 12},
		"no member":            {nil, false, 6},
		"console is away":      {[]string{"hello@harbor.example"}, true, 6},
		"another one's member": {[]string{"desk@harbor.example"}, false, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t, &mailbox.Options{})
			w.peers.lockAndChange(func(p *fakePeers) { p.members, p.isConsoleDown = c.members, c.noTeam })
			for i := range 12 {
				data := w.newBooking(uuid.New(), "pending", monday.Add(48*time.Hour))
				data["customer_email"] = ""
				w.take(w.newEvent(event.BookingCreated, event.Booking, data["id"].(uuid.UUID), actor.Page, data))
				w.await(strconv.Itoa(i+1), `SELECT count(*)::text FROM messages WHERE status <> 'queued'`)
			}
			if got := w.countNotices(); got[store.MessageSent] != c.most {
				t.Errorf("%v, want %d sent", got, c.most)
			}
			w.clock.Advance(time.Hour)
			w.awaitIdle()
			got := w.countNotices()
			if c.most < 12 && (got[store.MessageSent] != c.most+1 || got[store.MessageNotSent] != 12-c.most-1) {
				t.Errorf("an hour later: %v, want the newest alone", got)
			}
		})
	}
}

// Messages that customers cause use at most four fifths of the messages per day. The rest is reserved
// for messages that the business causes.
func TestLimitsReserveMessagesForBusiness(t *testing.T) {
	t.Parallel()
	w := newFixture(t, &mailbox.Options{})
	w.messages.Limits = messages.NewLimits(10, nil)
	w.peers.lockAndChange(func(p *fakePeers) { p.offer.Notifications.OwnerEmails = nil })
	send := func(n int, by actor.Kind) {
		t.Helper()
		for range n {
			data := w.newBooking(uuid.New(), "confirmed", monday.Add(48*time.Hour))
			data["customer_email"] = uuid.NewString() + "@example.com"
			w.take(w.newEvent(event.BookingConfirmed, event.Booking, data["id"].(uuid.UUID), by, data))
		}
		w.awaitIdle()
	}
	send(12, actor.Page)
	w.await("8", `SELECT count(*)::text FROM messages WHERE status = 'sent'`)
	w.await("4", `SELECT count(*)::text FROM messages WHERE status = 'held'`)
	send(3, actor.Owner)
	w.await("10", `SELECT count(*)::text FROM messages WHERE status = 'sent'`)
	w.await("5", `SELECT count(*)::text FROM messages WHERE status = 'held'`)
}
