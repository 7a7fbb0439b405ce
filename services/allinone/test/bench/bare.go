package bench

import (
	"bytes"
	"context"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
)

// BareAddresses are the base URLs of the program that Slotmesh is compared with ([bareServer]). Public is the URL of
// its HTTP server, and MCP is the URL of its MCP server. Inside is the URL of its allocation counts and profiles.
type BareAddresses struct{ Public, MCP, Inside string }

// bareServer is the program that Slotmesh is compared with (the bare program). The bare program does only the
// unavoidable part of the same work. It uses fiber, go-redis and pgx with their defaults, without telemetry, deadlines
// or checks. It answers with bytes that an earlier request stored.
//
//	PUT /bytes/{name}    stores the body
//	GET /bytes/{name}    returns the stored body
//	GET /day/{name}      the same, after the rate limiter's script in Redis and one query in PostgreSQL for the occupied
//	                     time of a day
//	GET /window/{name}   the same, after one query for many days
//	GET /rented/{name}   the same, after one query for reservations
//
// The MCP server of the bare program has a base URL of its own (serveBareMCP).
type bareServer struct {
	answers sync.Map // name → []byte
	pool    *pgxpool.Pool
	limiter *ratelimit.Redis
}

func serveBare(ctx context.Context, ready func(any) error) error {
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL"))
	if err != nil {
		return err
	}
	defer pool.Close()
	settings, err := redis.ParseURL(os.Getenv("REDIS_URL"))
	if err != nil {
		return err
	}
	client := redis.NewClient(settings)
	defer func() { _ = client.Close() }()
	b := &bareServer{pool: pool, limiter: ratelimit.NewRedis(client, "bench:bare:", time.Second)}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, BodyLimit: maxAnswer})
	app.Put("/bytes/:name", b.storeBody)
	app.Get("/bytes/:name", b.sendBody)
	app.Get("/day/:name", b.countRequest, b.queryFirst(dayQuery, newRowScan), b.sendBody)
	app.Get("/window/:name", b.countRequest, b.queryFirst(windowQuery, newArrayScan), b.sendBody)
	app.Get("/rented/:name", b.countRequest, b.queryFirst(reservationsQuery, newArrayScan), b.sendBody)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	inside, err := serveDiagnostics(ctx)
	if err != nil {
		return err
	}
	agents, err := serveBareMCP(ctx)
	if err != nil {
		return err
	}
	if err := ready(BareAddresses{Public: "http://" + listener.Addr().String(), MCP: agents,
		Inside: inside}); err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = app.ShutdownWithTimeout(time.Second) })
	return app.Listener(listener)
}

func (b *bareServer) storeBody(c *fiber.Ctx) error {
	b.answers.Store(string([]byte(c.Params("name"))), bytes.Clone(c.Body()))
	return nil
}

func (b *bareServer) sendBody(c *fiber.Ctx) error {
	body, ok := b.answers.Load(c.Params("name"))
	if !ok {
		return fiber.ErrNotFound
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(body.([]byte))
}

// The queries of the bare program ([bareServer]). They read the occupied time of a business in a time window. Their
// form is the same as in the booking service, because the database needs the least CPU time for this form.
const (
	dayQuery = `SELECT resource_id, lane, lower(during), upper(during)
		FROM booking.occupied_time WHERE business_id = (SELECT $1::uuid) AND during && (SELECT tstzrange($2, $3))`
	windowQuery = `SELECT resource_id, lane, array_agg(lower(during)), array_agg(upper(during))
		FROM booking.occupied_time WHERE business_id = (SELECT $1::uuid) AND during && (SELECT tstzrange($2, $3)) GROUP BY 1, 2`
	reservationsQuery = `SELECT rental_id, quantity, array_agg(start_date::timestamptz), array_agg(end_date::timestamptz)
		FROM rental.reservations WHERE business_id = $1 AND start_date <= $3::timestamptz::date AND end_date >= $2::timestamptz::date
		AND status IN ('reserved', 'picked_up') GROUP BY 1, 2`
)

// countRequest is middleware that runs the rate limiter's script in Redis. The script counts the request of the client.
func (b *bareServer) countRequest(c *fiber.Ctx) error {
	decision, err := b.limiter.Allow(c.UserContext(), ratelimit.ID(c.Get(fiber.HeaderXForwardedFor)),
		ratelimit.PerMinute("slots", 60))
	if err != nil || !decision.Allowed {
		return fiber.ErrTooManyRequests
	}
	return c.Next()
}

// queryFirst returns a handler that runs a query before the next handler answers. The query parameters of the request
// are business, from and to; from and to are in seconds since the Unix epoch. The function `row` returns the
// destinations of a result row's columns.
func (b *bareServer) queryFirst(query string, row func() []any) fiber.Handler {
	return func(c *fiber.Ctx) error {
		business, err := uuid.Parse(c.Query("business"))
		if err != nil {
			return fiber.ErrBadRequest
		}
		from, _ := strconv.ParseInt(c.Query("from"), 10, 64)
		to, _ := strconv.ParseInt(c.Query("to"), 10, 64)
		if err := b.runQuery(c.UserContext(), query, row(), business, time.Unix(from, 0),
			time.Unix(to, 0)); err != nil {
			return err
		}
		return c.Next()
	}
}

// newRowScan and newArrayScan return the destinations of a result row's columns: the resource, the capacity unit, the
// start and the end. newRowScan is for rows with one start and one end. newArrayScan is for rows with an array of
// starts and an array of ends.
func newRowScan() []any { return []any{new(uuid.UUID), new(int32), new(time.Time), new(time.Time)} }
func newArrayScan() []any {
	return []any{new(uuid.UUID), new(int32), new([]time.Time), new([]time.Time)}
}

// runQuery runs a query and decodes all values of each row, because a program that uses the values must also decode
// them.
func (b *bareServer) runQuery(ctx context.Context, query string, row []any, business uuid.UUID,
	from, to time.Time) error {
	rows, err := b.pool.Query(ctx, query, business, from, to)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, row, func() error { return nil })
	return err
}
