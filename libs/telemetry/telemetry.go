// Package telemetry sets up traces, metrics and logs of one service.
//
// Nothing is global: a process may hold several services, each with providers and a service.name of its own. Traces go
// out over OTLP when an endpoint is configured, metrics are scraped from the internal port, logs are JSON lines that
// carry the trace's id. Customer data belongs in none of the three.
package telemetry

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Config are the telemetry settings of a service.
type Config struct {
	// OTLPEndpoint is the base URL of an OTLP/HTTP collector; empty: traces are not sent.
	OTLPEndpoint string `env:"OTEL_EXPORTER_OTLP_ENDPOINT"`
	// LogLevel is debug, info, warn or error.
	LogLevel slog.Level `env:"LOG_LEVEL, default=info"`
}

// Validate refuses an endpoint that traces could not be sent to.
func (c *Config) Validate() error {
	if c.OTLPEndpoint == "" {
		return nil
	}
	if u, err := url.Parse(c.OTLPEndpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("OTEL_EXPORTER_OTLP_ENDPOINT: it is not the base URL of a collector; write one such as http://127.0.0.1:4318")
	}
	return nil
}

// Telemetry is what a service reports through.
type Telemetry struct {
	Logger         *slog.Logger
	TracerProvider trace.TracerProvider
	MeterProvider  metric.MeterProvider
	Propagator     propagation.TextMapPropagator
	Tracer         trace.Tracer
	Meter          metric.Meter

	registry *prometheus.Registry
	stop     []func(context.Context) error
}

// New sets up the telemetry of the named service; its log lines go to logs.
func New(ctx context.Context, cfg Config, service string, logs io.Writer) (*Telemetry, error) {
	res := resource.NewSchemaless(attribute.String("service.name", service))
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := otelprom.New(otelprom.WithRegisterer(registry))
	if err != nil {
		return nil, err
	}
	// Exemplars would be collected at every measurement, and nobody reads them from the text format.
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(reader),
		sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter))
	stop := []func(context.Context) error{meters.Shutdown}
	// Spans that go nowhere have ids all the same, which logs and answers carry, and hand on what a caller decided.
	tracing := []sdktrace.TracerProviderOption{sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.NeverSample()))}
	if cfg.OTLPEndpoint != "" {
		exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(cfg.OTLPEndpoint+"/v1/traces"))
		if err != nil {
			return nil, err
		}
		tracing = []sdktrace.TracerProviderOption{sdktrace.WithResource(res), sdktrace.WithBatcher(exporter)}
	}
	traces := sdktrace.NewTracerProvider(tracing...)
	stop = append(stop, traces.Shutdown)
	handler := slog.NewJSONHandler(logs, &slog.HandlerOptions{Level: cfg.LogLevel})
	t := assemble(slog.New(traceHandler{handler}).With("service", service), traces, meters)
	t.registry, t.stop = registry, stop
	return t, nil
}

// Stderr is where a service's log lines go by default.
func Stderr() io.Writer { return os.Stderr }

// Discard is telemetry that goes nowhere, for tests; its spans still have ids.
func Discard() *Telemetry {
	t := assemble(slog.New(slog.DiscardHandler), sdktrace.NewTracerProvider(), sdkmetric.NewMeterProvider())
	t.registry = prometheus.NewRegistry()
	return t
}

func assemble(logger *slog.Logger, traces trace.TracerProvider, meters metric.MeterProvider) *Telemetry {
	const scope = "github.com/slotmesh/slotmesh"
	return &Telemetry{
		Logger:         logger,
		TracerProvider: traces,
		MeterProvider:  meters,
		Propagator:     propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}),
		Tracer:         traces.Tracer(scope),
		Meter:          meters.Meter(scope),
	}
}

// Gatherer gives the metrics to a program that shows those of several services together.
func (t *Telemetry) Gatherer() prometheus.Gatherer { return t.registry }

// MetricsHandler serves the metrics in Prometheus's text format.
func (t *Telemetry) MetricsHandler() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{})
}

// Shutdown sends what is still buffered and stops.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	var errs []error
	for _, stop := range t.stop {
		errs = append(errs, stop(ctx))
	}
	return errors.Join(errs...)
}

// Counter returns a counter; a name that OpenTelemetry refuses is a fault of the program.
func (t *Telemetry) Counter(name, description string) metric.Int64Counter {
	counter, err := t.Meter.Int64Counter(name, metric.WithDescription(description))
	if err != nil {
		panic(err)
	}
	return counter
}

// Seconds returns a histogram of durations in seconds.
func (t *Telemetry) Seconds(name, description string) metric.Float64Histogram {
	histogram, err := t.Meter.Float64Histogram(name, metric.WithDescription(description), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10))
	if err != nil {
		panic(err)
	}
	return histogram
}

// traceHandler adds the current trace's ids to each log line.
type traceHandler struct{ slog.Handler }

func (h traceHandler) Handle(ctx context.Context, r slog.Record) error {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h traceHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return traceHandler{h.Handler.WithAttrs(attrs)}
}

func (h traceHandler) WithGroup(name string) slog.Handler {
	return traceHandler{h.Handler.WithGroup(name)}
}
