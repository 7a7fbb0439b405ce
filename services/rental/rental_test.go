package rental

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

const kayak = "22222222-2222-4222-8222-222222222222"

// startOfferServer starts a fake catalog and returns its URL. It has one business, harbor, with six kayaks that are
// rented by the day. Two of them are in service.
func startOfferServer(t *testing.T) string {
	t.Helper()
	six := 6
	body, err := json.Marshal(catalog.Snapshot{
		ID: uuid.New(), Slug: "harbor", Version: 1, Timezone: "Europe/Lisbon", Currency: "EUR", DefaultLanguage: "en",
		Modules: catalog.Modules{Rentals: true}, Bookings: catalog.Bookings{AdvanceDays: 365},
		Rentals: []catalog.Rental{{
			ID: uuid.MustParse(kayak), Name: "Kayak", Active: true, PriceType: catalog.PriceDaily, Quantity: &six,
			Units: []catalog.RentalUnit{{InService: true}, {InService: true}, {InService: false}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/internal/offers/harbor" {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error": "Business not found", "messageCode": "business_not_found"}`)
			return
		}
		w.Header().Set("ETag", `"1"`)
		_, _ = w.Write(body)
	}))
	t.Cleanup(origin.Close)
	return origin.URL
}

// start runs the service as its process does, with its own database schema.
func start(t *testing.T, catalogURL string) *server.Server {
	t.Helper()
	db := testkit.PostgresSchema(t, "rental")
	cfg := Config{
		Server: server.Config{
			PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0", RequestTimeout: 2 * time.Minute,
			DrainTimeout: 2 * time.Minute, Peers: peer.Config{Timeout: 2 * time.Minute},
			PublicBodyLimit: 1000, InternalBodyLimit: 1000,
		},
		Postgres: db, Redis: testkit.RedisConfig(t), Events: eventlog.Config{KeepDays: 90},
		Limits: limits.Config{Counting: ratelimit.Config{Timeout: testkit.MaxWait}}, CatalogURL: catalogURL,
		PricingURL: catalogURL, BookingURL: "http://127.0.0.1:1",
		Links: link.Config{Secrets: []string{"0f9e8d7c6b5a49382716f5e4d3c2b1a0"}},
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	if err := Migrate(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	now := clock.Fixed(time.Date(2027, time.June, 10, 9, 0, 0, 0, time.UTC))
	srv, err := New(t.Context(), cfg, server.Runtime{Open: true, Name: "rental", Clock: now,
		Telemetry: telemetry.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Run(ctx) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return srv
}

func sendRequest(t *testing.T, method, url, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

func expectAnswer(t *testing.T, method, url, body string, status int, want string) {
	t.Helper()
	if got, answer := sendRequest(t, method, url, body); got != status || !strings.Contains(answer, want) {
		t.Errorf("%s %s: %d %s, want %d %s", method, url, got, answer, status, want)
	}
}

func TestServiceServesOfferAndReservations(t *testing.T) {
	t.Parallel()
	srv := start(t, startOfferServer(t))
	internal, public := "http://"+srv.InternalAddr().String(), "http://"+srv.PublicAddr().String()+"/api/public/harbor"
	for _, probe := range []string{"/livez", "/readyz", "/metrics"} {
		expectAnswer(t, http.MethodGet, internal+probe, "", http.StatusOK, "")
	}
	expectAnswer(t, http.MethodGet, internal+"/internal/businesses/harbor/ceilings?offer_version=1", "", http.StatusOK,
		`{"ceilings":{"`+kayak+`":2}}`)
	expectAnswer(t, http.MethodPost, internal+"/internal/businesses/harbor/reservations",
		`{"rental_id": "`+kayak+
			`", "start_date": "2027-06-11", "end_date": "2027-06-12", "quantity": 1, "customer_name": "Zoë"}`,
		http.StatusCreated, `"status":"reserved"`)
	question := "/rental-availability?rentalId=" + kayak + "&startDate=2027-06-11&endDate=2027-06-11&quantity="
	expectAnswer(t, http.MethodGet, public+question+"1", "", http.StatusOK, `{"available":true}`)
	expectAnswer(t, http.MethodGet, public+question+"2", "", http.StatusOK, `"Only 1 unit is available at that time."`)
	for range 61 { // no limit by address applies to peers
		expectAnswer(t, http.MethodGet, internal+"/internal/api/public/harbor"+question+"1", "", http.StatusOK,
			`{"available":true}`)
	}
	const calendar = "/rental-available-dates?start=2027-06-11&end=2027-06-13&rental_id=" + kayak
	expectAnswer(t, http.MethodGet, internal+"/internal/api/public/harbor"+calendar, "", http.StatusOK,
		`{"days":{"2027-06-11":{"`+kayak+`":1},"2027-06-12":{"`+kayak+`":1},"2027-06-13":{"`+kayak+
			`":2}},"computed":true,"timezone":"Europe/Lisbon"}`)
}

func TestInternalPathsAreNotPublic(t *testing.T) {
	t.Parallel()
	srv := start(t, startOfferServer(t))
	for _, path := range []string{
		"/internal/businesses/harbor/ceilings", "/internal/businesses/harbor/reservations", "/livez", "/metrics",
		"/api/public/harbor/rental-available-dates", // only for availability
	} {
		expectAnswer(t, http.MethodGet, "http://"+srv.PublicAddr().String()+path, "", http.StatusNotFound,
			`"messageCode":"not_found"`)
	}
	expectAnswer(t, http.MethodPost, "http://"+srv.PublicAddr().String()+"/api/public/harbor/rental-availability", "",
		http.StatusMethodNotAllowed,
		`"messageCode":"method_not_allowed"`)
}

func TestServiceWithoutCatalogAnswersUnverified(t *testing.T) {
	t.Parallel()
	srv := start(t, "http://127.0.0.1:1")
	internal, public := "http://"+srv.InternalAddr().String(), "http://"+srv.PublicAddr().String()+"/api/public/harbor"
	expectAnswer(t, http.MethodGet, internal+"/readyz", "", http.StatusOK, "ok")
	expectAnswer(t, http.MethodGet, internal+"/internal/api/public/harbor/rental-available-dates?rental_id="+kayak+
		"&start=2027-06-11&end=2027-06-13", "", http.StatusOK, `"computed":false`)
	expectAnswer(t, http.MethodGet, public+"/rental-availability?rentalId="+kayak+
		"&startDate=2027-06-11&endDate=2027-06-11",
		"",
		http.StatusServiceUnavailable, `"availability_unverified"`)
	expectAnswer(t, http.MethodGet, internal+"/internal/businesses/harbor/ceilings?offer_version=1", "",
		http.StatusServiceUnavailable, `"service_unavailable"`)
}

func TestValidateNamesInvalidSettings(t *testing.T) {
	t.Parallel()
	cfg := Config{}
	cfg.Server.TrustedProxies = []string{"x"}
	cfg.Postgres.URL, cfg.Redis.URL = "x://", "x://"
	err := cfg.Validate()
	for _, variable := range []string{"TRUSTED_PROXIES", "DATABASE_URL", "REDIS_URL"} {
		if err == nil || !strings.Contains(err.Error(), variable+":") {
			t.Errorf("%s is not named: %v", variable, err)
		}
	}
}
