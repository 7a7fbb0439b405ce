package command_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestCalendarsAreMadeListedAndRevoked(t *testing.T) {
	t.Parallel()
	s := shellAt(t, consoletest.Start(t))
	s.in = consoletest.Manifest("harbor", "Harbor")
	s.must("apply", "-f", "-")
	staff := uuid.NewString()
	made := decoded(t, s.must("calendars", "create", "harbor", "--staff", staff, "--shows", "names", "-o", "json"))
	if made["token"] != consoletest.CalendarToken || made["staff_id"] != staff || made["shows"] != "names" {
		t.Fatalf("%v", made)
	}
	if out := s.must("calendars", "create", "harbor"); !strings.Contains(out, "/calendar/"+consoletest.CalendarToken+
		".ics") || !strings.Contains(out, "times") {
		t.Errorf("the address is not shown: %s", out)
	}
	id := made["id"].(string)
	if out := s.must("calendars", "revoke", "harbor", id); out != id+" is revoked\n" {
		t.Errorf("%q", out)
	}
	out := s.must("calendars", "list", "harbor")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[1], id) || !strings.Contains(lines[1], staff) ||
		!strings.HasSuffix(lines[1], "2026-11-21T09:00:00Z") ||
		!strings.Contains(lines[2], "all") || !strings.HasSuffix(lines[2], "-") {
		t.Errorf("%s", out)
	}
	if help := s.must("calendars", "create", "--help"); !strings.Contains(help,
		"slotmesh calendars create harbor --staff") {
		t.Errorf("the help has no example: %s", help)
	}
	s.fails(1, "shows", "calendars", "create", "harbor", "--shows", "all")
	s.fails(1, "Calendar not found", "calendars", "revoke", "harbor", "nonsense")
}
