package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// buildBoathouse returns the manifest of a business that rents ten canoes and one boat by the day, and two kayaks by
// the hour.
func buildBoathouse(slug string) string {
	return fmt.Sprintf(`apiVersion: slotmesh/v1
kind: Business
slug: %s
name: Boathouse
currency: EUR
timezone: Europe/Lisbon
default_language: pt
languages: [pt, en]
modules: {services: true, events: true, rentals: true}
bookings: {advance_days: 365}
rentals:
  - {key: canoe, name: Canoe, price: 20.00, price_type: daily, quantity: 12, units_count: 10, order: 1}
  - {key: boat, name: Boat, price: 80.00, price_type: daily, quantity: 1, units_count: 1, order: 2}
  - {key: kayak, name: Kayak, price: 12.00, price_type: hourly, quantity: 6, units_count: 2, order: 3}
  - {key: unlisted, name: Unlisted, price: 5.00, price_type: daily, units_count: 3, order: 4}
pricing_rules:
  - {key: tuesday, kind: day_of_week, days: [tue], percent: -10, applies_to: {rentals: all}}
  - {key: longer, kind: duration, min_units: 1, percent: -50, applies_to: {rentals: all}}
  - {key: party, kind: party_size, min: 1, percent: -50, applies_to: {rentals: all}}
`, slug)
}

// reserve reserves units by the admin API.
func (w *platform) reserve(slug, rental, from, to string, quantity int, times ...string) (reply, error) {
	body := map[string]any{"rental_id": rental, "start_date": from, "end_date": to, "quantity": quantity,
		"customer_name": "Ada Example"}
	if len(times) == 2 {
		body["start_time"], body["end_time"] = times[0], times[1]
	}
	text, err := json.Marshal(body)
	if err != nil {
		return reply{}, err
	}
	return w.tryDo(http.MethodPost, w.AdminURL+"/admin/businesses/"+slug+"/reservations", text,
		http.Header{"Authorization": {"Bearer " + w.AdminToken}, "Content-Type": {"application/json"}})
}

func (w *platform) mustReserve(t *testing.T, slug, rental, from, to string, quantity int, times ...string) string {
	t.Helper()
	a, err := w.reserve(slug, rental, from, to, quantity, times...)
	if err != nil {
		t.Fatal(err)
	}
	var created struct{ ID, Status string }
	a.decode(t, http.StatusCreated, &created)
	if created.Status != "reserved" {
		t.Errorf("made as %s", created.Status)
	}
	return created.ID
}

func (w *platform) changeReservation(t *testing.T, slug, id, move string) {
	t.Helper()
	w.callAdmin(t, http.MethodPost, "businesses/"+slug+"/reservations/"+id+"/"+move, nil).checkStatus(t, http.StatusOK,
		"")
}

// listAvailability returns the messageCode of an unavailable rental, "" if the rental is available.
func (w *platform) listAvailability(t *testing.T, slug, query string) string {
	t.Helper()
	var v struct {
		Available                   bool
		ConflictReason, MessageCode string
	}
	w.get(t, slug+"/rental-availability?"+query).decode(t, http.StatusOK, &v)
	if v.Available != (v.MessageCode == "") || v.Available != (v.ConflictReason == "") {
		t.Errorf("%s: %+v", query, v)
	}
	return v.MessageCode
}

func TestRentalsCountAvailableUnits(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t) // today is Monday, 2027-03-01
	w.publish(t, "boats-listed", buildBoathouse("boats-listed"))
	ids := w.idsByName(t, "boats-listed", "rentals")
	var list struct {
		Rentals []struct {
			Name        string
			QuotedPrice *float64 `json:"quoted_price"`
			AtMost      *int     `json:"max_bookable_online"`
		}
	}
	w.get(t, "boats-listed/rentals?date=2027-03-02").decode(t, http.StatusOK, &list)
	for i, want := range []struct {
		name   string
		price  float64
		atMost int
	}{{"Canoe", 18, 10}, {"Boat", 72, 1}, {"Kayak", 10.8, 2}, {"Unlisted", 4.5, 0}} {
		got := list.Rentals[i]
		if got.Name != want.name || got.QuotedPrice == nil || *got.QuotedPrice != want.price || got.AtMost == nil ||
			*got.AtMost != want.atMost {
			t.Errorf("rental %d: %+v, want %+v", i, got, want)
		}
	}

	w.mustReserve(t, "boats-listed", ids["Canoe"], "2027-03-02", "2027-03-03", 7)
	w.mustReserve(t, "boats-listed", ids["Canoe"], "2027-03-04", "2027-03-06", 7)
	days := "rentalId=" + ids["Canoe"] + "&startDate=2027-03-02&endDate=2027-03-06&quantity="
	for quantity, want := range map[string]string{"3": "", "4": "not_enough_units"} {
		if got := w.listAvailability(t, "boats-listed", days+quantity); got != want {
			t.Errorf("%s canoes: %q, want %q", quantity, got, want)
		}
	}
	w.mustReserve(t, "boats-listed", ids["Kayak"], "2027-03-02", "2027-03-02", 2, "10:00", "12:00")
	w.mustReserve(t, "boats-listed", ids["Kayak"], "2027-03-02", "2027-03-02", 2, "12:00", "14:00")
	hours := "rentalId=" + ids["Kayak"] + "&startDate=2027-03-02&endDate=2027-03-02&startTime="
	for times, want := range map[string]string{"14:00&endTime=15:00": "", "13:00&endTime=15:00": "nothing_available"} {
		if got := w.listAvailability(t, "boats-listed", hours+times); got != want {
			t.Errorf("a kayak at %s: %q, want %q", times, got, want)
		}
	}
	calendar := w.get(t, "boats-listed/rental-available-dates?start=2027-02-27&end=2027-03-02&rental_id="+ids["Canoe"]+
		","+
		ids["Kayak"])
	want := fmt.Sprintf(`{"days":{"2027-03-01":{%[1]q:10,%[2]q:2},"2027-03-02":{%[1]q:3,%[2]q:0}},"computed":true,"timezone":"Europe/Lisbon"}`, ids["Canoe"], ids["Kayak"])
	var got, wanted any
	if json.Unmarshal(calendar.body, &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil ||
		fmt.Sprint(got) != fmt.Sprint(wanted) {
		t.Errorf("the calendar is %s, want %s", calendar.body, want)
	}
}

func TestOverdueRentalOccupiesTodayOnly(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "boats-late", buildBoathouse("boats-late"))
	boat := w.idsByName(t, "boats-late", "rentals")["Boat"]
	id := w.mustReserve(t, "boats-late", boat, "2027-02-27", "2027-02-28", 1) // ended yesterday
	w.changeReservation(t, "boats-late", id, "pickup")
	expect := func(today, tomorrow, both string) {
		t.Helper()
		for dates, want := range map[string]string{
			"&startDate=2027-03-01&endDate=2027-03-01": today, "&startDate=2027-03-02&endDate=2027-03-02": tomorrow,
			"&startDate=2027-03-01&endDate=2027-03-02": both,
		} {
			if got := w.listAvailability(t, "boats-late", "rentalId="+boat+dates); got != want {
				t.Errorf("%s: %q, want %q", dates, got, want)
			}
		}
	}
	expect("nothing_available", "", "nothing_available")
	var list struct {
		Reservations []struct {
			Status  string
			Overdue bool
		}
	}
	w.callAdmin(t, http.MethodGet, "businesses/boats-late/reservations", nil).decode(t, http.StatusOK, &list)
	if len(list.Reservations) != 1 || !list.Reservations[0].Overdue || list.Reservations[0].Status != "picked_up" {
		t.Errorf("the list is %+v", list)
	}
	w.changeReservation(t, "boats-late", id, "return")
	expect("", "", "")
	w.callAdmin(t, http.MethodPost, "businesses/boats-late/reservations/"+id+"/cancel", nil).checkStatus(t,
		http.StatusConflict,
		"conflict")
}

func TestConcurrentReservationsStopAtStock(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "boats-race", buildBoathouse("boats-race"))
	canoe := w.idsByName(t, "boats-race", "rentals")["Canoe"]
	w.mustReserve(t, "boats-race", canoe, "2027-03-02", "2027-03-05", 7)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var (
		wg       sync.WaitGroup
		statuses = make([]int, 20)
	)
	for i := range statuses {
		wg.Go(func() {
			<-ctx.Done()
			if a, err := w.reserve("boats-race", canoe, "2027-03-03", "2027-03-04", 1); err == nil {
				statuses[i] = a.status
			}
		})
	}
	cancel()
	wg.Wait()
	count := map[int]int{}
	for _, status := range statuses {
		count[status]++
	}
	if count[http.StatusCreated] != 3 || count[http.StatusConflict] != 17 {
		t.Errorf("answers by status: %v, want 3 of 201 and 17 of 409", count)
	}
}

func TestRentalCalendarIsUnknownWithoutRental(t *testing.T) {
	t.Parallel()
	w := startPlatform(t)
	w.publish(t, "gone", buildBoathouse("gone"))
	boat := w.idsByName(t, "gone", "rentals")["Boat"]
	if err := w.StopService("rental"); err != nil {
		t.Fatal(err)
	}
	var list struct {
		Rentals []map[string]any
	}
	w.get(t, "gone/rentals").decode(t, http.StatusOK, &list)
	if len(list.Rentals) != 4 {
		t.Errorf("%d rentals are listed, want 4", len(list.Rentals))
	}
	for _, r := range list.Rentals {
		if atMost, exists := r["max_bookable_online"]; atMost != nil || !exists || r["quoted_price"] == nil {
			t.Errorf("%v without rental", r)
		}
	}
	calendar := w.get(t, "gone/rental-available-dates?start=2027-03-01&end=2027-03-02&rental_id="+boat)
	calendar.checkStatus(t, http.StatusOK, "")
	if o := calendar.decodeObject(t); o["computed"] != false || len(o["days"].(map[string]any)) != 0 ||
		o["timezone"] != "Europe/Lisbon" {
		t.Errorf("the calendar is %s", calendar.body)
	}
	if a := w.get(t, "gone/rental-availability?rentalId="+boat+
		"&startDate=2027-03-01&endDate=2027-03-02"); a.status != http.StatusServiceUnavailable {
		t.Errorf("a single question answers %d %s", a.status, a.body)
	}
	w.get(t, "gone/services").checkStatus(t, http.StatusOK, "")
}
