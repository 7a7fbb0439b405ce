package postgres

import (
	"context"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/postgres/sqlstate"
)

// tracer extends the tracer of otelpgx. It bounds the wait for a connection of the pool, and it closes
// connections to a server that is no longer the primary. It uses pgx's hooks for tracers for this.
type tracer struct {
	*otelpgx.Tracer
	acquire time.Duration
}

type cancelKey struct{}

// TraceAcquireStart bounds the wait for a connection.
func (t *tracer) TraceAcquireStart(ctx context.Context, pool *pgxpool.Pool,
	data pgxpool.TraceAcquireStartData) context.Context {
	bounded, cancel := context.WithTimeout(t.Tracer.TraceAcquireStart(ctx, pool, data), t.acquire)
	return context.WithValue(bounded, cancelKey{}, cancel)
}

// TraceAcquireEnd releases the timer of [tracer.TraceAcquireStart].
func (t *tracer) TraceAcquireEnd(ctx context.Context, pool *pgxpool.Pool, data pgxpool.TraceAcquireEndData) {
	t.Tracer.TraceAcquireEnd(ctx, pool, data)
	if cancel, ok := ctx.Value(cancelKey{}).(context.CancelFunc); ok {
		cancel()
	}
}

// demoted marks a connection to a server that was the primary before a failover.
const demoted = "slotmesh.demoted"

// TraceQueryEnd marks a connection whose server no longer accepts writes.
func (t *tracer) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	t.Tracer.TraceQueryEnd(ctx, conn, data)
	if sqlstate.Of(data.Err) == sqlstate.ReadOnly {
		conn.PgConn().CustomData()[demoted] = true
	}
}

// TraceRelease closes a connection that is marked as unusable, so that it does not return to the pool. The pool's own
// hook would return every connection in a goroutine, and the next caller would open a new connection in the meantime.
func (t *tracer) TraceRelease(_ *pgxpool.Pool, data pgxpool.TraceReleaseData) {
	if data.Conn.PgConn().CustomData()[demoted] == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	_ = data.Conn.Close(ctx) // the connection is dropped in any case
}

var (
	_ pgx.QueryTracer       = (*tracer)(nil)
	_ pgxpool.AcquireTracer = (*tracer)(nil)
	_ pgxpool.ReleaseTracer = (*tracer)(nil)
)
