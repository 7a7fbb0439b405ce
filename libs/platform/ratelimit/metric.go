package ratelimit

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// inRedis, inProcess, remembered and inGuard are the values of the label `store` in the metric
// slotmesh.ratelimit.decisions. The label names the store that decided about a request. The value "remembered" means
// that this process already knew of a refusal, and did not call Redis. The value "guard" names the decisions of a Guard.
const inRedis, inProcess, remembered, inGuard = "redis", "local", "remembered", "guard"

// decisionMetric is the metric slotmesh.ratelimit.decisions.
type decisionMetric struct {
	decisions metric.Int64Counter
	labels    map[decisionLabel]metric.MeasurementOption
}

// decisionLabel holds the values of the labels `store` and `outcome`.
type decisionLabel struct {
	store   string
	allowed bool
}

func newDecisionMetric(tel *telemetry.Telemetry) decisionMetric {
	m := decisionMetric{
		decisions: tel.Counter("slotmesh.ratelimit.decisions",
			"Requests counted against a limit, by the store that counted and the outcome."),
		labels: map[decisionLabel]metric.MeasurementOption{},
	}
	for _, store := range []string{inRedis, inProcess, remembered, inGuard} {
		for allowed, outcome := range map[bool]string{true: "allowed", false: "refused"} {
			m.labels[decisionLabel{store, allowed}] = metric.WithAttributeSet(attribute.NewSet(attribute.String("store",
				store), attribute.String("outcome", outcome)))
		}
	}
	return m
}

func (m decisionMetric) count(ctx context.Context, store string, d Decision) {
	m.decisions.Add(ctx, 1, m.labels[decisionLabel{store, d.Allowed}])
}
