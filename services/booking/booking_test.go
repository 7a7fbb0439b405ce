package booking

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
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

// unusedURL is an address on which no server listens.
const unusedURL = "http://127.0.0.1:1"

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func get(t *testing.T, method, url, key string) (int, string) {
	t.Helper()
	var order io.Reader
	if method == http.MethodPost {
		order = strings.NewReader("{}")
	}
	request, err := http.NewRequestWithContext(t.Context(), method, url, order)
	if err != nil {
		t.Fatal(err)
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	response, err := http.DefaultClient.Do(request)
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

// start runs the service without its peers, and returns the addresses of its public and its internal port. The internal
// port answers only `callers`, or every caller if there are none.
func start(t *testing.T, callers ...string) (string, string) {
	t.Helper()
	database := testkit.PostgresSchema(t, "booking")
	peers := peer.Config{Timeout: 2 * time.Minute, Secrets: []string{peer.NewSecrets("booking")["booking"]},
		Callers: callers}
	cfg := Config{
		Server: server.Config{RequestTimeout: 2 * time.Minute, DrainTimeout: 2 * time.Minute, Peers: peers,
			PublicBodyLimit: 1 << 18, InternalBodyLimit: 1 << 20},
		Postgres: database, Redis: testkit.RedisConfig(t),
		Limits: limits.Config{Counting: ratelimit.Config{Timeout: testkit.MaxWait}, BookPerMinute: 1000,
			KeyPerMinute: 100},
		CatalogURL: unusedURL, AvailabilityURL: unusedURL, PricingURL: unusedURL, Events: eventlog.Config{KeepDays: 90},
		Links:          link.Config{Secrets: []string{"0f9e8d7c6b5a49382716f5e4d3c2b1a0"}},
		PaymentTimeout: maxPaymentTimeout, PaymentExpiresAfter: time.Hour,
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	if err := Migrate(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	onPublic, onInternal := listen(t), listen(t)
	srv, err := New(t.Context(), cfg, server.Runtime{
		Open: len(callers) == 0, Name: "booking", Clock: clock.System(), Telemetry: telemetry.Discard(),
		Public: onPublic, Internal: onInternal,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + onPublic.Addr().String(), "http://" + onInternal.Addr().String()
}

func TestServiceRunsWithoutPeers(t *testing.T) {
	public, internal := start(t)
	if status, body := get(t, http.MethodGet, internal+"/readyz", ""); status != http.StatusOK {
		t.Errorf("not ready: %d %s", status, body)
	}
	p := peer.New("booking", internal, telemetry.Discard(), peer.Timeout(testkit.MaxWait))
	defer p.Close()
	key, err := bookingclient.NewClient(p).CreateKey(t.Context(), uuid.New(), booking.NewKey{Name: "x", Scope: "write"})
	if err != nil {
		t.Fatal(err)
	}
	path := public + "/api/public/harbor/book"
	for _, c := range []struct {
		method, url, key string
		status           int
		code             string
	}{
		{http.MethodPost, path, "", 401, "missing_api_key"},
		{http.MethodPost, path, key.Secret, 503, "availability_unverified"},
		{http.MethodGet, path, "", 405, "method_not_allowed"},
		{http.MethodPost, path + "/", "", 404, "not_found"},
	} {
		status, body := get(t, c.method, c.url, c.key)
		if status != c.status || !strings.Contains(body, `"messageCode":"`+c.code+`"`) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.url, status, body, c.status, c.code)
		}
	}
}

// TestPagesCannotCallOwnerEndpoints shows that the service `pages` can call the endpoints for customers with its
// credential. The endpoints of the owner refuse the credential, whatever actor the request names.
func TestPagesCannotCallOwnerEndpoints(t *testing.T) {
	secrets := peer.NewSecrets("pages", "console")
	_, internal := start(t, strings.Split(peer.CallersSetting(secrets, "booking"), ",")...)
	as := func(caller string, kind actor.Kind, path string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, internal+path,
			strings.NewReader(`{"name": "x", "scope": "write"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(peer.SecretHeader, peer.Credential(secrets[caller], "booking"))
		if kind != "" {
			request.Header.Set(actor.Header, string(kind))
		}
		response, err := http.DefaultClient.Do(request)
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
	business := "/internal/businesses/" + uuid.NewString()
	owners := []string{"/keys", "/calendars", "/customers/erase", "/bookings/" + uuid.NewString() + "/cancel",
		"/tickets/" + uuid.NewString() + "/refund"}
	for _, path := range owners {
		for _, kind := range []actor.Kind{"", actor.Page, actor.Customer, actor.Owner, actor.System} {
			if status, body := as("pages", kind, business+path); status != http.StatusForbidden ||
				!strings.Contains(body, `"source_forbidden"`) {
				t.Errorf("pages for %q at %s: %d %s", kind, path, status, body)
			}
		}
		if status, body := as("console", "", business+path); status != http.StatusForbidden {
			t.Errorf("console for no actor at %s: %d %s", path, status, body)
		}
	}
	if status, body := as("console", actor.Owner, business+"/keys"); status != http.StatusCreated {
		t.Errorf("console for the owner: %d %s", status, body)
	}
}

func TestValidateNamesInvalidSettings(t *testing.T) {
	t.Parallel()
	err := (&Config{StripeSecretKey: "sk_test_123", PaymentTimeout: maxPaymentTimeout + 1}).Validate()
	for _, name := range []string{
		"EVENTS_KEEP_DAYS",
		"STRIPE_WEBHOOK_SECRET", "STRIPE_API_BASE", "PAYMENT_TIMEOUT", "PAYMENT_EXPIRES_AFTER",
	} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named in: %v", name, err)
		}
	}
}
