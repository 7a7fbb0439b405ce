package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// load reads and books at a constant rate and records every answer.
type load struct {
	cluster   cluster
	front     frontClient
	slug      string
	keys      []string // each may book a hundred times a minute
	freeSlots []booking

	betweenReads, betweenBookings time.Duration

	mu         sync.Mutex
	failures   []string
	recordOnce sync.Once
	trouble    string // logs at the first failed or uncomputed answer
	reads      int
	slots      int                // reads of them
	created    map[string]booking // by the booking's id
	refused    int
	degraded   int // answers of slots that were not computed, which the public API allows
	durations  []time.Duration
}

// slowDown reduces the rate to a fifth, for a machine that also runs a proxy for each pod.
func (l *load) slowDown() *load {
	l.betweenReads, l.betweenBookings = 5*l.betweenReads, 5*l.betweenBookings
	return l
}

// runDuring runs the load while work runs.
func (l *load) runDuring(t *testing.T, work func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	every := func(pause time.Duration, act func(n int)) {
		running.Go(func() {
			tick := time.NewTicker(pause)
			defer tick.Stop()
			for n := 0; ; n++ {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					running.Go(func() { act(n) })
				}
			}
		})
	}
	// Requests that were sent are completed: ctx only ends the sending.
	background := context.WithoutCancel(t.Context())
	every(l.betweenReads, func(n int) { l.readOnce(background, n) })
	every(l.betweenBookings, func(n int) { l.bookOnce(background, n) })
	work()
	stop()
	running.Wait()
}

// recordTrouble records the logs of the services once. After the load, their pods may be gone.
func (l *load) recordTrouble(ctx context.Context) {
	l.recordOnce.Do(func() {
		output := l.cluster.readTrouble(ctx)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.trouble = output
	})
}

// readTrouble returns recent warnings and errors in the logs of booking, availability and pricing, and lists the pods.
func (c cluster) readTrouble(ctx context.Context) string {
	ask := func(args ...string) string {
		out, err := c.tryRun(ctx, nil, "kubectl", append([]string{"--namespace", namespace}, args...)...)
		if err != nil {
			out += err.Error() + "\n"
		}
		return out
	}
	var output strings.Builder
	for line := range strings.Lines(ask("logs", "--selector",
		"app.kubernetes.io/component in (booking,availability,pricing)", "--all-containers", "--prefix",
		"--since=20s", "--tail=-1", "--ignore-errors")) {
		// log lines of the services and of the proxies
		if !strings.Contains(line, `"level":"INFO"`) && !strings.Contains(line, "\tinfo\t") {
			output.WriteString(line)
		}
	}
	return output.String() + ask("get", "pods,endpointslices", "--output", "wide")
}

func (l *load) readOnce(ctx context.Context, n int) {
	date := time.Now().AddDate(0, 0, 1+n%14).Format(time.DateOnly)
	paths := []string{"/info", "/services", "/staff", "/events", "/rentals", "/slots?date=" + date + "&service_id=" +
		l.freeSlots[0].service}
	path := paths[n%len(paths)]
	var body struct{ Computed *bool }
	start := time.Now()
	err := l.front.readJSON(ctx, l.slug+path, &body)
	if err != nil || body.Computed != nil && !*body.Computed {
		defer l.recordTrouble(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	l.durations = append(l.durations, time.Since(start))
	switch {
	case err != nil:
		l.recordFailure(err.Error())
	case body.Computed != nil:
		l.slots++
		if !*body.Computed {
			l.degraded++
		}
	}
}

// bookOnce books every seventh time twice, so that the second attempt is refused.
func (l *load) bookOnce(ctx context.Context, n int) {
	b := l.freeSlots[(n-n/8)%len(l.freeSlots)]
	start := time.Now()
	a, err := l.front.book(ctx, l.slug, l.keys[n%len(l.keys)], b)
	if err != nil || a.status != http.StatusCreated && a.status != http.StatusConflict {
		defer l.recordTrouble(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.durations = append(l.durations, time.Since(start))
	switch {
	case err != nil:
		l.recordFailure("booking: " + err.Error())
	case a.status == http.StatusCreated:
		id, err := parseBookingID(a)
		if err != nil {
			l.recordFailure(err.Error())
		}
		l.created[id] = b
	case a.status == http.StatusConflict:
		l.refused++
	default:
		l.recordFailure(fmt.Sprintf("booking %s %s answered %v", b.date, b.time, a))
	}
}

// recordFailure records a failure with its time.
func (l *load) recordFailure(what string) {
	l.failures = append(l.failures, time.Now().UTC().Format(time.TimeOnly)+" "+what)
}

// countSold returns the number of bookings that were answered with 201 so far.
func (l *load) countSold() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.created)
}

// newLoad creates a business with more free times than the load will book.
func newLoad(t *testing.T, c cluster, f frontClient, slug string) *load {
	t.Helper()
	o := c.connectOwner(t)
	o.publish(t, slug, 10)
	l := &load{
		cluster: c, front: f, slug: slug, created: make(map[string]booking),
		betweenReads: 40 * time.Millisecond, betweenBookings: 250 * time.Millisecond,
	}
	for range 6 {
		l.keys = append(l.keys, o.createKey(t, slug))
	}
	waitFor(t, "free times of "+slug, func() error {
		free, err := f.listFree(t.Context(), slug)
		l.freeSlots = free
		return err
	})
	// Sorted by staff, so that the load covers all days.
	slices.SortStableFunc(l.freeSlots, func(a, b booking) int {
		return strings.Compare(a.staff+a.time, b.staff+b.time)
	})
	return l
}

// compare compares the recorded answers with the bookings that the owner sees.
func (l *load) compare(t *testing.T, o owner) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	t.Logf("%d reads (%d of slots, %d of these not computed), %d bookings made, %d refused, %d failed", l.reads,
		l.slots, l.degraded, len(l.created), l.refused, len(l.failures))
	if slices.Sort(l.durations); len(l.durations) > 0 {
		t.Logf("half of the answers came within %v, 99 of 100 within %v, all within %v",
			l.durations[len(l.durations)/2],
			l.durations[len(l.durations)*99/100], l.durations[len(l.durations)-1])
	}
	for _, f := range l.failures[:min(len(l.failures), 20)] {
		t.Error(f)
	}
	if l.trouble != "" {
		t.Log("when something failed or was not computed for the first time, there was:\n" + l.trouble)
	}
	if len(l.created) == 0 || l.slots == 0 {
		t.Fatal("the load did nothing")
	}
	if l.degraded > l.slots/10 {
		t.Errorf("%d of %d answers of slots were not computed", l.degraded, l.slots)
	}
	rows := make(map[string]ownerBooking)
	for _, r := range o.listBookings(t, l.slug) {
		rows[r.ID] = r
	}
	if len(rows) != len(l.created) {
		t.Errorf("%d bookings were answered with 201, the owner sees %d", len(l.created), len(rows))
	}
	for id, b := range l.created {
		if r, ok := rows[id]; !ok || r.Date != b.date || r.StartTime[:5] != b.time {
			t.Errorf("booking %s of %s %s: the owner sees %+v", id, b.date, b.time, r)
		}
	}
	busy := make(map[booking]string)
	for id, b := range l.created {
		if other, ok := busy[b]; ok {
			t.Errorf("%+v was sold twice: %s and %s", b, id, other)
		}
		busy[b] = id
	}
}

// killPods deletes this number of pods while the load runs, one after each pause, as the drain or loss of a node would.
// It only deletes a pod of a service that has another ready pod.
func (c cluster) killPods(t *testing.T, l *load, pods int, pause time.Duration) {
	killed := make(map[string]int)
	l.runDuring(t, func() {
		next := time.NewTicker(pause)
		defer next.Stop()
		for n := range pods {
			<-next.C
			ready := make(map[string][]string)
			for _, p := range c.listPods(t) {
				if p.isReady() && slices.Contains(services, p.findComponent()) {
					ready[p.findComponent()] = append(ready[p.findComponent()], p.Metadata.Name)
				}
			}
			for i := range services {
				name := services[(n+i)%len(services)]
				if len(ready[name]) < 2 {
					continue
				}
				c.kubectl(t, "delete", "pod", ready[name][n%len(ready[name])], "--wait=false")
				killed[name]++
				break
			}
		}
		c.awaitRollout(t)
	})
	t.Logf("pods killed: %v", killed)
	for _, name := range services {
		if killed[name] == 0 {
			t.Errorf("no pod of %s was killed, because there were never two ready pods", name)
		}
	}
	l.compare(t, c.connectOwner(t))
}
