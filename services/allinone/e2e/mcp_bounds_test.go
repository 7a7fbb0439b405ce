package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxAnswer is the maximum size of a tool's answer in bytes.
const maxAnswer = 25_000

// buildDepartment returns the manifest of a business with sixty objects of each kind. Their texts are long and grow
// when they are escaped.
func buildDepartment(slug string) string {
	const each = 60
	name := func(kind string, i int) string {
		return fmt.Sprintf("%s %02d %s", kind, i, strings.Repeat("<&\"é", 40))
	}
	quoted := func(s string) string { encoded, _ := json.Marshal(s); return string(encoded) }
	text := quoted("<p>" + strings.Repeat("A long word of the owner &amp; another &lt;one&gt;, 長い文章。 ", 15) + "</p>")
	var staff, services, events, rentals, keys, tiers, variants strings.Builder
	for i := range each {
		fmt.Fprintf(&tiers, "{key: t%d, name: %s, price: 10.00, capacity: 5}, ", i, quoted(name("Tier", i)))
		fmt.Fprintf(&variants, "{key: v%d, name: %s, duration_minutes: 30, price: 15.00}, ", i,
			quoted(name("Variant", i)))
	}
	for i := range each {
		fmt.Fprintf(&keys, "s%d, ", i)
		fmt.Fprintf(&staff, "  - {key: s%d, name: %s, category: %s, order: %d, description_html: %s}\n", i,
			quoted(name("Member", i)), quoted(name("Group", i)), i, text)
	}
	for i := range each {
		also := ""
		if i == 0 {
			also = ", staff: [" + strings.TrimSuffix(keys.String(), ", ") + "], variants: [" +
				strings.TrimSuffix(variants.String(), ", ") + "]"
		}
		fmt.Fprintf(&services,
			"  - {key: v%d, name: %s, category: %s, duration_minutes: 15, price: 10.00, order: %d, description_html: %s%s}\n",
			i, quoted(name("Service", i)), quoted(name("Group", i)), i, text, also)
		fmt.Fprintf(&events,
			"  - {key: e%d, name: %s, date: 2027-04-01, start_time: \"20:00\", end_time: \"22:00\", total_capacity: 150, description_html: %s, tiers: [%s]}\n",
			i, quoted(name("Event", i)), text, strings.TrimSuffix(tiers.String(), ", "))
		fmt.Fprintf(&rentals,
			"  - {key: r%d, name: %s, category: %s, price: 5.00, price_type: daily, quantity: 5, units_count: 5, order: %d, add_on: %t, description_html: %s}\n",
			i, quoted(name("Rental", i)), quoted(name("Group", i)), i, i >= 50, text)
	}
	return fmt.Sprintf(`apiVersion: slotmesh/v1
kind: Business
slug: %s
name: %s
currency: EUR
timezone: Europe/Lisbon
default_language: en
languages: [en, pt, de]
bookings: {slot_interval_minutes: 5, min_notice_minutes: 0, advance_days: 365}
hours: {mon: ["00:00-24:00"], tue: ["00:00-24:00"]}
staff:
%sservices:
%sevents:
%srentals:
%s`, slug, quoted(name("Department", 0)), staff.String(), services.String(), events.String(), rentals.String())
}

// measureAnswer returns the size of an answer as JSON in bytes, with its structured content and its text.
func measureAnswer(t *testing.T, answer *mcp.CallToolResult) int {
	t.Helper()
	encoded, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	return len(encoded)
}

// listElement is an element of a list, with its variants and its kinds of tickets.
type listElement struct {
	ID             string
	Variants       []listItem
	VariantsTotal  int `json:"variants_total"`
	Inventory      []listItem
	InventoryTotal int `json:"inventory_total"`
}

// check checks that the element shows fifty of its sixty variants or kinds of tickets, if it has any.
func (l listElement) check(t *testing.T) {
	t.Helper()
	if n := len(l.Variants); n > 0 && (n != 50 || l.VariantsTotal != 60) {
		t.Errorf("%d variants are shown of %d", n, l.VariantsTotal)
	}
	if n := len(l.Inventory); n > 0 && (n != 50 || l.InventoryTotal != 60) {
		t.Errorf("%d kinds of tickets are shown of %d", n, l.InventoryTotal)
	}
}

// callBounded calls a tool and checks that its answer has at most [maxAnswer] bytes.
func (a agent) callBounded(t *testing.T, tool string, arguments, out any) {
	t.Helper()
	if n := measureAnswer(t, a.callAccepted(t, tool, arguments, out)); n > maxAnswer {
		t.Errorf("%s %v gave %d bytes", tool, arguments, n)
	}
}

// listIDs reads all pages of a list and returns the ids of the elements in order.
func (a agent) listIDs(t *testing.T, tool string, arguments map[string]any) []string {
	t.Helper()
	var ids []string
	for offset := new(int); offset != nil; {
		var page struct {
			Services, Staff, Events, Rentals []listElement
			AddOns                           []listElement `json:"add_on_rentals"`
			Total                            int
			NextOffset                       *int `json:"next_offset"`
		}
		arguments["offset"] = *offset
		a.callBounded(t, tool, arguments, &page)
		for _, l := range slices.Concat(page.Services, page.Staff, page.Events, page.Rentals, page.AddOns) {
			l.check(t)
			ids = append(ids, l.ID)
		}
		if offset = page.NextOffset; page.Total != 60 {
			t.Errorf("%s counts %d, want 60", tool, page.Total)
		}
	}
	return ids
}

func TestAgentAnswersStayWithinSizeLimit(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "bounds", buildDepartment("bounds"))
	a := w.connectAgent(t, w.createKey(t, "bounds", "all"))
	a.callBounded(t, "get_business_info", nil, nil)
	listed := make(map[string][]string)
	for tool, arguments := range map[string]map[string]any{
		"list_services": {}, "list_staff": {}, "list_events": {},
		"list_rentals": {"start_date": "2027-03-02", "end_date": "2027-03-03", "quantity": 6},
	} {
		listed[tool] = a.listIDs(t, tool, arguments)
		if n := len(slices.Compact(slices.Sorted(slices.Values(listed[tool])))); n != 60 {
			t.Errorf("the pages of %s list %d, want 60", tool, n)
		}
	}
	first := listed["list_services"][0]
	var day slotSearch
	a.callBounded(t, "find_slots", map[string]any{"service_ids": []string{first}, "date": "2027-03-02"}, &day)
	if day.Total < 10_000 {
		t.Errorf("the day has %d slots only", day.Total)
	}
	a.callBounded(t, "find_slots", map[string]any{"service_ids": []string{first}, "start_date": "2027-03-01",
		"end_date": "2027-05-01"}, nil)

	o := newOrder("", "2027-03-02", "10:00").withField("service_ids",
		slices.Repeat([]string{first}, 20)).withField("staff_id",
		*day.Slots[0].StaffID)
	a.callBounded(t, "book_appointment", o, nil)
	taken := a.call(t, "book_appointment", o, nil)
	if n := measureAnswer(t, taken); !taken.IsError || n > maxAnswer {
		t.Errorf("the refusal: %t, %d bytes", taken.IsError, n)
	}
	wrong := a.call(t, "find_slots", map[string]any{strings.Repeat("x", 50_000): 1,
		"date": strings.Repeat("9", 50_000)}, nil)
	if n := measureAnswer(t, wrong); !wrong.IsError || n > maxAnswer {
		t.Errorf("the refusal of long arguments: %t, %d bytes", wrong.IsError, n)
	}
}
