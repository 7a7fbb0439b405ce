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

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/eventlog"
	"github.com/slotmesh/slotmesh/libs/limits"
	"github.com/slotmesh/slotmesh/libs/link"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/bookingclient"
	"github.com/slotmesh/slotmesh/libs/ratelimit"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// nobody is an address where nothing listens.
const nobody = "http://127.0.0.1:1"

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

func TestTheServiceServesWhileItsPeersAreAway(t *testing.T) {
	database := testkit.PostgresSchema(t, "booking")
	cfg := Config{
		Server:   server.Config{RequestTimeout: 2 * time.Minute, DrainTimeout: 2 * time.Minute, Peers: peer.Config{Timeout: 2 * time.Minute}, PublicBodyLimit: 1 << 18, InternalBodyLimit: 1 << 20},
		Postgres: database, Redis: testkit.RedisConfig(t), Limits: limits.Config{Counting: ratelimit.Config{Timeout: testkit.Patience}, BookPerMinute: 1000, KeyPerMinute: 100},
		CatalogURL: nobody, AvailabilityURL: nobody, PricingURL: nobody, Events: eventlog.Config{KeepDays: 90},
		Links:          link.Config{Secrets: []string{"0f9e8d7c6b5a49382716f5e4d3c2b1a0"}},
		PaymentTimeout: maxPaymentTimeout, PaymentExpiresAfter: time.Hour,
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	if err := Migrate(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	public, internal := listen(t), listen(t)
	srv, err := New(t.Context(), cfg, server.Runtime{Open: true, Name: "booking", Clock: clock.System(), Telemetry: telemetry.Discard(), Public: public, Internal: internal})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	defer func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()

	if status, body := get(t, http.MethodGet, "http://"+internal.Addr().String()+"/readyz", ""); status != http.StatusOK {
		t.Errorf("not ready: %d %s", status, body)
	}
	p := peer.New("booking", "http://"+internal.Addr().String(), telemetry.Discard(), peer.Timeout(testkit.Patience))
	defer p.Close()
	key, err := bookingclient.NewClient(p).CreateKey(t.Context(), uuid.New(), booking.NewKey{Name: "x", Scope: "write"})
	if err != nil {
		t.Fatal(err)
	}
	path := "http://" + public.Addr().String() + "/api/public/harbor/book"
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

func TestSettingsAreJudgedTogetherByName(t *testing.T) {
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
