package catalogclient

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/revalidate"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// slow is a catalog that delays its answers until the channel `hold` is closed.
type slow struct {
	origin
	hold chan struct{} // nil: answers are not delayed
}

func (s *slow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		<-hold
	}
	s.origin.ServeHTTP(w, r)
}

func TestGetReturnsStaleSnapshotIfCatalogHangs(t *testing.T) {
	t.Parallel()
	s := &slow{origin: origin{version: 1}}
	server := httptest.NewServer(s)
	p := peer.New("catalog", server.URL, telemetry.Discard(), peer.Timeout(2*testkit.MaxWait),
		peer.Patience(time.Millisecond))
	t.Cleanup(func() { p.Close(); server.Close() })
	now := clock.Fixed(time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC))
	c := newClient(p, telemetry.Discard(), now)
	wantVersion(t, c.Get, 1) // the first read has no cached snapshot, so it waits
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	defer release() // so that the server can stop: it waits for its handlers
	s.set(func(o *origin) { s.hold, o.version = hold, 2 })
	now.Advance(revalidate.TrustFor)
	ctx, cancel := context.WithTimeout(t.Context(), testkit.MaxWait)
	defer cancel()
	for range 2 {
		snapshot, err := c.Get(ctx, "harbor")
		if err != nil || snapshot.Version != 1 || ctx.Err() != nil {
			t.Fatalf("while catalog hangs: %+v, %v", snapshot, err)
		}
		now.Advance(revalidate.TrustFor)
	}
	short, stop := context.WithTimeout(ctx, time.Second) // long enough for the request to be sent
	defer stop()
	if _, err := c.Fresh(short, "harbor"); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("Fresh went on with an old offer: %v", err)
	}
	s.set(func(*origin) { s.hold = nil })
	release()
	for version := int64(1); version != 2; { // the late answer of catalog is stored
		if snapshot, err := c.Get(ctx, "harbor"); err == nil {
			version = snapshot.Version
		}
		now.Advance(revalidate.TrustFor)
		if ctx.Err() != nil {
			t.Fatal("the old offer is still served")
		}
	}
}

func TestStaleAgeIsReported(t *testing.T) {
	t.Parallel()
	tel, err := telemetry.New(t.Context(), telemetry.Config{}, "test", telemetry.Stderr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tel.Shutdown(context.WithoutCancel(t.Context())) }()
	c, o, now := client(t, 1)
	c = newClient(c.peer, tel, now)
	wantVersion(t, c.Get, 1)
	wantVersion(t, c.Get, 1)
	now.Advance(revalidate.TrustFor)
	o.set(func(o *origin) { o.down = true })
	wantVersion(t, c.Get, 1) // 2 s old
	now.Advance(revalidate.TrustFor / 2)
	wantVersion(t, c.Get, 1) // 3 s old; catalog is not asked again
	o.set(func(o *origin) {
		if o.asked != 2 {
			t.Errorf("catalog was asked %d times", o.asked)
		}
		o.down = false
	})
	now.Advance(revalidate.TrustFor)
	wantVersion(t, c.Get, 1) // the newest version
	if count, sum := reading(t, tel, "slotmesh_offer_age_seconds_count"),
		reading(t, tel, "slotmesh_offer_age_seconds_sum"); count != 2 || sum != 5 {
		t.Errorf("%v answers of %v s together, want 2 of 5", count, sum)
	}
	if n := reading(t, tel, "slotmesh_offer_stale_total"); n != 2 {
		t.Errorf("%v stale", n)
	}
}

func TestMaxStaleIsSentOnlyWithoutCachedSnapshot(t *testing.T) {
	t.Parallel()
	tel, err := telemetry.New(t.Context(), telemetry.Config{}, "test", telemetry.Stderr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tel.Shutdown(context.WithoutCancel(t.Context())) }()
	c, o, now := client(t, 3)
	c = newClient(c.peer, tel, now)
	o.set(func(o *origin) { o.age = 3600 })
	if _, err := c.Fresh(t.Context(), "harbor"); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("Fresh took an old offer: %v", err)
	}
	if _, err := c.AtLeast(t.Context(), "harbor", 4); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("AtLeast took an offer that is older than asked for: %v", err)
	}
	atLeast := func(version int64) readSnapshot {
		return func(ctx context.Context, slug string) (*catalog.Snapshot, error) {
			return c.AtLeast(ctx, slug, version)
		}
	}
	wantVersion(t, atLeast(3), 3)
	wantVersion(t, c.Get, 3)
	if _, err := c.Fresh(t.Context(), "harbor"); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("Fresh took an old offer from memory: %v", err)
	}
	now.Advance(revalidate.TrustFor)
	o.set(func(o *origin) { o.version = 4 })
	wantVersion(t, c.Get, 3) // from the cache: catalog is not asked for a stale copy
	if count, sum := reading(t, tel, "slotmesh_offer_age_seconds_count"),
		reading(t, tel, "slotmesh_offer_age_seconds_sum"); count != 3 || sum != 10802 {
		t.Errorf("%v answers of %v s together, want 3 of 10802", count, sum)
	}
	o.set(func(o *origin) { o.age = 0 })
	now.Advance(revalidate.TrustFor)
	wantVersion(t, c.Get, 4)
}

func TestFirstSnapshotCanBeStale(t *testing.T) {
	t.Parallel()
	c, o, _ := client(t, 3)
	o.set(func(o *origin) { o.age = 3600 })
	wantVersion(t, c.Get, 3)
	wantVersion(t, c.Get, 3)
	o.set(func(o *origin) {
		if o.asked != 1 {
			t.Errorf("catalog got %d requests within two seconds after it could not answer, want 1", o.asked)
		}
	})
}

// reading returns the value of a metric that has one series.
func reading(t *testing.T, tel *telemetry.Telemetry, name string) float64 {
	t.Helper()
	page := httptest.NewRecorder()
	tel.MetricsHandler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	found := regexp.MustCompile(`(?m)^` + name + `(?:\{[^}]*\})? (\S+)$`).FindStringSubmatch(page.Body.String())
	if found == nil {
		t.Fatalf("no %s in\n%s", name, strings.TrimSpace(page.Body.String()))
	}
	value, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
