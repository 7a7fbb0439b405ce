// Package telemetry sets up the traces, metrics and logs of one service. It has no global state.
// A process may run several services, each with its own providers and its own service.name.
//
// Traces are sent over OTLP if an endpoint is configured. Prometheus reads the metrics from the internal
// port. Logs are JSON lines with the trace id. Traces, metrics and logs must not contain data of customers.
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

	"github.com/slotmesh/slotmesh/libs/platform/build"
)

// Config holds the settings for the telemetry of a service.
type Config struct {
	// OTLPEndpoint is the base URL of an OTLP/HTTP collector. If it is empty, no traces are sent.
	OTLPEndpoint string `env:"OTEL_EXPORTER_OTLP_ENDPOINT"`
	// LogLevel is the lowest level that is logged: debug, info, warn or error.
	LogLevel slog.Level `env:"LOG_LEVEL, default=info"`
}

// Validate returns an error if the endpoint is not a base URL.
func (c *Config) Validate() error {
	if c.OTLPEndpoint == "" {
		return nil
	}
	if u, err := url.Parse(c.OTLPEndpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("OTEL_EXPORTER_OTLP_ENDPOINT: it is not the base URL of a collector; write one such as " +
			"http://127.0.0.1:4318")
	}
	return nil
}

// Telemetry holds the logger, tracer and meter of a service.
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

// New sets up the telemetry of the service with this name. It writes log lines to the argument `logs`.
func New(ctx context.Context, cfg Config, service string, logs io.Writer) (*Telemetry, error) {
	res := resource.NewSchemaless(attribute.String("service.name", service))
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newBuildInfo())
	reader, err := otelprom.New(otelprom.WithRegisterer(registry))
	if err != nil {
		return nil, err
	}
	// Exemplars cost time at every measurement, and the text format of Prometheus does not contain them.
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithResource(res), sdkmetric.WithReader(reader),
		sdkmetric.WithExemplarFilter(exemplar.AlwaysOffFilter))
	stop := []func(context.Context) error{meters.Shutdown}
	// Spans are not exported, but they have ids for logs and answers.
	// They also pass on the sampling decision of the caller.
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
	t := newTelemetry(slog.New(traceHandler{handler}).With("service", service), traces, meters)
	t.registry, t.stop = registry, stop
	return t, nil
}

// newBuildInfo returns the metric slotmesh_build_info. It is always 1, and its labels name the version of the program.
func newBuildInfo() prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name:        "slotmesh_build_info",
		Help:        "Always 1; its labels name the version of the program.",
		ConstLabels: prometheus.Labels{"version": build.Release(), "build": build.Version()},
	}, func() float64 { return 1 })
}

// Stderr returns the writer for log lines that programs use by default.
func Stderr() io.Writer { return os.Stderr }

// Discard returns telemetry for tests. It exports nothing, but spans have ids.
func Discard() *Telemetry {
	t := newTelemetry(slog.New(slog.DiscardHandler), sdktrace.NewTracerProvider(), sdkmetric.NewMeterProvider())
	t.registry = prometheus.NewRegistry()
	return t
}

func newTelemetry(logger *slog.Logger, traces trace.TracerProvider, meters metric.MeterProvider) *Telemetry {
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

// Gatherer returns the metrics of this service. A program that runs several services combines the metrics of all
// services.
func (t *Telemetry) Gatherer() prometheus.Gatherer { return t.registry }

// MetricsHandler returns an HTTP handler that sends the metrics in the text format of Prometheus.
func (t *Telemetry) MetricsHandler() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{})
}

// Shutdown exports buffered data and stops the providers. It returns an error if ctx ends first.
func (t *Telemetry) Shutdown(ctx context.Context) error {
	var errs []error
	for _, stop := range t.stop {
		errs = append(errs, stop(ctx))
	}
	return errors.Join(errs...)
}

// Counter returns a counter metric. It panics if the name is invalid.
func (t *Telemetry) Counter(name, description string) metric.Int64Counter {
	counter, err := t.Meter.Int64Counter(name, metric.WithDescription(description))
	if err != nil {
		panic(err)
	}
	return counter
}

// Seconds returns a histogram metric of durations in seconds. It panics if the name is invalid.
func (t *Telemetry) Seconds(name, description string) metric.Float64Histogram {
	histogram, err := t.Meter.Float64Histogram(name, metric.WithDescription(description), metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10))
	if err != nil {
		panic(err)
	}
	return histogram
}

// traceHandler is a log handler that adds the ids of the current trace and span to each line.
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
