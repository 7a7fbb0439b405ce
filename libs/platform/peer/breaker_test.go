package peer

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

const away = `{"error":"A part of the platform is away.","messageCode":"service_unavailable"}`

// fakePeer is a peer that answers with the fields status and body, and counts requests by path.
type fakePeer struct {
	mu     sync.Mutex
	by     map[string]int
	status int
	body   string
}

func (a *fakePeer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.by[r.URL.Path]++
	w.WriteHeader(a.status)
	_, _ = w.Write([]byte(a.body))
}

func (a *fakePeer) answer(status int, body string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status, a.body = status, body
}

func (a *fakePeer) callCount(path string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.by[path]
}

// newTestClient returns a client of a [fakePeer] with a manual clock for its breakers.
func newTestClient(t *testing.T, status int, body string) (*fakePeer, *Client, *clock.Manual) {
	t.Helper()
	a := &fakePeer{by: map[string]int{}, status: status, body: body}
	client := serve(t, a.ServeHTTP)
	now := clock.Fixed(time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC))
	client.breakers = newBreakers(now)
	return a, client, now
}

const (
	firstBusiness  = "/internal/businesses/harbor/x"
	secondBusiness = "/internal/businesses/forest/x"
)

func TestBreakerOpensAfterFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"says that it cannot serve": {503, away},
		"is behind a gateway":       {503, "no healthy upstream"},
		"breaks off":                {502, ""},
		"is late":                   {504, `{"messageCode":"x"}`},
	} {
		peer, client, _ := newTestClient(t, c.status, c.body)
		for range 50 {
			if err := client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil); !fault.Is(err,
				fault.PeerUnavailable) {
				t.Fatalf("%s: got %v", name, err)
			}
		}
		if n := peer.callCount(firstBusiness); n != failuresToOpen {
			t.Errorf("%s: it was asked %d times", name, n)
		}
	}
}

func TestBreakerIgnoresRequestErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"a fault of its own":        {500, `{"messageCode":"internal"}`},
		"a 500 without a body":      {500, ""},
		"an unread calendar":        {503, `{"messageCode":"availability_unverified"}`},
		"a provider that is away":   {503, `{"messageCode":"payment_unavailable"}`},
		"an outcome nobody learned": {503, `{"messageCode":"outcome_unknown"}`},
		"a refusal":                 {409, `{"messageCode":"slot_unavailable"}`},
	} {
		peer, client, _ := newTestClient(t, c.status, c.body)
		for range 50 {
			_ = client.Call(t.Context(), http.MethodPost, firstBusiness, nil, nil)
		}
		if n := peer.callCount(firstBusiness); n != 50 {
			t.Errorf("%s: it was asked %d times of 50", name, n)
		}
	}
}

// An error of a single request must not reset the count: the breaker opens after nine failures, a 500, and one more
// failure.
func TestBreakerStaysOpenAfterRequestError(t *testing.T) {
	t.Parallel()
	peer, client, _ := newTestClient(t, 503, away)
	for range failuresToOpen - 1 {
		_ = client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil)
	}
	peer.answer(500, "")
	_ = client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil)
	peer.answer(503, away)
	_ = client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil)
	if err := client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil); !errors.Is(err, ErrBreakerOpen) {
		t.Errorf("after ten failures: %v", err)
	}
}

func TestBreakersAreSeparateByTenant(t *testing.T) {
	t.Parallel()
	peer, client, _ := newTestClient(t, 503, away)
	for range 50 {
		_ = client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil)
	}
	peer.answer(200, "{}")
	if err := client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil); !errors.Is(err, ErrBreakerOpen) {
		t.Errorf("the tenant whose requests failed: %v", err)
	}
	if err := client.Call(t.Context(), http.MethodGet, secondBusiness, nil, nil); err != nil {
		t.Errorf("another tenant: %v", err)
	}
	if err := client.Ask(t.Context(), "/internal/quotes", tenantBody{"forest"}, nil); err != nil {
		t.Errorf("another tenant, named in the body: %v", err)
	}
	if err := client.Ask(t.Context(), "/internal/quotes", tenantBody{"harbor"}, nil); !errors.Is(err, ErrBreakerOpen) {
		t.Errorf("the tenant, named in the body: %v", err)
	}
}

type tenantBody struct{ slug string }

func (b tenantBody) Tenant() string { return b.slug }

func TestRefusedConnectionsOpenBreakerForAllTenants(t *testing.T) {
	t.Parallel()
	client := newAbsentPeer(t)
	client.breakers = newBreakers(clock.Fixed(time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)))
	for range failuresToOpen {
		if err := client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil); errors.Is(err, ErrBreakerOpen) {
			t.Fatal(err)
		}
	}
	if err := client.Call(t.Context(), http.MethodGet, secondBusiness, nil, nil); !errors.Is(err, ErrBreakerOpen) {
		t.Errorf("another tenant: %v", err)
	}
}

// While one call tests whether the peer works again, the breaker refuses no other call.
func TestBreakerAllowsAllCallsAfterOpenTime(t *testing.T) {
	t.Parallel()
	peer, client, now := newTestClient(t, 503, away)
	for range failuresToOpen {
		_ = client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil)
	}
	peer.answer(200, "{}")
	now.Set(now.Now().Add(openFor))
	var all sync.WaitGroup
	var refused atomic.Int32
	for range 20 {
		all.Go(func() {
			if err := client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil); err != nil {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if n := refused.Load(); n != 0 {
		t.Errorf("%d of 20 were refused by a peer that is back", n)
	}

	peer.answer(503, away)
	for range failuresToOpen {
		_ = client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil)
	}
	now.Set(now.Now().Add(openFor))
	before := peer.callCount(firstBusiness)
	for range 20 {
		_ = client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil)
	}
	if n := peer.callCount(firstBusiness) - before; n != 1 {
		t.Errorf("an unavailable peer got %d calls, want 1", n)
	}
}

func TestBreakerIgnoresCallsWithPassedDeadline(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	peer, client, _ := newTestClient(t, 200, "{}")
	for range 20 {
		if err := client.Call(over, http.MethodGet, firstBusiness, nil, nil); !errors.Is(err,
			context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
	}
	if err := client.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil); err != nil ||
		peer.callCount(firstBusiness) != 1 {
		t.Errorf("a healthy peer after callers whose time was up: %v", err)
	}

	cancelled, stop := context.WithCancel(t.Context())
	stop()
	_, failing, _ := newTestClient(t, 503, away)
	for range failuresToOpen {
		_ = failing.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil)
		_ = failing.Call(cancelled, http.MethodGet, firstBusiness, nil, nil)
	}
	if err := failing.Call(t.Context(), http.MethodGet, firstBusiness, nil, nil); !errors.Is(err, ErrBreakerOpen) {
		t.Errorf("a failing peer with cancelled calls in between: %v", err)
	}
}

func TestBreakersBoundTheirMemory(t *testing.T) {
	t.Parallel()
	b := newBreakers(clock.Fixed(time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)))
	for i := range 2 * maxFailingTenants {
		b.record(strings.Repeat("a", i%60)+string(rune('a'+i%26))+time.Duration(i).String(), failing)
	}
	if n := b.failuresOf.Len(); n > maxFailingTenants {
		t.Errorf("%d tenants are remembered", n)
	}
}

func BenchmarkHealthyBreaker(b *testing.B) {
	client := New("bench", "http://127.0.0.1:1", telemetry.Discard())
	b.ReportAllocs()
	for b.Loop() {
		if !client.breakers.isOpen("harbor") {
			client.breakers.record("harbor", healthy)
		}
	}
}
