package pricing_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	peerpricing "github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pricing"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var cut = uuid.MustParse("00000000-0000-4000-8000-000000000001")

// fakeCatalog is a catalog with one offer. It fails while isDown is true.
type fakeCatalog struct {
	*httptest.Server
	isDown atomic.Bool
}

func newFakeCatalog(t *testing.T) *fakeCatalog {
	t.Helper()
	amount := int64(500)
	offer, err := json.Marshal(catalog.Snapshot{
		Slug: "studio", Version: 7, Currency: "EUR", Timezone: "Europe/Lisbon",
		Services: []catalog.Service{{ID: cut, Active: true, Price: 4000}},
		Rules: []catalog.Rule{{Key: "sun", Kind: rule.DayOfWeek,
			When: rule.When{Days: []timespan.Weekday{timespan.Weekday(time.Sunday)}}, Amount: &amount}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := &fakeCatalog{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case c.isDown.Load():
			w.WriteHeader(http.StatusInternalServerError)
		case r.URL.Path != "/internal/offers/studio":
			f := fault.New(fault.BusinessNotFound, "Business not found")
			w.WriteHeader(f.Kind.Status)
			_, _ = w.Write(f.Body())
		default:
			w.Header().Set("ETag", `"7"`)
			_, _ = w.Write(offer)
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// startService runs the service with settings from environment variables, like the command.
func startService(t *testing.T, catalogURL string) *server.Server {
	t.Helper()
	variables := envconfig.MapLookuper(map[string]string{
		"PUBLIC_ADDR": "127.0.0.1:0", "INTERNAL_ADDR": "127.0.0.1:0",
		"CATALOG_URL": catalogURL, "REDIS_URL": requireRedisURL(t),
		"PEER_SECRETS": "a-secret-of-the-tests-that-is-long-enough",
		"PEER_TIMEOUT": testkit.MaxWait.String(), "REQUEST_TIMEOUT": testkit.MaxWait.String(),
		"REDIS_TIMEOUT": testkit.MaxWait.String(),
		"DRAIN_TIMEOUT": testkit.MaxWait.String(),
	})
	var cfg pricing.Config
	if err := config.Load(t.Context(), &cfg, variables); err != nil {
		t.Fatal(err)
	}
	srv, err := pricing.New(t.Context(), cfg, server.Runtime{Open: true, Name: "pricing", Clock: clock.System(),
		Telemetry: telemetry.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	runErr := make(chan error, 1)
	go func() { runErr <- srv.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-runErr; err != nil {
			t.Error(err)
		}
	})
	return srv
}

func requireRedisURL(t *testing.T) string {
	t.Helper()
	url := os.Getenv(testkit.RedisURL)
	if url == "" {
		t.Fatalf("%s is not set; run the tests by `make test`, which starts Redis", testkit.RedisURL)
	}
	return url
}

func newClient(t *testing.T, srv *server.Server) *peerpricing.Client {
	t.Helper()
	caller := peer.New("pricing", "http://"+srv.InternalAddr().String(), telemetry.Discard(),
		peer.Timeout(testkit.MaxWait))
	t.Cleanup(caller.Close)
	return peerpricing.NewClient(caller)
}

func newRequest(slug string, version int64) peerpricing.QuotesRequest {
	sunday, _ := timespan.ParseDate("2026-12-06")
	return peerpricing.QuotesRequest{
		Slug: slug, OfferVersion: version, PurchaseAt: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC),
		Items: []peerpricing.Item{{Kind: peerpricing.KindService, ID: cut, Date: sunday}},
	}
}

func TestQuotesApplyRulesOfCatalog(t *testing.T) {
	t.Parallel()
	answer, err := newClient(t, startService(t, newFakeCatalog(t).URL)).Quotes(t.Context(), newRequest("studio", 7))
	if err != nil {
		t.Fatal(err)
	}
	if q := answer.Quotes[0]; q.List != 4000 || q.Price != 4500 || answer.Currency != "EUR" ||
		answer.OfferVersion != 7 {
		t.Errorf("got %+v", answer)
	}
	_, err = newClient(t, startService(t, newFakeCatalog(t).URL)).Quotes(t.Context(), newRequest("nobody", 0))
	if !fault.Is(err, fault.BusinessNotFound) {
		t.Errorf("an unknown business: %v", err)
	}
}

func TestQuotesUseCachedOfferIfCatalogIsUnavailable(t *testing.T) {
	t.Parallel()
	fake := newFakeCatalog(t)
	client := newClient(t, startService(t, fake.URL))
	fake.isDown.Store(true)
	if _, err := client.Quotes(t.Context(), newRequest("studio", 7)); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("without any offer: %v, want service_unavailable", err)
	}
	fake.isDown.Store(false)
	if _, err := client.Quotes(t.Context(), newRequest("studio", 7)); err != nil {
		t.Fatal(err)
	}
	fake.isDown.Store(true)
	if answer, err := client.Quotes(t.Context(), newRequest("studio", 7)); err != nil ||
		answer.Quotes[0].Price != 4500 {
		t.Errorf("with the last good offer: %+v, %v", answer, err)
	}
	if _, err := client.Quotes(t.Context(), newRequest("studio", 8)); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("a newer version than the last good one: %v, want service_unavailable", err)
	}
}

func TestServiceServesOnlyInternalPort(t *testing.T) {
	t.Parallel()
	srv := startService(t, newFakeCatalog(t).URL)
	for _, path := range []string{"/", "/internal/quotes", "/livez", "/metrics", "/api/public/studio/services"} {
		status, body := fetch(t, http.MethodPost, "http://"+srv.PublicAddr().String()+path)
		if status != http.StatusNotFound || !strings.Contains(body, `"messageCode":"not_found"`) {
			t.Errorf("public %s: %d %s", path, status, body)
		}
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics"} {
		if status, body := fetch(t, http.MethodGet, "http://"+srv.InternalAddr().String()+path); status != http.StatusOK {
			t.Errorf("internal %s: %d %s", path, status, body)
		}
	}
	status, body := fetch(t, http.MethodGet, "http://"+srv.InternalAddr().String()+peerpricing.Quotes.Path)
	if status != http.StatusMethodNotAllowed || !strings.Contains(body, `"messageCode":"method_not_allowed"`) {
		t.Errorf("GET on the quotes: %d %s", status, body)
	}
}

func fetch(t *testing.T, method, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestConfigNamesMissingSettings(t *testing.T) {
	t.Parallel()
	var cfg pricing.Config
	err := config.Load(t.Context(), &cfg, envconfig.MapLookuper(nil))
	for _, name := range []string{"CATALOG_URL", "REDIS_URL"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want a fault that names %s", err, name)
		}
	}
}
