package console_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

func TestTimeOffPageAsksForMember(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	w.Catalog.ShowStaff()
	id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+
		"staff: [{key: anna, name: Anna}, {key: ben, name: Ben}]\n")
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	got := getPage(t, w, "/business/harbor/time-off", mia)
	if got.Status != 200 || !strings.Contains(got.Body, "Who is off") || strings.Count(got.Body,
		"/time-off?staff_id=") != 2 || strings.Contains(got.Body, `name="from"`) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
}
