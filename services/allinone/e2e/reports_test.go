package e2e

import (
	"net/http"
	"strings"
	"testing"
)

func TestReportsCountBookings(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "counted", buildSalon("counted", 1))
	key, cut := w.createKey(t, "counted", "write"), w.idsByName(t, "counted", "services")["Cut"]
	var answer struct{ Booking struct{ ID string } }
	for _, clock := range []string{"10:00", "12:00"} {
		w.book(t, "counted", key, newOrder(cut, "2027-03-02", clock)).decode(t, http.StatusCreated, &answer)
	}
	w.callAdmin(t, http.MethodPost, "businesses/counted/bookings/"+answer.Booking.ID+"/cancel", nil).checkStatus(t,
		http.StatusOK,
		"")
	const week = "?from=2027-03-01&to=2027-03-07"
	var bookings struct {
		Rows []struct {
			Date, Source                 string
			Bookings, Pending, Cancelled int
		}
	}
	w.callAdmin(t, http.MethodGet, "businesses/counted/reports/bookings"+week, nil).decode(t, http.StatusOK, &bookings)
	if r := bookings.Rows; len(r) != 1 || r[0].Date != "2027-03-01" || r[0].Source != "api" || r[0].Bookings != 2 ||
		r[0].Pending != 1 || r[0].Cancelled != 1 {
		t.Errorf("%+v", r)
	}
	for by, want := range map[string]string{"service": `"service_name":"Cut"`, "staff": `"staff_name":"Member 0"`,
		"customer_kind": `"customer_kind":"new"`} {
		for _, kind := range []string{"bookings", "revenue"} {
			got := w.callAdmin(t, http.MethodGet, "businesses/counted/reports/"+kind+week+"&by="+by, nil)
			if got.status != http.StatusOK || !strings.Contains(string(got.body), want) {
				t.Errorf("%s by %s: %d %s", kind, by, got.status, got.body)
			}
		}
	}
	w.callAdmin(t, http.MethodGet, "businesses/counted/reports/utilisation"+week+"&by=staff", nil).checkStatus(t,
		http.StatusOK, "")
	w.callAdmin(t, http.MethodGet, "businesses/counted/reports/utilisation"+week+"&by=service", nil).checkStatus(t,
		http.StatusBadRequest, "invalid_parameter")
	var revenue struct {
		Rows []struct {
			Kind, Currency string
			Sold           int
		}
	}
	w.callAdmin(t, http.MethodGet, "businesses/counted/reports/revenue"+week, nil).decode(t, http.StatusOK, &revenue)
	if r := revenue.Rows; len(r) != 1 || r[0].Kind != "booking" || r[0].Currency != "EUR" || r[0].Sold != 1 {
		t.Errorf("%+v", r)
	}
	var used struct {
		Rows []struct {
			StaffName     string `json:"staff_name"`
			BookedMinutes int    `json:"booked_minutes"`
			OpenMinutes   int    `json:"open_minutes"`
			Utilisation   *float64
		}
	}
	w.callAdmin(t, http.MethodGet, "businesses/counted/reports/utilisation"+week, nil).decode(t, http.StatusOK, &used)
	if r := used.Rows; len(r) == 0 || r[0].StaffName == "" || r[0].BookedMinutes < 30 ||
		r[0].OpenMinutes < r[0].BookedMinutes || r[0].Utilisation == nil {
		t.Errorf("%+v", r)
	}
	csv := w.do(t, http.MethodGet, w.AdminURL+"/admin/businesses/counted/reports/bookings"+week, nil,
		http.Header{"Authorization": {"Bearer " + w.AdminToken}, "Accept": {"text/csv"}})
	if csv.status != http.StatusOK || !strings.Contains(string(csv.body), "\n2027-03-01,api,2,1,0,0,0,1,1\r\n") {
		t.Errorf("%d %s", csv.status, csv.body)
	}
}
