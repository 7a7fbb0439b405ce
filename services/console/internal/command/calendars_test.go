package command_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestCalendarsCreateListAndRevoke(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	s.in = consoletest.BuildManifest("harbor", "Harbor")
	s.mustRun("apply", "-f", "-")
	staff := uuid.NewString()
	created := decode(t, s.mustRun("calendars", "create", "harbor", "--staff", staff, "--shows", "names", "-o", "json"))
	if created["token"] != consoletest.CalendarToken || created["staff_id"] != staff || created["shows"] != "names" {
		t.Fatalf("%v", created)
	}
	if out := s.mustRun("calendars", "create", "harbor"); !strings.Contains(out, "/calendar/"+consoletest.CalendarToken+
		".ics") || !strings.Contains(out, "times") {
		t.Errorf("the address is not shown: %s", out)
	}
	id := created["id"].(string)
	if out := s.mustRun("calendars", "revoke", "harbor", id); out != id+" is revoked\n" {
		t.Errorf("%q", out)
	}
	out := s.mustRun("calendars", "list", "harbor")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], id) || !strings.Contains(lines[1], staff) ||
		!strings.HasSuffix(lines[1], "2026-11-21T09:00:00Z") ||
		!strings.Contains(lines[2], "all") || !strings.HasSuffix(lines[2], "-") {
		t.Errorf("%s", out)
	}
	if help := s.mustRun("calendars", "create", "--help"); !strings.Contains(help,
		"slotmesh calendars create harbor --staff") {
		t.Errorf("the help has no example: %s", help)
	}
	s.expectFailure(1, "shows", "calendars", "create", "harbor", "--shows", "all")
	s.expectFailure(1, "Calendar not found", "calendars", "revoke", "harbor", "nonsense")
}
