package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestPlanListsChangesWithoutPublishing(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	published := s.mustRun("init", "salon", "--slug", "harbor", "--name", "Harbor")
	s.in = published
	if got := s.mustRun("plan", "-f", "-"); got != "harbor is not published yet; apply publishes it as version 1\n" {
		t.Errorf("the plan of an unpublished business: %s", got)
	}
	s.mustRun("apply", "-f", "-")
	if got := s.mustRun("plan", "-f", "-"); got != "harbor: nothing would change\n" {
		t.Errorf("the plan of the published manifest: %s", got)
	}
	s.in = strings.Replace(published, "price: 40.00", "price: 45.00", 1)
	got := strings.Join(strings.Fields(s.mustRun("plan", "-f", "-")), " ")
	if want := "CHANGE FIELD IN WORDS changed services[cut].price 40 becomes 45"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if list := decode(t, s.mustRun("plan", "-f", "-", "-o", "json"))["changes"].([]any); len(list) != 1 {
		t.Errorf("as JSON: %v", list)
	}
	if versions := s.mustRun("history", "harbor"); strings.Count(versions, "\n") != 2 {
		t.Errorf("plan has published: %s", versions)
	}
	s.in = "kind: Business"
	if r := s.run("plan", "-f", "-"); r.code != 1 {
		t.Errorf("a plan of an invalid manifest: %d %s", r.code, r.err)
	}
}

// TestApplyNotifiesCustomersOnlyWithFlag shows that apply and rollback request messages about a new address only with
// --notify-customers, and that plan counts the customers.
func TestApplyNotifiesCustomersOnlyWithFlag(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	lisboa := consoletest.BuildManifest("harbor", "Harbor") + "locations: [{key: quay, kind: place, address: {city: Lisboa}}]\n"
	porto := strings.Replace(lisboa, "city: Lisboa", "city: Porto", 1)
	s.in = lisboa
	id := uuid.MustParse(decode(t, s.mustRun("apply", "-f", "-", "-o", "json", "--notify-customers"))["id"].(string))
	start := time.Now().Add(24 * time.Hour)
	w.Booking.Add(id, booking.Booking{ID: uuid.New(), Status: booking.StatusConfirmed, Date: "2027-03-01",
		StartsAt: start, EndsAt: start.Add(time.Hour), FormData: []byte("{}"), Total: "40.00",
		CustomerEmail: "cara@example.com"})
	s.in = porto
	if r := s.run("plan", "-f", "-"); !strings.Contains(r.err, "customers (1) have bookings ahead") {
		t.Errorf("plan: %s", r.err)
	}
	s.mustRun("apply", "-f", "-")
	s.mustRun("rollback", "harbor", "1")
	if got := w.Booking.TakeAddressChanges(); len(got) != 0 {
		t.Errorf("without the flag: %+v", got)
	}
	s.mustRun("apply", "-f", "-", "--notify-customers")
	s.mustRun("rollback", "harbor", "1", "--notify-customers")
	got := w.Booking.TakeAddressChanges()
	if len(got) != 2 || got[0].Version != 4 || got[0].Places[0].FormerAddress != "Lisboa" ||
		got[1].Places[0].FormerAddress != "Porto" {
		t.Errorf("with the flag: %+v", got)
	}
}

func TestPlanHasExitCodeForConflicts(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.in = s.mustRun("init", "salon", "--slug", "harbor", "--name", "Harbor")
	id := uuid.MustParse(decode(t, s.mustRun("apply", "-f", "-", "-o", "json"))["id"].(string))
	start := time.Now().Add(24 * time.Hour)
	w.Booking.Add(id, booking.Booking{
		ID: uuid.New(), Status: booking.StatusConfirmed, Date: "2027-03-01", StartTime: "17:30:00", EndTime: "18:15:00",
		StartsAt: start, EndsAt: start.Add(time.Hour),
		Services: []booking.BookedService{{ID: uuid.New(), Name: "Haircut", DurationMinutes: 45, Price: "40.00"}},
		FormData: []byte("{}"),
		Total:    "40.00", CustomerName: "Cara",
	})
	outside := availability.Conflict{Reason: availability.Reason{Rule: availability.RuleClosed,
		Message: "The business is closed then."}}
	w.Availability.SetAffected(outside)
	r := s.run("plan", "-f", "-")
	for _, want := range []string{"nothing would change", "2027-03-01 17:30", "Haircut", "Cara",
		"The business is closed then."} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is missing: %s", want, r.out)
		}
	}
	if r.code != 4 || !strings.Contains(r.err, "(1)") {
		t.Errorf("exit code %d, %s", r.code, r.err)
	}
	outside.Already = true
	w.Availability.SetAffected(outside)
	if r := s.run("plan", "-f", "-"); r.code != 0 || !strings.Contains(r.out, "as it is now, too") {
		t.Errorf("a conflict that already exists: exit code %d, %s%s", r.code, r.out, r.err)
	}
}
