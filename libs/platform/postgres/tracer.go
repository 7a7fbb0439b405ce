package postgres

import (
	"context"
	"time"

	"github.com/exaring/otelpgx"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/platform/postgres/sqlstate"
)

// tracer extends the tracer of otelpgx. It bounds the wait for a connection from the pool, and closes connections to a
// server that is no longer the primary. pgx calls the methods of the tracer at the corresponding events.
type tracer struct {
	*otelpgx.Tracer
	acquire time.Duration
}

type cancelKey struct{}

// TraceAcquireStart limits the wait for a connection to the duration `acquire`.
func (t *tracer) TraceAcquireStart(ctx context.Context, pool *pgxpool.Pool,
	data pgxpool.TraceAcquireStartData) context.Context {
	bounded, cancel := context.WithTimeout(t.Tracer.TraceAcquireStart(ctx, pool, data), t.acquire)
	return context.WithValue(bounded, cancelKey{}, cancel)
}

// TraceAcquireEnd stops the timer that [tracer.TraceAcquireStart] started.
func (t *tracer) TraceAcquireEnd(ctx context.Context, pool *pgxpool.Pool, data pgxpool.TraceAcquireEndData) {
	t.Tracer.TraceAcquireEnd(ctx, pool, data)
	if cancel, ok := ctx.Value(cancelKey{}).(context.CancelFunc); ok {
		cancel()
	}
}

// demoted is the key that marks a connection to a server that is no longer the primary after a failover.
const demoted = "slotmesh.demoted"

// TraceQueryEnd marks a connection if its server refused a write because the server accepts only reads.
func (t *tracer) TraceQueryEnd(ctx context.Context, conn *pgx.Conn, data pgx.TraceQueryEndData) {
	t.Tracer.TraceQueryEnd(ctx, conn, data)
	if sqlstate.Of(data.Err) == sqlstate.ReadOnly {
		conn.PgConn().CustomData()[demoted] = true
	}
}

// TraceRelease closes a marked connection, so that the connection does not return to the pool. The release hook of the
// pool is not used, because it would run in a goroutine for every connection. Until the goroutine has finished, the
// next caller would have to open a new connection.
func (t *tracer) TraceRelease(_ *pgxpool.Pool, data pgxpool.TraceReleaseData) {
	if data.Conn.PgConn().CustomData()[demoted] == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	_ = data.Conn.Close(ctx) // the pool drops the connection in any case
}

var (
	_ pgx.QueryTracer       = (*tracer)(nil)
	_ pgxpool.AcquireTracer = (*tracer)(nil)
	_ pgxpool.ReleaseTracer = (*tracer)(nil)
)
