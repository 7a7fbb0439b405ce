package ratelimit_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

func TestGuardMeetsContract(t *testing.T) {
	t.Parallel()
	client, prefix := testkit.Redis(t)
	manualClock := clock.Fixed(noon)
	runContract(t, contract{
		limiter: ratelimit.NewGuard(manualClock, client, prefix, testkit.MaxWait, telemetry.Discard()),
		now:     func(testing.TB) time.Time { return manualClock.Now() },
		pass:    func(_ testing.TB, d time.Duration) { manualClock.Advance(d) },
		key:     newRedisContract(nil, "").key,
	})
}

// A client sends at generated rates to one to five replicas. After three windows with these rates, all replicas together
// let N requests pass per window, or all if these are fewer; 10 % more or fewer are allowed. From the start, one replica
// never lets more than N pass in a window.
func TestGuardsShareLimitInSteadyState(t *testing.T) {
	t.Parallel()
	const n, seconds = 600, 60
	client, prefix := testkit.Redis(t)
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 1))
		rates := make([]int, 1+random.IntN(5)) // requests per second to each replica
		for i := range rates {
			rates[i] = random.IntN(30)
		}
		fleet := newFleet(client, prefix+strconv.FormatUint(seed, 10), len(rates))
		limit, sum, sent := ratelimit.PerMinute("info", n), 0, 0
		for range 4 * seconds {
			fleet.sendForSecond(t, limit, rates)
		}
		for i, passed := range fleet.passed {
			for j := n; j < len(passed); j++ {
				if age := passed[j] - passed[j-n]; age < seconds {
					t.Fatalf("seed %d: replica %d let %d requests pass within %d s", seed, i, n+1, age)
				}
			}
			sent += rates[i] * seconds
			for _, second := range passed {
				if second >= 3*seconds {
					sum++
				}
			}
		}
		if want := min(n, sent); sum < want-n/10 || sum > want+n/10 {
			t.Errorf("rates %v: %d of %d requests passed in the last window, want %d, or up to %d more or fewer", rates,
				sum, sent, want, n/10)
		}
	}
}

// fleet is a number of replicas with one clock.
type fleet struct {
	clock    *clock.Manual
	replicas []*ratelimit.Guard
	second   int
	passed   [][]int // the second of each request that passed, by replica
}

func newFleet(client redis.UniversalClient, prefix string, size int) *fleet {
	f := &fleet{clock: clock.Fixed(noon), passed: make([][]int, size)}
	for range size {
		f.replicas = append(f.replicas, ratelimit.NewGuard(f.clock, client, prefix, testkit.MaxWait, telemetry.Discard()))
	}
	return f
}

// sendForSecond sends requests at the given rates to the replicas, lets them report, and advances the clock by a second.
func (f *fleet) sendForSecond(t *testing.T, limit ratelimit.Limit, rates []int) {
	t.Helper()
	for i, rate := range rates {
		for range rate {
			d, err := f.replicas[i].Allow(t.Context(), ratelimit.ID("client"), limit)
			if err != nil {
				t.Fatal(err)
			}
			if d.Allowed {
				f.passed[i] = append(f.passed[i], f.second)
			}
		}
		if _, err := f.replicas[i].Report(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	f.second++
	f.clock.Advance(time.Second)
}

// A replica that stops no longer takes a share of the limit, as soon as its requests have left the window.
func TestGuardDropsStoppedReplicas(t *testing.T) {
	t.Parallel()
	client, prefix := testkit.Redis(t)
	f, limit := newFleet(client, prefix, 2), ratelimit.PerMinute("info", 10)
	f.sendForSecond(t, limit, []int{20, 20})
	f.clock.Advance(time.Minute)
	f.sendForSecond(t, limit, []int{0, 20})
	if got := len(f.passed[1]); got != 20 {
		t.Errorf("%d requests passed at the second replica, want 10 each time: the first received none for a minute", got)
	}
	key := prefix + "{info:client}"
	if fields := client.HLen(t.Context(), key).Val(); fields != 1 {
		t.Errorf("Redis has the reports of %d replicas, want 1", fields)
	}
	if ttl := client.PTTL(t.Context(), key).Val(); ttl <= 0 || ttl > time.Minute {
		t.Errorf("the reports expire in %s, want at most a minute", ttl)
	}
}

func TestGuardReportsOnlyBusyClients(t *testing.T) {
	t.Parallel()
	client, prefix := testkit.Redis(t)
	guard := ratelimit.NewGuard(clock.Fixed(noon), client, prefix, testkit.MaxWait, telemetry.Discard())
	limit := ratelimit.PerMinute("info", 600)
	for requests := 1; requests <= 6; requests++ {
		if _, err := guard.Allow(t.Context(), ratelimit.ID("client"), limit); err != nil {
			t.Fatal(err)
		}
		isSent, err := guard.Report(t.Context())
		if err != nil || isSent != (requests == 6) {
			t.Fatalf("after %d of 600 requests: the guard reported: %v, %v", requests, isSent, err)
		}
		if exists := client.Exists(t.Context(), prefix+"{info:client}").Val() == 1; exists != (requests == 6) {
			t.Errorf("after %d of 600 requests, a report exists: %v", requests, exists)
		}
	}
}

func TestGuardDecidesWithoutRedis(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := &endingBuffer{end: cancel}
	guard := ratelimit.NewGuard(clock.System(), client, "", testkit.MaxWait,
		&telemetry.Telemetry{Logger: slog.New(slog.NewTextHandler(log, nil)), Meter: telemetry.Discard().Meter})
	limit := ratelimit.PerMinute("info", 2)
	for i, want := range []bool{true, true, false} {
		d, err := guard.Allow(t.Context(), ratelimit.ID("client"), limit)
		if err != nil || d.Allowed != want {
			t.Errorf("request %d: %+v, %v, want Allowed %v", i+1, d, err, want)
		}
	}
	if err := guard.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if got := log.String(); !strings.Contains(got, "Redis does not answer") || strings.Contains(got, "client") {
		t.Errorf("log %q, want that Redis does not answer, and no client", got)
	}
}

// endingBuffer is a buffer that ends a context after the first write.
type endingBuffer struct {
	strings.Builder
	end func()
}

func (b *endingBuffer) Write(line []byte) (int, error) {
	defer b.end()
	return b.Builder.Write(line)
}
