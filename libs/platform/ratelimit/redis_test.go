package ratelimit_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

func TestRedisMeetsContract(t *testing.T) {
	t.Parallel()
	client, prefix := testkit.Redis(t)
	runContract(t, newRedisContract(client, prefix))
}

// miniredis, which developers can use instead of Redis, runs the same script.
func TestMiniredisMeetsContract(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
	t.Cleanup(func() { _ = client.Close() })
	runContract(t, newRedisContract(client, "limits:"))
}

func newRedisContract(client redis.UniversalClient, prefix string) contract {
	now := func(t testing.TB) time.Time {
		at, err := client.Time(context.WithoutCancel(t.Context())).Result()
		if err != nil {
			t.Fatalf("read Redis's clock: %v", err)
		}
		return at
	}
	pass := func(t testing.TB, d time.Duration) {
		for until := now(t).Add(d); now(t).Before(until); {
		}
	}
	return contract{limiter: ratelimit.NewRedis(client, prefix, time.Minute), now: now, pass: pass, key: uuid.NewString}
}

func TestRedisLimitIsSharedByReplicas(t *testing.T) {
	t.Parallel()
	client, prefix := testkit.Redis(t)
	one, other := ratelimit.NewRedis(client, prefix, time.Minute), ratelimit.NewRedis(client, prefix, time.Minute)
	limit := ratelimit.Limit{Name: "slots", N: 2, Window: time.Hour}
	for i, step := range []struct {
		replica ratelimit.Limiter
		want    bool
	}{{one, true}, {other, true}, {one, false}, {other, false}} {
		d, err := step.replica.Allow(t.Context(), ratelimit.ID("client"), limit)
		if err != nil || d.Allowed != step.want {
			t.Errorf("request %d: %+v, %v; want Allowed %v", i, d, err, step.want)
		}
	}
}

func TestRedisCheckIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	client, prefix := testkit.Redis(t)
	limiter, limit := ratelimit.NewRedis(client, prefix, time.Minute), ratelimit.PerMinute("slots", 1)
	// Redis has the script after this call.
	if _, err := limiter.Allow(t.Context(), ratelimit.ID("client"), limit); err != nil {
		t.Fatal(err)
	}
	seen := &commandLog{}
	client.AddHook(seen)
	if _, err := limiter.Allow(t.Context(), ratelimit.ID("client"), limit); err != nil {
		t.Fatal(err)
	}
	another := ratelimit.Question{Client: ratelimit.ID("another"), Limit: limit}
	if d, err := limiter.AllowInTurn(t.Context(), another, ratelimit.Question{Client: ratelimit.ID("third"),
		Limit: limit}); err != nil || len(d) != 2 {
		t.Fatal(d, err)
	}
	if diff := cmp.Diff([]string{"evalsha", "evalsha"}, seen.names); diff != "" {
		t.Error(diff)
	}
}

// commandLog records the commands that are sent to Redis.
type commandLog struct {
	mu    sync.Mutex
	names []string
}

func (c *commandLog) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (c *commandLog) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.mu.Lock()
		c.names = append(c.names, cmd.Name())
		c.mu.Unlock()
		return next(ctx, cmd)
	}
}

func (c *commandLog) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestRedisDropsIdleKeysAndBoundsEntries(t *testing.T) {
	t.Parallel()
	client, prefix := testkit.Redis(t)
	limiter, limit := ratelimit.NewRedis(client, prefix, time.Minute),
		ratelimit.Limit{Name: "slots", N: 2, Window: time.Hour}
	began := time.Now()
	for range 5 {
		if _, err := limiter.Allow(t.Context(), ratelimit.ID("client"), limit); err != nil {
			t.Fatal(err)
		}
	}
	key := prefix + "{slots:client}"
	if length := client.LLen(t.Context(), key).Val(); length != 2 {
		t.Errorf("%d times are stored, want the 2 accepted ones", length)
	}
	ttl := client.PTTL(t.Context(), key).Val()
	if passed := time.Since(began); ttl <= limit.Window-time.Second-passed || ttl > limit.Window+time.Second {
		t.Errorf("%s later at the most, the key expires in %s, want the window and a second", passed, ttl)
	}
}

func TestRedisClockSetBackResetsCount(t *testing.T) {
	t.Parallel()
	client, prefix := testkit.Redis(t)
	future := time.Now().Add(time.Hour).UnixMicro()
	if err := client.RPush(t.Context(), prefix+"{slots:client}", future, future).Err(); err != nil {
		t.Fatal(err)
	}
	d, err := ratelimit.NewRedis(client, prefix, time.Minute).Allow(t.Context(), ratelimit.ID("client"),
		ratelimit.PerMinute("slots", 2))
	if err != nil || !d.Allowed {
		t.Errorf("%+v, %v; want it to pass", d, err)
	}
}

func TestRedisErrorsAreReturned(t *testing.T) {
	t.Parallel()
	client, prefix := testkit.Redis(t)
	if err := client.Set(t.Context(), prefix+"{slots:client}", "no list", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	_, err := ratelimit.NewRedis(client, prefix, time.Minute).Allow(t.Context(), ratelimit.ID("client"),
		ratelimit.PerMinute("slots", 1))
	if err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
		t.Errorf("error %v, want Redis's own", err)
	}
}
