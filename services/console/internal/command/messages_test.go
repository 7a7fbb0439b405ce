package command_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestMessagesListShowAndRetry(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	w.Call(t, "PUT", "/admin/businesses/harbor", consoletest.BuildManifest("harbor", "Harbor"))
	s := newShell(t, w)
	business := decode(t, s.mustRun("list", "-o", "json"))["businesses"].([]any)[0].(map[string]any)["id"].(string)
	mailed := w.Notifications.ReplaceMessages(uuid.MustParse(business), 4) // a page has three messages
	failed := mailed[0].ID.String()
	if lines := strings.Split(s.mustRun("messages", "list", "harbor"), "\n"); len(lines) != 6 ||
		!strings.Contains(lines[1], "550 No such user") || !strings.Contains(lines[4], "sent") {
		t.Errorf("listed: %s", strings.Join(lines, "\n"))
	}
	if got := decode(t, s.mustRun("messages", "list", "harbor", "--status", "failed", "--kind", "booking_confirmed",
		"-o",
		"json"))["messages"].([]any); len(got) != 1 {
		t.Errorf("failed: %v", got)
	}
	for _, want := range []string{"To: zoe@example.com\n", "Status: failed\nReason: 550 No such user\n", "Sent: -\n",
		"\n\nHello Zoë,\nyour booking is confirmed.\n"} {
		if out := s.mustRun("messages", "show", "harbor", failed); !strings.Contains(out, want) {
			t.Errorf("shown, without %q: %s", want, out)
		}
	}
	if got := decode(t, s.mustRun("messages", "show", "harbor", failed, "-o",
		"json")); got["html"] != "<p>Hello Zoë</p>" || got["calendar_method"] != "REQUEST" {
		t.Errorf("shown: %v", got)
	}
	if got := decode(t, s.mustRun("messages", "retry", "harbor", failed, "-o", "json")); got["status"] != "queued" {
		t.Errorf("sent again: %v", got)
	}
	s.expectFailure(1, "verified address", "messages", "test", "harbor", "--kind", "reminder") // the environment's token
	s.expectFailure(1, "was sent", "messages", "retry", "harbor", mailed[1].ID.String())
	s.expectFailure(1, "not found", "messages", "show", "harbor", uuid.NewString())
	s.expectFailure(1, "status", "messages", "list", "harbor", "--status", "lost")
}
