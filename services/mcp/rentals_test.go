package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/mcp"
)

const (
	kayakID = "d3d94468-02a4-4259-955d-4e6f7a8b1a05"
	vestID  = "6512bd43-d9ca-4e02-8c21-9b5b3a3f1a06"
)

// rentalPeers returns [newPeers] with two rentals and the given answer about their availability.
func rentalPeers(availability any) *fakePeers {
	n := newPeers()
	const rental = `"description":"","description_html":"","quoted_price":null,"price":12.00,"quantity":6,"max_bookable_online":2,"image_url":"",
		"min_rental_days":null,"max_rental_days":null,"min_rental_hours":1,"max_rental_hours":8,"payment_requirement":"none","deposit_value":null`
	n.answers["GET /internal/api/public/harbor/rentals"] = json.RawMessage(`{
		"rentals":[{"id":"` + kayakID + `","name":"Kayak","category":"Water","price_type":"hourly",` + rental + `}],
		"add_on_rentals":[{"id":"` + vestID + `","name":"Vest","category":"","price_type":"daily",` + rental + `}],
		"rental_upsells":[{"rental_id":"` + kayakID + `","upsell_rental_id":"` + vestID + `","is_required":true,"sort_order":1}],
		"currency":"EUR","quote":{"date":"2027-03-01","applies_pricing_rules":true,"basis":"As of now."}}`)
	n.answers["GET /internal/api/public/harbor/rental-availability"] = availability
	return n
}

// content is the result of a tool call.
type content struct {
	IsError           bool
	Content           []struct{ Text string }
	StructuredContent map[string]any
}

// call calls a tool as a client without a session does.
func call(t *testing.T, address, key, tool string, arguments map[string]any) content {
	t.Helper()
	got, said := tryCall(t, address, key, tool, arguments)
	if got == nil {
		t.Fatalf("%s: %s", tool, said)
	}
	return *got
}

// tryCall calls a tool and returns its result. Without a result, for example after a timeout, it returns nil and the
// answer as a text.
func tryCall(t *testing.T, address, key, tool string, arguments map[string]any) (*content, string) {
	t.Helper()
	encoded, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/mcp",
		strings.NewReader(string(encoded)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2025-11-25"}, "Authorization": {"Bearer " + key},
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	var answer struct{ Result *content }
	if err != nil || json.Unmarshal(body, &answer) != nil || answer.Result == nil || len(answer.Result.Content) != 1 {
		return nil, fmt.Sprintf("%d %s, %v", response.StatusCode, body, err)
	}
	return answer.Result, ""
}

// availability returns the status of each rental in a result, with the reason and the code if the rental is
// unavailable.
func (c content) availability(t *testing.T) map[string]string {
	t.Helper()
	var list struct {
		Rentals, AddOnRentals []struct {
			Name         string
			Availability *struct {
				Status      string
				Reason      *string
				MessageCode *string
			}
		}
	}
	encoded, err := json.Marshal(c.StructuredContent)
	if err == nil {
		err = json.Unmarshal([]byte(strings.ReplaceAll(string(encoded), "add_on_rentals", "AddOnRentals")), &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, r := range append(list.Rentals, list.AddOnRentals...) {
		switch a := r.Availability; {
		case a == nil:
			got[r.Name] = ""
		case a.Reason != nil && a.MessageCode != nil:
			got[r.Name] = a.Status + ": " + *a.Reason + " " + *a.MessageCode
		default:
			got[r.Name] = a.Status
		}
	}
	return got
}

// periodArguments returns the arguments of a rental period with additional arguments.
func periodArguments(more ...string) map[string]any {
	arguments := map[string]any{"start_date": "2027-03-02", "end_date": "2027-03-03"}
	for i := 0; i < len(more); i += 2 {
		arguments[more[i]] = more[i+1]
	}
	return arguments
}

func TestRentalsReportAvailability(t *testing.T) {
	t.Parallel()
	n := rentalPeers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("rentalId") == vestID {
			_, _ = io.WriteString(w, `{"available":true}`)
			return
		}
		_, _ = io.WriteString(w,
			`{"available":false,"conflictReason":"Nur 1 verfügbar.","messageCode":"not_enough_units"}`)
	}))
	address := startServer(t, n)
	arguments := periodArguments("start_time", "09:00", "end_time", "11:30", "locale", "de")
	arguments["quantity"] = 2
	got := call(t, address, "read", "list_rentals", arguments)
	want := map[string]string{"Kayak": "unavailable: Nur 1 verfügbar. not_enough_units", "Vest": "available"}
	if diff := cmp.Diff(want, got.availability(t)); got.IsError || diff != "" {
		t.Errorf("got %v\n%s", got, diff)
	}
	if got.StructuredContent["computed"] != true || !strings.Contains(got.Content[0].Text, "Nur 1 verfügbar.") {
		t.Errorf("got %v", got)
	}
	asked := n.queriesOf("GET /internal/api/public/harbor/rental-availability", kayakID)
	if want := "endDate=2027-03-03&endTime=11%3A30&lang=de&quantity=2&rentalId=" + kayakID +
		"&startDate=2027-03-02&startTime=09%3A00"; asked != want {
		t.Errorf("the query is %s, want %s", asked, want)
	}
	if asked := n.queriesOf("GET /internal/api/public/harbor/rentals", ""); asked != "date=2027-03-02&locale=de" {
		t.Errorf("the list was asked for by %s", asked)
	}
}

func TestRentalsWithoutDatesSkipAvailability(t *testing.T) {
	t.Parallel()
	n := rentalPeers(fault.New(fault.Internal, "Nobody asks this."))
	got := call(t, startServer(t, n), "read", "list_rentals", nil)
	if diff := cmp.Diff(map[string]string{"Kayak": "", "Vest": ""}, got.availability(t)); got.IsError || diff != "" {
		t.Errorf("got %v\n%s", got, diff)
	}
	kayak := got.StructuredContent["rentals"].([]any)[0].(map[string]any)
	if want := []any{map[string]any{"rental_id": vestID, "is_required": true}}; cmp.Diff(want, kayak["upsells"]) != "" {
		t.Errorf("along with the kayak go %v", kayak["upsells"])
	}
	if n.queriesOf("GET /internal/api/public/harbor/rental-availability", "") != "" {
		t.Error("availability was asked for")
	}
}

// TestRentalsAreUnknownIfAvailabilityIsDown shows that the status of a rental may be unknown, which
// means neither free nor fully booked. The field `computed` is false then (interface.md §4).
func TestRentalsAreUnknownIfAvailabilityIsDown(t *testing.T) {
	t.Parallel()
	silent := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for name, away := range map[string]any{
		"cannot count": fault.New(fault.AvailabilityUnverified,
			"Availability could not be checked; try again shortly."),
		"fails": fault.New(fault.Internal, "Something went wrong."),
		"answers no JSON": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<html>")
		}),
		"does not answer":     silent,
		"knows only the vest": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := map[string]string{"Kayak": "unknown", "Vest": "unknown"}
			if away == nil {
				want["Vest"] = "available"
				away = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Query().Get("rentalId") == vestID {
						_, _ = io.WriteString(w, `{"available":true}`)
						return
					}
					send(w, fault.New(fault.AvailabilityUnverified,
						"Availability could not be checked; try again shortly."))
				})
			}
			within := testkit.MaxWait
			if name == "does not answer" {
				within = 2 * time.Second // the short timeout keeps the test short
			}
			var got *content
			// A slow machine may exceed the timeout, so the test repeats the call with a longer one.
			for said := ""; got == nil || got.IsError; within *= 2 {
				if within > testkit.MaxWait {
					t.Fatalf("%+v %s", got, said)
				}
				address := startServer(t, rentalPeers(away), func(c *mcp.Config) { c.Server.RequestTimeout = within })
				got, said = tryCall(t, address, "read", "list_rentals", periodArguments())
			}
			if diff := cmp.Diff(want, got.availability(t)); got.IsError || diff != "" {
				t.Errorf("got %v\n%s", got, diff)
			}
			if got.StructuredContent["computed"] != false || !strings.Contains(got.Content[0].Text,
				"neither free nor fully booked") {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestRentalsRejectInvalidPeriod(t *testing.T) {
	t.Parallel()
	n := rentalPeers(fault.New(fault.InvalidParameter, "endTime: it is not after startTime."))
	address := startServer(t, n)
	for name, c := range map[string]struct {
		arguments map[string]any
		begins    string
	}{
		"one date":       {map[string]any{"start_date": "2027-03-02"}, "start_date:"},
		"no real date":   {map[string]any{"start_date": "2027-02-29", "end_date": "2027-03-01"}, "start_date:"},
		"backwards":      {map[string]any{"start_date": "2027-03-02", "end_date": "2027-03-01"}, "end_date:"},
		"731 days":       {map[string]any{"start_date": "2027-03-01", "end_date": "2029-02-28"}, "end_date:"},
		"one time":       {periodArguments("start_time", "09:00"), "start_time:"},
		"no time":        {periodArguments("start_time", "9:00", "end_time", "11:00"), "start_time:"},
		"after midnight": {periodArguments("start_time", "09:00", "end_time", "24:00"), "end_time:"},
		"times alone":    {map[string]any{"start_time": "09:00", "end_time": "10:00"}, "start_date:"},
		"units alone":    {map[string]any{"quantity": 2}, "start_date:"},
		"no units": {map[string]any{"start_date": "2027-03-02", "end_date": "2027-03-02", "quantity": 0},
			"quantity:"},
		"too many units": {map[string]any{"start_date": "2027-03-02", "end_date": "2027-03-02", "quantity": 1001},
			"quantity:"},
		"half a unit": {map[string]any{"start_date": "2027-03-02", "end_date": "2027-03-02", "quantity": 1.5},
			"quantity:"},
		"skipped hours": {periodArguments("start_time", "09:00", "end_time", "10:00"),
			"end_time: it is not after start_time."},
		"another argument": {map[string]any{"rental_id": kayakID}, `"rental_id":`},
		"a list as a start": {map[string]any{"start_date": []string{"2027-03-02"}, "end_date": "2027-03-02"},
			"start_date:"},
	} {
		got := call(t, address, "read", "list_rentals", c.arguments)
		if sentence := fmt.Sprint(got.StructuredContent["error"]); !got.IsError ||
			got.StructuredContent["messageCode"] != "invalid_parameter" || !strings.HasPrefix(sentence, c.begins) {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := call(t, address, "read", "list_rentals", map[string]any{"start_date": "2027-03-01",
		"end_date": "2029-02-27"}); got.StructuredContent["error"] != "end_time: it is not after start_time." {
		t.Errorf("730 days were not asked for: %v", got)
	}
}
