package console_test

import (
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// TestFinishIsOfferedOnlyOnItsDays shows that "arrived" is offered from the day of the booking. Undo is offered until
// the end of the next day. Both days are in the booking's time zone.
func TestFinishIsOfferedOnlyOnItsDays(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 3, 2, 23, 30, 0, 0, time.UTC)
	w := consoletest.StartAt(t, clock.Fixed(now))
	id := publish(t, w)
	desk := w.AddSession(t, "desk@example.com", access.Member{BusinessID: id, Role: access.FrontDesk})
	for _, c := range []struct {
		status, date, zone string
		arrived, undo      bool
	}{
		{"confirmed", "2027-03-03", "UTC", false, false},
		{"confirmed", "2027-03-03", "Asia/Tokyo", true, false}, // in Tokyo it is already 3 March
		{"confirmed", "2027-03-02", "UTC", true, false},
		{"confirmed", "2027-02-01", "UTC", true, false},
		{"pending", "2027-03-02", "UTC", false, false},
		{"completed", "2027-03-02", "UTC", false, true},
		{"no_show", "2027-03-01", "UTC", false, true},
		{"completed", "2027-03-01", "Asia/Tokyo", false, false},
		{"completed", "2027-02-28", "UTC", false, false},
		{"cancelled", "2027-03-02", "UTC", false, false},
	} {
		b := someBooking(c.status, c.date)
		b.Timezone = c.zone
		w.Booking.Add(id, b)
		at := "/business/harbor/bookings/" + b.ID.String()
		got := getPage(t, w, at+"?from="+c.date+"&to="+c.date, desk)
		for path, want := range map[string]bool{"/complete": c.arrived, "/reopen": c.undo} {
			if isOffered := strings.Contains(got.Body, b.ID.String()+path); got.Status != 200 || isOffered != want {
				t.Errorf("%+v: %d, %s is offered: %t", c, got.Status, path, isOffered)
			}
		}
		if !c.undo {
			continue
		}
		if got := pressButton(t, w, at+"/reopen", desk); got.Status != 303 ||
			!strings.Contains(got.Header.Get("Location"),
				"done=reopen") {
			t.Errorf("%+v: %d %s", c, got.Status, got.Header.Get("Location"))
		}
		if got := getPage(t, w, at+"?done=reopen", desk); !strings.Contains(got.Body,
			"The booking is confirmed again.") {
			t.Errorf("%+v: no notice in %s", c, got.Body)
		}
	}
}
