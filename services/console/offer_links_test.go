package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

const pageForm = "/business/harbor/offer/page"

// TestPageFormHasLinksAndButtons adds, changes and removes links to social networks and buttons of the booking page.
func TestPageFormHasLinksAndButtons(t *testing.T) {
	t.Parallel()
	w, _, mia := startLocations(t, consoletest.BuildManifest("harbor", "Harbor"))
	saveForm(t, w, mia, pageForm, url.Values{
		"base": {"1"}, "social_links.n": {"2"}, "social_links.0.name": {"Instagram"},
		"social_links.0.value": {"https://instagram.example/harbor"}, "social_links.1.name": {"Facebook"},
		"social_links.1.value": {"https://facebook.example/harbor"}, "action_buttons.n": {"1"},
		"action_buttons.0.label": {"Call us"}, "action_buttons.0.content": {"tel:+351210000000"},
	})
	checkText(t, w, "Facebook: https://facebook.example/harbor", "Instagram: https://instagram.example/harbor",
		"type: link", "label: Call us", "content: tel:+351210000000")
	shown := getPage(t, w, pageForm, mia).Body
	for _, want := range []string{`value="Facebook"`, `value="Call us"`, `name="social_links.2.name"`,
		`<option value="Tripadvisor"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in %s", want, shown)
		}
	}
	saveForm(t, w, mia, pageForm, url.Values{"base": {"2"}, "social_links.n": {"2"}, "social_links.0.remove": {"yes"},
		"social_links.1.name": {"Instagram"}, "social_links.1.value": {"https://instagram.example/quay"},
		"action_buttons.n": {"1"}, "action_buttons.0.remove": {"yes"}})
	text := readText(t, w)
	if strings.Contains(text, "Facebook") || strings.Contains(text, "action_buttons") ||
		!strings.Contains(text, "https://instagram.example/quay") {
		t.Errorf("the manifest has the old links or buttons:\n%s", text)
	}
}

// TestPageFormAcceptsButtonWithoutLink shows that a button that is no link needs no content.
func TestPageFormAcceptsButtonWithoutLink(t *testing.T) {
	t.Parallel()
	w, _, mia := startLocations(t, consoletest.BuildManifest("harbor", "Harbor")+
		"action_buttons: [{type: call, label: Call us}]\n")
	saveForm(t, w, mia, pageForm, url.Values{"base": {"1"}, "page.accent": {"#336699"}, "action_buttons.n": {"1"},
		"action_buttons.0.label": {"Call us"}, "action_buttons.0.content": {""}})
	checkText(t, w, "type: call", "336699")
}

// TestPageFormNamesInvalidLinkAtItsInput shows that a rejected form names the error at the input of the link or button.
func TestPageFormNamesInvalidLinkAtItsInput(t *testing.T) {
	t.Parallel()
	w, _, mia := startLocations(t, consoletest.BuildManifest("harbor", "Harbor"))
	for name, c := range map[string]struct {
		typed url.Values
		says  string
	}{
		"social_links.1.value": {url.Values{"social_links.0.name": {"Y"}, "social_links.0.value": {"https://a.example"},
			"social_links.1.name": {"X"}, "social_links.1.value": {"x"}}, "is not a web address"},
		"social_links.0.value": {url.Values{"social_links.0.name": {"X"}, "social_links.0.value": {""}},
			"Fill in this field"},
		"social_links.1.name": {url.Values{"social_links.0.name": {"X"}, "social_links.0.value": {"https://a.example"},
			"social_links.1.name": {"X"}, "social_links.1.value": {"https://b.example"}}, "This cannot be used here"},
		"action_buttons.0.content": {url.Values{"action_buttons.0.label": {"Go"},
			"action_buttons.0.content": {"javascript:1"}}, "is not a web address"},
		"action_buttons.1.content": {url.Values{"action_buttons.1.label": {"Go"}}, "is not a web address"},
	} {
		c.typed.Set("social_links.n", "2")
		c.typed.Set("action_buttons.n", "2")
		got := postForm(t, w, pageForm, mia, c.typed)
		_, field, _ := strings.Cut(got.Body, `id="f-`+name+`-error"`)
		field, _, _ = strings.Cut(field, "</p>")
		if got.Status != 422 || !strings.Contains(field, c.says) {
			t.Errorf("%s: %d %s", name, got.Status, field)
		}
	}
}

// TestPackageForms adds, changes and removes a package, and names a missing service at its input.
func TestPackageForms(t *testing.T) {
	t.Parallel()
	w, _, mia := startLocations(t, consoletest.BuildManifest("harbor", "Harbor")+
		"  - {key: wash, name: Wash, duration_minutes: 15, price: 10.00}\n")
	const packages = "/business/harbor/offer/packages"
	few := postForm(t, w, packages+"/new", mia, url.Values{"name": {"Both"}, "services": {"cut"}, "percent": {"10"}})
	if few.Status != 422 || !strings.Contains(few.Body, `value="Both"`) {
		t.Errorf("one service: %d %s", few.Status, few.Body)
	}
	page := saveForm(t, w, mia, packages+"/new", url.Values{"name": {"Both"}, "services": {"cut", "wash"},
		"percent": {"10"}})
	if !strings.Contains(page.Body, "Haircut, Wash · 10 % off") {
		t.Errorf("the list: %s", page.Body)
	}
	checkText(t, w, "key: both", "percent: 10")
	saveForm(t, w, mia, packages+"/both", url.Values{"base": {"2"}, "name": {"Both"}, "services": {"wash", "cut"},
		"percent": {""}, "price": {"45"}})
	checkText(t, w, "price: 45", "- cut\n      - wash")
	saveForm(t, w, mia, packages+"/both/remove", url.Values{"base": {"3"}})
	if text := readText(t, w); strings.Contains(text, "packages") {
		t.Errorf("the package is still there:\n%s", text)
	}
}

// TestOwnerSetsPaymentProvider shows that only owners see and change the provider of payments.
func TestOwnerSetsPaymentProvider(t *testing.T) {
	t.Parallel()
	w, id, mia := startLocations(t, consoletest.BuildManifest("harbor", "Harbor"))
	ana := w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner})
	const payments = "/business/harbor/offer/payments"
	if got := getPage(t, w, payments, mia).Body; strings.Contains(got, "payments.providers") {
		t.Error("a manager sees the provider")
	}
	saveForm(t, w, ana, payments, url.Values{"base": {"1"}, "payments.providers": {"stripe"},
		"payments.accounts.stripe": {"acct_1"}})
	checkText(t, w, "stripe: acct_1", "- stripe")
}
