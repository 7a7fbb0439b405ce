package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// Row is the measurement of one case. CPU time and allocations are per request, measured in the closed
// loop. Latencies are measured in the open loop, at half the throughput of the closed loop. Only the
// case with competing requests (bookHot) has latencies of the closed loop.
type Row struct {
	Name           string
	PerSecond      float64
	P50, P99, P999 time.Duration
	CPU            Usage         // per request
	Sessions       time.Duration // the part of CPU.Postgres that the case's own sessions took; 0: not measured
	Allocs         float64       // of the requested server, per request
	Bytes          float64
	Resident       int64 // of the requested server, after the closed loop
	Statuses       map[int]int64
	Bare           bool
	Behind         bool // the bare program called Slotmesh
}

// server returns the CPU time of the processes that answer.
func (r Row) server() time.Duration {
	switch {
	case r.Behind:
		return r.CPU.Bare + r.CPU.Slotmesh
	case r.Bare:
		return r.CPU.Bare
	}
	return r.CPU.Slotmesh
}

// everything returns the CPU time per request of the servers ([Row.server]) and of PostgreSQL and Redis.
func (r Row) everything() time.Duration { return r.server() + r.CPU.Postgres + r.CPU.Redis }

func (w *world) measure(ctx context.Context, c aCase) (Row, error) {
	row := Row{Name: c.name, Bare: c.bare, Behind: c.behind}
	if c.check != nil {
		if err := c.check(); err != nil {
			return row, err
		}
	}
	clients := c.clients
	if clients == 0 {
		clients = w.o.Clients
	}
	if _, err := closedLoop(ctx, clients, w.o.Duration/4, &w.number, c.shot); err != nil { // warm up
		return row, err
	}
	inside, pid := w.at.Inside, w.slotmesh.pid()
	if c.bare {
		inside, pid = w.bareAt.Inside, w.bare.pid()
	}
	closed, err := w.ceiling(ctx, c, clients, inside, &row)
	if err != nil {
		return row, err
	}
	row.Resident = resident(pid)
	latency := closed
	if c.clients == 0 {
		if latency, err = openLoop(ctx, 4*clients, closed.PerSecond()/2, w.o.Duration, &w.number, c.shot); err != nil {
			return row, err
		}
		if err := onlyAllowed(c, latency); err != nil {
			return row, err
		}
	}
	at := func(percent float64) time.Duration {
		return time.Duration(latency.Latency.ValueAtQuantile(percent)) * time.Microsecond
	}
	row.P50, row.P99, row.P999 = at(50), at(99), at(99.9)
	return row, nil
}

// ceiling runs the closed loop, which measures the maximum throughput, and stores its CPU time and allocations in row.
func (w *world) ceiling(ctx context.Context, c aCase, clients int, inside string, row *Row) (firing, error) {
	finish := w.profile(c, inside)
	before, err := w.memory(inside)
	if err != nil {
		return firing{}, err
	}
	sessions, err := w.sessions(ctx, c.sessions)
	if err != nil {
		return firing{}, err
	}
	used := w.meter.read()
	closed, err := closedLoop(ctx, clients, w.o.Duration, &w.number, c.shot)
	if err != nil {
		return closed, err
	}
	used = w.meter.read().minus(used)
	sessionsAfter, err := w.sessions(ctx, c.sessions)
	if err != nil {
		return closed, err
	}
	after, err := w.memory(inside)
	if err != nil {
		return closed, err
	}
	if err := finish(); err != nil {
		return closed, err
	}
	each := func(d time.Duration) time.Duration { return d / time.Duration(max(1, closed.Sent)) }
	row.PerSecond, row.Statuses = closed.PerSecond(), closed.Statuses
	row.Sessions = each(sessionsAfter - sessions)
	row.CPU = Usage{each(used.Slotmesh), each(used.Bare), each(used.Postgres), each(used.Redis)}
	row.Allocs = float64(after.Mallocs-before.Mallocs) / float64(closed.Sent)
	row.Bytes = float64(after.Bytes-before.Bytes) / float64(closed.Sent)
	return closed, onlyAllowed(c, closed)
}

// sessions returns the CPU time of PostgreSQL's sessions with this application_name since their start.
func (w *world) sessions(ctx context.Context, name string) (time.Duration, error) {
	if name == "" {
		return 0, nil
	}
	rows, err := w.pool.Query(ctx, `SELECT pid FROM pg_stat_activity WHERE application_name = $1`, name)
	if err != nil {
		return 0, err
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	var total time.Duration
	for _, pid := range pids {
		total += own(pid)
	}
	return total, err
}

func onlyAllowed(c aCase, f firing) error {
	for status, n := range f.Statuses {
		if !slices.Contains(c.allowed, status) {
			return fmt.Errorf("%d of %d answers are %d", n, f.Sent, status)
		}
	}
	return nil
}

func (w *world) memory(inside string) (Memory, error) {
	var m Memory
	body, err := w.http.get(call{Method: http.MethodGet, URL: inside + "/memory"})
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

var unsafeInNames = regexp.MustCompile(`[^a-z0-9]+`)

// profile records CPU and allocation profiles of a closed loop, if profiles are enabled. It also does
// so for the bare programs, because the difference between their profiles and Slotmesh's shows what
// could be saved. The returned function waits for the profiles.
func (w *world) profile(c aCase, inside string) func() error {
	if w.o.ProfileDir == "" {
		return func() error { return nil }
	}
	name := strings.Trim(unsafeInNames.ReplaceAllString(strings.ToLower(c.name), "-"), "-")
	var both errgroup.Group
	for kind, at := range map[string]string{"cpu": "profile", "allocs": "allocs"} {
		url := fmt.Sprintf("%s/debug/pprof/%s?seconds=%d", inside, at, max(1, int(w.o.Duration.Seconds())))
		both.Go(func() error { return w.save(url, filepath.Join(w.o.ProfileDir, name+"."+kind+".pprof")) })
	}
	return both.Wait
}

func (w *world) save(url, path string) error {
	body, err := w.http.get(call{Method: http.MethodGet, URL: url})
	if err != nil {
		return err
	}
	return os.WriteFile(path, body, 0o644)
}
