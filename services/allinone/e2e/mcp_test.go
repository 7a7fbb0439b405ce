package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/slotmesh/slotmesh/services/allinone"
)

// connectAgent is an MCP client that is connected with an API key.
type agent struct{ *mcp.ClientSession }

// keyTransport is a transport that sends an API key with every request.
type keyTransport struct {
	key  string
	next http.RoundTripper
}

// RoundTrip adds the header with the key.
func (k keyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return k.next.RoundTrip(r)
}

func (w *platform) connectAgent(t *testing.T, key string) agent {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: w.PublicURL + "/mcp", HTTPClient: &http.Client{Transport: keyTransport{key, w.http.Transport}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return agent{session}
}

// call calls a tool and decodes its structured content into `out`, which may be nil.
func (a agent) call(t *testing.T, tool string, arguments, out any) *mcp.CallToolResult {
	t.Helper()
	answer, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	encoded := encodeJSON(t, answer.StructuredContent)
	if out != nil {
		if err := json.Unmarshal(encoded, out); err != nil {
			t.Fatalf("%s: %v: %s", tool, err, encoded)
		}
	}
	if len(answer.Content) != 1 {
		t.Fatalf("%s gave %d blocks of content, want one short text", tool, len(answer.Content))
	}
	return answer
}

func readText(r *mcp.CallToolResult) string { return r.Content[0].(*mcp.TextContent).Text }

// callRefused checks that a call is a tool error with this messageCode and returns its structured content.
func (a agent) callRefused(t *testing.T, tool string, arguments any, code string) map[string]any {
	t.Helper()
	var content map[string]any
	answer := a.call(t, tool, arguments, &content)
	if !answer.IsError || content["messageCode"] != code || content["error"] == "" {
		t.Fatalf("%s: isError %t, %v, want a refusal %s", tool, answer.IsError, content, code)
	}
	if s := readText(answer); !strings.Contains(s, content["error"].(string)) || !strings.Contains(s, code) {
		t.Errorf("%s: the text %q says neither why nor the code", tool, s)
	}
	return content
}

// callAccepted checks that a call succeeded.
func (a agent) callAccepted(t *testing.T, tool string, arguments, out any) *mcp.CallToolResult {
	t.Helper()
	answer := a.call(t, tool, arguments, out)
	if answer.IsError {
		t.Fatalf("%s: %s", tool, readText(answer))
	}
	return answer
}

type listItem struct {
	ID, Name string
}

func findID(t *testing.T, list []listItem, name string) string {
	t.Helper()
	for _, l := range list {
		if l.Name == name {
			return l.ID
		}
	}
	t.Fatalf("there is no %s in %v", name, list)
	return ""
}

func TestAgentDiscoversOfferAndBooks(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "agent", buildSalon("agent", 2))
	a := w.connectAgent(t, w.createKey(t, "agent", "all"))

	var info struct {
		Name      string
		Timezone  string
		LocalTime string `json:"local_time"`
	}
	a.callAccepted(t, "get_business_info", nil, &info)
	if info.Name != "Salon" || info.Timezone != "Europe/Lisbon" || !strings.HasPrefix(info.LocalTime,
		"2027-03-01T") {
		t.Errorf("got %+v", info)
	}
	var offered struct {
		Services []listItem
		Total    int
	}
	a.callAccepted(t, "list_services", map[string]any{"date": "2027-03-02"}, &offered)
	cut := findID(t, offered.Services, "Cut")
	var staff struct{ Staff []listItem }
	a.callAccepted(t, "list_staff", map[string]any{"service_id": cut}, &staff)
	anna := findID(t, staff.Staff, "Member 1")

	var window struct {
		Days []struct {
			Date  string
			Count int
		}
		Computed bool
	}
	a.callAccepted(t, "find_slots", map[string]any{"service_ids": []string{cut}, "start_date": "2027-03-01",
		"end_date": "2027-03-07"}, &window)
	if len(window.Days) != 7 || window.Days[0].Date != "2027-03-01" || window.Days[0].Count == 0 ||
		window.Days[3].Count != 0 || !window.Computed {
		t.Fatalf("got %+v", window)
	}
	var free struct {
		Slots []struct {
			Date, Time string
			StaffID    string `json:"staff_id"`
		}
		Total int
	}
	a.callAccepted(t, "find_slots", map[string]any{"service_ids": []string{cut}, "date": "2027-03-01"}, &free)
	if free.Total != window.Days[0].Count {
		t.Errorf("the date has %d slots, the window says %d", free.Total, window.Days[0].Count)
	}
	a.callAccepted(t, "find_slots", map[string]any{"service_ids": []string{cut}, "date": "2027-03-02",
		"staff_id": anna},
		&free)
	o := newOrder(cut, free.Slots[0].Date, free.Slots[0].Time).withField("staff_id",
		free.Slots[0].StaffID).withField("idempotency_key", "once")
	a.bookOnce(t, o, anna)
}

// bookOnce books a start, repeats the request with the same key, and requests the same start with another key.
func (a agent) bookOnce(t *testing.T, o order, member string) {
	t.Helper()
	var created, again struct {
		Success  bool
		Replayed bool
		Booking  struct {
			ID, Status string
			Total      json.Number
			StaffID    string `json:"staff_id"`
		}
	}
	a.callAccepted(t, "book_appointment", o, &created)
	if !created.Success || created.Replayed || created.Booking.Status != "pending" ||
		created.Booking.StaffID != member ||
		created.Booking.Total != "36" {
		t.Errorf("got %+v", created)
	}
	a.callAccepted(t, "book_appointment", o, &again)
	if !again.Replayed || again.Booking.ID != created.Booking.ID {
		t.Errorf("the same call again gave %+v, want booking %s", again, created.Booking.ID)
	}
	a.callRefused(t, "book_appointment", o.withField("customer_name", "Someone Else"), "idempotency_mismatch")

	other := a.callRefused(t, "book_appointment", o.withField("idempotency_key", "twice"), "slot_unavailable")
	if slots, _ := other["other_slots"].([]any); len(slots) == 0 || !strings.Contains(fmt.Sprint(other["next_step"]),
		fmt.Sprint(o["date"])) {
		t.Errorf("the refusal names no other start of the date: %v", other)
	}
}

func TestAgentToolsFollowKeyScope(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "scopes", buildSalon("scopes", 1))
	reading := []string{"find_slots", "get_business_info", "list_events", "list_rentals", "list_services", "list_staff"}
	for scope, values := range map[string][]string{
		"read": reading, "write": {"book_appointment"}, "all": append([]string{"book_appointment"}, reading...),
	} {
		a := w.connectAgent(t, w.createKey(t, "scopes", scope))
		tools, err := a.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range tools.Tools {
			names = append(names, tool.Name)
		}
		if strings.Join(names, " ") != strings.Join(values, " ") {
			t.Errorf("a key of scope %s is shown %q, want %q", scope, names, values)
		}
		if scope == "read" {
			a.callRefused(t, "book_appointment", nil, "scope_forbidden")
		}
		if scope == "write" {
			for _, tool := range reading {
				a.callRefused(t, tool, nil, "scope_forbidden")
			}
		}
	}
}

func TestAgentSeesOnlyItsBusiness(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "agent-own", buildSalon("agent-own", 1))
	w.publish(t, "agent-foreign", buildSalon("agent-foreign", 1))
	a := w.connectAgent(t, w.createKey(t, "agent-own", "all"))
	var info struct{ Slug string }
	a.callAccepted(t, "get_business_info", nil, &info)
	if info.Slug != "agent-own" {
		t.Errorf("got business %q", info.Slug)
	}
	foreign := w.idsByName(t, "agent-foreign", "services")["Cut"]
	a.callRefused(t, "find_slots", map[string]any{"service_ids": []string{foreign}, "date": "2027-03-01"},
		"service_not_found")
	a.callRefused(t, "list_staff", map[string]any{"service_id": foreign}, "service_not_found")
	a.callRefused(t, "book_appointment", newOrder(foreign, "2027-03-01", "10:00"), "service_not_found")
}

// callRPC sends one JSON-RPC message, without the MCP client.
func (w *platform) callRPC(key, message string) (reply, error) {
	header := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2025-11-25"},
	}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	return w.tryDo(http.MethodPost, w.PublicURL+"/mcp", []byte(message), header)
}

const pingMessage = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestMCPRejectsInvalidKeys(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "agent-keys", buildSalon("agent-keys", 1))
	valid, revoked := w.createKey(t, "agent-keys", "read"), w.createKey(t, "agent-keys", "read")
	var keys struct{ Keys []struct{ ID string } }
	w.callAdmin(t, http.MethodGet, "businesses/agent-keys/keys", nil).decode(t, http.StatusOK, &keys)
	if a, err := w.callRPC(revoked, pingMessage); err != nil || a.status != http.StatusOK {
		t.Fatalf("before it is revoked: %d %s, %v", a.status, a.body, err)
	}
	w.callAdmin(t, http.MethodDelete, "businesses/agent-keys/keys/"+keys.Keys[1].ID, nil).checkStatus(t,
		http.StatusNoContent, "")
	for name, c := range map[string]struct{ key, code, challenge string }{
		"none": {"", "missing_api_key", "Bearer"}, "mistyped": {valid[:66] + "x", "invalid_api_key",
			`Bearer error="invalid_token"`},
		"revoked": {revoked, "invalid_api_key", `Bearer error="invalid_token"`},
	} {
		a, err := w.callRPC(c.key, pingMessage)
		if err != nil {
			t.Fatal(err)
		}
		a.checkStatus(t, http.StatusUnauthorized, c.code)
		if got := a.header.Get("Www-Authenticate"); got != c.challenge {
			t.Errorf("%s: WWW-Authenticate %q, want %q", name, got, c.challenge)
		}
	}
}

func TestKeyLimitCountsAgentsAndServers(t *testing.T) {
	t.Parallel()
	const limit = 10
	w := startPlatform(t, func(c *allinone.Config) {
		c.Settings = withSettings(c.Settings, "BOOKING_KEY_LIMIT_PER_MINUTE", strconv.Itoa(limit))
	})
	w.publish(t, "salon", buildSalon("salon", 1))
	asAgent := func(key string) reply {
		a, err := w.callRPC(key, pingMessage)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	asServer := func(key string) reply { return w.book(t, "salon", key, order{}) }
	// The function `refused` returns the first refused answer to `last`. Half of the requests before it are sent by
	// `other`.
	refused := func(label string, status int, last, other func(string) reply) reply {
		key := w.createKey(t, "salon", "all")
		return findRefused(t, label, limit, status, func(i int) reply {
			if i < limit && i%2 == 0 {
				return other(key)
			}
			return last(key)
		})
	}
	a := refused("an agent after a server", http.StatusTooManyRequests, asAgent, asServer)
	if a.decodeObject(t)["error"] != "Rate limit exceeded" || a.header.Get("Retry-After") == "" ||
		a.header.Get("Www-Authenticate") != "" {
		t.Errorf("got %v %s", a.header, a.body)
	}
	refused("a server after an agent", http.StatusUnauthorized, asServer, asAgent)
}

func TestConcurrentAgentsBookOneSlotOnce(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "agent-slot", buildSalon("agent-slot", 1))
	cut := w.idsByName(t, "agent-slot", "services")["Cut"]
	keys := []string{w.createKey(t, "agent-slot", "write"), w.createKey(t, "agent-slot", "all")}
	arguments := encodeJSON(t, newOrder(cut, "2027-03-01", "10:00"))
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book_appointment","arguments":%s}}`, arguments)
	outcomes := make(map[string]int)
	var mu sync.Mutex
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range 100 {
		wg.Go(func() {
			<-begin
			a, err := w.callRPC(keys[i%2], message)
			var answer struct {
				Result struct {
					StructuredContent struct {
						MessageCode string
						Success     bool
					}
				}
			}
			if err != nil || json.Unmarshal(a.body, &answer) != nil {
				t.Errorf("call %d: %v, %d %s", i, err, a.status, a.body)
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[fmt.Sprintf("%t %s", answer.Result.StructuredContent.Success,
				answer.Result.StructuredContent.MessageCode)]++
		})
	}
	close(begin)
	wg.Wait()
	if outcomes["true "] != 1 || outcomes["true "]+outcomes["false no_staff_available"]+
		outcomes["false slot_unavailable"] != 100 {
		t.Errorf("got %v, want one booking and 99 refusals", outcomes)
	}
	var kept struct{ Bookings []struct{ ID string } }
	w.callAdmin(t, http.MethodGet, "businesses/agent-slot/bookings", nil).decode(t, http.StatusOK, &kept)
	if len(kept.Bookings) != 1 {
		t.Errorf("there are %d bookings", len(kept.Bookings))
	}
}
