package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"

	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/catalog/internal/api"
	"github.com/slotmesh/slotmesh/services/catalog/internal/current"
	"github.com/slotmesh/slotmesh/services/catalog/internal/fallback"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/rendered"
)

// fixedQuoter is a fake pricing service with one price, 10.00, for everything.
type fixedQuoter struct{}

func (fixedQuoter) Quotes(_ context.Context, r pricing.QuotesRequest) (*pricing.QuotesResponse, error) {
	answer := &pricing.QuotesResponse{OfferVersion: r.OfferVersion, Currency: "EUR",
		Quotes: make([]pricing.Quote, len(r.Items))}
	for i := range answer.Quotes {
		answer.Quotes[i] = pricing.Quote{Priced: true, Price: 1000}
	}
	return answer, nil
}

// noCopies returns copies of snapshots in a Redis that cannot be reached.
func noCopies(tb testing.TB) *fallback.Copies {
	away := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	copies := fallback.New(away, "", telemetry.Discard())
	tb.Cleanup(func() { _, _ = copies.Close(), away.Close() })
	return copies
}

// readyServer returns a handler of the public API without middleware and with a clock that does not advance.
func readyServer(tb testing.TB) fasthttp.RequestHandler {
	tb.Helper()
	at := clock.Fixed(time.Date(2027, time.March, 1, 9, 0, 0, 0, time.UTC))
	app := fiber.New(fiber.Config{Immutable: true, CaseSensitive: true, StrictRouting: true})
	(&api.Public{
		Versions: current.New(fakeSource{compileHarbor(tb)}, ready.Decoder(""), noCopies(tb), 1<<20, 0, at,
			telemetry.Discard()),
		Quoter: fixedQuoter{}, QuoteTimeout: 2 * time.Minute,
		Rendered: rendered.NewCache(1 << 20), Places: bulkhead.New(2), Clock: at,
	}).Mount(app)
	app.Get("/nothing/public/:slug/info", func(c *fiber.Ctx) error { return c.SendString(c.Params("slug")) })
	return app.Handler()
}

func get(path string) *fasthttp.RequestCtx {
	ctx := &fasthttp.RequestCtx{}
	ctx.Request.Header.SetHost("localhost")
	ctx.Request.SetRequestURI(path)
	return ctx
}

func TestCachedAnswerAllocatesLittle(t *testing.T) {
	handler := readyServer(t) // not parallel, because the allocations of other tests would count
	allocations := func(path string) float64 {
		ctx := get(path)
		measure := func() {
			handler(ctx)
			if ctx.Response.StatusCode() != fasthttp.StatusOK {
				t.Fatalf("%s: %d %s", path, ctx.Response.StatusCode(), ctx.Response.Body())
			}
		}
		// The minimum of many runs, because under the race detector a sync.Pool drops items at random.
		minAllocations := testing.AllocsPerRun(1, measure)
		for range 500 {
			minAllocations = min(minAllocations, testing.AllocsPerRun(1, measure))
		}
		return minAllocations
	}
	least := allocations("/nothing/public/harbor/info") // the router allocates these for any path with a slug
	for path, most := range map[string]float64{
		"/api/public/harbor/info": 0, "/api/public/harbor/services": 0, "/api/public/harbor/staff": 0,
		// The parameters and the lower-case locale are copied.
		"/api/public/harbor/services?locale=pt&date=2027-03-05": 6,
	} {
		if got := allocations(path) - least; got > most {
			t.Errorf("%s: %v allocations more than a handler that does nothing, want at most %v", path, got, most)
		}
	}
}

// BenchmarkReady measures how long it takes to send a cached answer. The first path measures the router alone.
func BenchmarkReady(b *testing.B) {
	handler := readyServer(b)
	for _, path := range []string{"/nothing/public/harbor/info", "/api/public/harbor/info",
		"/api/public/harbor/services", "/api/public/harbor/services?locale=pt"} {
		b.Run(path, func(b *testing.B) {
			ctx := get(path)
			b.ReportAllocs()
			for b.Loop() {
				ctx.Response.Reset()
				handler(ctx)
			}
		})
	}
}
