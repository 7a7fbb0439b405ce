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

// What becomes of the answer to a script.
const (
	delivered = iota
	cut       // the connection breaks instead
	held      // nothing comes, and the connection stays open
)

// lossy is a way to the test Redis on which answers to scripts may be lost. The scripts themselves always arrive.
type lossy struct {
	*testkit.Link
	fate    func() int
	scripts atomic.Int64 // that were sent
}

func newLossy(t *testing.T, fate func() int) *lossy {
	t.Helper()
	l := &lossy{fate: fate}
	l.Link = testkit.NewLink(t, l.join)
	return l
}

// join passes bytes on, and decides on each answer that follows a script.
func (l *lossy) join(near, far net.Conn) (func(), func()) {
	var scripts atomic.Int64 // not answered yet
	there := func() {
		relay(near, far, func(sent []byte) bool {
			n := int64(bytes.Count(sent, []byte("evalsha")))
			scripts.Add(n)
			l.scripts.Add(n)
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

// relay passes bytes on while pass lets it.
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

// A script that was not answered has counted. Sent again, as go-redis does by itself, it would count twice, and the
// client would be refused before it has had its N.
func TestNPassExactlyWhereAnswersOfRedisAreLost(t *testing.T) {
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
			way := newLossy(t, func() int { return fates[rand.IntN(len(fates))] })
			client := redis.NewClient(&redis.Options{
				Addr: way.Address, MaxRetries: 3, MaxRetryBackoff: time.Millisecond, ContextTimeoutEnabled: true,
				DisableIdentity: true,
			})
			t.Cleanup(func() { _ = client.Close() })
			who := "client of " + name
			b := bench{limiter: ratelimit.NewFallbackOf(
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
			// fewer where this machine was too slow to send one in time
			if sent := way.scripts.Load(); counted > sent || sent > int64(limit.N) {
				t.Errorf("Redis was sent %d scripts and counted %d requests, want %d at most", sent, counted, limit.N)
			}
		})
	}
}
