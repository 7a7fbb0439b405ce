package telemetry

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// spanCollector records the received spans and the resource attributes of their processes. A span may arrive twice.
type spanCollector struct {
	mu    sync.Mutex
	spans map[string]bool // by their ids
	of    map[string]string
}

func (r *spanCollector) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body) // an incomplete body is not a message
	var traces collector.ExportTraceServiceRequest
	if proto.Unmarshal(body, &traces) != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, from := range traces.ResourceSpans {
		for _, attribute := range from.Resource.Attributes {
			r.of[attribute.Key] = attribute.Value.GetStringValue()
		}
		for _, scope := range from.ScopeSpans {
			for _, span := range scope.Spans {
				r.spans[string(span.SpanId)] = true
			}
		}
	}
}

// exportSpans returns the spans of a thousand traces.
func exportSpans(t *testing.T) *spanCollector {
	t.Helper()
	r := &spanCollector{spans: map[string]bool{}, of: map[string]string{}}
	collects := httptest.NewServer(r)
	defer collects.Close()
	tel, err := New(t.Context(), Config{OTLPEndpoint: collects.URL}, "sampled", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		_, span := tel.Tracer.Start(t.Context(), "request")
		span.End()
	}
	if err := tel.Shutdown(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	return r
}

// The chart sets variables that OpenTelemetry's library reads itself. No code of this package may override them.
func TestSamplerFollowsEnvironment(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
	// A result outside 350 of the mean would be nine standard deviations away.
	for share, within := range map[string][2]int{"1": {1000, 1000}, "0": {0, 0}, "0.5": {350, 650}} {
		t.Setenv("OTEL_TRACES_SAMPLER_ARG", share)
		if got := len(exportSpans(t).spans); got < within[0] || got > within[1] {
			t.Errorf("share %q: %d of 1000 are sent", share, got)
		}
	}
}

func TestSpansHaveResourceAttributes(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.version=1.2.3,k8s.pod.name=booking-1,service.name=another")
	got := exportSpans(t).of
	for name, want := range map[string]string{"service.name": "sampled", "service.version": "1.2.3",
		"k8s.pod.name": "booking-1"} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
}
