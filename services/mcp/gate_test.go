package mcp_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/mcp"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// reply is an HTTP answer.
type reply struct {
	status int
	header http.Header
	body   string
}

// post sends a request to /mcp with the given headers. The header Host, if present, is the host of the request.
func post(t *testing.T, address, method, body string, header http.Header) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+address+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Authorization": {"Bearer read"},
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Host = header.Get("Host")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(read)}
}

// want checks the status and, if `code` is not empty, the form of the fault (semantics.md §7).
func (r reply) want(t *testing.T, what string, status int, code string) {
	t.Helper()
	var refusal struct{ Error, MessageCode string }
	if r.status != status {
		t.Errorf("%s: got %d %s, want %d", what, r.status, r.body, status)
	}
	if code != "" && (json.Unmarshal([]byte(r.body), &refusal) != nil || refusal.MessageCode != code ||
		refusal.Error == "") {
		t.Errorf("%s: got %s, want a sentence and messageCode %s", what, r.body, code)
	}
}

func TestGateRejectsUnknownHostsAndOrigins(t *testing.T) {
	t.Parallel()
	local := startServer(t, newPeers())
	named := startServer(t, newPeers(), func(c *mcp.Config) {
		c.Hosts, c.Origins = []string{"Book.example"}, []string{"https://App.example/"}
	})
	for what, c := range map[string]struct {
		address, host, origin string
		status                int
	}{
		"this machine":                  {local, "", "", 200},
		"this machine by name":          {local, "localhost:8080", "", 200},
		"this machine by IPv6":          {local, "[::1]:8080", "", 200},
		"another name on loopback":      {local, "evil.example", "", 403},
		"its own page":                  {local, "localhost:8080", "http://localhost:8080", 200},
		"another page":                  {local, "localhost:8080", "https://evil.example", 403},
		"a page without an origin":      {local, "localhost:8080", "null", 403},
		"the named host":                {named, "book.example", "", 200},
		"the named host with a port":    {named, "BOOK.example:443", "", 200},
		"not the named host":            {named, "localhost", "", 403},
		"the named origin":              {named, "book.example", "https://app.example", 200},
		"the named origin without TLS":  {named, "book.example", "http://app.example", 403},
		"the named origin as a prefix":  {named, "book.example", "https://app.example.evil.example", 403},
		"the host itself as the origin": {named, "book.example", "https://book.example", 200},
	} {
		header := http.Header{"Host": {c.host}}
		if c.origin != "" {
			header.Set("Origin", c.origin)
		}
		code := ""
		if c.status != http.StatusOK {
			code = "source_forbidden"
		}
		post(t, c.address, http.MethodPost, ping, header).want(t, what, c.status, code)
	}
}

func TestGateRejectsInvalidMessages(t *testing.T) {
	t.Parallel()
	address := startServer(t, newPeers(), func(c *mcp.Config) { c.Server.PublicBodyLimit = 1000 })
	for what, c := range map[string]struct {
		method, body string
		header       http.Header
		status       int
		code         string
	}{
		"no key": {http.MethodPost, ping, http.Header{"Authorization": {""}}, 401, "missing_api_key"},
		"a bad key": {http.MethodPost, ping, http.Header{"Authorization": {"Bearer bad"}}, 401,
			"invalid_api_key"},
		"a spent key": {http.MethodPost, ping, http.Header{"Authorization": {"Bearer spent"}}, 429,
			"rate_limited"},
		"GET":     {http.MethodGet, "", nil, 405, "method_not_allowed"},
		"DELETE":  {http.MethodDelete, "", nil, 405, "method_not_allowed"},
		"a batch": {http.MethodPost, " [" + ping + "]", nil, 400, "invalid_parameter"},
		"no JSON": {http.MethodPost, "ping", nil, 400, "invalid_parameter"},
		"nothing": {http.MethodPost, "", nil, 400, "invalid_parameter"},
		"a form": {http.MethodPost, ping, http.Header{"Content-Type": {"text/plain"}}, 415,
			"unsupported_media_type"},
		"too much":         {http.MethodPost, `"` + strings.Repeat("x", 1000) + `"`, nil, 413, "payload_too_large"},
		"unknown revision": {http.MethodPost, ping, http.Header{"Mcp-Protocol-Version": {"1999-01-01"}}, 400, ""},
	} {
		got := post(t, address, c.method, c.body, c.header)
		got.want(t, what, c.status, c.code)
		if c.status == http.StatusUnauthorized && !strings.HasPrefix(got.header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s: WWW-Authenticate is %q", what, got.header.Get("WWW-Authenticate"))
		}
		if c.status == http.StatusMethodNotAllowed && got.header.Get("Allow") != http.MethodPost {
			t.Errorf("%s: Allow is %q", what, got.header.Get("Allow"))
		}
	}
}

func TestCallNeedsOnlyKey(t *testing.T) {
	t.Parallel()
	got := post(t, startServer(t, newPeers()), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil)
	got.want(t, "tools/list without a handshake", http.StatusOK, "")
	if !strings.Contains(got.body, `"list_rentals"`) || strings.Contains(got.body, `"book_appointment"`) {
		t.Errorf("a key that reads is shown %s", got.body)
	}
}

// TestCallDeadlineIncludesGateTime shows that the time of the gate counts as time of the call. If the rest of the
// time is too short, no booking begins. Before revision 2026-07-28, the SDK does not pass the deadline of the request
// to a tool.
func TestCallDeadlineIncludesGateTime(t *testing.T) {
	t.Parallel()
	const whole = 500 * time.Millisecond
	for revision, meta := range map[string]string{
		"2025-11-25": `{}`,
		"2026-07-28": `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`,
	} {
		n := newPeers()
		n.answers["GET /internal/slugs/"+businessID] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			// The test sleeps, because the fake clock does not control the timeouts of requests. A longer sleep gives
			// the same result.
			time.Sleep(whole * 19 / 20)
			_, _ = io.WriteString(w, `{"slug":"harbor"}`)
		})
		address := startServer(t, n, func(c *mcp.Config) { c.Server.RequestTimeout = whole })
		got := post(t, address, http.MethodPost,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":`+meta+
				`,"name":"book_appointment","arguments":{"service_ids":["`+cutID+`"]}}}`,
			http.Header{
				"Authorization": {"Bearer write"}, "Mcp-Protocol-Version": {revision},
				"Mcp-Method": {"tools/call"}, "Mcp-Name": {"book_appointment"},
			})
		n.mu.Lock()
		asked := n.requests["POST /internal/api/public/harbor/book"]
		n.mu.Unlock()
		if len(asked) > 0 || !strings.Contains(got.body, "service_unavailable") {
			t.Errorf("%s: booked %d times: %d %s", revision, len(asked), got.status, got.body)
		}
	}
}

// TestToolsFailIfTheirServiceIsDown shows that an unavailable service affects only the tools that call it.
// Without booking, all requests fail, because no key can be checked.
func TestToolsFailIfTheirServiceIsDown(t *testing.T) {
	t.Parallel()
	slots := map[string]any{"service_ids": []string{cutID}, "date": "2027-03-01"}
	away := fault.New(fault.PeerUnavailable, "Not now.")
	n := newPeers()
	n.answers["GET /internal/api/public/harbor/slots"] = away
	address := startServer(t, n)
	if got := call(t, address, "read", "find_slots", slots); !got.IsError ||
		got.StructuredContent["messageCode"] != "service_unavailable" {
		t.Errorf("without availability: %v", got)
	}
	if got := call(t, address, "read", "list_services", nil); got.IsError {
		t.Errorf("without availability, services: %v", got)
	}

	n = newPeers()
	n.answers["GET /internal/api/public/harbor/services"] = away
	address = startServer(t, n)
	if got := call(t, address, "read", "list_services", nil); !got.IsError ||
		got.StructuredContent["messageCode"] != "service_unavailable" {
		t.Errorf("without catalog: %v", got)
	}
	if got := call(t, address, "read", "find_slots", slots); got.IsError {
		t.Errorf("without catalog, slots: %v", got)
	}

	n = newPeers()
	n.answers["POST /internal/keys/check"] = away
	post(t, startServer(t, n), http.MethodPost, ping, nil).want(t, "without booking", http.StatusServiceUnavailable,
		"service_unavailable")

	n = newPeers()
	n.answers["GET /internal/slugs/"+businessID] = away
	post(t, startServer(t, n), http.MethodPost, ping, nil).want(t, "without the name of the business",
		http.StatusServiceUnavailable, "service_unavailable")

	n = newPeers()
	n.answers["POST /internal/api/public/harbor/book"] = away
	got := call(t, startServer(t, n), "write", "book_appointment", map[string]any{"service_ids": []string{cutID}})
	if !got.IsError || got.StructuredContent["messageCode"] != "service_unavailable" ||
		got.StructuredContent["next_step"] != nil {
		t.Errorf("a booking that was refused: %v", got)
	}
}

// TestBookReportsUnknownOutcome shows that the agent gets outcome_unknown if the booking may have been
// made. The field next_step explains how to find out.
func TestBookReportsUnknownOutcome(t *testing.T) {
	t.Parallel()
	for _, answer := range []*fault.Error{fault.Unknown(nil),
		fault.New(fault.Internal, "Something went wrong on our side.")} {
		n := newPeers()
		n.answers["POST /internal/api/public/harbor/book"] = answer
		got := call(t, startServer(t, n), "write", "book_appointment", map[string]any{"service_ids": []string{cutID}})
		next, _ := got.StructuredContent["next_step"].(string)
		if !got.IsError || got.StructuredContent["messageCode"] != "outcome_unknown" || !strings.Contains(next,
			"not known whether the booking was made") {
			t.Errorf("%s: %v", answer.Kind.Code, got)
		}
	}
}
