package current_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/revalidate"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/catalog/internal/current"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// TestGetReturnsStaleVersionIfDatabaseHangs shows that readers get the cached version while the database hangs. The
// late answer of the database is stored.
func TestGetReturnsStaleVersionIfDatabaseHangs(t *testing.T) {
	t.Parallel()
	src := &fakeSource{heads: map[string]int64{"harbor": 1}}
	clk := clock.Fixed(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	built := make(chan int64, 2)
	b := fixture{current.New(src, func(_ store.Text, version int64) (string, error) {
		built <- version
		return map[int64]string{1: "harbor 1", 2: "harbor 2"}[version], nil
	}, noCopies(t), 1000, time.Millisecond, clk, telemetry.Discard()), src, clk}
	b.wantGet(t, "harbor", "harbor 1") // the first read has no cached version, so it waits
	<-built
	src.set("harbor", 2)
	src.block = make(chan struct{})
	clk.Advance(3 * time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), testkit.MaxWait)
	defer cancel()
	for range 2 {
		if got, version, err := b.Get(ctx, "harbor"); got != "harbor 1" || version != 1 || err != nil {
			t.Errorf("while the database hangs: %q (version %d, %v)", got, version, err)
		}
	}
	close(src.block)
	select {
	case <-built:
	case <-ctx.Done():
		t.Fatal("the late answer of the database was not cached")
	}
	for got := ""; got != "harbor 2"; {
		clk.Advance(3 * time.Second)
		if got, _, _ = b.Get(ctx, "harbor"); ctx.Err() != nil {
			t.Fatalf("%q is still served", got)
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
	src := &fakeSource{heads: map[string]int64{"harbor": 1}}
	clk := clock.Fixed(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	b := fixture{current.New(src, func(store.Text, int64) (string, error) {
		return "harbor 1", nil
	}, noCopies(t), 1000, 0, clk, tel), src, clk}
	b.wantGet(t, "harbor", "harbor 1")
	clk.Advance(revalidate.TrustFor)
	src.mu.Lock()
	src.isDown = true
	src.mu.Unlock()
	b.wantGet(t, "harbor", "harbor 1") // 2 s old
	clk.Advance(revalidate.TrustFor / 2)
	b.wantGet(t, "harbor", "harbor 1") // 3 s old; the database is not asked again
	if src.headCalls != 2 {
		t.Errorf("the database was asked %d times", src.headCalls)
	}
	page := httptest.NewRecorder()
	tel.MetricsHandler().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for name, want := range map[string]string{"slotmesh_offer_age_seconds_sum": "5",
		"slotmesh_offer_age_seconds_count": "2", "slotmesh_catalog_versions_stale_total": "2"} {
		found := false
		for line := range strings.Lines(page.Body.String()) {
			found = found || strings.HasPrefix(line, name) && strings.HasSuffix(line, " "+want+"\n")
		}
		if !found {
			t.Errorf("%s is not %s", name, want)
		}
	}
}
