package console_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// TestSwitchNeedsAnotherBusiness shows that the pages offer "Switch business" only to members of several
// businesses and to operators.
func TestSwitchNeedsAnotherBusiness(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	harbor := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor"))
	other := w.Call(
		t,
		"PUT",
		"/admin/businesses/marina",
		consoletest.BuildManifest("marina", "Marina"),
		"Content-Type",
		yaml,
	)
	marina := uuid.MustParse(field(t, other, "id").(string))
	one := access.Member{BusinessID: harbor, Role: access.Owner}
	for name, c := range map[string]struct {
		of   []access.Member
		want bool
	}{
		"one":      {[]access.Member{one}, false},
		"two":      {[]access.Member{one, {BusinessID: marina, Role: access.Viewer}}, true},
		"operator": {[]access.Member{{Role: access.Operator}}, true},
	} {
		session := w.AddSession(t, name+"@example.com", c.of...)
		for _, at := range []string{"today", "more"} {
			page := getPage(t, w, "/business/harbor/"+at+"?lang=en", session)
			if got := strings.Contains(page.Body, "Switch business"); page.Status != 200 || got != c.want {
				t.Errorf("%s, %s: %d, offered %v", name, at, page.Status, got)
			}
		}
	}
}
