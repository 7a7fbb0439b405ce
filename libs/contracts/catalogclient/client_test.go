package catalogclient

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
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
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// origin is a fake catalog service. It has one business, "harbor", at a version that tests increase.
type origin struct {
	mu      sync.Mutex
	version int64 // 0: there is no business
	down    bool
	asked   int
	same    int // number of answers with the status 304
	age     int // with the database unavailable, seconds since the version was confirmed; 0: it is available
}

func (o *origin) set(change func(*origin)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(o)
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked++
	tag := strconv.Quote(strconv.FormatInt(o.version, 10))
	switch {
	case o.down:
		w.WriteHeader(http.StatusInternalServerError)
	case o.age > 0 && r.Header.Get("Cache-Control") != catalog.MaxStale:
		w.WriteHeader(http.StatusServiceUnavailable)
	case o.version == 0 || !strings.HasSuffix(r.URL.Path, "/harbor"):
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(fault.New(fault.BusinessNotFound, "Business not found").Body())
	case r.Header.Get("If-None-Match") == tag:
		o.same++
		w.WriteHeader(http.StatusNotModified)
	default:
		w.Header().Set("ETag", tag)
		if o.age > 0 {
			w.Header().Set("Age", strconv.Itoa(o.age))
		}
		_ = json.NewEncoder(w).Encode(catalog.Snapshot{Slug: "harbor", Version: o.version, Currency: "EUR",
			Timezone: "Europe/Lisbon"})
	}
}

func client(t *testing.T, version int64) (*Client, *origin, *clock.Manual) {
	t.Helper()
	o := &origin{version: version}
	server := httptest.NewServer(o)
	p := peer.New("catalog", server.URL, telemetry.Discard(), peer.Timeout(testkit.MaxWait))
	t.Cleanup(func() { p.Close(); server.Close() })
	now := clock.Fixed(time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC))
	return newClient(p, telemetry.Discard(), now), o, now
}

type readSnapshot func(context.Context, string) (*catalog.Snapshot, error)

func wantVersion(t *testing.T, get readSnapshot, want int64) {
	t.Helper()
	snapshot, err := get(context.Background(), "harbor")
	if err != nil {
		t.Fatal(err)
	}
	if snapshot.Version != want {
		t.Errorf("got version %d, want %d", snapshot.Version, want)
	}
}

func TestGetRevalidatesAfterTwoSeconds(t *testing.T) {
	t.Parallel()
	c, o, now := client(t, 1)
	wantVersion(t, c.Get, 1)
	o.set(func(o *origin) { o.version = 2 })
	now.Advance(revalidate.TrustFor - time.Millisecond)
	wantVersion(t, c.Get, 1)
	now.Advance(time.Millisecond)
	wantVersion(t, c.Get, 2)
	now.Advance(revalidate.TrustFor)
	wantVersion(t, c.Get, 2)
	o.set(func(o *origin) {
		if o.asked != 3 || o.same != 1 {
			t.Errorf("catalog got %d requests and answered %d of them with 304; want 3 and 1", o.asked, o.same)
		}
	})
}

func TestFreshAndAtLeastReturnNewestVersion(t *testing.T) {
	t.Parallel()
	c, o, _ := client(t, 1)
	wantVersion(t, c.Fresh, 1)
	o.set(func(o *origin) { o.version = 2 })
	wantVersion(t, func(ctx context.Context, slug string) (*catalog.Snapshot, error) {
		return c.AtLeast(ctx, slug, 1)
	}, 1)
	wantVersion(t, c.Fresh, 2)
	o.set(func(o *origin) { o.version = 3 })
	wantVersion(t, func(ctx context.Context, slug string) (*catalog.Snapshot, error) {
		return c.AtLeast(ctx, slug, 3)
	}, 3)
}

func TestGetReturnsStaleSnapshotIfCatalogIsDown(t *testing.T) {
	t.Parallel()
	c, o, now := client(t, 1)
	wantVersion(t, c.Get, 1)
	o.set(func(o *origin) { o.down = true })
	now.Advance(time.Hour)
	wantVersion(t, c.Get, 1)
	if _, err := c.Fresh(context.Background(), "harbor"); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("Fresh went on with an old offer: %v", err)
	}
	if _, err := c.Get(context.Background(), "elsewhere"); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("an offer never seen: %v", err)
	}
}

func TestRemovedBusinessLeavesCache(t *testing.T) {
	t.Parallel()
	c, o, now := client(t, 1)
	wantVersion(t, c.Get, 1)
	o.set(func(o *origin) { o.version = 0 })
	now.Advance(revalidate.TrustFor)
	for range 2 {
		if _, err := c.Get(context.Background(), "harbor"); !fault.Is(err, fault.BusinessNotFound) {
			t.Errorf("got %v", err)
		}
	}
}

func TestInvalidSlugsAreNotRequested(t *testing.T) {
	t.Parallel()
	c, o, _ := client(t, 1)
	for _, slug := range []string{"", "..", "a/b", "Harbor", "harbor%2f", strings.Repeat("a", 64)} {
		if _, err := c.Get(context.Background(), slug); !fault.Is(err, fault.BusinessNotFound) {
			t.Errorf("%q: %v", slug, err)
		}
	}
	if o.asked != 0 {
		t.Errorf("catalog was asked %d times", o.asked)
	}
}

func TestChangeMessageExpiresSnapshot(t *testing.T) {
	t.Parallel()
	c, o, _ := client(t, 1)
	rdb, _ := testkit.Redis(t)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx, rdb) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	wantVersion(t, c.Get, 1)
	o.set(func(o *origin) { o.version = 2 })
	deadline := time.Now().Add(2 * time.Minute)
	for {
		// The clock does not advance, so only the message can cause another request of the client.
		if err := rdb.Publish(ctx, catalog.ChangesChannel, "harbor").Err(); err != nil {
			t.Fatal(err)
		}
		if snapshot, err := c.Get(ctx, "harbor"); err == nil && snapshot.Version == 2 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the message did not arrive")
		}
	}
}
