package e2e

import (
	"bytes"
	"net/http"
	"testing"
)

func TestOnlyClassBasedServicesHaveAClassSchedule(t *testing.T) {
	t.Parallel()
	w := start(t)
	harbor(t, w)
	var list struct {
		Services []struct {
			Name             string
			HasClassSchedule bool `json:"has_class_schedule"`
		}
	}
	w.get(t, "harbor-studio/services").into(t, http.StatusOK, &list)
	for _, s := range list.Services {
		if s.HasClassSchedule != (s.Name == "Yoga class") {
			t.Errorf("%s: has_class_schedule is %v", s.Name, s.HasClassSchedule)
		}
	}
	if len(list.Services) < 2 {
		t.Errorf("%d services", len(list.Services))
	}
}

func TestInfoHasOneForm(t *testing.T) {
	t.Parallel()
	w := start(t)
	harbor(t, w)
	plain := w.get(t, "harbor-studio/info")
	if with := w.get(t, "harbor-studio/info?locale=pt"); !bytes.Equal(plain.body, with.body) {
		t.Errorf("without locale %s, with it %s", plain.body, with.body)
	}
}

func TestMembersAreAssignedInTheirOrder(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.publish(t, "order", salon("order", 3))
	cut, key := w.named(t, "order", "services")["Cut"], w.key(t, "order", "write")
	for _, want := range []string{"Member 0", "Member 1", "Member 2"} {
		var got struct {
			Booking struct {
				StaffName string `json:"staff_name"`
			}
		}
		w.book(t, "order", key, appointment(cut, "2027-03-01", "10:00")).into(t, http.StatusCreated, &got)
		if got.Booking.StaffName != want {
			t.Errorf("got %q, want %q", got.Booking.StaffName, want)
		}
	}
	w.book(t, "order", key, appointment(cut, "2027-03-01", "10:00")).want(t, http.StatusConflict, "no_staff_available")
}

func TestBadDatesOfRentalsAreRefused(t *testing.T) {
	t.Parallel()
	w := start(t)
	harbor(t, w)
	for _, date := range []string{"2027-02-29", "2026-13-01", "tomorrow", ""} {
		w.get(t, "harbor-studio/rentals?date="+date).want(t, http.StatusBadRequest, "invalid_parameter")
	}
}
