package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// adminBooking is a booking by the admin API, with the fields that a reschedule changes.
type adminBooking struct {
	ID, Status, Source, Date string
	StartTime                string `json:"start_time"`
	Sequence                 int
	Total                    json.Number
}

// listTimes returns the starts that /slots lists on a date.
func (w *platform) listTimes(t *testing.T, slug, date, query string) []string {
	t.Helper()
	var times []string
	for _, s := range w.listSlots(t, slug, date, query).Slots {
		times = append(times, s.Time[:len("00:00")])
	}
	return times
}

func (w *platform) expectListed(t *testing.T, query string, want map[string]bool) {
	t.Helper()
	listed := w.listTimes(t, "moving", "2027-03-02", query)
	for clock, exists := range want {
		if slices.Contains(listed, clock) != exists {
			t.Errorf("%s is listed: %v, in %v", clock, !exists, listed)
		}
	}
}

func TestAdminBooksAndReschedules(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "moving", strings.Replace(buildSalon("moving", 1), "bookings: {", "bookings: {confirm: auto, ", 1))
	key, cut := w.createKey(t, "moving", "write"), w.idsByName(t, "moving", "services")["Cut"]
	query := "service_id=" + cut
	post := func(path string, body any) reply {
		t.Helper()
		return w.callAdmin(t, http.MethodPost, "businesses/moving/bookings"+path, encodeJSON(t, body))
	}

	var answer struct{ Booking struct{ ID, Status string } }
	w.book(t, "moving", key, newOrder(cut, "2027-03-02", "10:00")).decode(t, http.StatusCreated, &answer)
	if answer.Booking.Status != "confirmed" {
		t.Errorf("a business that confirms at once answers %s", answer.Booking.Status)
	}
	move := "/" + answer.Booking.ID + "/reschedule"
	var moved, second adminBooking
	post(move, order{"date": "2027-03-02", "time": "10:15"}).decode(t, http.StatusOK, &moved)
	if moved.ID != answer.Booking.ID || moved.StartTime != "10:15:00" || moved.Status != "confirmed" ||
		moved.Total != "36.00" && moved.Total != "36" || moved.Sequence != 2 {
		t.Errorf("rescheduled by a quarter of an hour: %+v", moved)
	}
	w.expectListed(t, query, map[string]bool{"09:30": true, "09:45": false, "10:15": false, "10:45": false,
		"11:00": true})

	w.book(t, "moving", key, newOrder(cut, "2027-03-02", "12:00")).checkStatus(t, http.StatusCreated, "")
	before := w.listTimes(t, "moving", "2027-03-02", query)
	post(move, order{"date": "2027-03-02", "time": "12:15"}).checkStatus(t, http.StatusConflict, "no_staff_available")
	if after := w.listTimes(t, "moving", "2027-03-02", query); !slices.Equal(before, after) {
		t.Errorf("a refused reschedule changes the listed times from %v to %v", before, after)
	}
	post(move, order{"date": "2027-03-02", "time": "10:15"}).decode(t, http.StatusOK, &second)
	if second.Sequence != 2 {
		t.Errorf("a reschedule to the present time: %+v", second)
	}
	post(move, order{"date": "2027-03-02", "time": "14:07"}).decode(t, http.StatusOK, &moved)
	w.expectListed(t, query, map[string]bool{"10:15": true, "13:15": true, "13:30": false, "14:45": false,
		"15:00": true})

	for clock, want := range map[string]int{"14:30": http.StatusConflict, "16:30": http.StatusConflict,
		"15:03": http.StatusCreated} {
		a := post("", newOrder(cut, "2027-03-02", clock))
		if a.status != want {
			t.Errorf("an owner books %s: %d %s, want %d", clock, a.status, a.body, want)
		}
		if want == http.StatusCreated {
			var booked adminBooking
			a.decode(t, want, &booked)
			if booked.Source != "dashboard" || booked.Status != "confirmed" {
				t.Errorf("booked by the owner: %+v", booked)
			}
		}
	}
	post("", newOrder(cut, "2027-03-02", "15:05")).checkStatus(t, http.StatusConflict, "no_staff_available")

	post("/"+answer.Booking.ID+"/cancel", order{}).checkStatus(t, http.StatusOK, "")
	post(move, order{"date": "2027-03-02", "time": "16:00"}).checkStatus(t, http.StatusConflict, "conflict")
	w.expectListed(t, query, map[string]bool{"14:00": true, "14:15": true, "15:00": false})
}
