package ratelimit_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

func BenchmarkRedis(b *testing.B) {
	client, prefix := testkit.Redis(b)
	run(b, ratelimit.NewRedis(client, prefix, time.Minute))
}

func BenchmarkLocal(b *testing.B) { run(b, ratelimit.NewLocal(clock.System())) }

func BenchmarkFallbackOverRedis(b *testing.B) {
	client, prefix := testkit.Redis(b)
	run(b, ratelimit.NewFallback(ratelimit.NewRedis(client, prefix, time.Minute), ratelimit.NewLocal(clock.System()),
		telemetry.Discard()))
}

// run sends the requests of 1,000 clients from as many goroutines as there are processors.
func run(b *testing.B, limiter ratelimit.Limiter) {
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = strconv.Itoa(i)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			if _, err := limiter.Allow(b.Context(), ratelimit.ID(keys[i%len(keys)]),
				ratelimit.PerMinute("slots", 60)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
