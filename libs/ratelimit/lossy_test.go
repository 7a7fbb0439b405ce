package ratelimit_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/ratelimit"
	"github.com/slotmesh/slotmesh/libs/telemetry"
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
	fate     func() int
	listener net.Listener
	wg       sync.WaitGroup
	scripts  atomic.Int64 // that were sent
	mu       sync.Mutex
	open     []net.Conn
}

func newLossy(t *testing.T, fate func() int) *lossy {
	t.Helper()
	target, err := url.Parse(os.Getenv(testkit.RedisURL))
	if err != nil {
		t.Fatal(err)
	}
	network, address := "tcp", target.Host
	if target.Scheme == "unix" {
		network, address = "unix", target.Path
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &lossy{fate: fate, listener: listener}
	l.wg.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial(network, address)
			if err != nil {
				_ = near.Close()
				continue
			}
			l.mu.Lock()
			l.open = append(l.open, near, far)
			l.mu.Unlock()
			l.join(near, far)
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		l.mu.Lock()
		for _, c := range l.open {
			_ = c.Close()
		}
		l.mu.Unlock()
		l.wg.Wait()
	})
	return l
}

// join passes bytes on, and decides on each answer that follows a script.
func (l *lossy) join(near, far net.Conn) {
	var scripts atomic.Int64 // not answered yet
	l.wg.Go(func() {
		defer func() { _ = far.Close() }()
		buffer := make([]byte, 1<<16)
		for {
			n, err := near.Read(buffer)
			if err != nil {
				return
			}
			sent := int64(bytes.Count(buffer[:n], []byte("evalsha")))
			scripts.Add(sent)
			l.scripts.Add(sent)
			if _, err := far.Write(buffer[:n]); err != nil {
				return
			}
		}
	})
	l.wg.Go(func() {
		defer func() { _ = near.Close() }()
		buffer := make([]byte, 1<<16)
		for {
			n, err := far.Read(buffer)
			if err != nil {
				return
			}
			if scripts.Swap(0) > 0 {
				switch l.fate() {
				case cut:
					return
				case held:
					_, _ = io.Copy(io.Discard, far)
					return
				}
			}
			if _, err := near.Write(buffer[:n]); err != nil {
				return
			}
		}
	})
}

// A script that was not answered has counted. Sent again, as go-redis does by itself, it would count twice, and the client would
// be refused before it has had its N.
func TestNPassExactlyWhereAnswersOfRedisAreLost(t *testing.T) {
	t.Parallel()
	direct, prefix := testkit.Redis(t)
	if _, err := ratelimit.NewRedis(direct, prefix, time.Minute).Allow(t.Context(), ratelimit.ID("first"), ratelimit.PerMinute("", 1)); err != nil {
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
				Addr: way.listener.Addr().String(), MaxRetries: 3, MaxRetryBackoff: time.Millisecond, ContextTimeoutEnabled: true, DisableIdentity: true,
			})
			t.Cleanup(func() { _ = client.Close() })
			who := "client of " + name
			b := bench{limiter: ratelimit.NewFallbackOf(
				ratelimit.NewRedis(client, prefix, 100*time.Millisecond), ratelimit.NewLocal(clock.System()), telemetry.Discard(), time.Nanosecond)}
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
			if sent := way.scripts.Load(); counted > sent || sent > int64(limit.N) { // fewer where this machine was too slow to send one in time
				t.Errorf("Redis was sent %d scripts and counted %d requests, want %d at most", sent, counted, limit.N)
			}
		})
	}
}
