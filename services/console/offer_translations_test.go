package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// TestTranslationFormCoversNamesAndLabels shows that forms translate the name of the business, the
// names of variants and the labels of pricing rules.
func TestTranslationFormCoversNamesAndLabels(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	long := strings.Replace(
		consoletest.BuildManifest("harbor", "Harbor"),
		"price: 40.00}",
		"price: 40.00, variants: [{key: long, name: Long hair}]}",
		1,
	) + "languages: [en, pt]\n" +
		"pricing_rules: [{key: sale, kind: first_booking, percent: -5, label: Welcome}]\n"
	if got := w.Call(t, "PUT", harb, long, "Content-Type", yaml); got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	const at = "/business/harbor/offer/translations?language=pt&of="
	for _, one := range []struct{ of, shows, name, typed, base string }{
		{"services", "Haircut · Long hair · Name", "services.cut.long.name", "Cabelo comprido", "2"},
		{"page", "Name", "business.name", "Porto", "3"},
		{"pricing_rules", "Welcome · Label for customers", "pricing_rules.sale.label", "Bem-vindo", "4"},
	} {
		if got := getPage(t, w, at+one.of, mia); !strings.Contains(got.Body, ">"+one.shows+"<") ||
			!strings.Contains(got.Body, `name="`+one.name+`"`) {
			t.Errorf("%s: %d %s", one.of, got.Status, got.Body)
		}
		if got := postForm(t, w, at+one.of, mia,
			url.Values{"base": {one.base}, one.name: {one.typed}}); got.Status != 303 {
			t.Errorf("%s: %d %s", one.of, got.Status, got.Body)
		}
	}
	m, problems := manifest.Parse([]byte(readText(t, w)))
	if len(problems) > 0 || m.Translations["pt"].Name != "Porto" ||
		m.Services[0].Variants[0].Translations["pt"].Name != "Cabelo comprido" ||
		m.PricingRules[0].Translations["pt"].Label != "Bem-vindo" {
		t.Errorf("%v %s", problems, readText(t, w))
	}
}

// TestLanguageRemovalNeedsNoTranslations shows that the form refuses to remove a language that has
// translations and explains why. After the translations are deleted, the language can be removed.
func TestLanguageRemovalNeedsNoTranslations(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	both := consoletest.BuildManifest("harbor", "Harbor") + "languages: [en, pt]\ntranslations: {pt: {name: Porto}}\n"
	if got := w.Call(t, "PUT", harb, both, "Content-Type", yaml); got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	drop := url.Values{"languages": {"en"}}
	const text = "There are still translations into pt. Keep this language, or first delete them under “Translations”."
	if got := postForm(t, w, "/business/harbor/offer/languages", mia, drop); got.Status != 422 ||
		!strings.Contains(got.Body, text) {
		t.Fatalf("with a translation: %d %s", got.Status, got.Body)
	}
	postForm(
		t,
		w,
		"/business/harbor/offer/translations?language=pt&of=page",
		mia,
		url.Values{"base": {"2"}, "business.name": {""}},
	)
	if got := postForm(t, w, "/business/harbor/offer/languages", mia, drop); got.Status != 303 {
		t.Errorf("without it: %d %s", got.Status, got.Body)
	}
}
