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

// Row is the measurement of one case. CPU time and allocations are per request, measured in the closed loop. Latencies
// are measured in the open loop, at half the throughput of the closed loop. Only the latencies of bookContested, the
// case with competing requests, are measured in the closed loop.
type Row struct {
	Name           string
	PerSecond      float64
	P50, P99, P999 time.Duration
	CPU            Usage         // per request
	Sessions       time.Duration // the part of CPU.Postgres that benchCase.sessions used; 0: not measured
	Allocs         float64       // allocations per request in the server that gets the requests
	Bytes          float64
	Resident       int64 // memory of the server that gets the requests, after the closed loop
	Statuses       map[int]int64
	IsBare         bool
	CallsSlotmesh  bool // true if the program of the comparison gets its answers from Slotmesh
}

// serverCPU returns the CPU time per request of the servers that take part in the answer.
func (r Row) serverCPU() time.Duration {
	switch {
	case r.CallsSlotmesh:
		return r.CPU.Bare + r.CPU.Slotmesh
	case r.IsBare:
		return r.CPU.Bare
	}
	return r.CPU.Slotmesh
}

// totalCPU returns the CPU time per request of the servers ([Row.serverCPU]) and of PostgreSQL and Redis.
func (r Row) totalCPU() time.Duration { return r.serverCPU() + r.CPU.Postgres + r.CPU.Redis }

func (w *system) measure(ctx context.Context, c benchCase) (Row, error) {
	row := Row{Name: c.name, IsBare: c.isBare, CallsSlotmesh: c.callsSlotmesh}
	if c.check != nil {
		if err := c.check(); err != nil {
			return row, err
		}
	}
	clients := c.clients
	if clients == 0 {
		clients = w.o.Clients
	}
	if _, err := closedLoop(ctx, clients, w.o.Duration/4, &w.requestNumber, c.send); err != nil { // warms up
		return row, err
	}
	inside, pid := w.addresses.Inside, w.slotmesh.pid()
	if c.isBare {
		inside, pid = w.bareAddresses.Inside, w.bare.pid()
	}
	closed, err := w.measureThroughput(ctx, c, clients, inside, &row)
	if err != nil {
		return row, err
	}
	row.Resident = readResident(pid)
	latency := closed
	if c.clients == 0 {
		if latency, err = openLoop(ctx, 4*clients, closed.PerSecond()/2, w.o.Duration, &w.requestNumber,
			c.send); err != nil {
			return row, err
		}
		if err := checkStatuses(c, latency); err != nil {
			return row, err
		}
	}
	at := func(percent float64) time.Duration {
		return time.Duration(latency.Latency.ValueAtQuantile(percent)) * time.Microsecond
	}
	row.P50, row.P99, row.P999 = at(50), at(99), at(99.9)
	return row, nil
}

// measureThroughput runs the closed loop, which measures the maximum throughput. measureThroughput stores the CPU time
// and the allocations of the loop in `row`.
func (w *system) measureThroughput(ctx context.Context, c benchCase, clients int, inside string,
	row *Row) (loopResult, error) {
	finish := w.recordProfiles(c, inside)
	before, err := w.readMemory(inside)
	if err != nil {
		return loopResult{}, err
	}
	sessions, err := w.readSessionCPU(ctx, c.sessions)
	if err != nil {
		return loopResult{}, err
	}
	used := w.meter.read()
	closed, err := closedLoop(ctx, clients, w.o.Duration, &w.requestNumber, c.send)
	if err != nil {
		return closed, err
	}
	used = w.meter.read().subtract(used)
	sessionsAfter, err := w.readSessionCPU(ctx, c.sessions)
	if err != nil {
		return closed, err
	}
	after, err := w.readMemory(inside)
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
	return closed, checkStatuses(c, closed)
}

// readSessionCPU returns the CPU time that the PostgreSQL sessions with this application_name have used since their
// start.
func (w *system) readSessionCPU(ctx context.Context, name string) (time.Duration, error) {
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
		total += readCPU(pid)
	}
	return total, err
}

func checkStatuses(c benchCase, f loopResult) error {
	for status, n := range f.Statuses {
		if !slices.Contains(c.allowedStatuses, status) {
			return fmt.Errorf("%d of %d answers are %d", n, f.Sent, status)
		}
	}
	return nil
}

func (w *system) readMemory(inside string) (Memory, error) {
	var m Memory
	body, err := w.http.get(call{Method: http.MethodGet, URL: inside + "/memory"})
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

var unsafeInNames = regexp.MustCompile(`[^a-z0-9]+`)

// recordProfiles records CPU and allocation profiles during a closed loop, if Options.ProfileDir is set. recordProfiles
// also records profiles of the bare program: the difference between the profiles of the two programs shows where
// Slotmesh could save CPU time or memory. The returned function waits until the profiles are written.
func (w *system) recordProfiles(c benchCase, inside string) func() error {
	if w.o.ProfileDir == "" {
		return func() error { return nil }
	}
	name := strings.Trim(unsafeInNames.ReplaceAllString(strings.ToLower(c.name), "-"), "-")
	var both errgroup.Group
	for kind, at := range map[string]string{"cpu": "profile", "allocs": "allocs"} {
		url := fmt.Sprintf("%s/debug/pprof/%s?seconds=%d", inside, at, max(1, int(w.o.Duration.Seconds())))
		both.Go(func() error { return w.saveURL(url, filepath.Join(w.o.ProfileDir, name+"."+kind+".pprof")) })
	}
	return both.Wait
}

func (w *system) saveURL(url, path string) error {
	body, err := w.http.get(call{Method: http.MethodGet, URL: url})
	if err != nil {
		return err
	}
	return os.WriteFile(path, body, 0o644)
}
