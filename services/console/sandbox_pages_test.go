package console_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// TestSandboxPagesHaveNotice shows that the pages of a sandbox business have a notice, and that its messages cannot be
// sent again.
func TestSandboxPagesHaveNotice(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	desk := w.AddSession(t, "desk@example.com", access.Member{BusinessID: id, Role: access.FrontDesk})
	mailed := w.Notifications.ReplaceMessages(id, 1)
	failed := "/business/harbor/messages/" + mailed[0].ID.String()
	const said = "Test mode – no payments, no emails."
	if got := getPage(t, w, failed, desk); strings.Contains(got.Body, said) || !strings.Contains(got.Body, "/retry") {
		t.Errorf("a real business: %d %s", got.Status, got.Body)
	}
	w.Call(t, "PUT", harb, consoletest.BuildManifest("harbor", "Harbor")+"account: {sandbox: true}\n")
	if got := getPage(t, w, failed, desk); !strings.Contains(got.Body, said) || strings.Contains(got.Body, "/retry") {
		t.Errorf("a sandbox: %d %s", got.Status, got.Body)
	}
	if got := getPage(t, w, "/business/harbor/bookings", desk); !strings.Contains(got.Body, said) {
		t.Errorf("its bookings: %d %s", got.Status, got.Body)
	}
}
