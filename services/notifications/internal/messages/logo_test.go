package messages_test

import (
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
)

var logoID = strings.Repeat("a", 64)

// newLogoFixture starts a fixture whose business has a logo. If content is nil, catalog does not send the file.
func newLogoFixture(t *testing.T, content []byte) *fixture {
	t.Helper()
	w := newFixture(t, &mailbox.Options{})
	w.peers.lockAndChange(func(p *fakePeers) {
		p.offer.Logo = &catalog.Picture{ID: logoID, Width: 800, Height: 400}
		if content != nil {
			p.pictures = map[string][]byte{logoID + "-400.jpg": content}
		}
	})
	return w
}

// sendTests sends n test messages and returns the mails without the line breaks of their encoding.
func (w *fixture) sendTests(n int) []string {
	w.t.Helper()
	test := notifications.TestMessage{To: "ana@example.com",
		SampleMessage: notifications.SampleMessage{Kind: string(letter.BookingConfirmed)}}
	for range n {
		if _, err := w.messages.SendTest(w.t.Context(), w.business, test); err != nil {
			w.t.Fatal(err)
		}
	}
	var mails []string
	for _, m := range w.awaitMails(n) {
		mails = append(mails, strings.ReplaceAll(string(m.Raw), "=\r\n", ""))
	}
	return mails
}

// TestSendAttachesLogoOnce shows that a mail contains the logo as a part that its HTML shows, and that several mails
// and a preview need one request for the file.
func TestSendAttachesLogoOnce(t *testing.T) {
	t.Parallel()
	w := newLogoFixture(t, []byte("a JPEG file"))
	for _, mail := range w.sendTests(3) {
		if !strings.Contains(mail, "Content-Type: multipart/related") || !strings.Contains(mail, "<logo@slotmesh>") ||
			!strings.Contains(mail, `src=3D"cid:logo@slotmesh" width=3D"80" height=3D"40"`) {
			t.Error(mail)
		}
	}
	preview, err := w.messages.Preview(t.Context(), w.business, notifications.SampleMessage{Kind: "reminder"})
	if err != nil || !strings.Contains(preview.HTML, `src="data:image/jpeg;base64,YSBKUEVHIGZpbGU=" width="80"`) {
		t.Errorf("%v %s", err, preview.HTML)
	}
	if w.peers.pictureReads != 1 {
		t.Errorf("%d requests for the logo", w.peers.pictureReads)
	}
}

// TestSendOmitsUnavailableLogo shows that a mail has only the name if catalog does not send the logo, or if the logo is
// too large. The logo is requested once. An unavailable one is requested again after a minute.
func TestSendOmitsUnavailableLogo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content []byte
		reads   int
	}{"unavailable": {nil, 2}, "too large": {make([]byte, 128<<10+1), 1}} {
		w := newLogoFixture(t, c.content)
		for _, mail := range w.sendTests(2) {
			if strings.Contains(mail, "logo@slotmesh") || !strings.Contains(mail, ">H</td>") {
				t.Errorf("%s: %s", name, mail)
			}
		}
		if w.peers.pictureReads != 1 {
			t.Errorf("%s: %d requests at once", name, w.peers.pictureReads)
		}
		w.clock.Advance(time.Minute)
		if _, err := w.messages.Preview(t.Context(), w.business, notifications.SampleMessage{Kind: "reminder"}); err != nil ||
			w.peers.pictureReads != c.reads {
			t.Errorf("%s: %d requests, %v", name, w.peers.pictureReads, err)
		}
	}
}
