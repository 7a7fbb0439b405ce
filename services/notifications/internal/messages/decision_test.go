package messages_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
)

// TestNoticesOfPendingBookingsHaveDecisionLinks shows that the mails of the recipients have links of their own, in text
// and HTML. Stored messages have none, and neither have notices of confirmed bookings, nor mails while the booking
// service does not respond.
func TestNoticesOfPendingBookingsHaveDecisionLinks(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"pending", "confirmed", "pending without a link", "pending until the payment"} {
		w := newFixture(t, &mailbox.Options{})
		state, rest, _ := strings.Cut(status, " ")
		w.peers.lockAndChange(func(p *fakePeers) {
			p.offer.Notifications.OwnerEmails = []string{"hello@harbor.example", "desk@harbor.example"}
			p.hasNoDecisions = rest == "without a link"
			p.offer.Bookings.AutoConfirm = rest == "until the payment"
		})
		id := uuid.New()
		b := w.newBooking(id, state, monday.Add(48*time.Hour))
		if rest == "until the payment" {
			b["payment"] = map[string]any{"status": booking.PaymentOpen, "amount": 40, "due_at": monday.Add(time.Hour)}
		}
		w.take(w.newEvent(event.BookingCreated, event.Booking, id, actor.Page, b))
		owners := 0
		for _, m := range w.awaitMails(3) {
			to, isOwner := strings.CutSuffix(m.To[0], "@harbor.example")
			raw := strings.ReplaceAll(strings.ReplaceAll(string(m.Raw), "=\r\n", ""), "=3D", "=")
			link := "https://book.example/b/harbor/decide/" + id.String() + m.To[0]
			want := 0
			if isOwner {
				owners++
			}
			if isOwner && status == "pending" {
				want = 4 // two buttons, in text and HTML
			}
			if n := strings.Count(raw, link); n != want || strings.Count(raw, "/decide/") != want {
				t.Errorf("%s: the mail to %s has the link %d times, want %d:\n%s", status, to, n, want, raw)
			}
			signIn := strings.Contains(raw, "https://owner.example/business/harbor/bookings/"+id.String())
			if signIn != (isOwner && status != "pending") {
				t.Errorf("%s: the mail to %s has the link to the owner's pages: %t", status, to, signIn)
			}
		}
		if owners != 2 {
			t.Errorf("%s: %d notices", status, owners)
		}
		for _, m := range w.listMessages() {
			if strings.Contains(m.Text+m.HTML, "/decide/") {
				t.Errorf("%s: the stored message to %s has the link", status, m.Recipient)
			}
		}
	}
}
