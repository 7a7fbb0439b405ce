package postgres

import (
	"context"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/postgres/sqlstate"
)

// tracer adds to the spans what pgx lets a tracer decide: how long a caller waits for a connection of the pool, and which
// connections it does not get back.
type tracer struct {
	*otelpgx.Tracer
	acquire time.Duration
}

type cancelKey struct{}

// TraceAcquireStart bounds the wait.
func (t *tracer) TraceAcquireStart(ctx context.Context, pool *pgxpool.Pool, data pgxpool.TraceAcquireStartData) context.Context {
	bounded, cancel := context.WithTimeout(t.Tracer.TraceAcquireStart(ctx, pool, data), t.acquire)
	return context.WithValue(bounded, cancelKey{}, cancel)
}

// TraceAcquireEnd frees the bound's timer.
func (t *tracer) TraceAcquireEnd(ctx context.Context, pool *pgxpool.Pool, data pgxpool.TraceAcquireEndData) {
	t.Tracer.TraceAcquireEnd(ctx, pool, data)
	if cancel, ok := ctx.Value(cancelKey{}).(context.CancelFunc); ok {
		cancel()
	}
}

// demoted marks a connection to a server that was the primary before a failover.
const demoted = "slotmesh.demoted"

// TraceQueryEnd marks connections that can serve no writes any more.
func (t *tracer) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	t.Tracer.TraceQueryEnd(ctx, conn, data)
	if sqlstate.Of(data.Err) == sqlstate.ReadOnly {
		conn.PgConn().CustomData()[demoted] = true
	}
}

// TraceRelease closes such a connection, so that it does not go back into the pool. The pool's own hook for that would
// bring every connection back in a goroutine, and the next caller would make another meanwhile.
func (t *tracer) TraceRelease(_ *pgxpool.Pool, data pgxpool.TraceReleaseData) {
	if data.Conn.PgConn().CustomData()[demoted] == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	_ = data.Conn.Close(ctx) // it is given up either way
}

var (
	_ pgx.QueryTracer       = (*tracer)(nil)
	_ pgxpool.AcquireTracer = (*tracer)(nil)
	_ pgxpool.ReleaseTracer = (*tracer)(nil)
)
