package ratelimit

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

// reportInterval is the time between two reports of a replica about the same client.
const reportInterval = time.Second

// minReported is the part of a limit from which a replica reports a client: 1/100. Ten replicas
// that report nothing about a client therefore let at most 10 % of the limit pass unnoticed.
const minReported = 100

// maxReports is the maximal number of windows in one report. The next report contains the others.
const maxReports = 4096

// Guard is a [Limiter] that decides without a call to any store (semantics.md §8, the general limit). It counts in the
// memory of this process. A replica therefore never lets more than N requests pass in a window.
//
// Once a second, a replica writes to Redis how many requests it received from each busy client, and reads what the
// other replicas wrote. If all replicas together received more than N requests, each lets its share of N pass: N times
// its own requests, divided by the requests of all replicas. If a client sends at a constant rate, all replicas together
// therefore let N requests pass, or up to 10 % more or fewer.
//
// While Redis is down, the numbers of the other replicas decrease to 0 within one window. Each replica then counts
// alone.
type Guard struct {
	local   *Local
	redis   redis.UniversalClient
	prefix  string
	replica string // identifies this process in the reports
	timeout time.Duration
	logger  *slog.Logger
	metric  decisionMetric
	isAlone bool // the last report failed
}

var _ Limiter = (*Guard)(nil)

// NewGuard returns a guard whose keys in Redis begin with `prefix`. A report fails if Redis does not answer within the
// duration `timeout`. [Guard.Run] sends the reports.
func NewGuard(now clock.Clock, client redis.UniversalClient, prefix string, timeout time.Duration,
	tel *telemetry.Telemetry) *Guard {
	local := NewLocal(now)
	local.isGuard = true
	return &Guard{local: local, redis: client, prefix: prefix, replica: uuid.NewString(), timeout: timeout,
		logger: tel.Logger, metric: newDecisionMetric(tel)}
}

// Allow counts a request in memory. It returns an error if ctx is done or the limit is invalid.
func (g *Guard) Allow(ctx context.Context, who Client, limit Limit) (Decision, error) {
	return decideSingle(ctx, g, Question{who, limit})
}

// AllowInTurn counts a request against several limits in memory. It returns the same errors as Allow.
func (g *Guard) AllowInTurn(ctx context.Context, questions ...Question) ([]Decision, error) {
	decisions, err := g.local.AllowInTurn(ctx, questions...)
	for _, d := range decisions {
		g.metric.count(ctx, inGuard, d)
	}
	return decisions, err
}

// Run exchanges reports with the other replicas once a second, until ctx ends. It logs when this fails first, and when
// it works again.
func (g *Guard) Run(ctx context.Context) error {
	return periodic.Job{Every: reportInterval, Do: func(ctx context.Context) error {
		isSent, err := g.Report(ctx)
		switch {
		case !isSent: // an idle replica does not know whether Redis answers
			return nil
		case err != nil && !g.isAlone && ctx.Err() == nil:
			g.logger.WarnContext(ctx, "Redis does not answer: general limits are counted by each replica alone", "error", err)
		case err == nil && g.isAlone:
			g.logger.InfoContext(ctx, "Redis answers again: general limits are counted by all replicas together")
		}
		g.isAlone = err != nil
		return nil
	}}.Run(ctx, g.logger)
}

// Report writes the requests of busy clients to Redis and reads those of the other replicas. It makes one round trip,
// or none if no client was busy. In a Redis cluster, it makes one round trip for each node. The first result is false if
// no client was busy.
func (g *Guard) Report(ctx context.Context) (bool, error) {
	busy := g.local.takeBusy()
	if len(busy) == 0 {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, g.timeout)
	defer cancel()
	now := g.local.clock.Now().UnixMilli()
	pipeline, answers := g.redis.Pipeline(), make([]*redis.MapStringStringCmd, len(busy))
	for i, w := range busy {
		key := g.findKey(w.windowKey)
		pipeline.HSet(ctx, key, g.replica, strconv.Itoa(w.requests)+" "+strconv.FormatInt(now, 10))
		pipeline.PExpire(ctx, key, w.length)
		answers[i] = pipeline.HGetAll(ctx, key)
	}
	if _, err := pipeline.Exec(ctx); err != nil {
		return true, fmt.Errorf("report requests to the other replicas: %w", err)
	}
	outdated := g.redis.Pipeline()
	for i, w := range busy {
		others := 0.0
		for replica, report := range answers[i].Val() {
			switch n := countReported(report, now, w.length); {
			case replica == g.replica:
			case n > 0:
				others += n
			default: // a replica that has stopped
				outdated.HDel(ctx, g.findKey(w.windowKey), replica)
			}
		}
		g.local.setOthers(w, others)
	}
	if outdated.Len() > 0 {
		_, _ = outdated.Exec(ctx) // the next report tries again
	}
	return true, nil
}

// findKey returns the key in Redis of the reports about a window. Its hash tag is that of the window's client.
func (g *Guard) findKey(w windowKey) string {
	return g.prefix + "{" + w.limit + ":" + w.group + "}" + w.share
}

// countReported returns how many of the reported requests are still in the window. A report has the form
// "<requests> <time in Unix milliseconds>". It counts less with age, as the reported requests leave the window.
func countReported(report string, now int64, length time.Duration) float64 {
	requests, at, _ := strings.Cut(report, " ")
	n, err := strconv.Atoi(requests)
	when, errAt := strconv.ParseInt(at, 10, 64)
	if err != nil || errAt != nil {
		return 0
	}
	return float64(n) * remainingShare(time.Duration(now-when)*time.Millisecond, length)
}

// remainingShare returns the share of requests, counted at an age, that is still in a window of the given length.
func remainingShare(age, length time.Duration) float64 {
	return min(1, max(0, 1-float64(age)/float64(length)))
}

// busyWindow is a window that the next report contains.
type busyWindow struct {
	windowKey
	length   time.Duration
	requests int // in the last window
}

// demand is the number of requests to all replicas, whether they passed or not.
type demand struct {
	bucket            int64 // number of the current bucket; buckets are as long as the window
	current, previous int
	others            float64       // requests to other replicas
	othersAt          time.Duration // time at which the field `others` was computed
	isBusy            bool          // the next report contains the window
}

func (d *demand) add(now, length time.Duration) {
	bucket := int64(now / length)
	switch bucket {
	case d.bucket:
	case d.bucket + 1:
		d.previous, d.current = d.current, 0
	default:
		d.previous, d.current = 0, 0
	}
	d.bucket = bucket
	d.current++
}

// countOwn returns the number of requests to this replica in the last window. It assumes that the requests of the
// previous bucket arrived at a constant rate.
func (d *demand) countOwn(now, length time.Duration) float64 {
	return float64(d.current) + float64(d.previous)*remainingShare(now%length, length)
}

// findQuota counts a request in the demand for a window and returns how many requests may pass in the window.
func (l *Local) findQuota(key windowKey, w *window, n int, length, now time.Duration) int {
	if !l.isGuard {
		return n
	}
	if w.demand == nil {
		w.demand = &demand{}
	}
	d := w.demand
	d.add(now, length)
	own := d.countOwn(now, length)
	if !d.isBusy && own*minReported >= float64(n) && len(l.busy) < maxLocalKeys {
		d.isBusy = true
		l.busy = append(l.busy, busyWindow{windowKey: key, length: length})
	}
	others := d.others * remainingShare(now-d.othersAt, length)
	if others == 0 || own+others <= float64(n) {
		return n
	}
	return max(1, int(float64(n)*own/(own+others)))
}

// takeBusy returns the windows of the next report.
func (l *Local) takeBusy() []busyWindow {
	l.mu.Lock()
	defer l.mu.Unlock()
	now, taken := l.now(), l.busy[:min(len(l.busy), maxReports)]
	l.busy = l.busy[len(taken):]
	if len(l.busy) == 0 {
		l.busy = nil
	}
	live := taken[:0]
	for _, b := range taken {
		if w, ok := l.windows.Peek(b.windowKey); ok && w.demand != nil {
			w.demand.isBusy = false
			b.requests = int(w.demand.countOwn(now, b.length))
			live = append(live, b)
		}
	}
	return live
}

func (l *Local) setOthers(b busyWindow, requests float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, ok := l.windows.Peek(b.windowKey); ok && w.demand != nil {
		w.demand.others, w.demand.othersAt = requests, l.now()
	}
}
