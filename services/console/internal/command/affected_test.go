package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

// TestAffectedMovesToNextFreeStart shows that the command lists affected bookings with a free start, and that it moves a
// booking to the next start if the first one was taken in the meantime.
func TestAffectedMovesToNextFreeStart(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.in = s.mustRun("init", "salon", "--slug", "harbor", "--name", "Harbor")
	id := uuid.MustParse(decode(t, s.mustRun("apply", "-f", "-", "-o", "json"))["id"].(string))
	start := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 2).Add(12 * time.Hour)
	w.Booking.Add(id, booking.Booking{
		ID: uuid.New(), Status: booking.StatusConfirmed, Date: start.Format(time.DateOnly), StartTime: "12:00:00",
		EndTime: "12:45:00", StartsAt: start, EndsAt: start.Add(time.Hour), CustomerName: "Cara", Total: "40.00",
		Services: []booking.BookedService{{ID: uuid.New(), Name: "Haircut", DurationMinutes: 45, Price: "40.00"}},
		FormData: []byte("{}"),
	})
	w.Availability.SetAffected(availability.Conflict{Reason: availability.Reason{Rule: availability.RuleClosed,
		Message: "The business is closed then."}, Already: true})
	date, ben := timespan.DateOf(start, time.UTC)+1, "Ben"
	w.Availability.SetSlots(publicapi.Slot{Date: date, Time: 13 * 60, StaffName: &ben},
		publicapi.Slot{Date: date, Time: 23*60 + 45, StaffName: &ben})
	got := s.mustRun("bookings", "affected", "harbor")
	for _, want := range []string{"Cara", "The business is closed then.", date.String() + " 13:00 Ben"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing: %s", want, got)
		}
	}
	if got := decode(t, s.mustRun("bookings", "affected", "harbor", "-o", "json")); got["unexamined"] != false {
		t.Errorf("as JSON: %v", got)
	}
	if got := s.mustRun("bookings", "affected", "harbor", "--from", "2099-01-01"); strings.Contains(got, "Cara") {
		t.Errorf("after the last date: %s", got)
	}
	if got := s.mustRun("bookings", "affected", "harbor", "--move"); !strings.Contains(got, "moved") {
		t.Errorf("moved: %s", got)
	}
	if got := s.mustRun("bookings", "list", "harbor"); !strings.Contains(strings.Join(strings.Fields(got), " "),
		date.String()+" 23:45") {
		t.Errorf("after the move: %s", got)
	}
	if got := s.mustRun("bookings", "affected", "harbor", "--cancel"); !strings.Contains(got, "cancelled") {
		t.Errorf("cancelled: %s", got)
	}
	if r := s.run("bookings", "affected", "harbor", "--move", "--cancel"); r.code == 0 {
		t.Errorf("both flags: %s", r.out)
	}
}
