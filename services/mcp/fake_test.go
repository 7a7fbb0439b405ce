package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/mcp"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// businessID, cutID and annaID are ids of the fake business, a service and a staff member.
const (
	businessID = "0b7c9c0e-63a5-5d6b-9a0e-2f4f8a1d6c01"
	cutID      = "3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10"
	annaID     = "8d1f5a44-7d1c-5b0e-8a10-1f6f2f0b9c22"
)

// fakePeers is a fake of all services that mcp calls. A test sets the answers by path. The fake stores the requests.
type fakePeers struct {
	mu       sync.Mutex
	answers  map[string]any // by "METHOD path": a *fault.Error, an http.HandlerFunc, or a value to send as JSON
	requests map[string][]peerRequest
}

type peerRequest struct {
	query, body string
	header      http.Header
}

// newPeers returns peers with the keys "Bearer read", "Bearer write" and "Bearer all", and the business harbor.
func newPeers() *fakePeers {
	const public = "GET /internal/api/public/harbor/"
	return &fakePeers{requests: map[string][]peerRequest{}, answers: map[string]any{
		"POST /internal/keys/check":         http.HandlerFunc(checkKey),
		"GET /internal/slugs/" + businessID: json.RawMessage(`{"slug":"harbor"}`),
		public +
			"info": json.RawMessage(`{"name":"Harbor","slug":"harbor","logo_url":"","currency":"EUR","timezone":"Europe/Lisbon",
			"default_language":"en","languages":["en"],"modules_enabled":{"services":true,"events":true,"rentals":true},
			"social_links":{},"action_buttons":[],"has_payment_providers":false,"payment_providers":[],
			"payment_modes":{"services":"at_door","rentals":"at_door","events":"at_door"},"cancellation_policy":[],
			"cooling_off_hours":0,"online_bookings_paused":false,"open":true}`),
		public + "services": json.RawMessage(`{"services":[{"id":"` + cutID +
			`","name":"Cut","description":"Wash.","description_html":"<p>Wash.</p>",
			"category":"Hair","duration_minutes":45,"price":40.00,"quoted_price":36.00,"currency":"EUR","image_url":"","allow_multiple":false,
			"has_class_schedule":false,"payment_requirement":"none","deposit_value":null,"name_translations":null}],
			"currency":"EUR","quote":{"date":"2027-03-01","applies_pricing_rules":true,"basis":"As of now."}}`),
		public + "staff": json.RawMessage(`{"staff":[{"id":"` + annaID +
			`","name":"Anna","description":"","category":"Stylist","image_url":""}]}`),
		public +
			"events": json.RawMessage(`{"events":[],"currency":"EUR","quote":{"date":"2027-03-01","applies_pricing_rules":true,"basis":"As of now."}}`),
		public + "slots": json.RawMessage(`{"slots":[{"time":"09:00","endTime":"09:45","staffId":"` + annaID +
			`","staffName":"Anna","date":"2027-03-01",
			"dateOffset":0},{"time":"15:00","endTime":"15:45","staffId":null,"staffName":null,"date":"2027-03-01","dateOffset":0}],
			"computed":true,"timezone":"Europe/Lisbon"}`),
		public +
			"available-dates": json.RawMessage(`{"days":{"2027-03-02":0,"2027-03-01":2},"computed":true,"timezone":"Europe/Lisbon"}`),
		"POST /internal/api/public/harbor/book": json.RawMessage(`{"success":true,"booking":{"id":"01900000-0000-7000-8000-000000000000",
			"date":"2027-03-01","start_time":"09:00:00","end_time":"09:45:00","status":"pending","source":"api",
			"services":[{"name":"Cut","duration_minutes":45,"price":36.00}],"total":36.00,"currency":"EUR","party_size":1,
			"staff_id":"` + annaID + `","staff_name":"Anna"},"paymentRequired":false}`),
	}}
}

func checkKey(w http.ResponseWriter, r *http.Request) {
	scope := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch scope {
	case "read", "write", "all":
		_, _ = io.WriteString(w, `{"business_id":"`+businessID+`","id":"`+annaID+`","scope":"`+scope+`"}`)
	case "":
		send(w, fault.New(fault.MissingAPIKey, "An API key is required."))
	case "spent":
		send(w, &fault.Error{Kind: fault.RateLimited, Sentence: "Rate limit exceeded", RetryAfter: 7 * time.Second})
	default:
		send(w, fault.New(fault.InvalidAPIKey, "The API key is not known."))
	}
}

func send(w http.ResponseWriter, f *fault.Error) {
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", "7")
	}
	w.WriteHeader(f.Kind.Status)
	_, _ = w.Write(f.Body())
}

func (n *fakePeers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	path := r.Method + " " + r.URL.Path
	n.mu.Lock()
	n.requests[path] = append(n.requests[path], peerRequest{r.URL.RawQuery, string(body), r.Header})
	answer := n.answers[path]
	n.mu.Unlock()
	switch a := answer.(type) {
	case nil:
		send(w, fault.New(fault.NotFound, "There is nothing at this path."))
	case *fault.Error:
		send(w, a)
	case http.HandlerFunc:
		a(w, r)
	default:
		_ = json.NewEncoder(w).Encode(a)
	}
}

// queriesOf returns the query of the last request to a path whose query contains `part`.
func (n *fakePeers) queriesOf(path, part string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	last := ""
	for _, a := range n.requests[path] {
		if strings.Contains(a.query, part) {
			last = a.query
		}
	}
	return last
}

// startServer runs the service with the fake peers and returns its public address.
func startServer(t testing.TB, n *fakePeers, options ...func(*mcp.Config)) string {
	t.Helper()
	peersURL := httptest.NewServer(n)
	t.Cleanup(peersURL.Close)
	return startWithPeers(t, peersURL.URL, options...)
}

// startWithPeers runs the service with the address `peersURL` for all peers, and returns its public address.
func startWithPeers(t testing.TB, peersURL string, options ...func(*mcp.Config)) string {
	t.Helper()
	cfg := mcp.Config{
		Server: server.Config{
			PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0",
			RequestTimeout: 2 * time.Minute, DrainTimeout: 2 * time.Minute,
			Peers: peer.Config{Timeout: 2 * time.Minute}, PublicBodyLimit: 256 << 10, InternalBodyLimit: 1000,
		},
		Redis: testkit.RedisConfig(t), Limits: limits.Config{Counting: ratelimit.Config{Timeout: testkit.MaxWait}},
		CatalogURL: peersURL, AvailabilityURL: peersURL, RentalURL: peersURL, BookingURL: peersURL,
	}
	for _, c := range options {
		c(&cfg)
	}
	now := clock.Fixed(time.Date(2027, 3, 1, 6, 0, 0, 0, time.UTC))
	srv, err := mcp.New(t.Context(), cfg, server.Runtime{Open: true, Name: "mcp", Clock: now,
		Telemetry: telemetry.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	return runServer(t, srv)
}

// runServer runs a server until the test ends and returns its public address.
func runServer(t testing.TB, srv *server.Server) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- srv.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return srv.PublicAddr().String()
}
