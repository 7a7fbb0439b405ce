package mcp_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestInvalidIDErrorNamesSource sends names instead of ids, and expects errors with the tool that lists the ids.
func TestInvalidIDErrorNamesSource(t *testing.T) {
	t.Parallel()
	n := newPeers()
	address := startServer(t, n)
	with := func(name string, value any) map[string]any {
		arguments := map[string]any{"service_ids": []string{cutID}, "date": "2027-03-01"}
		arguments[name] = value
		return arguments
	}
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"find_slots", with("service_ids", []string{"cut"}),
			`service_ids: "cut" is no id; take the ids of services from list_services.`},
		{"find_slots", with("service_ids", "cut"), "take the ids of services from list_services."},
		{"find_slots", with("service_ids", []string{}), "take the ids of services from list_services."},
		{"find_slots", with("staff_id", "Ana"), `staff_id: "Ana" is no id; take the id of a member from list_staff.`},
		{"list_staff", map[string]any{"service_id": "cut"},
			`service_id: "cut" is no id; take the id of a service from list_services.`},
		{"book_appointment", with("service_ids", []string{"cut"}),
			`service_ids: "cut" is no id; take the ids of services from list_services.`},
		{"book_appointment", with("staff_id", "Ana"),
			`staff_id: "Ana" is no id; take the id of a member from list_staff.`},
		{"book_appointment", with("location_id", "Harbour"),
			`location_id: "Harbour" is no id; take the id of a location from get_business_info.`},
		{"book_appointment", with("class_schedule_id", "10:00"),
			`class_schedule_id: "10:00" is no id; take the class_schedule_id of a start from find_slots.`},
	} {
		got := call(t, address, "all", c.tool, c.arguments)
		if text := fmt.Sprint(got.StructuredContent["error"]); !got.IsError || !strings.Contains(text, c.want) {
			t.Errorf("%s %v: %v, want %q", c.tool, c.arguments, got.StructuredContent, c.want)
		}
	}
	if got := call(t, address, "all", "book_appointment", with("staff_id", nil)); got.IsError {
		t.Errorf("null is left out: %v", got.StructuredContent)
	}
}
