package e2e

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
)

func TestServicesReportClassSchedule(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	publishHarbor(t, w, "harbor-classes")
	var list struct {
		Services []struct {
			Name             string
			HasClassSchedule bool `json:"has_class_schedule"`
		}
	}
	w.get(t, "harbor-classes/services").decode(t, http.StatusOK, &list)
	for _, s := range list.Services {
		if s.HasClassSchedule != (s.Name == "Yoga class") {
			t.Errorf("%s: has_class_schedule is %v", s.Name, s.HasClassSchedule)
		}
	}
	if len(list.Services) < 2 {
		t.Errorf("%d services", len(list.Services))
	}
}

func TestInfoIgnoresLocale(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	publishHarbor(t, w, "harbor-info")
	plain := w.get(t, "harbor-info/info")
	if with := w.get(t, "harbor-info/info?locale=pt"); !bytes.Equal(plain.body, with.body) {
		t.Errorf("without locale %s, with it %s", plain.body, with.body)
	}
}

func TestBookAssignsMembersInOrder(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "order", buildSalon("order", 3))
	cut, key := w.idsByName(t, "order", "services")["Cut"], w.createKey(t, "order", "write")
	for _, want := range []string{"Member 0", "Member 1", "Member 2"} {
		var got struct {
			Booking struct {
				StaffName string `json:"staff_name"`
			}
		}
		w.book(t, "order", key, newOrder(cut, "2027-03-01", "10:00")).decode(t, http.StatusCreated, &got)
		if got.Booking.StaffName != want {
			t.Errorf("got %q, want %q", got.Booking.StaffName, want)
		}
	}
	w.book(t, "order", key, newOrder(cut, "2027-03-01", "10:00")).checkStatus(t, http.StatusConflict,
		"no_staff_available")
}

func TestPauseKeepsReadsAndBookings(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "pause", buildSalon("pause", 2))
	cut, key := w.idsByName(t, "pause", "services")["Cut"], w.createKey(t, "pause", "write")
	o := newOrder(cut, "2027-03-01", "10:00")
	var created struct{ Booking struct{ ID string } }
	w.book(t, "pause", key, o).decode(t, http.StatusCreated, &created)
	reads := []string{
		"services", "staff", "events", "rentals", "slots?date=2027-03-01&service_id=" + cut,
		"available-dates?start=2027-03-01&end=2027-03-03&service_id=" + cut,
	}
	open := make(map[string]reply)
	for _, read := range reads {
		open[read] = w.get(t, "pause/"+read)
	}

	paused := func(slug string) string {
		return strings.Replace(buildSalon(slug, 2), "bookings: {", "bookings: {paused_until: 2027-03-02, ", 1)
	}
	w.publish(t, "pause", paused("pause"))
	w.book(t, "pause", key, o).checkStatus(t, http.StatusForbidden, "not_accepting_bookings")
	for _, read := range reads {
		a := w.get(t, "pause/"+read)
		if a.checkStatus(t, http.StatusOK, ""); !bytes.Equal(a.body, open[read].body) {
			t.Errorf("%s was %s, paused it is %s", read, open[read].body, a.body)
		}
	}
	if live := w.countBookings(t, "pause"); live != 1 {
		t.Errorf("%d bookings, want 1", live)
	}
	w.callAdmin(t, http.MethodPost, "businesses/pause/bookings/"+created.Booking.ID+"/confirm", nil).checkStatus(t,
		http.StatusOK, "")

	w.publish(t, "shut", paused("shut")) // no service has cached a version of this business from before the pause
	theirs := w.listSlots(t, "shut", "2027-03-02", "service_id="+w.idsByName(t, "shut", "services")["Cut"]).Slots
	if ours := w.listSlots(t, "pause", "2027-03-02", "service_id="+cut).Slots; len(theirs) == 0 ||
		len(theirs) != len(ours) {
		t.Errorf("a business that pauses lists %d starts, want %d", len(theirs), len(ours))
	}
}

func TestRentalsRejectInvalidDates(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	publishHarbor(t, w, "harbor-dates")
	for _, date := range []string{"2027-02-29", "2026-13-01", "tomorrow", ""} {
		w.get(t, "harbor-dates/rentals?date="+date).checkStatus(t, http.StatusBadRequest, "invalid_parameter")
	}
}
