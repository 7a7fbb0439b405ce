package command_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

func TestBookAndRescheduleForCustomer(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.mustRun("apply", "-f", writeFile(t, consoletest.BuildManifest("harbor", "Harbor")))
	book := []string{"bookings", "book", "harbor", "--service", "11111111-1111-4111-8111-111111111111", "--date",
		"2026-12-01",
		"--customer", "Ada Example", "--email", "ada@example.com", "--override", "--time"}
	booked := decode(t, s.mustRun(append(book, "09:37", "-o", "json")...))
	id := booked["id"].(string)
	if booked["source"] != "dashboard" || booked["start_time"] != "09:37:00" {
		t.Errorf("booked %v", booked)
	}
	table := s.mustRun("bookings", "reschedule", "harbor", id, "--date", "2026-12-02", "--time", "10:15")
	if !strings.Contains(table, id) || !strings.Contains(table, "2026-12-02") || !strings.Contains(table,
		"10:15-11:00") {
		t.Errorf("the table is\n%s", table)
	}
	s.expectFailure(1, "booked", "bookings", "reschedule", "harbor", id, "--date", "2026-12-02", "--time",
		consoletest.RefusedTime)
	s.expectFailure(1, "free", append(book, consoletest.RefusedTime)...)
	s.expectFailure(2, "time", "bookings", "reschedule", "harbor", id, "--date", "2026-12-02")
	moved := decode(t, s.mustRun("bookings", "reschedule", "harbor", id, "--date", "2026-12-02", "--time", "11:00",
		"--location", "b6d767d2-f8ed-5d21-844b-0e5886680cb9", "--street", "Rua 1", "--city", "Porto", "-o", "json"))
	if location, _ := moved["location"].(map[string]any); location["id"] != "b6d767d2-f8ed-5d21-844b-0e5886680cb9" {
		t.Errorf("the location of %v", moved)
	}
	if address, _ := moved["customer_address"].(map[string]any); address["street"] != "Rua 1" || address["city"] != "Porto" {
		t.Errorf("the address of %v", moved)
	}
	s.mustRun("bookings", "relocate", "harbor", id, "--location", "b6d767d2-f8ed-5d21-844b-0e5886680cb9")
	s.expectFailure(1, "Location not found", "bookings", "relocate", "harbor", id, "--location",
		"00000000-0000-0000-0000-000000000000")
	s.expectFailure(2, "location", "bookings", "relocate", "harbor", id)
	for _, command := range []string{"book", "reschedule"} {
		if help := s.mustRun("bookings", command, "--help"); !strings.Contains(help, "Examples:") ||
			!strings.Contains(help, "slotmesh bookings "+command) {
			t.Errorf("the help of %s has no example:\n%s", command, help)
		}
	}
}
