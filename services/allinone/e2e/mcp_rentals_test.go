package e2e

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listAvailabilities returns the availability of each rental by list_rentals, by name: the status, and the messageCode
// if the rental is unavailable. It also returns whether the tool has computed availability.
func (a agent) listAvailabilities(t *testing.T, arguments map[string]any) (map[string]string, bool) {
	t.Helper()
	var list struct {
		Rentals []struct {
			Name         string
			Availability *struct {
				Status      string
				Reason      string
				MessageCode string
			}
		}
		Computed bool
	}
	a.callAccepted(t, "list_rentals", arguments, &list)
	got := make(map[string]string)
	for _, r := range list.Rentals {
		got[r.Name] = ""
		if r.Availability != nil {
			got[r.Name] = strings.TrimSpace(r.Availability.Status + " " + r.Availability.MessageCode)
		}
		if r.Availability != nil && (r.Availability.Reason != "") != (r.Availability.Status == "unavailable") {
			t.Errorf("%s: %+v", r.Name, r.Availability)
		}
	}
	return got, list.Computed
}

func TestAgentListsRentalAvailability(t *testing.T) {
	t.Parallel()
	w := startPlatform(t) // today is Monday 2027-03-01
	w.publish(t, "boats", buildBoathouse("boats"))
	ids := w.idsByName(t, "boats", "rentals")
	w.mustReserve(t, "boats", ids["Canoe"], "2027-03-02", "2027-03-03", 9)
	w.mustReserve(t, "boats", ids["Boat"], "2027-03-03", "2027-03-03", 1)
	w.mustReserve(t, "boats", ids["Kayak"], "2027-03-02", "2027-03-02", 2, "10:00", "12:00")
	a := w.connectAgent(t, w.createKey(t, "boats", "read"))
	on := func(from, to string, more map[string]any) map[string]any {
		arguments := map[string]any{"start_date": from, "end_date": to}
		for k, v := range more {
			arguments[k] = v
		}
		return arguments
	}
	all := func(canoe, boat, kayak, unlisted string) map[string]string {
		return map[string]string{"Canoe": canoe, "Boat": boat, "Kayak": kayak, "Unlisted": unlisted}
	}
	const free, none = "available", "unavailable nothing_available"
	for name, c := range map[string]struct {
		arguments map[string]any
		want      map[string]string
	}{
		"no dates": {nil, all("", "", "", "")},
		"one day":  {on("2027-03-02", "2027-03-02", nil), all(free, free, none, none)},
		"two units": {on("2027-03-02", "2027-03-02", map[string]any{"quantity": 2}),
			all("unavailable not_enough_units", "unavailable not_enough_units", none, none)},
		"two days": {on("2027-03-02", "2027-03-03", nil), all(free, none, none, none)},
		"hours": {on("2027-03-02", "2027-03-02", map[string]any{"start_time": "12:00", "end_time": "13:00"}),
			all(free, free, free, none)},
		"yesterday": {on("2027-02-28", "2027-03-02", nil), all("unavailable date_in_past",
			"unavailable date_in_past", "unavailable date_in_past", "unavailable date_in_past")},
		"in a year's on": {on("2028-03-01", "2028-03-02", nil),
			all("unavailable beyond_advance_limit", "unavailable beyond_advance_limit",
				"unavailable beyond_advance_limit", "unavailable beyond_advance_limit")},
	} {
		got, computed := a.listAvailabilities(t, c.arguments)
		if diff := cmp.Diff(c.want, got); diff != "" || !computed {
			t.Errorf("%s: computed %t\n%s", name, computed, diff)
		}
	}

	if err := w.StopService("rental"); err != nil {
		t.Fatal(err)
	}
	got, computed := a.listAvailabilities(t, on("2027-03-02", "2027-03-02", nil))
	if diff := cmp.Diff(all("unknown", "unknown", "unknown", "unknown"), got); diff != "" || computed {
		t.Errorf("without the rental service: computed %t\n%s", computed, diff)
	}
}

func TestAgentReadsTranslatedRentals(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	const canoe = "name: Canoe, "
	manifest := strings.Replace(buildBoathouse("agent-boats"), canoe,
		canoe+"translations: {en: {name: Open canoe}}, upsells: [{rental: vest, required: true}], ", 1)
	w.publish(t, "agent-boats", strings.Replace(manifest, "rentals:\n",
		"rentals:\n  - {key: vest, name: Colete, price: 2.00, price_type: daily, "+
			"quantity: 10, units_count: 10, add_on: true, translations: {en: {name: Life vest}}}\n", 1))
	a := w.connectAgent(t, w.createKey(t, "agent-boats", "read"))
	type rental struct {
		ID, Name string
		Upsells  []struct {
			RentalID   string `json:"rental_id"`
			IsRequired bool   `json:"is_required"`
		}
		Availability *struct{ Reason *string }
	}
	for language, want := range map[string][]string{
		"":      {"Canoe", "Colete", "Só há 10 unidades"},
		"en-GB": {"Open canoe", "Life vest", "Only 10 units"},
		"xx":    {"Canoe", "Colete", "Só há 10 unidades"},
	} {
		var list struct {
			Rentals []rental
			AddOns  []rental `json:"add_on_rentals"`
			Total   int
		}
		a.callAccepted(t, "list_rentals", map[string]any{"locale": language, "start_date": "2027-03-02",
			"end_date": "2027-03-02", "quantity": 11}, &list)
		if len(list.Rentals) != 4 || len(list.AddOns) != 1 || list.Total != 5 {
			t.Fatalf("%q: got %+v", language, list)
		}
		canoe, vest := list.Rentals[0], list.AddOns[0]
		if canoe.Name != want[0] || vest.Name != want[1] || !strings.HasPrefix(*canoe.Availability.Reason, want[2]) {
			t.Errorf("%q: got %s, %s, %s, want %q", language, canoe.Name, vest.Name, *canoe.Availability.Reason, want)
		}
		if len(canoe.Upsells) != 1 || canoe.Upsells[0].RentalID != vest.ID || !canoe.Upsells[0].IsRequired ||
			len(vest.Upsells) != 0 {
			t.Errorf("along with the canoe go %+v", canoe.Upsells)
		}
	}
}
