package public_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/catalog/internal/compile"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
)

const head = `
apiVersion: slotmesh/v1
kind: Business
slug: harbor
name: Harbor
currency: EUR
timezone: Europe/Lisbon
default_language: en
languages: [en, pt, de]
`

// readManifest compiles the manifest of `head` and `rest`, and returns its public view and its snapshot.
func readManifest(t *testing.T, rest string) (*public.Business, *catalog.Snapshot) {
	t.Helper()
	m, problems := manifest.Parse([]byte(head + rest))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	snapshot, err := compile.Snapshot(m, nil, 7)
	if err != nil {
		t.Fatal(err)
	}
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	return public.New(public.Sanitize(m), snapshot, ""), snapshot
}

// decodeJSON encodes v as JSON and returns the decoded values.
func decodeJSON(t interface {
	Helper()
	Fatal(...any)
}, v any) any {
	t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	var decoded any
	if err := decoder.Decode(&decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

// wantJSON compares v with the expected JSON.
func wantJSON(t *testing.T, want string, v any) {
	t.Helper()
	if diff := cmp.Diff(decodeJSON(t, json.RawMessage(want)), decodeJSON(t, v)); diff != "" {
		t.Error(diff)
	}
}

var christmas = timespan.NewDate(2026, 12, 25)

func service(snapshot *catalog.Snapshot, key string) uuid.UUID {
	for _, s := range snapshot.Services {
		if s.Key == key {
			return s.ID
		}
	}
	return uuid.Nil
}

const cut = `
services:
  - key: cut
    name: Haircut
    description_html: <p onclick="x()">Wash, cut &amp; dry.</p><script>x()</script>
    category: Hair
    duration_minutes: 45
    price: 40
    image_url: https://harbor.example/cut.png
    allow_multiple: true
    payment_requirement: deposit_percent
    deposit_value: 20.50
    translations:
      pt: {name: Corte, description_html: "<p>Lavar.</p>", category: Cabelo}
      de: {name: Haarschnitt}
`

func TestServiceWithoutLocaleHasTranslations(t *testing.T) {
	t.Parallel()
	b, snapshot := readManifest(t, cut)
	id := service(snapshot, "cut")
	quotes := public.Quotes{Date: christmas, Prices: map[uuid.UUID]json.Number{id: "36.00"}}
	wantJSON(t, fmt.Sprintf(`{"services": [{
		"id": %q, "name": "Haircut", "description": "Wash, cut & dry.", "description_html": "<p>Wash, cut &amp; dry.</p>",
		"category": "Hair", "duration_minutes": 45, "price": 40.00, "price_per": "booking", "quoted_price": 36.00, "currency": "EUR",
		"image_url": "https://harbor.example/cut.png", "allow_multiple": true, "has_class_schedule": false,
		"payment_requirement": "deposit_percent", "deposit_value": 20.50,
		"name_translations": {"pt": "Corte", "de": "Haarschnitt"}, "description_translations": {"pt": "Lavar."},
		"description_html_translations": {"pt": "<p>Lavar.</p>"}, "category_translations": {"pt": "Cabelo"}
	}], "currency": "EUR", "quote": {"date": "2026-12-25", "applies_pricing_rules": true,
		"basis": "Price of one unit bought now for a booking on 2026-12-25; rules that need a start time, a party size or the customer apply at booking."}}`,
		id), b.Services(public.Language{}, quotes))
}

func TestServiceWithLocaleFallsBackPerField(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, cut)
	for _, c := range []struct{ code, name, description, html string }{
		{"pt", "Corte", "Lavar.", "<p>Lavar.</p>"},
		{"de", "Haarschnitt", "Wash, cut & dry.", "<p>Wash, cut &amp; dry.</p>"},
		{"en", "Haircut", "Wash, cut & dry.", "<p>Wash, cut &amp; dry.</p>"},
		{"", "Haircut", "Wash, cut & dry.", "<p>Wash, cut &amp; dry.</p>"},
	} {
		s := b.Services(public.Language{IsResolved: true, Code: c.code}, public.Quotes{}).Services[0]
		got := []string{s.Name, s.Description, s.DescriptionHTML, s.Category}
		if want := []string{c.name, c.description, c.html, "Hair"}; !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", c.code, got, want)
		}
	}
}

func TestServicesNamePriceBasis(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, `services:
  - {key: talk, name: Talk, duration_minutes: 30, price: 10, price_per: person}
  - {key: walk, name: Walk, duration_minutes: 30, price: 10}
`)
	var got []string
	for _, s := range b.Services(public.Language{}, public.Quotes{}).Services {
		got = append(got, s.Name+" per "+s.PricePer)
	}
	if want := []string{"Talk per person", "Walk per booking"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMinimalServiceHasNullsAndDefaults(t *testing.T) {
	t.Parallel()
	b, snapshot := readManifest(t, "services: [{key: talk, name: Talk, duration_minutes: 30}]\n")
	wantJSON(t, fmt.Sprintf(`[{"id": %q, "name": "Talk", "description": "", "description_html": "", "category": "",
		"duration_minutes": 30, "price": 0.00, "price_per": "booking", "quoted_price": null, "currency": "EUR", "image_url": "",
		"allow_multiple": false, "has_class_schedule": false, "payment_requirement": "none", "deposit_value": null,
		"name_translations": null, "description_translations": null, "description_html_translations": null,
		"category_translations": null}]`, service(snapshot, "talk")),
		b.Services(public.Language{}, public.Quotes{Date: christmas, Prices: map[uuid.UUID]json.Number{}}).Services)
	if ids := b.PricedServices(); len(ids) != 0 {
		t.Errorf("a free service is to be quoted: %v", ids)
	}
}

func TestServicesWithoutQuotesReportNoRules(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, cut)
	list := b.Services(public.Language{}, public.Quotes{Date: christmas})
	if list.Quote.AppliesPricingRules || list.Services[0].QuotedPrice != nil || list.Quote.Date != christmas ||
		list.Quote.Basis == "" {
		t.Errorf("got %+v, quoted price %v", list.Quote, list.Services[0].QuotedPrice)
	}
}

func TestServicesAreSortedByOrderAndName(t *testing.T) {
	t.Parallel()
	b, snapshot := readManifest(t, `
services:
  - {key: a, name: Zumba, duration_minutes: 30, price: 1, order: 2}
  - {key: b, name: Yoga, duration_minutes: 30, price: 1, order: 2}
  - {key: c, name: Gone, duration_minutes: 30, price: 1, active: false}
  - {key: d, name: Walk, duration_minutes: 30, price: 1, order: 1}
  - {key: e, name: Swim, duration_minutes: 30, order: 3}
`)
	var names []string
	for _, s := range b.Services(public.Language{}, public.Quotes{}).Services {
		names = append(names, s.Name)
	}
	if want := []string{"Walk", "Yoga", "Zumba", "Swim"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	want := []public.PriceRef{{ServiceID: service(snapshot, "d")}, {ServiceID: service(snapshot, "b")},
		{ServiceID: service(snapshot, "a")}}
	if diff := cmp.Diff(want, b.PricedServices()); diff != "" {
		t.Errorf("services to price (-want +got):\n%s", diff)
	}
	if b.HasService(service(snapshot, "c")) || !b.HasService(service(snapshot, "e")) {
		t.Error("an inactive service is shown, or an active one is not")
	}
}

// TestListsAreEmptyBeforeOpening shows that a business with `open: false` lists nothing. Its services,
// events and rentals stay active.
func TestListsAreEmptyBeforeOpening(t *testing.T) {
	t.Parallel()
	const offered = `
services: [{key: a, name: Zumba, duration_minutes: 30, price: 1}]
events: [{key: e, name: Gala, date: 2027-06-01, start_time: "20:00", end_time: "22:00", total_capacity: 5, tiers: [{key: t, name: Seat, price: 5, capacity: 5}]}]
rentals: [{key: r, name: Kayak, price: 3, price_type: daily, quantity: 2}]
`
	for text, open := range map[string]bool{"": true, "open: true": true, "open: false": false} {
		b, snapshot := readManifest(t, text+offered)
		language := public.Language{}
		listed := []int{
			len(b.Services(language, public.Quotes{}).Services), len(b.Events(0).IDs()),
			len(b.Rentals(language, public.Quotes{}, nil).Rentals),
		}
		want := []int{1, 1, 1}
		if !open {
			want = []int{0, 0, 0}
		}
		if !slices.Equal(listed, want) || b.Info(false).Open != open || snapshot.NotYetOpen == open ||
			b.HasService(service(snapshot, "a")) != open {
			t.Errorf("%q: lists %v, open %t", text, listed, b.Info(false).Open)
		}
		if !snapshot.Services[0].Active || !snapshot.Events[0].Active || !snapshot.Rentals[0].Active {
			t.Errorf("%q: an object is inactive, so that its sales would be withdrawn", text)
		}
	}
}

func TestVariantsHavePrices(t *testing.T) {
	t.Parallel()
	b, snapshot := readManifest(t, `
services:
  - key: cut
    name: Haircut
    duration_minutes: 45
    variants:
      - {key: long, name: Long hair, duration_minutes: 60, price: 55}
      - {key: child, name: Children, price: 0, translations: {pt: {name: Crianças}}}
  - key: yoga
    name: Yoga
    duration_minutes: 60
    classes: [{key: mon, weekday: mon, time: "18:30", capacity: 12}]
    variants: [{key: long, name: Long, price: 5}]
`)
	id := service(snapshot, "cut")
	long, child := snapshot.Service(id).Variants[0].ID, snapshot.Service(id).Variants[1].ID
	if diff := cmp.Diff([]public.PriceRef{{ServiceID: id, VariantID: &long}}, b.PricedServices()); diff != "" {
		t.Errorf("services to price (-want +got):\n%s", diff)
	}
	services := b.Services(public.Language{}, public.Quotes{Prices: map[uuid.UUID]json.Number{long: "50.00"}}).Services
	wantJSON(t, fmt.Sprintf(`[
		{"id": %q, "name": "Long hair", "duration_minutes": 60, "price": 55.00, "quoted_price": 50.00, "name_translations": null},
		{"id": %q, "name": "Children", "duration_minutes": 45, "price": 0.00, "quoted_price": null, "name_translations": {"pt": "Crianças"}}]`, long, child),
		services[0].Variants)
	inPortuguese := b.Services(public.Language{IsResolved: true, Code: "pt"}, public.Quotes{}).Services
	wantJSON(t, fmt.Sprintf(`[
		{"id": %q, "name": "Long hair", "duration_minutes": 60, "price": 55.00, "quoted_price": null},
		{"id": %q, "name": "Crianças", "duration_minutes": 45, "price": 0.00, "quoted_price": null}]`, long, child), inPortuguese[0].Variants)
	if services[1].Variants != nil {
		t.Errorf("a class, as long as its sessions, lists %+v", services[1].Variants)
	}
	if second := b.Services(public.Language{}, public.Quotes{}).Services[0].Variants[0].QuotedPrice; second != nil {
		t.Errorf("the quote of one answer, %s, is in the next", *second)
	}
}

func TestServicesIsEmptyWithoutModule(t *testing.T) {
	t.Parallel()
	b, snapshot := readManifest(t, "modules: {services: false}\n"+cut)
	wantJSON(t, `[]`, b.Services(public.Language{}, public.Quotes{}).Services)
	if len(b.PricedServices()) > 0 || b.HasService(service(snapshot, "cut")) {
		t.Error("a service of a disabled module is available")
	}
}

const team = `
staff:
  - {key: ben, name: Ben, order: 2}
  - {key: zoe, name: Zoe, order: 1}
  - key: anna
    name: Anna
    category: Stylist
    description_html: <p>Colour <b>specialist</b>.</p>
    image_url: https://harbor.example/anna.png
    order: 1
    translations: {pt: {name: Ana, category: Cabeleireira, description_html: <p>Cor.</p>}}
  - {key: gone, name: Gone, active: false}
services:
  - {key: cut, name: Cut, duration_minutes: 30, staff: [anna, gone]}
  - {key: sauna, name: Sauna, duration_minutes: 30}
  - {key: yoga, name: Yoga, duration_minutes: 60, classes: [{key: mon, weekday: mon, time: "18:30", capacity: 12, staff: ben}]}
`

func TestStaffWithoutLocaleHasTranslations(t *testing.T) {
	t.Parallel()
	b, snapshot := readManifest(t, team)
	list := b.Staff(public.Language{}, nil)
	wantJSON(t, fmt.Sprintf(`{"id": %q, "name": "Anna", "description": "Colour specialist.",
		"description_html": "<p>Colour <b>specialist</b>.</p>", "category": "Stylist", "image_url": "https://harbor.example/anna.png",
		"name_translations": {"pt": "Ana"}, "category_translations": {"pt": "Cabeleireira"},
		"bio_translations": {"pt": "Cor."}, "description_html_translations": {"pt": "<p>Cor.</p>"}}`, snapshot.Staff[1].ID), anna(list))
	wantJSON(t,
		fmt.Sprintf(`{"id": %q, "name": "Ben", "description": "", "description_html": "", "category": "", "image_url": "",
		"name_translations": {}, "category_translations": {}, "bio_translations": {}, "description_html_translations": {}}`,
			list.Staff[2].ID), list.Staff[2])
}

func anna(list publicapi.StaffList) publicapi.StaffMember {
	return list.Staff[slices.IndexFunc(list.Staff, func(s publicapi.StaffMember) bool {
		return strings.HasPrefix(s.Name, "An")
	})]
}

func TestStaffWithLocaleResolvesTexts(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, team)
	a := anna(b.Staff(public.Language{IsResolved: true, Code: "pt"}, nil))
	got := []string{a.Name, a.Category, a.Description, a.DescriptionHTML}
	if want := []string{"Ana", "Cabeleireira", "Cor.", "<p>Cor.</p>"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStaffOfService(t *testing.T) {
	t.Parallel()
	b, snapshot := readManifest(t, team)
	for _, c := range []struct {
		service string
		want    []string
	}{
		{"", []string{"Anna", "Zoe", "Ben"}},
		{"cut", []string{"Anna"}},
		{"sauna", []string{}},
		{"yoga", []string{"Ben"}},
	} {
		var id *uuid.UUID
		if c.service != "" {
			found := service(snapshot, c.service)
			id = &found
		}
		names := []string{}
		for _, s := range b.Staff(public.Language{}, id).Staff {
			names = append(names, s.Name)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("staff of %q: got %q, want %q", c.service, names, c.want)
		}
	}
	sauna := service(snapshot, "sauna")
	wantJSON(t, `{"staff": []}`, b.Staff(public.Language{}, &sauna))
}

func TestInfoIsComplete(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, `
logo_url: https://harbor.example/logo.png
modules: {services: true, events: true, rentals: false}
social_links: {instagram: https://instagram.example/harbor}
action_buttons:
  - {type: link, label: Second, content: https://harbor.example/2, order: 2}
  - {type: link, label: First, icon: book, content: https://harbor.example/1, order: 1}
payments: {providers: [stripe], accounts: {stripe: acct_harbor}, modes: {services: customer_choice, rentals: online, events: at_door}}
cancellation_policy: [{hours_before: 24, refund_percent: 100}]
cooling_off_hours: 3
`)
	const want = `{"name": "Harbor", "slug": "harbor", "logo_url": "https://harbor.example/logo.png", "currency": "EUR",
		"timezone": "Europe/Lisbon", "default_language": "en", "languages": ["en", "pt", "de"],
		"modules_enabled": {"services": true, "events": true, "rentals": false},
		"social_links": {"instagram": "https://instagram.example/harbor"},
		"action_buttons": [
			{"type": "link", "label": "First", "icon": "book", "content": "https://harbor.example/1", "order": 1},
			{"type": "link", "label": "Second", "icon": "", "content": "https://harbor.example/2", "order": 2}],
		"has_payment_providers": true, "payment_providers": ["stripe"],
		"payment_modes": {"services": "customer_choice", "rentals": "online", "events": "at_door"},
		"cancellation_policy": [{"hours_before": 24, "refund_percent": 100}], "cooling_off_hours": 3,
		"online_bookings_paused": %t, "open": true}`
	wantJSON(t, fmt.Sprintf(want, false), b.Info(false))
	wantJSON(t, fmt.Sprintf(want, true), b.Info(true))
}

func TestInfoListsFormQuestions(t *testing.T) {
	t.Parallel()
	b, snapshot := readManifest(t, `services: [{key: cut, name: Cut, duration_minutes: 30}]
form:
  - {key: level, label: Level, type: select, required: true, services: [cut], options: [{key: new, label: Beginner, translations: {pt: {label: Novo}}}], translations: {pt: {label: Nível}}}
  - {key: note, label: Note, type: text}
  - {key: news, label: News, type: checkbox, consent: true}
`)
	wantJSON(t, fmt.Sprintf(`[
		{"key": "level", "label": "Level", "label_translations": {"pt": "Nível"}, "type": "select", "required": true,
			"options": [{"key": "new", "label": "Beginner", "label_translations": {"pt": "Novo"}}], "service_ids": [%q]},
		{"key": "note", "label": "Note", "type": "text", "required": false, "max_length": 200}]`, service(snapshot, "cut")), b.Info(false).Form)
}

// TestInfoShowsPlaceAndContact shows that /info has the fields of a place, the contact, the legal texts and the policy
// text in the default language, with their translations.
func TestInfoShowsPlaceAndContact(t *testing.T) {
	t.Parallel()
	b, snapshot := readManifest(t, `translations: {pt: {policy_text: Sem sapatos}}
contact: {phone: "+351 21 000 0000", email: hello@harbor.example, website: https://harbor.example, messenger: https://chat.example/harbor}
legal: {imprint: https://harbor.example/imprint, privacy: We keep little., translations: {pt: {privacy: Guardamos pouco.}}}
policy_text: Shoes off
locations:
  - key: quay
    kind: place
    name: Quay
    address: {street: Rua 1, postal_code: "1100-001", city: Lisboa, country: PT}
    geo: {lat: 38.7100, lon: -9.13}
    directions_html: <p>Second door</p>
    phone: "+351 22 000 0000"
    translations: {pt: {name: Cais}}
`)
	info := decodeJSON(t, b.Info(false)).(map[string]any)
	got := map[string]any{}
	for _, field := range []string{"locations", "contact", "legal", "policy_text", "policy_text_translations"} {
		got[field] = info[field]
	}
	wantJSON(t, fmt.Sprintf(`{
		"locations": [{"id": %q, "kind": "place", "name": "Quay", "name_translations": {"pt": "Cais"},
			"address": {"street": "Rua 1", "postal_code": "1100-001", "city": "Lisboa", "country": "PT"},
			"geo": {"lat": 38.7100, "lon": -9.13}, "phone": "+351 22 000 0000"}],
		"contact": {"phone": "+351 21 000 0000", "email": "hello@harbor.example", "website": "https://harbor.example",
			"messenger": "https://chat.example/harbor"},
		"legal": {"imprint": "https://harbor.example/imprint", "privacy": "We keep little.",
			"privacy_translations": {"pt": "Guardamos pouco."}},
		"policy_text": "Shoes off", "policy_text_translations": {"pt": "Sem sapatos"}}`,
		uuid.NewSHA1(snapshot.ID, []byte("location/quay"))), got)
}

// TestInfoOmitsUnsetFields shows that /info has only those fields of the place and the contact that have a value.
func TestInfoOmitsUnsetFields(t *testing.T) {
	t.Parallel()
	b, snapshot := readManifest(t, "locations: [{key: quay, kind: place}]\ncontact: {}\nlegal: {}\n")
	info := decodeJSON(t, b.Info(false)).(map[string]any)
	wantJSON(t, fmt.Sprintf(`[{"id": %q, "kind": "place", "name": "Harbor"}]`,
		uuid.NewSHA1(snapshot.ID, []byte("location/quay"))), info["locations"])
	for _, field := range []string{"contact", "legal", "policy_text", "policy_text_translations"} {
		if _, has := info[field]; has {
			t.Errorf("/info has %s", field)
		}
	}
}

func TestInfoListsConnectedProvidersOnly(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, "payments: {providers: [stripe]}\n")
	wantJSON(t, `[false, []]`, []any{b.Info(false).HasPaymentProviders, b.Info(false).PaymentProviders})
}

// TestInfoHasTranslatedName shows that /info has the default name and its translations. It takes no locale
// (interface.md §2, Localization 6).
func TestInfoHasTranslatedName(t *testing.T) {
	t.Parallel()
	b, snapshot := readManifest(t, "translations: {pt: {name: Porto}, de: {}}\n")
	wantJSON(t, `["Harbor", {"pt": "Porto"}]`, []any{b.Info(false).Name, b.Info(false).NameTranslations})
	wantJSON(t, `["Porto", "Harbor", "Harbor"]`, []string{snapshot.NameIn("pt"), snapshot.NameIn("de"),
		snapshot.NameIn("")})
	without, _ := readManifest(t, "")
	if _, has := decodeJSON(t, without.Info(false)).(map[string]any)["name_translations"]; has {
		t.Error("a name without translations has a map of them")
	}
}

func TestMinimalInfoHasNoNull(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, "")
	for field, value := range decodeJSON(t, b.Info(false)).(map[string]any) {
		if value == nil {
			t.Errorf("%s is null", field)
		}
	}
}

// words draws the text of a translation. Some texts are empty or have no visible characters.
var words = rapid.SampledFrom([]string{"", "<p>Ola</p>", "plain &amp; simple", "<script>x</script>", "<p></p>",
	"<b>a</b><br>b", " ", "<ul><li>x</li></ul>"})

// TestTranslationsResolve checks the rules of interface.md §2 and semantics.md §6 for translations with random
// texts.
func TestTranslationsResolve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &manifest.Manifest{
			APIVersion: manifest.APIVersion, Kind: manifest.Kind, Slug: "harbor", Name: "Harbor", Currency: "EUR",
			Timezone: "UTC", DefaultLanguage: "en", Languages: []manifest.Language{"en", "pt", "de"},
			Services: []manifest.Service{{Key: "a", Name: "A", Category: "C", DurationMinutes: 5,
				DescriptionHTML: words.Draw(t, "service"),
				Translations:    map[manifest.Language]manifest.ServiceTranslation{}}},
			Staff: []manifest.Staff{{Key: "b", Name: "B", Category: "D", DescriptionHTML: words.Draw(t, "staff"),
				Translations: map[manifest.Language]manifest.StaffTranslation{}}},
		}
		for _, code := range rapid.SliceOfDistinct(rapid.SampledFrom(m.Languages), rapid.ID).Draw(t, "translated") {
			name := manifest.Line(rapid.SampledFrom([]string{"", "Nome"}).Draw(t, "name"))
			m.Services[0].Translations[code] = manifest.ServiceTranslation{Name: name,
				DescriptionHTML: words.Draw(t, "html"), Category: name}
			m.Staff[0].Translations[code] = manifest.StaffTranslation{Name: name, DescriptionHTML: words.Draw(t, "bio"),
				Category: name}
		}
		snapshot, err := compile.Snapshot(m, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := snapshot.Prepare(); err != nil {
			t.Fatal(err)
		}
		checkTexts(t, public.New(public.Sanitize(m), snapshot, ""))
	})
}

func checkTexts(t *rapid.T, b *public.Business) {
	raw := map[string]map[string]any{
		"description_translations": decodeJSON(t,
			b.Services(public.Language{}, public.Quotes{}).Services[0]).(map[string]any),
		"bio_translations": decodeJSON(t, b.Staff(public.Language{}, nil).Staff[0]).(map[string]any),
	}
	for plainMap, element := range raw {
		plain, _ := element[plainMap].(map[string]any)
		html, _ := element["description_html_translations"].(map[string]any)
		if !maps.EqualFunc(plain, html, func(p, h any) bool { return p == locale.VisibleText(h.(string)) }) {
			t.Fatalf("%s is %q, the HTML %q", plainMap, plain, html)
		}
		for _, code := range []string{"en", "pt", "de", ""} {
			checkResolved(t, b, element, plainMap, code)
		}
	}
}

// checkResolved compares an element in one language with the translations of the same element.
func checkResolved(t *rapid.T, b *public.Business, raw map[string]any, plainMap, code string) {
	l := public.Language{IsResolved: true, Code: code}
	resolved := decodeJSON(t, b.Services(l, public.Quotes{}).Services[0]).(map[string]any)
	if plainMap == "bio_translations" {
		resolved = decodeJSON(t, b.Staff(l, nil).Staff[0]).(map[string]any)
	}
	for key := range resolved {
		if strings.HasSuffix(key, "_translations") {
			t.Fatalf("%s is there in %q", key, code)
		}
	}
	fields := map[string]string{"name": "name_translations", "description": plainMap,
		"description_html": "description_html_translations"}
	if plainMap == "bio_translations" {
		fields["category"] = "category_translations"
	} else if resolved["category"] != raw["category"] {
		t.Fatalf("a service's category is %q in %q", resolved["category"], code)
	}
	for field, translations := range fields {
		want := raw[field]
		if translated, ok := asObject(raw[translations])[code]; ok {
			want = translated
		}
		if resolved[field] != want {
			t.Fatalf("%s in %q is %q, want %q", field, code, resolved[field], want)
		}
	}
}

func asObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func TestSanitizeUntilStops(t *testing.T) {
	t.Parallel()
	m, problems := manifest.Parse([]byte(head + "staff: [{key: a, name: A, description_html: <b>a}, {key: b, name: B, description_html: <b>b}, {key: c, name: C}]\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	calls := 0
	if clean, ok := public.SanitizeUntil(m, func() bool { calls++; return calls > 1 }); ok || clean != nil ||
		calls != 2 {
		t.Errorf("Sanitize checked %d times whether to stop: %v", calls, clean)
	}
	clean, ok := public.SanitizeUntil(m, func() bool { return false })
	if !ok || clean.Staff[1].DescriptionHTML != "<b>b</b>" || m.Staff[1].DescriptionHTML != "<b>b" {
		t.Errorf("not stopped: %v, %+v", ok, clean)
	}
}
