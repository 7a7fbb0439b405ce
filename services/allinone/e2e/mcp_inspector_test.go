package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// inspectorPackage is the npm package of the inspector of the MCP project, which is also a client.
const inspectorPackage = "@modelcontextprotocol/inspector@2.12.0"

func TestInspectorListsToolsAndBooks(t *testing.T) {
	t.Parallel()
	programs := testkit.InstallNode(t, inspectorPackage)
	w := sharePlatform(t)
	w.publish(t, "inspector", buildSalon("inspector", 1))
	cut, key := w.idsByName(t, "inspector", "services")["Cut"], w.createKey(t, "inspector", "all")
	inspect := func(out any, args ...string) testkit.ToolRun {
		t.Helper()
		run := programs.Run(t, "mcp-inspector", append([]string{
			"--cli", "--server-url", w.startProxy(t, w.PublicURL) + "/mcp", "--transport", "http", "--header",
			"Authorization: Bearer " + key,
		}, args...)...)
		if run.Exit != 0 {
			t.Fatalf("%q ended with %d: %s %s", args, run.Exit, run.Stdout, run.Stderr)
		}
		if err := json.Unmarshal([]byte(run.Stdout), out); err != nil {
			t.Fatalf("%q wrote %s: %v", args, run.Stdout, err)
		}
		return run
	}

	var list struct{ Tools []struct{ Name string } }
	run := inspect(&list, "--method", "tools/list", "--strict")
	if strings.TrimSpace(run.Stderr) != "" {
		t.Errorf("the inspector warns:\n%s", run.Stderr)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	want := []string{"book_appointment", "find_slots", "get_business_info", "list_events", "list_rentals",
		"list_services", "list_staff"}
	if !slices.Equal(names, want) {
		t.Errorf("the inspector lists %q, want %q", names, want)
	}

	type called[C any] struct {
		IsError           bool
		StructuredContent C
	}
	var free called[slotSearch]
	inspect(&free, "--method", "tools/call", "--tool-name", "find_slots", "--tool-arg", `service_ids=["`+cut+`"]`,
		"date=2027-03-02")
	if free.IsError || len(free.StructuredContent.Slots) == 0 {
		t.Fatalf("found %+v", free)
	}
	var made called[struct {
		Success bool
		Booking struct {
			Start string `json:"start_time"`
		}
	}]
	at := free.StructuredContent.Slots[0].Time
	inspect(&made, "--method", "tools/call", "--tool-name", "book_appointment", "--tool-arg", `service_ids=["`+cut+`"]`,
		"date=2027-03-02",
		"time="+at, "customer_name=Ada Example", "customer_email=ada@example.com", "idempotency_key=inspector-1")
	if made.IsError || !made.StructuredContent.Success || made.StructuredContent.Booking.Start != at+":00" {
		t.Errorf("got %+v", made)
	}
	if n := w.countBookings(t, "inspector"); n != 1 {
		t.Errorf("there are %d bookings", n)
	}
}
