package messages_test

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/services/notifications/internal/messages"
)

// readPictures returns the Content-IDs and the contents of the pictures in a mail, in their order.
func readPictures(t *testing.T, m mailbox.Mail) ([]string, [][]byte) {
	t.Helper()
	var (
		ids      []string
		contents [][]byte
	)
	var walk func(header interface{ Get(string) string }, body io.Reader)
	walk = func(header interface{ Get(string) string }, body io.Reader) {
		kind, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
		if err != nil {
			t.Fatal(err)
		}
		if kind == "image/png" {
			content, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, body))
			if err != nil {
				t.Fatal(err)
			}
			ids, contents = append(ids, header.Get("Content-ID")), append(contents, content)
		}
		if !strings.HasPrefix(kind, "multipart/") {
			return
		}
		for parts := multipart.NewReader(body, parameters["boundary"]); ; {
			part, err := parts.NextRawPart()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			walk(part.Header, part)
		}
	}
	parsed, err := mail.ReadMessage(bytes.NewReader(m.Raw))
	if err != nil {
		t.Fatal(err)
	}
	walk(parsed.Header, parsed.Body)
	return ids, contents
}

// TestTicketMailsHaveCodes shows that the mail of an order has a picture with a QR code for each ticket, that 50 of them
// stay small, and that a larger order and a cancelled one have none. A stored message has only the names of the
// pictures; a reader gets it with the pictures.
func TestTicketMailsHaveCodes(t *testing.T) {
	t.Parallel()
	const maxMail = 128 << 10
	for _, c := range []struct{ stalls, balcony, want int }{{1, 1, 2}, {30, 20, 50}, {31, 20, 0}} {
		w := newFixture(t, &mailbox.Options{})
		id := uuid.New()
		order := newTicketWithStatus("sold")(id)
		order["quantity"] = c.stalls + c.balcony
		order["tiers"] = []any{map[string]any{"tier_name": "Stalls", "quantity": c.stalls},
			map[string]any{"tier_name": "Balcony", "quantity": c.balcony}}
		w.take(w.newEvent(event.TicketSold, event.Ticket, id, actor.Owner, order))
		m := w.awaitMails(1)[0]
		ids, contents := readPictures(t, m)
		if len(ids) != c.want || len(m.Raw) > maxMail {
			t.Fatalf("%d tickets: %d pictures in %d bytes: %v", c.stalls+c.balcony, len(ids), len(m.Raw), ids)
		}
		stored := w.listMessages()[0]
		if n := strings.Count(stored.HTML, `src="cid:ticket-`); n != c.want {
			t.Errorf("the stored message shows %d pictures", n)
		}
		if html := messages.ShowCodes(stored.HTML, id); strings.Count(html, `src="data:image/png;base64,`) != c.want ||
			strings.Contains(html, "cid:") {
			t.Error(html)
		}
		seen := map[string]bool{}
		for _, content := range contents {
			picture, err := png.Decode(bytes.NewReader(content))
			if err != nil {
				t.Fatal(err)
			}
			seen[string(content)] = true
			if size := picture.Bounds().Dx(); size != (29+8)*8 {
				t.Errorf("a picture is %d pixels wide", size)
			}
		}
		if len(seen) != c.want {
			t.Errorf("%d different codes", len(seen))
		}
		if c.want == 2 {
			if diff := cmp.Diff([]string{"<ticket-1@slotmesh>", "<ticket-2@slotmesh>"}, ids); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if short := strings.ToUpper(id.String())[:4]; !strings.Contains(stored.Text, "Stalls · "+short) ||
				!strings.Contains(stored.Text, "Balcony · "+short) {
				t.Error(stored.Text)
			}
		}
	}
}

// TestTicketMailsShowMeetingLink shows that valid tickets for an event at an online meeting have its link, and that
// unpaid tickets, and tickets for a meeting whose link is for one booking, have none.
func TestTicketMailsShowMeetingLink(t *testing.T) {
	t.Parallel()
	gala, video := uuid.New(), uuid.New()
	for _, c := range []struct {
		name, link, status string
		typ                event.Type
		want               bool
	}{
		{"valid", "https://meet.example/gala", "sold", event.TicketSold, true},
		{"cancelled", "https://meet.example/gala", "cancelled", event.TicketCancelled, false},
		{"for one booking", "https://meet.example/{code}", "sold", event.TicketSold, false},
	} {
		w := newFixture(t, &mailbox.Options{})
		w.peers.lockAndChange(func(p *fakePeers) {
			p.offer.Locations = []catalog.Location{{ID: uuid.New(), Kind: catalog.KindPlace},
				{ID: video, Kind: catalog.KindLink, Name: catalog.Label{Text: "Video"}, Link: c.link}}
			p.offer.Events = []catalog.Event{{ID: gala, LocationID: &video}}
		})
		id := uuid.New()
		order := newTicketWithStatus(c.status)(id)
		order["event_id"] = gala
		w.take(w.newEvent(c.typ, event.Ticket, id, actor.Customer, order))
		w.awaitMails(1)
		for _, m := range w.listMessages() {
			if shown := strings.Contains(m.Text, "https://meet.example/"); m.Kind != "owner_notice" && shown != c.want {
				t.Errorf("%s: the link is shown: %t\n%s", c.name, shown, m.Text)
			}
			if hasConference := strings.Contains(string(m.Calendar), "CONFERENCE"); m.Kind == "ticket" &&
				hasConference != c.want {
				t.Errorf("%s: the calendar entry has the link: %t\n%s", c.name, hasConference, m.Calendar)
			}
		}
	}
}
