package offer

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

const sellsAll = `apiVersion: slotmesh/v1
kind: Business
slug: harbor
name: Harbor
currency: EUR
timezone: Europe/Lisbon
default_language: en
languages: [en]
hours: {mon: ["09:00-17:00"]}
staff: [{key: ana, name: Ana, category: Stylist}]
services: [{key: cut, name: Haircut, duration_minutes: 45, price: 40.00, variants: [{key: long, name: Long, price: 50.00}], staff: [ana]}]
events: [{key: gala, name: Gala, date: 2027-04-03, start_time: "20:00", end_time: "23:00", total_capacity: 9, tiers: [{key: seat, name: Seat, price: 30.00, capacity: 9}]}]
rentals: [{key: kayak, name: Kayak, price: 12.00, price_type: hourly, quantity: 6, units_count: 2}]
pricing_rules: [{key: monday, kind: day_of_week, days: [mon], percent: -10, applies_to: {services: all}}]
locations: [{key: quay, kind: place, address: {city: Lisboa}}]
contact: {phone: "112"}
legal: {imprint: Ana}
policy_text: Shoes off
privacy: {keep_customers_days: 400}
`

// TestAffectsSales shows that AffectsSales is false for changes of prices, texts and pictures, which cannot affect
// existing bookings. It is true for other changes.
func TestAffectsSales(t *testing.T) {
	t.Parallel()
	parse := func(text string) *manifest.Manifest {
		m, problems := manifest.Parse([]byte(text))
		if len(problems) > 0 {
			t.Fatalf("%v\n%s", problems, text)
		}
		return m
	}
	for change, isAffected := range map[string]bool{
		"price: 40.00|price: 47.00":                         false,
		"price: 50.00|price: 57.00":                         false,
		"price: 30.00|price: 37.00":                         false,
		"price: 12.00|price: 17.00":                         false,
		"percent: -10|percent: -20":                         false,
		"name: Haircut|name: Trim":                          false,
		"category: Stylist|category: Colourist":             false,
		"city: Lisboa|city: Porto":                          true,
		"phone: \"112\"|phone: \"911\"":                     false,
		"imprint: Ana|imprint: Bea":                         false,
		"policy_text: Shoes|policy_text: Socks":             false,
		"duration_minutes: 45|duration_minutes: 50":         true,
		`"09:00-17:00"|"09:00-16:00"`:                       true,
		"staff: [ana]|staff: []":                            true,
		"name: Ana,|name: Ana, active: false,":              true,
		"date: 2027-04-03|date: 2027-04-04":                 true,
		"total_capacity: 9|total_capacity: 8":               true,
		"units_count: 2|units_count: 1":                     true,
		"keep_customers_days: 400|keep_customers_days: 300": true,
		"currency: EUR|currency: USD":                       true,
		"Europe/Lisbon|Europe/Madrid":                       true,
	} {
		old, wanted, _ := strings.Cut(change, "|")
		if strings.Count(sellsAll, old) != 1 {
			t.Fatalf("%q is there %d times", old, strings.Count(sellsAll, old))
		}
		before, after := parse(sellsAll), parse(strings.Replace(sellsAll, old, wanted, 1))
		if got, err := AffectsSales(before, after); err != nil || got != isAffected {
			t.Errorf("%s: %v, %v", change, got, err)
		}
		if before.Services[0].Name != "Haircut" || before.Rentals[0].Price.IsZero() {
			t.Fatal("the manifest itself was changed")
		}
	}
}
