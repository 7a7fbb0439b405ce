package mcp_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// outputSchemas returns the output schemas of the tools that a key may see, by the name of the tool.
func outputSchemas(t *testing.T, address, key string) map[string]*jsonschema.Resolved {
	t.Helper()
	got := post(t, address, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		http.Header{"Authorization": {"Bearer " + key}})
	var list struct {
		Result struct {
			Tools []struct {
				Name         string
				OutputSchema *jsonschema.Schema
			}
		}
	}
	if err := json.Unmarshal([]byte(got.body), &list); err != nil {
		t.Fatalf("%s: %v", got.body, err)
	}
	schemas := make(map[string]*jsonschema.Resolved)
	for _, tool := range list.Result.Tools {
		resolved, err := tool.OutputSchema.Resolve(nil)
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		schemas[tool.Name] = resolved
	}
	return schemas
}

// TestResultsMatchOutputSchemas validates results and faults of the tools. Clients check structured content
// with the output schema and refuse invalid content.
func TestResultsMatchOutputSchemas(t *testing.T) {
	t.Parallel()
	n := rentalPeers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("rentalId") == vestID {
			send(w, fault.New(fault.AvailabilityUnverified, "Availability could not be checked; try again shortly."))
			return
		}
		_, _ = w.Write([]byte(`{"available":false,"conflictReason":"Only 1 left.","messageCode":"not_enough_units"}`))
	}))
	address := startServer(t, n)
	schemas := outputSchemas(t, address, "all")
	if len(schemas) != 7 {
		t.Fatalf("there are %d tools", len(schemas))
	}
	slots := map[string]any{"service_ids": []string{cutID}, "date": "2027-03-01"}
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		refused   bool
	}{
		{"get_business_info", nil, false},
		{"list_services", nil, false},
		{"list_staff", nil, false},
		{"list_events", nil, false},
		{"list_rentals", nil, false},
		{"list_rentals", periodArguments(), false},
		{"find_slots", slots, false},
		{"find_slots", map[string]any{"service_ids": []string{cutID}, "start_date": "2027-03-01",
			"end_date": "2027-03-02"}, false},
		{"book_appointment", map[string]any{"service_ids": []string{cutID}}, false},
		{"get_business_info", map[string]any{"x": 1}, true},
		{"list_rentals", map[string]any{"quantity": 0}, true},
	} {
		got := call(t, address, "all", c.tool, c.arguments)
		if err := schemas[c.tool].Validate(got.StructuredContent); err != nil || got.IsError != c.refused {
			t.Errorf("%s %v: %v: %v", c.tool, c.arguments, err, got.StructuredContent)
		}
	}
	n.mu.Lock()
	n.answers["POST /internal/api/public/harbor/book"] = fault.New(fault.SlotUnavailable, "Taken.")
	n.mu.Unlock()
	got := call(t, address, "all", "book_appointment", map[string]any{"service_ids": []string{cutID},
		"date": "2027-03-01", "time": "09:00"})
	if err := schemas["book_appointment"].Validate(got.StructuredContent); err != nil ||
		got.StructuredContent["other_slots"] == nil {
		t.Errorf("a refusal with other starts: %v: %v", err, got.StructuredContent)
	}
	for tool, schema := range schemas {
		if schema.Validate(map[string]any{"error": 1, "messageCode": 2}) == nil ||
			schema.Validate(map[string]any{}) == nil {
			t.Errorf("%s: the schema accepts every object", tool)
		}
	}
}

// TestLocaleCanHaveAnyLength shows that a very long locale causes no fault (interface.md §2).
func TestLocaleCanHaveAnyLength(t *testing.T) {
	t.Parallel()
	n := newPeers()
	long := make([]byte, 200_000)
	for i := range long {
		long[i] = 'x'
	}
	got := call(t, startServer(t, n), "read", "list_services", map[string]any{"locale": string(long)})
	if asked := n.queriesOf("GET /internal/api/public/harbor/services", ""); got.IsError || len(asked) > 100 {
		t.Errorf("the query has %d bytes, the result is %v", len(asked), got)
	}
}
