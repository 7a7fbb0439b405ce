package current_test

import (
	"context"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/catalog/internal/current"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// A database that hangs holds no reader of a version that is kept, and what it says at last is taken in.
func TestAReaderDoesNotWaitForADatabaseThatHangs(t *testing.T) {
	t.Parallel()
	src := &source{heads: map[string]int64{"harbor": 1}}
	clk := clock.Fixed(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	built := make(chan int64, 2)
	b := bench{current.New(src, func(_ store.Text, version int64) (string, error) {
		built <- version
		return map[int64]string{1: "harbor 1", 2: "harbor 2"}[version], nil
	}, 1000, time.Millisecond, clk, telemetry.Discard()), src, clk}
	b.fresh(t, "harbor", "harbor 1") // the first has nothing to fall back on, and waits
	<-built
	src.set("harbor", 2)
	src.hold = make(chan struct{})
	clk.Advance(3 * time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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
