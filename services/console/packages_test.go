package console_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

const packages = `  - {key: dry, name: Dry, duration_minutes: 15, price: 10.00}
  - {key: wash, name: Wash, duration_minutes: 15, price: 10.00}
languages: [en, pt]
packages:
  - {key: pair, name: Pair, description: All of it., services: [cut, dry], price: 45.00}
  - {key: trio, name: Trio, services: [cut, dry, wash], percent: 12.5}
`

// TestFormsKeepAndTranslatePackages shows that packages are published as text and translated in a form. Forms
// keep packages unchanged, but removing a service removes its packages.
func TestFormsKeepAndTranslatePackages(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	if got := postText(t, w, mia, "1", readText(t, w)+packages, "agreed", "1"); got.Status != 303 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	now := func() *manifest.Manifest {
		t.Helper()
		m, problems := manifest.Parse([]byte(readText(t, w)))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return m
	}
	before := now().Packages
	if len(before) != 2 || before[0].Price.String() != "45" || before[1].Percent.String() != "12.5" {
		t.Fatalf("published as %+v", before)
	}
	if got := postForm(t, w, haircutPath, mia, url.Values{"base": {"2"}, "name": {"Trim"}, "duration_minutes": {"45"},
		"price": {"41"}, "active": {"yes"}}); got.Status != 303 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if m := now(); m.Services[0].Name != "Trim" || len(m.Packages) != 2 || m.Packages[0].Name != "Pair" ||
		!slices.Equal(m.Packages[1].Services, before[1].Services) {
		t.Errorf("a form has left %+v", m.Packages)
	}
	const at = "/business/harbor/offer/translations?language=pt&of=packages"
	if got := getPage(t, w, at, mia); !strings.Contains(got.Body, `name="packages.pair.name"`) ||
		!strings.Contains(got.Body, `name="packages.pair.description"`) {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := postForm(t, w, at, mia, url.Values{"base": {"3"}, "packages.pair.name": {"Par"},
		"packages.pair.description": {"Tudo <junto>.\r\nSempre."}}); got.Status != 303 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if m := now(); m.Packages[0].Translations["pt"] != (manifest.PackageTranslation{Name: "Par",
		Description: "Tudo <junto>.\nSempre."}) {
		t.Errorf("translated as %+v", m.Packages[0].Translations)
	}
	removal := "/business/harbor/offer/services/wash/remove"
	if got := getPage(t, w, removal, mia); got.Status != 200 || !strings.Contains(got.Body,
		"Packages that will be deleted: 1") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := postForm(t, w, removal, mia, url.Values{"base": {"4"}}); got.Status != 303 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if m := now(); len(m.Packages) != 1 || m.Packages[0].Key != "pair" {
		t.Errorf("a removed service has left %+v", m.Packages)
	}
}
