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

// TestAReaderDoesNotWaitForADatabaseThatHangs shows that readers get the cached version while the database hangs. The
// late answer of the database is stored.
func TestAReaderDoesNotWaitForADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	src := &source{heads: map[string]int64{"harbor": 1}}
	clk := clock.Fixed(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	built := make(chan int64, 2)
	b := bench{current.New(src, func(_ store.Text, version int64) (string, error) {
		built <- version
		return map[int64]string{1: "harbor 1", 2: "harbor 2"}[version], nil
	}, noCopies(t), 1000, time.Millisecond, clk, telemetry.Discard()), src, clk}
	b.fresh(t, "harbor", "harbor 1") // the first read has no cached version, so it waits
	<-built
	src.set("harbor", 2)
	src.hold = make(chan struct{})
	clk.Advance(3 * time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), testkit.MaxWait)
	defer cancel()
	for range 2 {
		if got, version, err := b.Fresh(ctx, "harbor"); got != "harbor 1" || version != 1 || err != nil {
			t.Errorf("while the database hangs: %q (version %d, %v)", got, version, err)
		}
	}
	close(src.hold)
	select {
	case <-built:
	case <-ctx.Done():
		t.Fatal("what the database said at last was not taken in")
	}
	for got := ""; got != "harbor 2"; {
		clk.Advance(3 * time.Second)
		if got, _, _ = b.Fresh(ctx, "harbor"); ctx.Err() != nil {
			t.Fatalf("%q is still served", got)
		}
	}
}

func TestTheAgeOfWhatIsServedIsToldWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	tel, err := telemetry.New(t.Context(), telemetry.Config{}, "test", telemetry.Stderr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tel.Shutdown(context.WithoutCancel(t.Context())) }()
	src := &source{heads: map[string]int64{"harbor": 1}}
	clk := clock.Fixed(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	b := bench{current.New(src, func(store.Text, int64) (string, error) {
		return "harbor 1", nil
	}, noCopies(t), 1000, 0, clk, tel), src, clk}
	b.fresh(t, "harbor", "harbor 1")
	clk.Advance(revalidate.TrustFor)
	src.mu.Lock()
	src.away = true
	src.mu.Unlock()
	b.fresh(t, "harbor", "harbor 1") // 2 s old
	clk.Advance(revalidate.TrustFor / 2)
	b.fresh(t, "harbor", "harbor 1") // 3 s old; the database is not asked again
	if src.asked != 2 {
		t.Errorf("the database was asked %d times", src.asked)
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
