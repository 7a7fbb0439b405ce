package command_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestWebhooksCreateChangeAndTest(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	w.Call(t, "PUT", "/admin/businesses/harbor", consoletest.BuildManifest("harbor", "Harbor"))
	s := newShell(t, w)
	created := decode(t, s.mustRun("webhooks", "create", "harbor", "--url", "https://example.com/hooks", "--events",
		"booking.created,booking.cancelled", "-o", "json"))
	id := created["id"].(string)
	if created["secret"] != consoletest.Secret || len(created["events"].([]any)) != 2 {
		t.Errorf("made: %v", created)
	}
	if out := s.mustRun("webhooks", "create", "harbor", "--url", "https://example.com/all"); !strings.Contains(out,
		consoletest.Secret) || !strings.Contains(out, " * ") {
		t.Errorf("made: %s", out)
	}
	if out := s.mustRun("webhooks", "list", "harbor"); !strings.Contains(out,
		id+"  https://example.com/hooks  booking.created,booking.cancelled  true") {
		t.Errorf("listed: %s", out)
	}
	if got := decode(t, s.mustRun("webhooks", "change", "harbor", id, "--url", "https://example.com/new", "--disable",
		"-o", "json")); got["url"] != "https://example.com/new" || got["active"] != false {
		t.Errorf("changed: %v", got)
	}
	if got := decode(t, s.mustRun("webhooks", "change", "harbor", id, "--enable", "--events", "*", "-o",
		"json")); got["active"] != true || got["events"].([]any)[0] != "*" {
		t.Errorf("changed: %v", got)
	}
	if got := decode(t, s.mustRun("webhooks", "rotate", "harbor", id, "-o",
		"json")); got["secret"] != consoletest.Secret {
		t.Errorf("rotated: %v", got)
	}
	sent := decode(t, s.mustRun("webhooks", "test", "harbor", id, "-o", "json"))
	for range 3 { // a page has three deliveries
		s.mustRun("webhooks", "test", "harbor", id)
	}
	if lines := strings.Split(s.mustRun("webhooks", "deliveries", "harbor", id, "--status", "pending"),
		"\n"); len(lines) != 6 || !strings.Contains(lines[1], "webhook.test") || !strings.Contains(lines[1], "503") {
		t.Errorf("deliveries: %s", strings.Join(lines, "\n"))
	}
	s.mustRun("webhooks", "retry", "harbor", sent["id"].(string))
	if out := s.mustRun("webhooks", "delete", "harbor", id); !strings.Contains(out, "is deleted") {
		t.Error(out)
	}
	s.expectFailure(1, "not found", "webhooks", "delete", "harbor", id)
	s.expectFailure(1, "url", "webhooks", "create", "harbor", "--url", "http://10.0.0.1")
	s.expectFailure(2, "url", "webhooks", "create", "harbor")
	s.expectFailure(2, "--enable", "webhooks", "change", "harbor", id, "--enable", "--disable")
}

func TestListenForwardsSignedEvents(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	published := decode(t, w.Call(t, "PUT", "/admin/businesses/harbor",
		consoletest.BuildManifest("harbor", "Harbor")).Body)
	w.Booking.Record(newEvent(uuid.MustParse(published["id"].(string)), event.BookingCreated, event.Booking, 0))
	type got struct {
		header http.Header
		body   []byte
	}
	received := make(chan got, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- got{r.Header, body}
	}))
	t.Cleanup(receiver.Close)
	s := newShell(t, w)
	listened := s.run("webhooks", "listen", "harbor", "--forward-to", receiver.URL, "--from", "2020-01-01T00:00:00Z",
		"--once")
	out := listened.out
	if listened.code != 0 || !strings.Contains(listened.err, "The secret of this listener is whsec_") {
		t.Errorf("listen: exit code %d, %s", listened.code, listened.err)
	}
	close(received)
	n := 0
	for r := range received {
		n++
		var body struct {
			Type string
			Data struct{ Slug string }
		}
		if err := json.Unmarshal(r.body, &body); err != nil || body.Type == "" || body.Data.Slug != "harbor" {
			t.Errorf("got %s, %v", r.body, err)
		}
		if !strings.Contains(out, body.Type) || !strings.HasPrefix(r.header.Get("webhook-signature"), "v1,") ||
			r.header.Get("webhook-id") == "" {
			t.Errorf("got %v", r.header)
		}
	}
	if n == 0 {
		t.Errorf("nothing is forwarded: %s", out)
	}
	s.expectFailure(2, "--forward-to", "webhooks", "listen", "harbor", "--forward-to", "localhost")
	s.expectFailure(2, "forward-to", "webhooks", "listen", "harbor")
}
