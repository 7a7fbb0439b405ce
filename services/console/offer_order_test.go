package console_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

var rowLink = regexp.MustCompile(`<a class="cover" href="/business/harbor/offer/services/([a-z]+)"`)

// TestServicesCanBeOrdered shows that a service moves by its buttons and by dragging, among the services of its
// category, and that the customers' order is stored.
func TestServicesCanBeOrdered(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publishText(t, w, strings.TrimSuffix(consoletest.BuildManifest("harbor", "Harbor"), "services:\n"+
		"  - {key: cut, name: Haircut, duration_minutes: 45, price: 40.00}\n")+`services:
  - {key: a, name: A, duration_minutes: 45}
  - {key: b, name: B, duration_minutes: 45, category: Colour}
  - {key: c, name: C, duration_minutes: 45}
  - {key: d, name: D, duration_minutes: 45}
  - {key: x, name: X, duration_minutes: 45, order: 9, classes: []}
  - {key: y, name: Y, duration_minutes: 45, order: 7, classes: []}
`)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Owner})
	const at = "/business/harbor/offer/services"
	for i, c := range []struct {
		key, to, before, want string
	}{
		{"c", "forward", "", "c a d b"}, {"c", "back", "", "a c d b"}, {"d", "before", "a", "d a c b"},
		{"d", "before", "", "a c d b"}, {"a", "before", "d", "c a d b"}, {"c", "forward", "", ""}, {"d", "back", "", ""},
		{"b", "forward", "", ""}, {"a", "before", "b", ""}, {"none", "back", "", ""}, {"a", "up", "", ""},
	} {
		got := postForm(t, w, at+"-order", mia, url.Values{"key": {c.key}, "to": {c.to}, "before": {c.before}})
		if c.want == "" {
			if !strings.Contains(got.Header.Get("Location"), "wrong=changed") {
				t.Errorf("step %d: %d %v", i, got.Status, got.Header)
			}
			continue
		}
		var order []string
		for _, link := range rowLink.FindAllStringSubmatch(getPage(t, w, at, mia).Body, -1) {
			order = append(order, link[1])
		}
		if got := strings.Join(order, " "); got != c.want {
			t.Errorf("step %d: the order is %q, want %q", i, got, c.want)
		}
	}
	if text := w.Call(t, "GET", "/admin/businesses/harbor", "", "Accept", yaml).Body; !strings.Contains(text, "order: 1") {
		t.Errorf("the order is not stored: %s", text)
	}
	classes := getPage(t, w, "/business/harbor/offer/classes", mia).Body
	if x, y := strings.Index(classes, "classes/x"), strings.Index(classes, "classes/y"); y < 0 || x < y {
		t.Errorf("the order of the classes changed: x at %d, y at %d", x, y)
	}
}
