package public_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
)

const galaYAML = `
events:
  - key: gala
    id: 3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10
    name: New Year Gala
    description_html: "<p>Dinner &amp; <script>x</script>music.</p>"
    date: 2026-12-31
    start_time: "20:00"
    end_time: "24:00"
    image_url: https://harbor.example/gala.png
    total_capacity: 120
    payment_requirement: deposit_percent
    deposit_value: 12.5
    tiers:
      - {key: standard, id: 3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d11, name: Standard, price: 60, capacity: 100, translations: {pt: {name: Normal}}}
      - {key: staff, id: 3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d12, name: Staff, capacity: 30}
    translations: {pt: {name: Gala de Ano Novo, description_html: "<p>Jantar.</p>"}, de: {name: Gala}}
`

var (
	galaID     = uuid.MustParse("3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10")
	standardID = uuid.MustParse("3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d11")
	staffID    = uuid.MustParse("3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d12")
)

func TestEventsMatchInterface(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, galaYAML)
	events := b.Events(christmas)
	if diff := cmp.Diff([]public.TierRef{{EventID: galaID, TierID: standardID}}, events.PricedTiers()); diff != "" {
		t.Error(diff)
	}
	prices := map[uuid.UUID]json.Number{standardID: "54.00"}
	wantJSON(t, `{"events": [{
		"id": "3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10",
		"name": "New Year Gala", "description": "Dinner & music.", "description_html": "<p>Dinner &amp; music.</p>",
		"date": "2026-12-31", "start_time": "20:00:00", "end_time": "00:00:00",
		"image_url": "https://harbor.example/gala.png", "total_capacity": 120, "spots_remaining": 20,
		"inventory": [
			{"id": "3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d11", "name": "Standard", "price": 60.00, "quoted_price": 54.00,
			 "total_capacity": 100, "spots_remaining": 5, "name_translations": {"pt": "Normal"}},
			{"id": "3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d12", "name": "Staff", "price": 0.00, "quoted_price": null,
			 "total_capacity": 30, "spots_remaining": 20, "name_translations": null}
		],
		"name_translations": {"pt": "Gala de Ano Novo", "de": "Gala"},
		"description_translations": {"pt": "Jantar."}, "description_html_translations": {"pt": "<p>Jantar.</p>"},
		"payment_requirement": "deposit_percent", "deposit_value": 12.5
	}], "currency": "EUR", "quote": {"date": "2026-12-25", "applies_pricing_rules": true,
		"basis": "Price of one ticket bought on 2026-12-25 for the event's own date and start; rules that need a party size or the customer apply at booking."}}`,
		events.Show(public.Language{}, prices, public.SoldCounts{galaID: 100, standardID: 95, staffID: 5}))
}

func TestEventsResolveTierTexts(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, galaYAML)
	for code, want := range map[string][]string{
		"pt": {"Gala de Ano Novo", "Jantar.", "<p>Jantar.</p>", "Normal", "Staff"},
		"de": {"Gala", "Dinner & music.", "<p>Dinner &amp; music.</p>", "Standard", "Staff"},
		"":   {"New Year Gala", "Dinner & music.", "<p>Dinner &amp; music.</p>", "Standard", "Staff"},
	} {
		list := b.Events(christmas).Show(public.Language{IsResolved: true, Code: code}, nil, nil)
		e := list.Events[0]
		if got := []string{e.Name, e.Description, e.DescriptionHTML, e.Inventory[0].Name,
			e.Inventory[1].Name}; !slices.Equal(got, want) {
			t.Errorf("in %q: got %q, want %q", code, got, want)
		}
		body, _ := json.Marshal(list)
		if strings.Contains(string(body), "_translations") {
			t.Errorf("in %q, the answer still contains translations: %s", code, body)
		}
	}
}

func TestUnknownSpotsAndPricesAreNull(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, galaYAML)
	list := decodeJSON(t, b.Events(christmas).Show(public.Language{}, nil, nil)).(map[string]any)
	event := list["events"].([]any)[0].(map[string]any)
	for _, o := range []map[string]any{event, event["inventory"].([]any)[0].(map[string]any),
		event["inventory"].([]any)[1].(map[string]any)} {
		if spots, there := o["spots_remaining"]; !there || spots != nil {
			t.Errorf("%v has spots_remaining %v", o["name"], spots)
		}
	}
	if price := event["inventory"].([]any)[0].(map[string]any)["quoted_price"]; price != nil {
		t.Errorf("quoted_price is %v", price)
	}
	if quote := list["quote"].(map[string]any); quote["applies_pricing_rules"] != false ||
		quote["date"] != "2026-12-25" {
		t.Errorf("quote is %v", quote)
	}
}

func TestEventsListsUpcomingPublicEvents(t *testing.T) {
	t.Parallel()
	const at = `total_capacity: 9, tiers: []`
	b, _ := readManifest(t, `
events:
  - {key: later, name: Later, date: 2026-12-27, start_time: "09:00", end_time: "10:00", `+at+`}
  - {key: evening, name: Evening, date: 2026-12-25, start_time: "19:00", end_time: "20:00", `+at+`}
  - {key: past, name: Past, date: 2026-12-24, start_time: "19:00", end_time: "18:00", `+at+`}
  - {key: b, name: B, date: 2026-12-25, start_time: "09:00", end_time: "10:00", `+at+`}
  - {key: a, name: A, date: 2026-12-25, start_time: "09:00", end_time: "10:00", `+at+`}
  - {key: off, name: Off, active: false, date: 2026-12-26, start_time: "09:00", end_time: "10:00", `+at+`}
  - {key: private, name: Private, public: false, date: 2026-12-26, start_time: "09:00", end_time: "10:00", `+at+`}
`)
	var names []string
	list := b.Events(christmas).Show(public.Language{}, map[uuid.UUID]json.Number{}, public.SoldCounts{})
	for _, e := range list.Events {
		names = append(names, e.Name)
		if e.Inventory == nil || *e.SpotsRemaining != 9 {
			t.Errorf("%+v", e)
		}
	}
	if diff := cmp.Diff([]string{"A", "B", "Evening", "Later"}, names); diff != "" {
		t.Error(diff)
	}
	none, _ := readManifest(t, "modules: {events: false}\n"+galaYAML)
	wantJSON(t, `[]`, none.Events(christmas).Show(public.Language{}, nil, nil).Events)
}

// TestSpotsRemainingOfRandomSales checks semantics.md §4. The spots_remaining of a tier are the smaller of what is left
// of the tier and of the event. Those of an event are total_capacity minus all sold tickets. None is less than 0.
func TestSpotsRemainingOfRandomSales(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, galaYAML)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 130)
		standard, staff, gone := n.Draw(t, "standard"), n.Draw(t, "staff"), n.Draw(t, "of a tier that is gone")
		sold := public.SoldCounts{galaID: standard + staff + gone, standardID: standard, staffID: staff}
		e := b.Events(timespan.NewDate(2026, time.December, 31)).Show(public.Language{}, nil, sold).Events[0]
		left := 120
		for range standard + staff + gone {
			if left > 0 {
				left--
			}
		}
		want := []int{left, minOf(left, 100-standard), minOf(left, 30-staff)}
		got := []int{*e.SpotsRemaining, *e.Inventory[0].SpotsRemaining, *e.Inventory[1].SpotsRemaining}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func minOf(event, tier int) int {
	switch {
	case tier < 0:
		return 0
	case tier < event:
		return tier
	}
	return event
}
