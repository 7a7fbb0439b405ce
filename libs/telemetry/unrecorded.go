package telemetry

import (
	"context"
	"encoding/binary"
	"math/rand/v2"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/embedded"
)

// unrecorded makes the spans of a service whose traces go nowhere: they have ids, which logs and answers carry, hand on
// what a caller decided, and record nothing. Every request, query and call begins one, and the SDK's spans cost more
// even where they are not sampled.
type unrecorded struct{ embedded.TracerProvider }

// Tracer returns the one tracer there is.
func (unrecorded) Tracer(string, ...trace.TracerOption) trace.Tracer { return idsOnly{} }

type idsOnly struct{ embedded.Tracer }

// Start begins nothing: it gives the context an id below its parent's, or below a new one.
func (idsOnly) Start(ctx context.Context, _ string, _ ...trace.SpanStartOption) (context.Context, trace.Span) {
	parent := trace.SpanContextFromContext(ctx)
	id := parent.TraceID()
	for !id.IsValid() {
		binary.BigEndian.PutUint64(id[:8], rand.Uint64()) //nolint:gosec // tells requests apart and guards nothing
		binary.BigEndian.PutUint64(id[8:], rand.Uint64()) //nolint:gosec // as above
	}
	var own trace.SpanID
	for !own.IsValid() {
		binary.BigEndian.PutUint64(own[:], rand.Uint64()) //nolint:gosec // as above
	}
	ctx = trace.ContextWithSpanContext(ctx, trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: id, SpanID: own, TraceFlags: parent.TraceFlags(), TraceState: parent.TraceState(),
	}))
	return ctx, trace.SpanFromContext(ctx)
}
