package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// TestPagesFollowReaderRegion shows that times and weeks follow the region in the Accept-Language header.
func TestPagesFollowReaderRegion(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+
		"events: [{key: ball, name: Ball, date: 2030-01-01, start_time: \"20:00\", end_time: \"21:00\", total_capacity: 5}]\n")
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	for region, want := range map[string][2]string{
		"en-GB": {"1 Jan 2030 · 20:00", "31 Dec 2029 – 6 Jan 2030"},
		"en-US": {"Jan 1, 2030 · 8:00 pm", "Dec 30, 2029 – Jan 5, 2030"},
	} {
		for i, path := range []string{"/offer/events", "/calendar?date=2030-01-01&view=week"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL+"/business/harbor"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Cookie", "slotmesh-session="+mia)
			request.Header.Set("Accept-Language", region)
			got := send(t, request)
			if got.Status != 200 || !strings.Contains(strings.ReplaceAll(got.Body, "\u202f", " "), want[i]) {
				t.Errorf("%s in %s: %d, no %q in %s", path, region, got.Status, want[i], got.Body)
			}
		}
	}
}

// TestBookingFormRejectsInvalidPhone shows that the booking form refuses an invalid telephone number and accepts
// a valid one.
func TestBookingFormRejectsInvalidPhone(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: publish(t, w), Role: access.Manager})
	form := url.Values{
		"service": {"x"},
		"date":    {"2030-01-01"},
		"time":    {"10:00"},
		"name":    {"Zoë"},
		"people":  {"1"},
		"phone":   {"abc"},
	}
	const text = "Enter a number like +351 21 000 0000."
	got := postForm(t, w, "/business/harbor/bookings/new", mia, form)
	if got.Status != 422 || !strings.Contains(got.Body, text) {
		t.Errorf("abc: %d %s", got.Status, got.Body)
	}
	form.Set("phone", "+351 21 000 0000")
	if got := postForm(t, w, "/business/harbor/bookings/new", mia, form); strings.Contains(got.Body, text) {
		t.Errorf("a number: %d %s", got.Status, got.Body)
	}
}
