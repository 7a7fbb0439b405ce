package e2e

import (
	"net/http"
	"testing"
)

func TestCalendarIsUnknownWithoutBooking(t *testing.T) {
	t.Parallel()
	w := startPlatform(t)
	w.publish(t, "down", buildSalon("down", 2))
	cut, key := w.idsByName(t, "down", "services")["Cut"], w.createKey(t, "down", "write")
	w.listSlots(t, "down", "2027-03-01", "service_id="+cut)
	if err := w.StopService("booking"); err != nil {
		t.Fatal(err)
	}
	for path, empty := range map[string]string{
		"slots?date=2027-03-01&service_id=":                           "slots",
		"available-dates?start=2027-03-01&end=2027-03-02&service_id=": "days",
	} {
		a := w.get(t, "down/"+path+cut)
		a.checkStatus(t, http.StatusOK, "")
		o := a.decodeObject(t)
		if o["computed"] != false {
			t.Errorf("%s: computed is %v", path, o["computed"])
		}
		switch list := o[empty].(type) {
		case []any:
			if len(list) != 0 {
				t.Errorf("%s: %s is %v", path, empty, list)
			}
		case map[string]any:
			if len(list) != 0 {
				t.Errorf("%s: %s is %v", path, empty, list)
			}
		default:
			t.Errorf("%s: %s is %v", path, empty, list)
		}
	}
	a := w.book(t, "down", key, newOrder(cut, "2027-03-01", "10:00"))
	if a.status != http.StatusServiceUnavailable && a.status != http.StatusBadGateway {
		t.Errorf("booking answered %d", a.status)
	}
}

func TestBookFailsWithoutAvailability(t *testing.T) {
	t.Parallel()
	w := startPlatform(t)
	w.publish(t, "blind", buildSalon("blind", 2))
	cut, key := w.idsByName(t, "blind", "services")["Cut"], w.createKey(t, "blind", "write")
	if err := w.StopService("availability"); err != nil {
		t.Fatal(err)
	}
	w.book(t, "blind", key, newOrder(cut, "2027-03-01", "10:00")).checkStatus(t, http.StatusServiceUnavailable,
		"availability_unverified")
	w.get(t, "blind/services").checkStatus(t, http.StatusOK, "")
	if live := w.countBookings(t, "blind"); live != 0 {
		t.Errorf("%d bookings were written", live)
	}
}

func TestServicesWithoutPricingHaveNoQuotes(t *testing.T) {
	t.Parallel()
	w := startPlatform(t)
	w.publish(t, "unquoted", buildSalon("unquoted", 1))
	quoted := func(date string) (bool, []any) {
		o := w.get(t, "unquoted/services?date="+date).decodeObject(t)
		var prices []any
		for _, s := range o["services"].([]any) {
			prices = append(prices, s.(map[string]any)["quoted_price"])
		}
		return o["quote"].(map[string]any)["applies_pricing_rules"].(bool), prices
	}
	if applies, prices := quoted("2027-03-02"); !applies || prices[0] != 36.0 {
		t.Errorf("on a Tuesday: applies %v, prices %v", applies, prices)
	}
	if err := w.StopService("pricing"); err != nil {
		t.Fatal(err)
	}
	applies, prices := quoted("2027-03-09") // another date, because a quoted price is cached for two seconds
	if applies {
		t.Error("applies_pricing_rules is true without pricing")
	}
	for _, p := range prices {
		if p != nil {
			t.Errorf("quoted_price is %v without pricing", p)
		}
	}
}

func TestReadersUseCachedOfferWithoutCatalog(t *testing.T) {
	t.Parallel()
	w := startPlatform(t)
	w.publish(t, "last", buildSalon("last", 1))
	cut, key := w.idsByName(t, "last", "services")["Cut"], w.createKey(t, "last", "write")
	w.listSlots(t, "last", "2027-03-01", "service_id="+cut)
	if err := w.StopService("catalog"); err != nil {
		t.Fatal(err)
	}
	if s := w.listSlots(t, "last", "2027-03-01", "service_id="+cut); len(s.Slots) == 0 {
		t.Error("no slots from the last good offer")
	}
	w.book(t, "last", key, newOrder(cut, "2027-03-01", "10:00")).checkStatus(t, http.StatusServiceUnavailable,
		"availability_unverified")
}
