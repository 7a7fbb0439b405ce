package ratelimit_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

// The fates of the answer to a script.
const (
	delivered = iota
	cut       // the connection breaks before the answer
	held      // the answer never arrives, and the connection stays open
)

// lossyLink is a proxy of the test Redis that can lose answers to scripts. The scripts themselves always arrive.
type lossyLink struct {
	*testkit.Link
	fate        func() int
	scriptCount atomic.Int64 // that were sent
}

func newLossyLink(t *testing.T, fate func() int) *lossyLink {
	t.Helper()
	l := &lossyLink{fate: fate}
	l.Link = testkit.NewLink(t, l.join)
	return l
}

// join forwards bytes, and decides about each answer that follows a script.
func (l *lossyLink) join(near, far net.Conn) (func(), func()) {
	var scripts atomic.Int64 // scripts that are not answered yet
	there := func() {
		relay(near, far, func(sent []byte) bool {
			n := int64(bytes.Count(sent, []byte("evalsha")))
			scripts.Add(n)
			l.scriptCount.Add(n)
			return true
		})
	}
	back := func() {
		relay(far, near, func([]byte) bool {
			if scripts.Swap(0) == 0 {
				return true
			}
			fate := l.fate()
			if fate == held {
				_, _ = io.Copy(io.Discard, far)
			}
			return fate == delivered
		})
	}
	return there, back
}

// relay forwards bytes while pass permits it.
func relay(from, to net.Conn, pass func([]byte) bool) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if err != nil || !pass(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// A script without an answer has counted. go-redis would send it again, it would count twice, and the limit would
// refuse the client before its N requests.
func TestLostAnswersDoNotChangeCount(t *testing.T) {
	t.Parallel()
	direct, prefix := testkit.Redis(t)
	if _, err := ratelimit.NewRedis(direct, prefix, time.Minute).Allow(t.Context(), ratelimit.ID("first"),
		ratelimit.PerMinute("", 1)); err != nil {
		t.Fatal(err) // Redis knows the script from here on
	}
	for name, fates := range map[string][]int{
		"delivered":       {delivered},
		"cut":             {cut},
		"held":            {held},
		"cut at times":    {delivered, delivered, cut},
		"held at times":   {delivered, delivered, delivered, held},
		"all that can be": {delivered, delivered, cut, held},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			way := newLossyLink(t, func() int { return fates[rand.IntN(len(fates))] })
			client := redis.NewClient(&redis.Options{
				Addr: way.Address, MaxRetries: 3, MaxRetryBackoff: time.Millisecond, ContextTimeoutEnabled: true,
				DisableIdentity: true,
			})
			t.Cleanup(func() { _ = client.Close() })
			who := "client of " + name
			b := contract{limiter: ratelimit.NewFallbackWithRetry(
				ratelimit.NewRedis(client, prefix, 100*time.Millisecond), ratelimit.NewLocal(clock.System()),
				telemetry.Discard(), time.Nanosecond)}
			limit := ratelimit.Limit{Name: "slots", N: 20, Window: time.Hour}
			for i := range limit.N {
				if d := b.ask(t, who, limit); !d.Allowed {
					t.Fatalf("request %d of %d was refused: %+v", i+1, limit.N, d)
				}
			}
			for range 5 {
				if b.ask(t, who, limit).Allowed {
					t.Fatal("one more passed")
				}
			}
			counted := direct.LLen(t.Context(), prefix+"{slots:"+who+"}").Val()
			// fewer if this machine was too slow to send one in time
			if sent := way.scriptCount.Load(); counted > sent || sent > int64(limit.N) {
				t.Errorf("Redis was sent %d scripts and counted %d requests, want %d at most", sent, counted, limit.N)
			}
		})
	}
}
