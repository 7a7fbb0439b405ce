package direct_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/bookingclient"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/mcp/internal/caller"
	"github.com/slotmesh/slotmesh/services/mcp/internal/direct"
	"github.com/slotmesh/slotmesh/services/mcp/internal/tools"
)

// salon answers for every service: paths that it knows with JSON, others with a refusal.
type salon struct{}

func (salon) Read(_ context.Context, _, path string, _ url.Values, out any) error {
	answers := map[string]string{
		"available-dates": `{"days":{"2027-03-02":0,"2027-03-01":2},"computed":true,"timezone":"Europe/Lisbon"}`,
		"staff":           `{"staff":[{"id":"8d1f5a44-7d1c-5b0e-8a10-1f6f2f0b9c22","name":"Anna","description":"","category":"Stylist","image_url":""}]}`,
	}
	if answers[path] == "" {
		return fault.New(fault.PeerUnavailable, "Not now.")
	}
	return json.Unmarshal([]byte(answers[path]), out)
}

func (s salon) Kept(ctx context.Context, slug, path string, query url.Values, empty func() any, prepare func(any)) (any, error) {
	value := empty()
	if err := s.Read(ctx, slug, path, query, value); err != nil {
		return nil, err
	}
	prepare(value)
	return value, nil
}

func (salon) Slots(context.Context, string, url.Values) (*availability.Slots, error) {
	return &availability.Slots{
		Computed: true, Timezone: "Europe/Lisbon", Staff: []availability.Member{{Name: "Anna <&> \u2028 é\""}},
		Starts: []int32{540, 900}, Ends: []int32{585, 945}, Members: []int32{0, -1},
	}, nil
}

func (salon) Book(context.Context, string, string, string, []byte) (*bookingclient.Confirmation, error) {
	return &bookingclient.Confirmation{Body: []byte(`{"success":true,"booking":{"id":"x","total":36.00,"services":[]},"paymentRequired":false}`)}, nil
}

// counting counts the requests that are handed on.
type counting struct {
	http.Handler
	requests int
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.requests++
	c.Handler.ServeHTTP(w, r)
}

// beside returns a handler, and the SDK's alone, for the same tools.
func beside(t testing.TB, change ...func(*tools.Toolbox)) (*direct.Handler, *counting) {
	t.Helper()
	box := &tools.Toolbox{
		Catalog: salon{}, Availability: salon{}, Rental: salon{}, Booking: salon{},
		Clock: clock.Fixed(time.Date(2027, 3, 1, 6, 0, 0, 0, time.UTC)), Telemetry: telemetry.Discard(),
	}
	for _, c := range change {
		c(box)
	}
	open := box.Open()
	about := &protocol.Implementation{Name: "slotmesh", Title: "<Slotmesh>", Version: "1"}
	server := open.Server(about)
	sdk := &counting{Handler: protocol.NewStreamableHTTPHandler(
		func(*http.Request) *protocol.Server { return server }, &protocol.StreamableHTTPOptions{Stateless: true, JSONResponse: true})}
	handler, err := direct.New(open, about, sdk)
	if err != nil {
		t.Fatal(err)
	}
	return handler, sdk
}

// request is one as a client may send it.
type request struct {
	header http.Header
	body   string
}

// reply is what is compared of an answer. What is no JSON is compared as it is.
type reply struct {
	Status                    int
	ContentType, CacheControl string
	Body                      any
}

// until is when calls end.
var until = time.Now().Add(time.Hour)

func ask(h http.Handler, q request) reply {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(q.body))
	r.Header = q.header.Clone()
	r = r.WithContext(caller.With(r.Context(), caller.Caller{Slug: "salon", Scope: booking.ScopeAll, Until: until}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	got := reply{w.Code, w.Header().Get("Content-Type"), w.Header().Get("Cache-Control"), nil}
	decoder := json.NewDecoder(w.Body)
	decoder.UseNumber()
	text := w.Body.String()
	if decoder.Decode(&got.Body) != nil {
		got.Body = text
	}
	return got
}

const (
	cut   = "3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10"
	slots = `{"service_ids":["` + cut + `"],"date":"2027-03-01"}`
)

// header are the headers of a client of a revision, "" for one that does not say.
func header(revision, tool string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	if revision != "" {
		h.Set("Mcp-Protocol-Version", revision)
	}
	if revision >= "2026" {
		h.Set("Mcp-Method", "tools/call")
		h.Set("Mcp-Name", tool)
	}
	return h
}

// self is what a client of the revision 2026-07-28 says with each request.
const self = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"roots":{"listChanged":true},"elicitation":{}},"progressToken":7}`

func message(id, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":` + params + `}`
}

func TestCallsAsClientsSendThemNeedNoSessionAndAreAnsweredAsByTheSDK(t *testing.T) {
	t.Parallel()
	h, sdk := beside(t)
	for _, tool := range []struct{ name, arguments string }{
		{"find_slots", slots},
		{"find_slots", `{"service_ids":["` + cut + `"],"start_date":"2027-03-01","end_date":"2027-03-02"}`},
		{"find_slots", `{"service_ids":["x"],"date":"2027-03-01"}`},
		{"find_slots", `{"servise_ids":[]}`},
		{"find_slots", `[]`},
		{"list_staff", `{}`},
		{"list_services", `null`},
		{"book_appointment", `{"service_ids":["` + cut + `"],"form_data":{"a":["b"]}}`},
	} {
		for _, revision := range []string{"", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
			for _, id := range []string{"1", "0", `"a-b <c>"`} {
				meta := `"_meta":{"progressToken":"x"},`
				if revision == "2026-07-28" {
					meta = `"_meta":` + self + `,`
				}
				q := request{header(revision, tool.name), message(id, `{`+meta+`"name":"`+tool.name+`","arguments":`+tool.arguments+`}`)}
				sdk.requests = 0
				got := ask(h, q)
				if sdk.requests > 0 {
					t.Errorf("%s %s was handed on", revision, q.body)
				}
				if diff := cmp.Diff(ask(sdk, q), got); diff != "" || got.Status != http.StatusOK {
					t.Errorf("%s %s\n%s", revision, q.body, diff)
				}
			}
		}
	}
}

// watched notes when a booking must have been made.
type watched struct {
	salon
	deadlines []time.Time
}

func (w *watched) Book(ctx context.Context, slug, authorization, key string, body []byte) (*bookingclient.Confirmation, error) {
	deadline, _ := ctx.Deadline()
	w.deadlines = append(w.deadlines, deadline)
	return w.salon.Book(ctx, slug, authorization, key, body)
}

// In most revisions the request's own deadline does not reach a tool.
func TestACallEndsWhenItsCallerSays(t *testing.T) {
	t.Parallel()
	desk := &watched{}
	h, sdk := beside(t, func(b *tools.Toolbox) { b.Booking = desk })
	for _, revision := range []string{"", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		meta := ""
		if revision == "2026-07-28" {
			meta = `"_meta":` + self + `,`
		}
		q := request{header(revision, "book_appointment"), message("1", `{`+meta+`"name":"book_appointment","arguments":{}}`)}
		for name, by := range map[string]http.Handler{"directly": h, "by the SDK": sdk} {
			desk.deadlines = nil
			if got := ask(by, q); len(desk.deadlines) != 1 || !desk.deadlines[0].Equal(until) {
				t.Errorf("%s %s: %v, want %v: %v", revision, name, desk.deadlines, until, got)
			}
		}
	}
}

// Whatever is sent, the answer is the SDK's.
func TestEveryMessageIsAnsweredAsByTheSDK(t *testing.T) {
	t.Parallel()
	h, sdk := beside(t)
	rapid.Check(t, func(t *rapid.T) {
		q := drawRequest(t)
		want := ask(sdk, q)
		if diff := cmp.Diff(want, ask(h, q)); diff != "" {
			t.Fatalf("%v\n%s\n%s", q.header, q.body, diff)
		}
	})
}

// drawRequest gives calls with one or several oddities, or none.
func drawRequest(t *rapid.T) request {
	one := func(label, usual string, odd ...string) string {
		if rapid.IntRange(0, 5).Draw(t, label+"?") > 0 {
			return usual
		}
		return rapid.SampledFrom(odd).Draw(t, label)
	}
	revision := one("revision", rapid.SampledFrom([]string{"", "2025-06-18", "2026-07-28"}).Draw(t, "spoken"), "2024-11-05", "2026-07-29", "x", "1999-01-01")
	tool := one("tool", "find_slots", "list_staff", "nothing", "", `find\u005fslots`)
	h := header(revision, tool)
	set := func(name, usual string, odd ...string) {
		if value := one(name, usual, append(odd, "")...); value != "" {
			h.Set(name, value)
		} else {
			h.Del(name)
		}
	}
	set("Content-Type", "application/json", "application/json; charset=utf-8", "text/plain", "Application/JSON")
	set("Accept", "application/json, text/event-stream", "text/event-stream,application/json", "*/*", "application/json", "application/json;q=0.5, text/event-stream")
	set("Mcp-Protocol-Version", revision, "2025-11-25", "2026-07-28")
	set("Mcp-Method", h.Get("Mcp-Method"), "tools/list", "tools/call")
	set("Mcp-Name", h.Get("Mcp-Name"), "list_staff", "find_slots")
	set("Last-Event-Id", "", "1")
	meta := one("meta", rapid.SampledFrom([]string{`{"progressToken":1}`, self}).Draw(t, "met"), `{}`, `null`, `7`,
		`{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`, `{"io.modelcontextprotocol/protocolVersion":"2025-06-18"}`,
		strings.Replace(self, `{"name":"c","version":"1"}`, `null`, 1), strings.Replace(self, `{"name":"c","version":"1"}`, `{"name":7}`, 1),
		strings.Replace(self, `{"roots":{"listChanged":true},"elicitation":{}}`, `{"roots":7}`, 1),
		strings.Replace(self, `{"roots":{"listChanged":true},"elicitation":{}}`, `[]`, 1),
		strings.Replace(self, "clientInfo", "other", 1), strings.Replace(self, "clientCapabilities", "other", 1))
	params := `{"name":"` + tool + `","arguments":` + one("arguments", slots, `null`, `[]`, `7`, `{"date":`, `{"x":1}`, strings.Repeat("[", 1100)+strings.Repeat("]", 1100)) +
		`,"_meta":` + meta + one("more", ``, `,"x":1`, `,"name":"list_staff"`, `,"requestState":"x"`, `,"Name":"list_staff"`, `,"arguments":{}`, `,"_meta":{}`) + `}`
	id := one("id", "1", `"a"`, `""`, `"a\u0041"`, `"é"`, "-0", "1.5", "01", "1e3", "9007199254740993", "null", "true", "{}", `"a`)
	body := `{` + one("version", `"jsonrpc":"2.0"`, `"jsonrpc":"1.0"`, `"JSONRPC":"2.0"`, `"jsonrpc":2`) + `,"id":` + id + `,"method":` +
		one("method", `"tools/call"`, `"tools\/call"`, `"tools/list"`, `null`, `"ping"`, `"initialize"`, `7`) + `,"params":` + params +
		one("rest", ``, `,"x":1`, `,"id":2`, `,"params":{"name":"list_staff"}`, `,"params":null`, `,"result":{}`) + `}`
	return request{h, one("before", "", " ", "[", "x") + body + one("after", "", " \n", "x", body)}
}
