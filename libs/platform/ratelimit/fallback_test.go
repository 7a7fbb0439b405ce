package ratelimit_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

func TestFallbackOverRedisMeetsContract(t *testing.T) {
	t.Parallel()
	client, prefix := testkit.Redis(t)
	b := newRedisContract(client, prefix)
	b.limiter = ratelimit.NewFallback(b.limiter, ratelimit.NewLocal(clock.System()), telemetry.Discard())
	runContract(t, b)
}

func TestFallbackWithoutRedisMeetsContract(t *testing.T) {
	t.Parallel()
	manualClock := clock.Fixed(noon)
	runContract(t, contract{
		limiter: ratelimit.NewFallback(&switchableLimiter{isFailing: true}, ratelimit.NewLocal(manualClock),
			telemetry.Discard()),
		now:  func(testing.TB) time.Time { return manualClock.Now() },
		pass: func(_ testing.TB, d time.Duration) { manualClock.Advance(d) },
		key:  newRedisContract(nil, "").key,
	})
}

// switchableLimiter is a shared limiter that a test can make fail.
type switchableLimiter struct {
	ratelimit.Limiter
	mu        sync.Mutex
	isFailing bool
	callCount int
}

func (s *switchableLimiter) AllowInTurn(ctx context.Context,
	questions ...ratelimit.Question) ([]ratelimit.Decision, error) {
	s.mu.Lock()
	s.callCount++
	isFailing := s.isFailing
	s.mu.Unlock()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if isFailing {
		return nil, errors.New("connection refused")
	}
	return s.Limiter.AllowInTurn(ctx, questions...)
}

func (s *switchableLimiter) set(isFailing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isFailing = isFailing
}

// fallbackTest is a fallback with access to its shared limiter, log and metrics.
type fallbackTest struct {
	contract
	shared *switchableLimiter
	log    *bytes.Buffer
	reader *sdk.ManualReader
}

func newFallbackTest(t *testing.T, retryAfter time.Duration) fallbackTest {
	t.Helper()
	manualClock := clock.Fixed(noon)
	s := fallbackTest{
		shared: &switchableLimiter{Limiter: ratelimit.NewLocal(manualClock)},
		log:    &bytes.Buffer{},
		reader: sdk.NewManualReader(),
	}
	s.limiter = ratelimit.NewFallbackWithRetry(s.shared, ratelimit.NewLocal(manualClock), &telemetry.Telemetry{
		Logger: slog.New(slog.NewTextHandler(s.log, nil)),
		Meter:  sdk.NewMeterProvider(sdk.WithReader(s.reader)).Meter("test"),
	}, retryAfter)
	return s
}

func TestFallbackContinuesWithRecordedHistory(t *testing.T) {
	t.Parallel()
	s := newFallbackTest(t, time.Hour)
	limit := ratelimit.PerMinute("slots", 4)
	s.ask(t, "client", limit)
	s.ask(t, "client", limit)
	s.shared.set(true)
	for i, want := range []bool{true, true, false, false} {
		if d := s.ask(t, "client", limit); d.Allowed != want {
			t.Errorf("request %d without Redis: %+v, want Allowed %v", i+1, d, want)
		}
	}
	if diff := cmp.Diff(map[string]int64{"redis allowed": 2, "local allowed": 2, "remembered refused": 2},
		s.counted(t)); diff != "" {
		t.Error(diff)
	}
}

// counted reads the metric ratelimit.decisions.
func (s fallbackTest) counted(t *testing.T) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := s.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, m := range all.ScopeMetrics[0].Metrics {
		for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
			store, _ := point.Attributes.Value("store")
			outcome, _ := point.Attributes.Value("outcome")
			counts[store.AsString()+" "+outcome.AsString()] = point.Value
		}
	}
	return counts
}

func TestFallbackStopsUsingRedisAfterThreeFailures(t *testing.T) {
	t.Parallel()
	s := newFallbackTest(t, time.Hour)
	s.shared.set(true)
	for range 20 {
		s.ask(t, "client", ratelimit.PerMinute("slots", 100))
	}
	if s.shared.callCount != 3 {
		t.Errorf("Redis was asked %d times, want 3", s.shared.callCount)
	}
}

func TestFallbackLogsEachChangeOnce(t *testing.T) {
	t.Parallel()
	s := newFallbackTest(t, time.Nanosecond) // retries immediately
	limit := ratelimit.PerMinute("slots", 100)
	s.shared.set(true)
	for range 20 {
		s.ask(t, "client", limit)
	}
	s.shared.set(false)
	for range 20 {
		s.ask(t, "client", limit)
	}
	lines := strings.Split(strings.TrimSpace(s.log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "does not answer") || !strings.Contains(lines[1],
		"answers again") {
		t.Errorf("log:\n%s\nwant one line for going and one for coming back", s.log)
	}
	if strings.Contains(s.log.String(), "client") {
		t.Error("the log names the client")
	}
	if s.counted(t)["redis allowed"] != 20 {
		t.Errorf("counted %v, want 20 by Redis once it was back", s.counted(t))
	}
}

func TestFallbackIgnoresCancelledCallers(t *testing.T) {
	t.Parallel()
	s := newFallbackTest(t, time.Hour)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if _, err := s.limiter.Allow(cancelled, ratelimit.ID("client"),
			ratelimit.PerMinute("slots", 1)); !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want that of the context", err)
		}
	}
	if s.log.Len() != 0 {
		t.Errorf("log: %s", s.log)
	}
}

// If Redis accepts connections and does not answer, only the first requests may wait for it.
func TestFallbackDoesNotWaitForASilentRedis(t *testing.T) {
	t.Parallel()
	silent, connections := silentServer(t)
	client := redis.NewClient(&redis.Options{Addr: silent, ContextTimeoutEnabled: true, DisableIdentity: true})
	t.Cleanup(func() { _ = client.Close() })
	b := contract{limiter: ratelimit.NewFallback(
		ratelimit.NewRedis(client, "limits:", 100*time.Millisecond), ratelimit.NewLocal(clock.Fixed(noon)),
		telemetry.Discard())}
	for range 60 {
		if !b.ask(t, "client", ratelimit.PerMinute("slots", 60)).Allowed {
			t.Fatal("refused below the limit")
		}
	}
	if b.ask(t, "client", ratelimit.PerMinute("slots", 60)).Allowed {
		t.Error("the 61st passed")
	}
	if connections.Load() == 0 {
		t.Error("Redis was never asked")
	}
}

func silentServer(t *testing.T) (string, *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepted atomic.Int32
	var open []net.Conn
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			open = append(open, conn)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
		for _, conn := range open {
			_ = conn.Close()
		}
	})
	return listener.Addr().String(), &accepted
}

// A client with a recorded refusal passes at the time at which the limiter would let it pass, and not earlier, even if
// the client sent requests to other replicas.
func TestKnownRefusalsAreExact(t *testing.T) {
	t.Parallel()
	refusedUnasked := 0
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 6))
		manualClock := clock.Fixed(noon)
		plain := contract{limiter: ratelimit.NewLocal(manualClock)}
		shared := &switchableLimiter{Limiter: ratelimit.NewLocal(manualClock)}
		var replicas [2]contract
		for i := range replicas {
			replicas[i].limiter = ratelimit.NewFallback(shared, ratelimit.NewLocal(manualClock), telemetry.Discard())
		}
		limit := ratelimit.PerMinute("slots", 5)
		for range 400 {
			manualClock.Advance(time.Duration(r.IntN(15_000)) * time.Millisecond)
			key := []string{"a", "b"}[r.IntN(2)]
			asked := shared.callCount
			want, got := plain.ask(t, key, limit), replicas[r.IntN(2)].ask(t, key, limit)
			if want != got {
				t.Fatalf("seed %d: %+v, want %+v", seed, got, want)
			}
			if !got.Allowed && shared.callCount == asked {
				refusedUnasked++
			}
		}
	}
	if refusedUnasked == 0 {
		t.Error("no refusal was remembered")
	}
}

func TestKnownRefusalNeedsNoRoundTrip(t *testing.T) {
	t.Parallel()
	s := newFallbackTest(t, time.Hour)
	limit := ratelimit.PerMinute("slots", 60)
	for range 100 {
		s.ask(t, "client", limit)
	}
	if s.shared.callCount != 60 {
		t.Errorf("Redis was asked %d times, want 60", s.shared.callCount)
	}
	if wait := s.limiter.(*ratelimit.Fallback).KnownRefusal(ratelimit.ID("client"), limit); wait != time.Minute {
		t.Errorf("known to be refused for %s, want a minute", wait)
	}
	if wait := s.limiter.(*ratelimit.Fallback).KnownRefusal(ratelimit.ID("another"), limit); wait != 0 {
		t.Errorf("another client has a known refusal for %s", wait)
	}
}
