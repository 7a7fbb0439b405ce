package feed

import (
	"context"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// lag is a gauge of the delay of a feed's reader. Every replica reports the delay that it reads from the feed's row,
// even if another replica reads the feed.
type lag struct {
	caughtUp atomic.Int64 // the time until which all events are processed, in Unix nanoseconds; 0: unknown
}

func newLag(tel *telemetry.Telemetry, now clock.Clock, attrs metric.MeasurementOption) (*lag, error) {
	gauge, err := tel.Meter.Float64ObservableGauge("slotmesh.notifications.feed.lag", metric.WithUnit("s"),
		metric.WithDescription("Age of the moment until which the events of a feed were taken."))
	if err != nil {
		return nil, err
	}
	l := &lag{}
	_, err = tel.Meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		if until := l.caughtUp.Load(); until != 0 {
			o.ObserveFloat64(gauge, max(0, now.Now().Sub(time.Unix(0, until)).Seconds()), attrs)
		}
		return nil
	}, gauge)
	return l, err
}

func (l *lag) set(until time.Time) { l.caughtUp.Store(until.UnixNano()) }
