package public_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
)

func rentalID(snapshot *catalog.Snapshot, key string) uuid.UUID {
	for _, r := range snapshot.Rentals {
		if r.Key == key {
			return r.ID
		}
	}
	return uuid.Nil
}

const boats = `
modules: {rentals: true}
rentals:
  - key: vest
    name: Life vest
    price_type: daily
    units_count: 4
    quantity: 10
    add_on: true
    translations: {pt: {name: Colete}}
  - key: kayak
    name: Kayak
    description_html: <p>Single <b>seat</b>.</p><script>x()</script>
    category: Water
    price: 12
    price_type: hourly
    quantity: 6
    units: [{key: k1}, {key: k2}, {key: k3, in_service: false}]
    image_url: https://harbor.example/kayak.png
    min_rental_hours: 1
    max_rental_hours: 8
    payment_requirement: deposit_percent
    deposit_value: 20
    order: 2
    upsells:
      - {rental: paddle, order: 5}
      - {rental: vest, required: true, order: 1}
      - {rental: gone}
    translations: {pt: {name: Caiaque, description_html: <p>Um lugar.</p>}}
  - {key: paddle, name: Paddle, price: 3, price_type: daily, order: 1, upsells: [{rental: kayak}]}
  - {key: gone, name: Gone, price: 3, price_type: daily, active: false, upsells: [{rental: kayak}]}
`

func TestRentalsWithoutLocaleHaveTranslations(t *testing.T) {
	t.Parallel()
	b, snapshot := readManifest(t, boats)
	vest, kayak, paddle := rentalID(snapshot, "vest"), rentalID(snapshot, "kayak"), rentalID(snapshot, "paddle")
	quotes := public.Quotes{Date: christmas, Prices: map[uuid.UUID]json.Number{kayak: "10.80", paddle: "2.70"}}
	ceilings := map[uuid.UUID]int{kayak: 2, paddle: 0, vest: 4}
	wantJSON(t, fmt.Sprintf(`{
		"rentals": [
			{"id": %[3]q, "name": "Paddle", "description": "", "description_html": "", "category": "", "price": 3.00,
			 "quoted_price": 2.70, "price_type": "daily", "quantity": 0, "max_bookable_online": 0, "image_url": "",
			 "min_rental_days": null, "max_rental_days": null, "min_rental_hours": null, "max_rental_hours": null,
			 "payment_requirement": "none", "deposit_value": null, "name_translations": null,
			 "description_translations": null, "description_html_translations": null},
			{"id": %[2]q, "name": "Kayak", "description": "Single seat.", "description_html": "<p>Single <b>seat</b>.</p>",
			 "category": "Water", "price": 12.00, "quoted_price": 10.80, "price_type": "hourly", "quantity": 6,
			 "max_bookable_online": 2, "image_url": "https://harbor.example/kayak.png", "min_rental_days": null,
			 "max_rental_days": null, "min_rental_hours": 1, "max_rental_hours": 8,
			 "payment_requirement": "deposit_percent", "deposit_value": 20, "name_translations": {"pt": "Caiaque"},
			 "description_translations": {"pt": "Um lugar."}, "description_html_translations": {"pt": "<p>Um lugar.</p>"}}
		],
		"add_on_rentals": [
			{"id": %[1]q, "name": "Life vest", "description": "", "description_html": "", "category": "", "price": 0.00,
			 "quoted_price": null, "price_type": "daily", "quantity": 10, "max_bookable_online": 4, "image_url": "",
			 "min_rental_days": null, "max_rental_days": null, "min_rental_hours": null, "max_rental_hours": null,
			 "payment_requirement": "none", "deposit_value": null, "name_translations": {"pt": "Colete"},
			 "description_translations": null, "description_html_translations": null}
		],
		"rental_upsells": [
			{"rental_id": %[3]q, "upsell_rental_id": %[2]q, "is_required": false, "sort_order": 0},
			{"rental_id": %[2]q, "upsell_rental_id": %[1]q, "is_required": true, "sort_order": 1},
			{"rental_id": %[2]q, "upsell_rental_id": %[3]q, "is_required": false, "sort_order": 5}
		],
		"currency": "EUR",
		"quote": {"date": "2026-12-25", "applies_pricing_rules": true, "basis": "Rate of one unit for an hour or a day, bought now for a rental on 2026-12-25; duration, quantity and rules that need a start time or the customer apply at booking."}
	}`, vest, kayak, paddle), b.Rentals(public.Language{}, quotes, ceilings))
	if want := []uuid.UUID{paddle, kayak}; !slices.Equal(b.PricedRentals(), want) {
		t.Errorf("rentals to price: %v, want %v", b.PricedRentals(), want)
	}
}

func TestRentalsWithLocaleResolveTexts(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, boats)
	for code, want := range map[string][]string{
		"pt": {"Paddle", "", "Caiaque", "Um lugar.", "Colete"},
		"":   {"Paddle", "", "Kayak", "Single seat.", "Life vest"},
	} {
		list := b.Rentals(public.Language{IsResolved: true, Code: code}, public.Quotes{}, nil)
		got := []string{list.Rentals[0].Name, list.Rentals[0].Description, list.Rentals[1].Name,
			list.Rentals[1].Description, list.AddOnRentals[0].Name}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", code, got, want)
		}
		if list.Rentals[1].RentalTranslations != nil || list.AddOnRentals[0].RentalTranslations != nil ||
			list.Rentals[1].Category != "Water" {
			t.Errorf("%q: translations stay, or the category went", code)
		}
	}
}

func TestRentalsListsWithoutPricesAndCeilings(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, boats)
	list := b.Rentals(public.Language{}, public.Quotes{Date: christmas}, nil)
	if list.Quote.AppliesPricingRules || list.Quote.Basis == "" || len(list.Rentals) != 2 {
		t.Errorf("got %+v, %d rentals", list.Quote, len(list.Rentals))
	}
	for _, r := range append(list.Rentals, list.AddOnRentals...) {
		if r.QuotedPrice != nil || r.MaxBookableOnline != nil {
			t.Errorf("%s: quoted %v, at most %v", r.Name, r.QuotedPrice, r.MaxBookableOnline)
		}
	}
}

func TestRentalsIsEmptyWithoutModule(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, "modules: {rentals: false}\n"+boats[len("\nmodules: {rentals: true}\n"):])
	list := b.Rentals(public.Language{}, public.Quotes{Date: christmas, Prices: map[uuid.UUID]json.Number{}}, nil)
	wantJSON(t, `[[], [], []]`, []any{list.Rentals, list.AddOnRentals, list.RentalUpsells})
	if b.HasRentals() || len(b.PricedRentals()) > 0 {
		t.Error("a rental of a disabled module is available")
	}
}
