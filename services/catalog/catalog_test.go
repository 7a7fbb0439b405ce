package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	peercatalog "github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// harness is a running catalog with its own PostgreSQL schema and fakes of pricing, booking and rental.
type harness struct {
	t        testing.TB
	public   string
	internal string
	owner    *catalogclient.Owner
	clock    *clock.Manual
	pricing  *priceServer
	sales    *salesServer
	ceilings *ceilingServer
	config   Config
}

func newHarness(t testing.TB, options ...func(*Config)) *harness {
	t.Helper()
	database := testkit.PostgresSchema(t, "catalog")
	h := &harness{
		t: t, clock: clock.Fixed(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)), pricing: newPriceServer(t),
		sales:    newSalesServer(t),
		ceilings: newCeilingServer(t),
		config: Config{
			Server: server.Config{RequestTimeout: 2 * time.Minute, DrainTimeout: 2 * time.Minute,
				Peers: peer.Config{Timeout: 2 * time.Minute}, PublicBodyLimit: 1 << 18, InternalBodyLimit: 16 << 20},
			Postgres: database, Redis: testkit.RedisConfig(t), Events: eventlog.Config{KeepDays: 90},
			Limits:         limits.Config{Counting: ratelimit.Config{Timeout: testkit.MaxWait}},
			PricingTimeout: 2 * time.Minute, BookingTimeout: 2 * time.Minute, RentalTimeout: 2 * time.Minute,
			MemoryBytes: 64 << 20, RenderedBytes: 8 << 20, staleTimeout: testkit.MaxWait,
		},
	}
	h.config.PricingURL, h.config.BookingURL, h.config.RentalURL = h.pricing.URL, h.sales.URL, h.ceilings.URL
	for _, c := range options {
		c(&h.config)
	}
	if err := Migrate(t.Context(), h.config); err != nil {
		t.Fatal(err)
	}
	h.public, h.internal = h.run()
	client := peer.New("catalog", h.internal, telemetry.Discard(), peer.Timeout(testkit.MaxWait))
	t.Cleanup(client.Close)
	h.owner = catalogclient.NewOwner(client)
	return h
}

// run starts another replica and returns the base URLs of its public and its internal API.
func (h *harness) run() (string, string) {
	h.t.Helper()
	public, internal := listen(h.t), listen(h.t)
	srv, err := New(h.t.Context(), h.config, server.Runtime{
		Open: true,
		Name: "catalog", Clock: h.clock, Telemetry: telemetry.Discard(), Public: public, Internal: internal,
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	h.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			h.t.Error(err)
		}
	})
	return "http://" + public.Addr().String(), "http://" + internal.Addr().String()
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// priceServer is a fake pricing service. A price is `percent` of the list price, initially 90 %.
type priceServer struct {
	*httptest.Server

	percent    atomic.Int64 // of the list price
	leadTime   atomic.Int64 // number of versions by which its snapshot is newer than that of catalog
	validUntil atomic.Pointer[time.Time]

	calls       atomic.Int64
	lastRequest atomic.Pointer[pricing.QuotesRequest]
	isAway      atomic.Bool
	asked       func(slug string) // called for each request before the answer; nil: not called
}

func newPriceServer(t testing.TB) *priceServer {
	p := &priceServer{}
	p.percent.Store(90)
	p.Server = httptest.NewServer(http.HandlerFunc(p.quote))
	t.Cleanup(p.Close)
	return p
}

func (p *priceServer) quote(w http.ResponseWriter, r *http.Request) {
	p.calls.Add(1)
	var asked pricing.QuotesRequest
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || p.isAway.Load() ||
		r.URL.Path != "/internal/quotes" {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	p.lastRequest.Store(&asked)
	if p.asked != nil {
		p.asked(asked.Slug)
	}
	answer := pricing.QuotesResponse{OfferVersion: asked.OfferVersion + p.leadTime.Load(), Currency: "EUR",
		ValidUntil: p.validUntil.Load()}
	for i := range asked.Items {
		list := int64(1000 * (i + 1))
		answer.Quotes = append(answer.Quotes,
			pricing.Quote{Priced: true, List: list, Price: list * p.percent.Load() / 100})
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// answer is a response with its whole body.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) json(t testing.TB) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(a.body), &m); err != nil {
		t.Fatalf("%v: %q", err, a.body)
	}
	return m
}

// call sends a request. The argument `headers` lists names and values in turn.
func (h *harness) call(method, url string, body []byte, headers ...string) answer {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		Timeout: testkit.MaxWait}
	response, err := client.Do(request)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

// get reads a public path of the business "harbor".
func (h *harness) get(path string, headers ...string) answer {
	h.t.Helper()
	return h.call(http.MethodGet, h.public+"/api/public/harbor"+path, nil, headers...)
}

func (h *harness) publish(manifest string, headers ...string) answer {
	h.t.Helper()
	return h.call(http.MethodPut, h.internal+"/internal/businesses/harbor", []byte(manifest), headers...)
}

// mustPublish publishes a manifest and returns the new version.
func (h *harness) mustPublish(manifest string) int64 {
	h.t.Helper()
	a := h.publish(manifest)
	if a.status != http.StatusOK && a.status != http.StatusCreated {
		h.t.Fatalf("publish: %d %s", a.status, a.body)
	}
	return int64(a.json(h.t)["version"].(float64))
}

func (h *harness) wantFault(a answer, status int, code, sentence string) {
	h.t.Helper()
	body := a.json(h.t)
	text, _ := body["error"].(string)
	if a.status != status || body["messageCode"] != code || !strings.Contains(text, sentence) {
		h.t.Errorf("got %d %s, want %d %s with %q", a.status, a.body, status, code, sentence)
	}
}

// derivedID returns the id of the first business that used a slug.
func derivedID(slug string) uuid.UUID {
	first := manifest.Manifest{Slug: manifest.Key(slug)}
	return first.BusinessID()
}

const harborHead = `# The harbour's studio.
apiVersion: slotmesh/v1
kind: Business
slug: harbor
name: Harbor
currency: EUR
timezone: Europe/Lisbon
default_language: en
languages: [en, pt]
bookings: {paused_until: 2026-11-23}
`

const harborYAML = harborHead + `
staff:
  - {key: anna, name: Anna, translations: {pt: {name: Ana}}}
services:
  - {key: cut, name: Cut, duration_minutes: 30, price: 10, order: 1, staff: [anna], translations: {pt: {name: Corte}}}
  - {key: talk, name: Talk, duration_minutes: 30, order: 2}
  - {key: dye, name: Dye, duration_minutes: 90, price: 20, order: 3}
  - {key: gone, name: Gone, duration_minutes: 30, active: false}
`

// serviceIDs reads the internal snapshot and returns the id of each service by its key.
func (h *harness) serviceIDs() map[string]string {
	h.t.Helper()
	var snapshot peercatalog.Snapshot
	a := h.call(http.MethodGet, h.internal+"/internal/offers/harbor", nil)
	if err := json.Unmarshal([]byte(a.body), &snapshot); err != nil {
		h.t.Fatal(err)
	}
	ids := map[string]string{}
	for _, s := range snapshot.Services {
		ids[s.Key] = s.ID.String()
	}
	return ids
}

func TestServicesRequestsQuotesInOneCall(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	version := h.mustPublish(harborYAML)
	a := h.get("/services?date=2026-12-25")
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %s %s", a.status, a.header, a.body)
	}
	// The prices have the decimal places of the currency.
	for _, part := range []string{`"price":10.00,"price_per":"booking","quoted_price":9.00`,
		`"price":0.00,"price_per":"booking","quoted_price":null`,
		`"price":20.00,"price_per":"booking","quoted_price":18.00`} {
		if !strings.Contains(a.body, part) {
			t.Errorf("%s lacks %s", a.body, part)
		}
	}
	quote := a.json(t)["quote"].(map[string]any)
	if quote["date"] != "2026-12-25" || quote["applies_pricing_rules"] != true {
		t.Errorf("quote is %v", quote)
	}
	asked := h.pricing.lastRequest.Load()
	if h.pricing.calls.Load() != 1 || len(asked.Items) != 2 || asked.Slug != "harbor" ||
		asked.OfferVersion != version ||
		!asked.PurchaseAt.Equal(h.clock.Now()) || asked.Items[0].Date.String() != "2026-12-25" ||
		asked.Items[0].Kind != pricing.KindService {
		t.Errorf("pricing got %d questions, the last one is %+v", h.pricing.calls.Load(), asked)
	}
}

func TestServicesQuotesForDateOfBusiness(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(strings.Replace(harborYAML, "Europe/Lisbon", "Pacific/Auckland", 1))
	quote := h.get("/services").json(t)["quote"].(map[string]any)
	if quote["date"] != "2026-11-22" { // noon in UTC is tomorrow in Auckland
		t.Errorf("quote is %v", quote)
	}
}

func TestServicesListsWithoutQuotesIfPricingIsDown(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	quoted := h.get("/services")
	h.pricing.isAway.Store(true)
	h.clock.Advance(2 * time.Second) // cached prices expire
	a := h.get("/services")
	body := a.json(t)
	if a.status != http.StatusOK || body["quote"].(map[string]any)["applies_pricing_rules"] != false ||
		len(body["services"].([]any)) != 3 {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, s := range body["services"].([]any) {
		if price := s.(map[string]any)["quoted_price"]; price != nil {
			t.Errorf("quoted %v", price)
		}
	}
	if a.header.Get("ETag") == quoted.header.Get("ETag") {
		t.Error("a list without quotes has the tag of one with them")
	}
}

func TestServicesSkipsPricingForFreeServices(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.pricing.isAway.Store(true)
	h.mustPublish(harborHead + "services: [{key: talk, name: Talk, duration_minutes: 30}]\n")
	a := h.get("/services")
	if a.json(t)["quote"].(map[string]any)["applies_pricing_rules"] != true || h.pricing.calls.Load() != 0 {
		t.Errorf("%s after %d calls", a.body, h.pricing.calls.Load())
	}
}

func TestPublicFaultsNameInvalidParameters(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	for _, date := range []string{"2027-02-29", "2026-13-01", "tomorrow", "", "2026-12-25T10:00", "%00", "%ff%fe",
		"20261225"} {
		h.wantFault(h.get("/services?date="+date), http.StatusBadRequest, "invalid_parameter", "date")
	}
	for _, id := range []string{"x", "", "%00", "{3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10}",
		"3f2c8a520c5e4d5b9a556f0f4a1f7d10", "3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d1g"} {
		h.wantFault(h.get("/staff?service_id="+id), http.StatusBadRequest, "invalid_parameter", "service_id")
	}
}

func TestStaffRejectsUnknownOrInactiveService(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	const unknown = "3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10"
	for _, id := range []string{unknown, h.serviceIDs()["gone"]} {
		h.wantFault(h.get("/staff?service_id="+id), http.StatusNotFound, "service_not_found", "Service not found: "+id)
	}
	a := h.get("/staff?service_id=" + strings.ToUpper(h.serviceIDs()["cut"]))
	if a.status != http.StatusOK || len(a.json(t)["staff"].([]any)) != 1 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestLocaleResolvesTexts(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	raw := h.get("/staff").body
	for _, c := range []struct{ query, name string }{
		{"?locale=pt", "Ana"}, {"?locale=PT-br", "Ana"}, {"?locale=en", "Anna"}, {"?locale=fr", "Anna"},
		{"?locale=%00", "Anna"}, {"?locale=%ff", "Anna"}, {"?locale=not-a-language-at-all", "Anna"},
	} {
		a := h.get("/staff" + c.query)
		if a.status != http.StatusOK || strings.Contains(a.body, "_translations") || !strings.Contains(a.body,
			`"name":"`+c.name+`"`) {
			t.Errorf("%s: %d %s", c.query, a.status, a.body)
		}
	}
	if a := h.get("/staff?locale="); a.body != raw {
		t.Errorf("an empty locale shows %s, none %s", a.body, raw)
	}
	if a := h.get("/services?locale=pt"); strings.Contains(a.body, "_translations") || !strings.Contains(a.body,
		`"name":"Corte"`) {
		t.Error(a.body)
	}
}

func TestPublicAnswersHaveEntityTags(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	for _, path := range []string{"/info", "/services?locale=pt", "/staff"} {
		first := h.get(path)
		tag := first.header.Get("ETag")
		if tag == "" || first.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: headers %v", path, first.header)
		}
		for _, header := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
			second := h.get(path, "If-None-Match", header)
			if second.status != http.StatusNotModified || second.body != "" || second.header.Get("ETag") != tag {
				t.Errorf("%s with %s: %d %q %v", path, header, second.status, second.body, second.header)
			}
		}
		if other := h.get(path, "If-None-Match", `"other"`); other.status != http.StatusOK || other.body != first.body {
			t.Errorf("%s with another tag: %d", path, other.status)
		}
		head := h.call(http.MethodHead, h.public+"/api/public/harbor"+path, nil)
		if head.status != http.StatusOK || head.body != "" || head.header.Get("ETag") != tag ||
			head.header.Get("Content-Length") != fmt.Sprint(len(first.body)) {
			t.Errorf("HEAD %s: %d %q %v", path, head.status, head.body, head.header)
		}
	}
}

func TestPauseEndsOnItsDate(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(strings.Replace(harborYAML, "Europe/Lisbon", "Pacific/Auckland", 1)) // paused to 23 November
	h.clock.Set(time.Date(2026, 11, 22, 10, 59, 59, 0, time.UTC))
	paused := h.get("/info")
	h.clock.Advance(time.Second) // midnight in Auckland
	open := h.get("/info", "If-None-Match", paused.header.Get("ETag"))
	if paused.json(t)["online_bookings_paused"] != true || open.status != http.StatusOK ||
		open.json(t)["online_bookings_paused"] != false {
		t.Errorf("before %s, after %d %s", paused.body, open.status, open.body)
	}
}

func TestPublicRejectsUnknownBusinessPathAndMethod(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	for _, slug := range []string{"nobody", "Harbor", "har%00bor", "%ff", strings.Repeat("a", 64)} {
		for _, path := range []string{"/info", "/services", "/staff"} {
			h.wantFault(h.call(http.MethodGet, h.public+"/api/public/"+slug+path, nil), http.StatusNotFound,
				"business_not_found", "Business not found")
		}
		h.wantFault(h.call(http.MethodGet, h.internal+"/internal/offers/"+slug, nil), http.StatusNotFound,
			"business_not_found", "Business not found")
	}
	h.wantFault(h.get("/nothing"), http.StatusNotFound, "not_found", "")
	h.wantFault(h.call(http.MethodPost, h.public+"/api/public/harbor/info", nil), http.StatusMethodNotAllowed,
		"method_not_allowed", "")
	for _, path := range []string{"/internal/offers/harbor", "/internal/businesses", "/metrics"} {
		h.wantFault(h.call(http.MethodGet, h.public+path, nil), http.StatusNotFound, "not_found", "")
	}
}

func TestPublishIsVisibleOnAllReplicas(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	other, _ := h.run()
	h.mustPublish(harborYAML)
	for _, base := range []string{h.public, other} {
		if a := h.call(http.MethodGet, base+"/api/public/harbor/info", nil); a.json(t)["name"] != "Harbor" {
			t.Fatal(a.body)
		}
	}
	// The clock does not advance, so only the message can update the other replica. The publish is repeated until that
	// replica has subscribed.
	waitUntil(t, func() bool {
		h.mustPublish(strings.Replace(harborYAML, "name: Harbor", "name: New Harbor", 1))
		return h.call(http.MethodGet, other+"/api/public/harbor/info", nil).json(t)["name"] == "New Harbor"
	})
}

// waitUntil calls `ok` until it returns true, and fails the test after [testkit.MaxWait].
func waitUntil(t testing.TB, ok func() bool) {
	t.Helper()
	deadline := time.After(testkit.MaxWait)
	for !ok() {
		select {
		case <-deadline:
			t.Fatal("the condition was not met in time")
		default:
		}
	}
}

// disableRedis configures a Redis that cannot be reached.
func disableRedis(c *Config) {
	shortenTimeouts(c)
	c.Redis.URL = "redis://127.0.0.1:1"
}

// shortenTimeouts configures a catalog that does not wait long until booking knows a change.
func shortenTimeouts(c *Config) { c.staleTimeout = 0 }

func TestReplicaRevalidatesWithoutRedis(t *testing.T) {
	t.Parallel()
	h := newHarness(t, disableRedis)
	other, _ := h.run()
	h.mustPublish(harborYAML)
	h.get("/info")
	name := func() any { return h.call(http.MethodGet, other+"/api/public/harbor/info", nil).json(t)["name"] }
	if name() != "Harbor" {
		t.Fatal("not published")
	}
	h.mustPublish(strings.Replace(harborYAML, "name: Harbor", "name: New Harbor", 1))
	if a := h.get("/info"); a.json(t)["name"] != "New Harbor" {
		t.Errorf("the replica that published shows %s", a.body)
	}
	h.clock.Advance(2 * time.Second)
	if got := name(); got != "New Harbor" {
		t.Errorf("after two seconds the name is %q", got)
	}
}

func TestRateLimitIsPerPathAndAddress(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *Config) {
		c.Limits.PublicPerMinute = 2
		c.Server.TrustedProxies = []string{"127.0.0.0/8"}
	})
	h.mustPublish(harborYAML)
	client := func() string { // a random address, because the tests share one Redis
		return "2001:db8:" + testkit.Unique()[:4] + ":" + testkit.Unique()[:4] + "::1"
	}
	one := client()
	for _, path := range []string{"/info", "/services", "/staff", "/events", "/rentals"} {
		var refused answer
		for whole := false; !whole; { // repeated if it took a minute: then the limit no longer counts the first request
			start := time.Now()
			for range 2 {
				if a := h.get(path, "X-Forwarded-For", one); a.status != http.StatusOK {
					t.Fatalf("%s: %d %s", path, a.status, a.body)
				}
			}
			refused = h.get(path, "X-Forwarded-For", one)
			if whole = time.Since(start) < time.Minute; !whole {
				one = client()
			}
		}
		h.wantFault(refused, http.StatusTooManyRequests, "rate_limited", "Rate limit exceeded")
		if refused.header.Get("Retry-After") == "" {
			t.Errorf("%s: no Retry-After", path)
		}
		if a := h.get(path, "X-Forwarded-For", client()); a.status != http.StatusOK {
			t.Errorf("%s: another address is answered %d", path, a.status)
		}
	}
}

func TestConfigValidateReportsAllErrors(t *testing.T) {
	t.Parallel()
	bad := Config{PricingTimeout: -1, BookingTimeout: -1, RentalTimeout: -1, MemoryBytes: -1, RenderedBytes: -1,
		Limits: limits.Config{PublicPerMinute: -1}, Server: server.Config{TrustedProxies: []string{"x"}}}
	bad.Postgres.MaxConns = 1
	err := bad.Validate()
	for _, name := range []string{"PRICING_TIMEOUT", "BOOKING_TIMEOUT", "RENTAL_TIMEOUT", "CATALOG_MEMORY_BYTES",
		"CATALOG_RENDERED_BYTES", "PUBLIC_LIMIT_PER_MINUTE", "TRUSTED_PROXIES", "REDIS_URL"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}
