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

// load reads and books at a steady pace until it is stopped, and keeps account of every answer.
type load struct {
	cluster cluster
	front   front
	slug    string
	keys    []string // each may book a hundred times a minute
	free    []booking

	betweenReads, betweenBookings time.Duration

	mu       sync.Mutex
	failures []string
	saying   sync.Once
	said     string // by the services, when something had failed or was not computed for the first time
	reads    int
	slots    int                // reads of them
	created  map[string]booking // by the booking's id
	refused  int
	degraded int // slots that were not computed: an answer that the interface describes
	took     []time.Duration
}

// gently makes the load a fifth of what it is, for a machine that has a proxy to run beside every pod.
func (l *load) gently() *load {
	l.betweenReads, l.betweenBookings = 5*l.betweenReads, 5*l.betweenBookings
	return l
}

// during runs the load while work is done.
func (l *load) during(t *testing.T, work func()) {
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
	// What has been sent is waited for: only the pace ends with ctx.
	background := context.WithoutCancel(t.Context())
	every(l.betweenReads, func(n int) { l.readOnce(background, n) })
	every(l.betweenBookings, func(n int) { l.bookOnce(background, n) })
	work()
	stop()
	running.Wait()
}

// listen keeps, once, what the services have said of the trouble: when the load is over, their pods may be gone.
func (l *load) listen(ctx context.Context) {
	l.saying.Do(func() {
		said := l.cluster.trouble(ctx)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.said = said
	})
}

// trouble is what those who decide on bookings have logged of late that is more than news, and which pods there are.
func (c cluster) trouble(ctx context.Context) string {
	ask := func(args ...string) string {
		out, err := c.try(ctx, nil, "kubectl", append([]string{"--namespace", namespace}, args...)...)
		if err != nil {
			out += err.Error() + "\n"
		}
		return out
	}
	var said strings.Builder
	for line := range strings.Lines(ask("logs", "--selector",
		"app.kubernetes.io/component in (booking,availability,pricing)", "--all-containers", "--prefix",
		"--since=20s", "--tail=-1", "--ignore-errors")) {
		if !strings.Contains(line, `"level":"INFO"`) && !strings.Contains(line, "\tinfo\t") { // ours, and the proxies'
			said.WriteString(line)
		}
	}
	return said.String() + ask("get", "pods,endpointslices", "--output", "wide")
}

func (l *load) readOnce(ctx context.Context, n int) {
	date := time.Now().AddDate(0, 0, 1+n%14).Format(time.DateOnly)
	paths := []string{"/info", "/services", "/staff", "/events", "/rentals", "/slots?date=" + date + "&service_id=" +
		l.free[0].service}
	path := paths[n%len(paths)]
	var body struct{ Computed *bool }
	begun := time.Now()
	err := l.front.read(ctx, l.slug+path, &body)
	if err != nil || body.Computed != nil && !*body.Computed {
		defer l.listen(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	l.took = append(l.took, time.Since(begun))
	switch {
	case err != nil:
		l.fail(err.Error())
	case body.Computed != nil:
		l.slots++
		if !*body.Computed {
			l.degraded++
		}
	}
}

// bookOnce takes every seventh time twice, so that the second is refused.
func (l *load) bookOnce(ctx context.Context, n int) {
	b := l.free[(n-n/8)%len(l.free)]
	begun := time.Now()
	a, err := l.front.book(ctx, l.slug, l.keys[n%len(l.keys)], b)
	if err != nil || a.status != http.StatusCreated && a.status != http.StatusConflict {
		defer l.listen(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, time.Since(begun))
	switch {
	case err != nil:
		l.fail("booking: " + err.Error())
	case a.status == http.StatusCreated:
		id, err := bookingID(a)
		if err != nil {
			l.fail(err.Error())
		}
		l.created[id] = b
	case a.status == http.StatusConflict:
		l.refused++
	default:
		l.fail(fmt.Sprintf("booking %s %s answered %v", b.date, b.time, a))
	}
}

// fail keeps account of a failure, and of when it was.
func (l *load) fail(what string) {
	l.failures = append(l.failures, time.Now().UTC().Format(time.TimeOnly)+" "+what)
}

// sold is how many bookings were answered with 201 so far.
func (l *load) sold() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.created)
}

// newLoad makes a business with more free times than the load will take.
func newLoad(t *testing.T, c cluster, f front, slug string) *load {
	t.Helper()
	o := c.owner(t)
	o.publish(t, slug, 10)
	l := &load{
		cluster: c, front: f, slug: slug, created: make(map[string]booking),
		betweenReads: 40 * time.Millisecond, betweenBookings: 250 * time.Millisecond,
	}
	for range 6 {
		l.keys = append(l.keys, o.key(t, slug))
	}
	soon(t, "free times of "+slug, func() error {
		free, err := f.free(t.Context(), slug)
		l.free = free
		return err
	})
	// Staff by staff, so that the load spreads over all days.
	slices.SortStableFunc(l.free, func(a, b booking) int { return strings.Compare(a.staff+a.time, b.staff+b.time) })
	return l
}

// compare holds what the load was told against what the owner sees.
func (l *load) compare(t *testing.T, o owner) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	t.Logf("%d reads (%d of slots, %d of these not computed), %d bookings made, %d refused, %d failed", l.reads,
		l.slots, l.degraded, len(l.created), l.refused, len(l.failures))
	if slices.Sort(l.took); len(l.took) > 0 {
		t.Logf("half of the answers came within %v, 99 of 100 within %v, all within %v", l.took[len(l.took)/2],
			l.took[len(l.took)*99/100], l.took[len(l.took)-1])
	}
	for _, f := range l.failures[:min(len(l.failures), 20)] {
		t.Error(f)
	}
	if l.said != "" {
		t.Log("when something failed or was not computed for the first time, there was:\n" + l.said)
	}
	if len(l.created) == 0 || l.slots == 0 {
		t.Fatal("the load did nothing")
	}
	if l.degraded > l.slots/10 {
		t.Errorf("%d of %d answers of slots were not computed", l.degraded, l.slots)
	}
	rows := make(map[string]row)
	for _, r := range o.booked(t, l.slug) {
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
	taken := make(map[booking]string)
	for id, b := range l.created {
		if other, ok := taken[b]; ok {
			t.Errorf("%+v was sold twice: %s and %s", b, id, other)
		}
		taken[b] = id
	}
}

// killings deletes so many pods, one at each pause's end, while the load runs, as a drained or lost node would: always
// one of a service that has another which is ready.
func (c cluster) killings(t *testing.T, l *load, pods int, pause time.Duration) {
	killed := make(map[string]int)
	l.during(t, func() {
		next := time.NewTicker(pause)
		defer next.Stop()
		for n := range pods {
			<-next.C
			ready := make(map[string][]string)
			for _, p := range c.pods(t) {
				if p.ready() && slices.Contains(services, p.component()) {
					ready[p.component()] = append(ready[p.component()], p.Metadata.Name)
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
			t.Errorf("no pod of %s was killed: none had a ready one beside it", name)
		}
	}
	l.compare(t, c.owner(t))
}
