package mcp_test

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/mcp"
)

// browserHeaders returns the headers for browsers: those of CORS and Vary.
func (r reply) browserHeaders() http.Header {
	got := http.Header{}
	for name, values := range r.header {
		if strings.HasPrefix(name, "Access-Control-") || name == "Vary" {
			got[name] = values
		}
	}
	return got
}

func TestGateAnswersListedOriginsOnly(t *testing.T) {
	t.Parallel()
	address := startServer(t, newPeers(), func(c *mcp.Config) {
		c.Hosts, c.Origins = []string{"book.example"}, []string{"https://App.example/"}
	})
	open := http.Header{
		"Access-Control-Allow-Origin":   {"https://app.example"},
		"Access-Control-Expose-Headers": {"Mcp-Session-Id, Retry-After, Traceparent, WWW-Authenticate"},
		"Vary":                          {"Origin"},
	}
	permitted := http.Header{
		"Access-Control-Allow-Methods": {"POST"},
		"Access-Control-Allow-Headers": {"Accept, Authorization, Content-Type, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id"},
		"Access-Control-Max-Age":       {"86400"},
	}
	maps.Copy(permitted, open)
	closed := http.Header{}
	for what, c := range map[string]struct {
		method, body, origin, host, key string
		status                          int
		want                            http.Header
	}{
		"the question": {http.MethodOptions, "", "https://app.example", "book.example", "", 204,
			permitted},
		"the question to another host": {http.MethodOptions, "", "https://app.example", "evil.example", "", 403,
			closed},
		"the question of another page": {http.MethodOptions, "", "https://evil.example", "book.example", "", 403,
			closed},
		"the question of no page": {http.MethodOptions, "", "null", "book.example", "", 403, closed},
		"the host's own page": {http.MethodOptions, "", "https://book.example", "book.example", "", 405,
			closed},
		"OPTIONS without a page": {http.MethodOptions, "", "", "book.example", "", 405, closed},
		"a call": {http.MethodPost, ping, "https://app.example", "book.example",
			"Bearer read", 200, open},
		"a call by the SDK": {http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
			"https://app.example", "book.example", "Bearer read", 200, open},
		"a call without a key": {http.MethodPost, ping, "https://app.example", "book.example", "", 401,
			open},
		"a call with a spent key": {http.MethodPost, ping, "https://app.example", "book.example",
			"Bearer spent", 429, open},
		"what is no message": {http.MethodPost, "ping", "https://app.example", "book.example",
			"Bearer read", 400, open},
		"a look for a stream": {http.MethodGet, "", "https://app.example", "book.example", "Bearer read",
			405, open},
		"a call of the host's own page": {http.MethodPost, ping, "https://book.example", "book.example",
			"Bearer read", 200, closed},
		"a call of a program": {http.MethodPost, ping, "", "book.example", "Bearer read", 200, closed},
		"a call of a page of another name": {http.MethodPost, ping, "https://evil.example", "book.example",
			"Bearer read", 403, closed},
	} {
		header := http.Header{"Host": {c.host}, "Authorization": {c.key}}
		if c.origin != "" {
			header.Set("Origin", c.origin)
		}
		if c.method == http.MethodOptions { // Chromium sends the preflight request without the key
			header = http.Header{
				"Host": {c.host}, "Origin": header["Origin"], "Accept": {"*/*"}, "Authorization": nil,
				"Content-Type":                   nil,
				"Access-Control-Request-Method":  {"POST"},
				"Access-Control-Request-Headers": {"authorization,content-type,mcp-protocol-version"},
				"Sec-Fetch-Mode":                 {"cors"}, "Sec-Fetch-Site": {"cross-site"},
				"Sec-Fetch-Dest": {"empty"},
			}
		}
		got := post(t, address, c.method, c.body, header)
		got.want(t, what, c.status, "")
		if diff := cmp.Diff(c.want, got.browserHeaders()); diff != "" {
			t.Errorf("%s:\n%s", what, diff)
		}
	}
}

// page calls the service as clients in a browser do, and writes what its script can read of each answer.
const page = `<!DOCTYPE html><body><script>
document.body.textContent = "seen:" + JSON.stringify(%s.map(call => {
	const r = new XMLHttpRequest();
	try {
		r.open("POST", call.URL, false);
		for (const name in call.Header) r.setRequestHeader(name, call.Header[name]);
		r.send(call.Body);
	} catch (e) {}
	return {Status: r.status, Body: r.responseText, Challenge: r.getResponseHeader("WWW-Authenticate") || ""};
})) + ":seen";
</script>`

type pageCall struct {
	URL, Body string
	Header    map[string]string
}

type pageResult struct {
	Status          int
	Body, Challenge string
}

func TestPageCallsServerFromChromium(t *testing.T) {
	t.Parallel()
	testkit.NeedChromium(t,
		"TestGateAnswersListedOriginsOnly checks the headers on every system")
	pages := httptest.NewUnstartedServer(nil)
	origin := "http://" + pages.Listener.Addr().String()
	open := "http://" + startServer(t, newPeers(), func(c *mcp.Config) { c.Origins = []string{origin} }) + "/mcp"
	closed := "http://" + startServer(t, newPeers()) + "/mcp"
	const list, book = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientCapabilities":{}},"name":"book_appointment","arguments":{"service_ids":["` +
			cutID + `"]}}}`
	header := func(key string, more ...string) map[string]string {
		h := map[string]string{"Authorization": "Bearer " + key, "Content-Type": "application/json",
			"Accept": "application/json, text/event-stream"}
		for i := 0; i < len(more); i += 2 {
			h[more[i]] = more[i+1]
		}
		return h
	}
	calls := []pageCall{
		{open, list, header("read", "mcp-protocol-version", "2025-11-25", "mcp-session-id", "old")},
		{open, book, header("write", "mcp-protocol-version", "2026-07-28", "mcp-method", "tools/call", "mcp-name",
			"book_appointment")},
		{open, list, header("bad")},
		{closed, list, header("read")},
	}
	encoded, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	pages.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, page, encoded)
	})
	pages.Start()
	t.Cleanup(pages.Close)
	results := runInChromium(t, origin)
	if len(results) != len(calls) {
		t.Fatalf("the page saw %v", results)
	}
	if results[0].Status != http.StatusOK || !strings.Contains(results[0].Body, `"find_slots"`) {
		t.Errorf("tools/list: %+v", results[0])
	}
	if results[1].Status != http.StatusOK || !strings.Contains(results[1].Body, "Booked") {
		t.Errorf("book_appointment: %+v", results[1])
	}
	if results[2].Status != http.StatusUnauthorized || !strings.Contains(results[2].Body, "invalid_api_key") ||
		!strings.Contains(results[2].Challenge, "invalid_token") {
		t.Errorf("a bad key: %+v", results[2])
	}
	if results[3] != (pageResult{}) {
		t.Errorf("a page of an origin that is not listed saw %+v", results[3])
	}
}

// runInChromium opens a page in Chromium and returns what the page wrote.
func runInChromium(t *testing.T, address string) []pageResult {
	t.Helper()
	dom := testkit.ChromiumDOM(t, address)
	found := regexp.MustCompile(`(?s)seen:(.*):seen`).FindSubmatch(dom)
	if found == nil {
		t.Fatalf("chromium shows %s", dom)
	}
	var results []pageResult
	if err := json.Unmarshal([]byte(html.UnescapeString(string(found[1]))), &results); err != nil {
		t.Fatalf("%v: %s", err, dom)
	}
	return results
}
