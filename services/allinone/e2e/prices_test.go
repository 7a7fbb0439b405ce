package e2e

import (
	"net/http"
	"testing"
)

// buildFair returns the manifest of a business. Each service has a price of 40, and each except plain has a pricing
// rule. The rules assume that today is Monday, 2027-03-01.
func buildFair(slug string) string {
	return `apiVersion: slotmesh/v1
kind: Business
slug: ` + slug + `
name: Fair
currency: EUR
timezone: Europe/Lisbon
default_language: en
languages: [en]
modules: {services: true}
bookings: {slot_interval_minutes: 15, min_notice_minutes: 0, advance_days: 365}
hours: {tue: ["09:00-17:00"]}
services:
  - {key: plain, name: plain, duration_minutes: 30, price: 40.00}
  - {key: seasonal, name: seasonal, duration_minutes: 30, price: 40.00}
  - {key: weekday, name: day of week, duration_minutes: 30, price: 40.00}
  - {key: flash, name: flash sale, duration_minutes: 30, price: 40.00}
  - {key: early, name: early bird, duration_minutes: 30, price: 40.00}
  - {key: late, name: last minute, duration_minutes: 30, price: 40.00}
  - {key: morning, name: time of day, duration_minutes: 30, price: 40.00}
  - {key: group, name: party size, duration_minutes: 30, price: 40.00}
  - {key: each, name: per person, duration_minutes: 30, price: 40.00, price_per: person}
  - {key: welcome, name: first booking, duration_minutes: 30, price: 40.00}
pricing_rules:
  - {key: seasonal, kind: seasonal, from: "03-01", to: "03-31", percent: 20, applies_to: {services: [seasonal]}}
  - {key: weekday, kind: day_of_week, days: [tue], percent: -10, applies_to: {services: [weekday]}}
  - {key: flash, kind: flash_sale, from: 2027-03-01T00:00, to: 2027-03-02T00:00, percent: -30, applies_to: {services: [flash]}}
  - {key: early, kind: early_bird, min_days_before: 1, amount: -5.00, applies_to: {services: [early]}}
  - {key: late, kind: last_minute, max_days_before: 1, set: 25.00, applies_to: {services: [late]}}
  - {key: morning, kind: time_of_day, from: "09:00", to: "12:00", amount: 5.00, applies_to: {services: [morning]}}
  - {key: group, kind: party_size, min: 4, percent: -50, label: Groups, applies_to: {services: [group, each]}}
  - {key: welcome, kind: first_booking, percent: -25, applies_to: {services: [welcome]}}
`
}

// TestBookAppliesQuotedAndLatePricingRules shows that a quote includes the rules that depend only on the date and the
// time of purchase. A booking also includes the rules that depend on the start, the party or the customer.
func TestBookAppliesQuotedAndLatePricingRules(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "priced", buildFair("priced"))
	key := w.createKey(t, "priced", "write")
	var list struct {
		Services []struct {
			ID, Name    string
			QuotedPrice float64 `json:"quoted_price"`
		}
	}
	w.get(t, "priced/services?date=2027-03-02").decode(t, http.StatusOK, &list)
	want := map[string]struct{ quoted, booked float64 }{
		"plain": {40, 40}, "seasonal": {48, 48}, "day of week": {36, 36}, "flash sale": {28, 28},
		"early bird":  {35, 35},
		"last minute": {25, 25}, "time of day": {40, 45}, "party size": {40, 20}, "first booking": {40, 30},
		"per person": {40, 80},
	}
	if len(list.Services) != len(want) {
		t.Errorf("%d services", len(list.Services))
	}
	for _, s := range list.Services {
		var got struct {
			Booking struct {
				Total    float64
				Services []struct {
					Price        float64
					Quantity     int
					UnitPrice    float64                              `json:"unit_price"`
					PriceChanges []struct{ Rule, Kind, Label string } `json:"price_changes"`
				}
			}
		}
		o := newOrder(s.ID, "2027-03-02", "10:00").withField("party_size", 4).withField("customer_email",
			"ada@"+s.ID+".example")
		w.book(t, "priced", key, o).decode(t, http.StatusCreated, &got)
		b := got.Booking
		if s.QuotedPrice != want[s.Name].quoted || len(b.Services) != 1 || b.Services[0].Price != want[s.Name].booked ||
			b.Total != want[s.Name].booked {
			t.Errorf("%s: quoted %v, booked for %+v; want %+v", s.Name, s.QuotedPrice, b, want[s.Name])
			continue
		}
		sale := b.Services[0]
		if each := s.Name == "per person"; each != (sale.Quantity == 4) || each != (sale.UnitPrice == 40) {
			t.Errorf("%s: %d at %v each", s.Name, sale.Quantity, sale.UnitPrice)
		}
		if labelled := len(sale.PriceChanges) == 1 &&
			sale.PriceChanges[0].Label == "Groups"; labelled != (s.Name == "per person" || s.Name == "party size") {
			t.Errorf("%s: the price was changed by %+v", s.Name, sale.PriceChanges)
		}
	}
}
