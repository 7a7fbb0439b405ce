package telemetry

import (
	"io"
	"testing"

	"go.opentelemetry.io/otel/trace"
)

func newWithoutCollector(t *testing.T) *Telemetry {
	t.Helper()
	tel, err := New(t.Context(), Config{}, "quiet", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tel.Shutdown(t.Context()) })
	return tel
}

func TestWithoutCollectorSpansHaveIDs(t *testing.T) {
	t.Parallel()
	tel := newWithoutCollector(t)
	ctx, request := tel.Tracer.Start(t.Context(), "request")
	_, query := tel.Tracer.Start(ctx, "query")
	outer, inner := request.SpanContext(), query.SpanContext()
	if !outer.IsValid() || !inner.IsValid() || outer.IsRemote() {
		t.Fatalf("ids %v and %v", outer, inner)
	}
	if outer.TraceID() != inner.TraceID() || outer.SpanID() == inner.SpanID() {
		t.Errorf("%v does not lie below %v", inner, outer)
	}
	if request.IsRecording() || query.IsRecording() || outer.IsSampled() {
		t.Error("something is recorded")
	}
	if _, other := tel.Tracer.Start(t.Context(), "another"); other.SpanContext().TraceID() == outer.TraceID() {
		t.Error("two requests have one trace")
	}
}

func TestWithoutCollectorSamplingDecisionIsPropagated(t *testing.T) {
	t.Parallel()
	state, err := trace.ParseTraceState("vendor=1")
	if err != nil {
		t.Fatal(err)
	}
	caller := trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, TraceState: state,
		Remote: true,
	})
	_, span := newWithoutCollector(t).Tracer.Start(trace.ContextWithRemoteSpanContext(t.Context(), caller), "request")
	got := span.SpanContext()
	if got.TraceID() != caller.TraceID() || got.SpanID() == caller.SpanID() || !got.IsSampled() ||
		got.TraceState().Get("vendor") != "1" {
		t.Errorf("got %+v below %+v", got, caller)
	}
}

func BenchmarkSpanWithoutCollector(b *testing.B) {
	tel, err := New(b.Context(), Config{}, "quiet", io.Discard)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, span := tel.Tracer.Start(b.Context(), "request")
		span.End()
	}
}
