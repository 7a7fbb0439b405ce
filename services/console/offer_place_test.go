package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

const (
	businessForm = "/business/harbor/offer/business"
	privacyForm  = "/business/harbor/offer/privacy"
)

// legalForm has the values that a person types for the legal texts.
func legalForm() url.Values {
	return url.Values{"legal.imprint": {"https://harbor.example/imprint"}, "legal.privacy": {"We keep little.\r\nAsk us."}}
}

// placeForm has the values that a person types for the place and the contact.
func placeForm() url.Values {
	return url.Values{
		"locations.0.address.street": {"Rua 1"}, "locations.0.address.postal_code": {"1100-001"},
		"locations.0.address.city": {"Lisboa"}, "locations.0.address.country": {"PT"},
		"locations.0.geo": {"38.71, -9.13"}, "locations.0.directions_html": {"Second door.\nRing twice."},
		"contact.phone": {"+351 21 000 0000"}, "contact.email": {"hello@harbor.example"},
		"contact.website": {"https://harbor.example"}, "contact.messenger": {"https://chat.example/harbor"},
	}
}

// TestFormSavesPlaceAndContact shows that the forms write the place, the contact and the legal texts, show them again,
// and remove the place when a person clears it.
func TestFormSavesPlaceAndContact(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	page := saveForm(t, w, mia, businessForm, placeForm())
	legal := saveForm(t, w, mia, privacyForm, legalForm())
	text := readText(t, w)
	for _, want := range []string{
		"key: place", "kind: place", "street: Rua 1", `postal_code: 1100-001`, "city: Lisboa", "country: PT", "lat: 38.71",
		"lon: -9.13", "directions_html: <p>Second door.<br>Ring twice.</p>", "phone: +351 21 000 0000",
		"messenger: https://chat.example/harbor", "imprint: https://harbor.example/imprint", "We keep little.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the manifest:\n%s", want, text)
		}
	}
	for _, want := range []string{`value="38.71, -9.13"`, `<option value="PT" selected>Portugal</option>`,
		"Second door.\nRing twice.</textarea>", `name="legal.privacy"`} {
		if !strings.Contains(page.Body+legal.Body, want) {
			t.Errorf("%q is not on the pages: %s %s", want, page.Body, legal.Body)
		}
	}
	for path, form := range map[string]url.Values{businessForm: placeForm(), privacyForm: legalForm()} {
		for name := range form {
			form.Set(name, "")
		}
		saveForm(t, w, mia, path, form)
	}
	if text := readText(t, w); strings.Contains(text, "locations") || strings.Contains(text, "contact") ||
		strings.Contains(text, "legal") {
		t.Errorf("the manifest still has the place:\n%s", text)
	}
}

// TestBusinessFormKeepsLocationItDoesNotShow shows that the form of the business removes no location of another kind, no
// place that was empty before, and no place to which an object refers.
func TestBusinessFormKeepsLocationItDoesNotShow(t *testing.T) {
	t.Parallel()
	for name, locations := range map[string]string{
		"of another kind": "locations: [{key: home, kind: customer_address, name: Home}]\n",
		"without address": "locations: [{key: home, kind: place}]\n",
		"of an event": `locations: [{key: home, kind: place, address: {country: PT}}]
events:
  - {key: gala, name: Gala, date: 2030-12-31, start_time: "20:00", end_time: "23:00", total_capacity: 50,
     location: home, tiers: [{key: seat, name: Seat, capacity: 50}]}
`,
	} {
		w, _, mia := startLocations(t, consoletest.BuildManifest("harbor", "Harbor")+locations)
		saveForm(t, w, mia, businessForm, url.Values{"base": {"1"}, "name": {"Quay"}, "locations.0.address.country": {""}})
		if text := readText(t, w); !strings.Contains(text, "key: home") || !strings.Contains(text, "name: Quay") {
			t.Errorf("%s: the location is removed:\n%s", name, text)
		}
	}
}

// TestFormSuggestsCountryOfTimeZone shows that the form selects the country of the time zone for a business
// without a place, and that this suggestion alone makes no place.
func TestFormSuggestsCountryOfTimeZone(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	if got := getPage(t, w, businessForm, mia); !strings.Contains(got.Body, `<option value="PT" selected>`) {
		t.Errorf("no country is suggested: %s", got.Body)
	}
	saveForm(t, w, mia, businessForm, url.Values{"name": {"Quay"}, "locations.0.address.country": {"PT"}})
	if text := readText(t, w); strings.Contains(text, "locations") {
		t.Errorf("the suggestion made a place:\n%s", text)
	}
}

// TestFormNamesInvalidPlaceAtItsInput shows that a form names an invalid value of the place at its input.
func TestFormNamesInvalidPlaceAtItsInput(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	for name, c := range map[string]struct{ typed, says string }{
		"locations.0.geo":                 {"here", "Enter latitude and longitude, like 38.7139, -9.1394."},
		"contact.phone":                   {"call us", "“call us” is not valid here."},
		"contact.email":                   {"harbor", "“harbor” is not valid here."},
		"contact.website":                 {"harbor.example", "“harbor.example” is not a web address."},
		"legal.terms":                     {"http://harbor.example/terms", "“http://harbor.example/terms” is not a web address."},
		"locations.0.address.country":     {"XX", "“XX” is not valid here."},
		"locations.0.address.street":      {strings.Repeat("x", 201), "This text is too long."},
		"locations.0.directions_html":     {strings.Repeat("x", 5001), "This text is too long."},
		"locations.0.address.postal_code": {strings.Repeat("1", 21), "This text is too long."},
	} {
		path := businessForm
		if strings.HasPrefix(name, "legal.") {
			path = privacyForm
		}
		got := postForm(t, w, path, mia, url.Values{name: {c.typed}, "locations.0.address.city": {"Lisboa"}})
		_, field, _ := strings.Cut(got.Body, `name="`+name+`"`)
		field, _, _ = strings.Cut(field, `class="cell`)
		if got.Status != 422 || !strings.Contains(field, c.says) {
			t.Errorf("%s: %d %s", name, got.Status, field)
		}
	}
}

// TestPlaceChangesUseLabels shows that the list of changes between two versions names the place and its fields
// by labels, without keys.
func TestPlaceChangesUseLabels(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	saveForm(t, w, mia, privacyForm, legalForm())
	saveForm(t, w, mia, businessForm, placeForm())
	saveForm(t, w, mia, businessForm, url.Values{"locations.0.address.city": {"Porto"},
		"locations.0.address.country": {"ES"}, "locations.0.geo": {"41.15, -8.61"}})
	all := getPage(t, w, "/business/harbor/offer/versions/1", mia).Body
	for _, want := range []string{"Place", "Address City Porto; Country Spain;", "Contact", "Legal"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among the changes since version 1: %s", want, all)
		}
	}
	last := getPage(t, w, "/business/harbor/offer/versions/3", mia).Body
	for _, want := range []string{"Place · Address · City", "Lisboa", "Porto", "Place · Address · Country", "Spain",
		"Position on the map · Latitude"} {
		if !strings.Contains(last, want) {
			t.Errorf("%q is not among the changes since version 2: %s", want, last)
		}
	}
	for _, key := range []string{"key place", "kind place", "directions html", "postal code 1100"} {
		if strings.Contains(all, key) || strings.Contains(last, key) {
			t.Errorf("the changes contain %q", key)
		}
	}
}

// TestTranslationPageContainsPlaceTexts shows that the page of translations has the texts of the place, the legal
// texts and the policy text.
func TestTranslationPageContainsPlaceTexts(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+`languages: [en, pt]
policy_text: Shoes off
legal: {imprint: Ana Lopes}
locations: [{key: quay, kind: place, name: Quay, directions_html: <p>Second door</p>}]
`)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	typed := url.Values{
		"base": {"1"}, "business.policy_text": {"Sem sapatos"}, "legal.imprint": {"Ana Lopes, gerente"},
		"locations.quay.name": {"Cais"}, "locations.quay.directions_html": {"Segunda porta"},
	}
	const at = "/business/harbor/offer/translations?language=pt&of=page"
	shown := getPage(t, w, at, mia).Body
	for name := range typed {
		if !strings.Contains(shown, `name="`+name+`"`) {
			t.Errorf("%s is not on the page", name)
		}
	}
	if got := postForm(t, w, at, mia, typed); got.Status != 303 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	text := readText(t, w)
	for _, want := range []string{"policy_text: Sem sapatos", "Ana Lopes, gerente", "name: Cais",
		"<p>Segunda porta</p>"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the manifest:\n%s", want, text)
		}
	}
}
