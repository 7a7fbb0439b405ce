package catalog

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	peercatalog "github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// newHangingHarness starts a catalog whose connections to the database can be made to hang.
func newHangingHarness(t *testing.T) (*harness, *testkit.HangingProxy) {
	t.Helper()
	var hanging *testkit.HangingProxy
	h := newHarness(t, func(c *Config) {
		hanging = testkit.NewHangingProxy(t, c.Postgres.URL)
		c.Postgres.URL = hanging.URL
	})
	t.Cleanup(hanging.Resume)
	return h, hanging
}

// restart makes the database hang and starts another replica, which waits only briefly for the database. The first
// replica, which publishes, keeps its long timeouts.
func (h *harness) restart(hanging *testkit.HangingProxy) (string, string) {
	h.t.Helper()
	hanging.Hang(true)
	h.config.Server.Peers.Patience, h.config.Postgres.StatementTimeout = 10*time.Millisecond, time.Second
	return h.run()
}

// waitForCopy waits until Redis has a copy of the version, and then sets the age of the copy.
func (h *harness) waitForCopy(version string, age time.Duration) {
	h.t.Helper()
	rdb, _ := testkit.Redis(h.t)
	prefix, err := h.config.copiesPrefix()
	if err != nil {
		h.t.Fatal(err)
	}
	waitUntil(h.t, func() bool {
		known := rdb.HMGet(h.t.Context(), prefix+"harbor", "version", "text").Val()
		return len(known) == 2 && known[0] == version && known[1] != "" && known[1] != nil
	})
	if err := rdb.PExpire(h.t.Context(), prefix+"harbor", 24*time.Hour-age).Err(); err != nil {
		h.t.Fatal(err)
	}
	waitUntil(h.t, func() bool { return rdb.Exists(h.t.Context(), prefix+"*").Val() == 1 })
}

func TestRestartedReplicaServesCopies(t *testing.T) {
	t.Parallel()
	h, hanging := newHangingHarness(t)
	h.mustPublish(describedYAML)
	h.get("/info")
	h.waitForCopy("1", time.Hour)
	public, internal := h.restart(hanging)
	for _, path := range []string{"/info", "/services", "/staff", "/events", "/rentals"} {
		a := h.call(http.MethodGet, public+"/api/public/harbor"+path, nil)
		if a.status != http.StatusOK || path == "/services" &&
			(!strings.Contains(a.body, "Wash") || strings.Contains(a.body, "onclick")) {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	// A probe waits two seconds for an answer. The timeout of the database takes one of them.
	testkit.WaitUntil(t, "it is ready", func(context.Context) error {
		if a := h.call(http.MethodGet, internal+"/readyz", nil); a.status != http.StatusOK {
			return errors.New(a.body)
		}
		return nil
	})
	a := h.call(http.MethodGet, internal+"/internal/offers/harbor", nil, "Cache-Control", peercatalog.MaxStale)
	if age := a.header.Get("Age"); a.status != http.StatusOK || !strings.HasPrefix(age, "36") {
		t.Errorf("the answer to a client that accepts a stale offer: %d, Age %q: %s", a.status, age, a.body)
	}
	p := peer.New("catalog", internal, telemetry.Discard(), peer.Timeout(testkit.MaxWait))
	t.Cleanup(p.Close)
	offers := catalogclient.NewClient(p, telemetry.Discard())
	if _, err := offers.Fresh(t.Context(), "harbor"); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("the answer to a client that needs the newest offer: %v", err)
	}
	if snapshot, err := offers.Get(t.Context(), "harbor"); err != nil || snapshot.Version != 1 {
		t.Errorf("the answer to a reader: %v, %v", snapshot, err)
	}
	if a := h.call(http.MethodGet, public+"/api/public/other/info", nil); a.status != http.StatusServiceUnavailable {
		t.Errorf("a business without a cached version: %d %s", a.status, a.body)
	}
	hanging.Resume()
	h.mustPublish(strings.Replace(describedYAML, "name: Harbor", "name: New Harbor", 1))
	h.clock.Advance(2 * time.Second)
	waitUntil(t, func() bool { // until the hanging connections are closed
		h.clock.Advance(2 * time.Second)
		return strings.Contains(h.call(http.MethodGet, public+"/api/public/harbor/info", nil).body, "New Harbor")
	})
}

func TestCopyNeverRevertsPublishOrRemoval(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(h *harness) error{
		"published": func(h *harness) error { h.mustPublish(harborYAML); return nil },
		"rolled back": func(h *harness) error {
			_, err := h.owner.Rollback(h.t.Context(), "harbor", 1, "")
			return err
		},
		"removed": func(h *harness) error { return h.owner.Delete(h.t.Context(), "harbor", derivedID("harbor")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, hanging := newHangingHarness(t)
			h.mustPublish(describedYAML)
			h.get("/info")
			h.waitForCopy("1", 0)
			if err := change(h); err != nil {
				t.Fatal(err)
			}
			public, _ := h.restart(hanging)
			if a := h.call(http.MethodGet, public+"/api/public/harbor/info",
				nil); a.status != http.StatusServiceUnavailable {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
}

func TestReplicaIsNotReadyWithoutCopies(t *testing.T) {
	t.Parallel()
	h, hanging := newHangingHarness(t)
	_, internal := h.restart(hanging)
	if a := h.call(http.MethodGet, internal+"/readyz", nil); a.status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", a.status, a.body)
	}
}
