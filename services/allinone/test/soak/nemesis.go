package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/components"
)

// nemesis causes faults in processes, stores and links. The faults depend on a seed: with the same seed, nemesis draws
// the same faults in the same order. The requests that are running during a fault still differ between runs.
type nemesis struct {
	w       *workload
	cluster *cluster
	rng     *rand.Rand

	mu         sync.Mutex
	pastFaults []pastFault
	problems   []string // problems that faults do not explain
}

// pastFault is a fault that has ended.
type pastFault struct {
	kind       string
	begin, end time.Duration
	replica    *replica // clients of this replica may get no answer during the fault; nil: no replica
}

// fault is a kind of fault. The function `draw` chooses the target and returns two functions: the first one causes the
// fault, and the second one ends it.
type fault struct {
	kind string
	draw func(n *nemesis) (at string, r *replica, do func(context.Context) error, undo func(context.Context) error)
}

// faults contains all kinds of faults. Each kind has the same probability.
var faults = []fault{
	{"kill", (*nemesis).kill},
	{"pause", (*nemesis).pause},
	{"rolling restart", (*nemesis).restartReplicas},
	{"partition one way", newLinkFault(func(n *nemesis) condition {
		var c condition
		c.heldDirections[n.rng.IntN(int(directions))] = true
		return c
	})},
	{"half-open", newLinkFault(func(*nemesis) condition {
		return condition{heldDirections: [directions]bool{true, true}}
	})},
	{"answers lost", newLinkFault(func(*nemesis) condition { return condition{lossInterval: 3} })},
	{"link cut", newLinkFault(func(*nemesis) condition { return condition{isCut: true} })},
	{"link slow", newLinkFault(func(n *nemesis) condition {
		return condition{delay: time.Duration(50+n.rng.IntN(300)) * time.Millisecond}
	})},
	{"postgres crash", (*nemesis).crashPostgres},
	{"postgres answers lost", (*nemesis).loseDatabaseAnswers},
	{"redis emptied", (*nemesis).emptyRedis},
	{"redis stopped", newRedisFault(condition{isCut: true})},
	{"redis slow", newRedisFault(condition{delay: 700 * time.Millisecond})},
	{"redis hangs", newRedisFault(condition{heldDirections: [directions]bool{true, true}})},
	{"provider ill", (*nemesis).disturbProvider},
}

// The bounds of the duration of a fault. If a pause were longer than the clients' deadline, it would reveal no more
// errors.
const (
	shortestFault = 300 * time.Millisecond
	longestFault  = 6 * time.Second
)

// run causes faults until ctx ends, sometimes two at a time, and then ends the faults that still last.
func (n *nemesis) run(ctx context.Context) {
	healing := context.WithoutCancel(ctx)
	var open sync.WaitGroup
	defer open.Wait()
	busy := map[string]bool{}
	for sleep(ctx, time.Duration(300+n.rng.IntN(1700))*time.Millisecond) {
		f := faults[n.rng.IntN(len(faults))]
		at, r, do, undo := f.draw(n)
		duration := shortestFault + time.Duration(n.rng.Int64N(int64(longestFault-shortestFault)))
		together := n.rng.IntN(3) == 0
		n.mu.Lock()
		isTaken := busy[at]
		busy[at] = true
		n.mu.Unlock()
		if isTaken {
			continue
		}
		open.Go(func() {
			n.causeFault(ctx, healing, f.kind, at, r, duration, do, undo)
			n.mu.Lock()
			defer n.mu.Unlock()
			delete(busy, at)
		})
		if !together {
			open.Wait()
		}
	}
}

func (n *nemesis) causeFault(ctx, healing context.Context, kind, at string, r *replica, duration time.Duration,
	do, undo func(context.Context) error) {
	t := pastFault{kind: kind, begin: n.w.call.elapsed(), replica: r}
	n.w.o.log("%8.1fs %s: %s for %.1fs", t.begin.Seconds(), kind, at, duration.Seconds())
	if err := do(healing); err != nil {
		n.addProblem("%s of %s: %v", kind, at, err)
	}
	sleep(ctx, duration)
	if err := undo(healing); err != nil {
		n.addProblem("after %s of %s: %v", kind, at, err)
	}
	t.end = n.w.call.elapsed()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pastFaults = append(n.pastFaults, t)
}

func (n *nemesis) addProblem(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.problems = append(n.problems, fmt.Sprintf(format, args...))
}

func doNothing(context.Context) error { return nil }

// drawClockError returns a random difference between a replica's clock and the machine's clock, from -3 s to 3 s.
func (n *nemesis) drawClockError() time.Duration {
	return time.Duration(n.rng.IntN(6000)-3000) * time.Millisecond
}

func (n *nemesis) chooseReplica() *replica {
	return n.cluster.replicas[n.rng.IntN(len(n.cluster.replicas))]
}

type step = func(context.Context) error

func (n *nemesis) kill() (string, *replica, step, step) {
	r, apart := n.chooseReplica(), n.drawClockError()
	do := func(context.Context) error { r.kill(); return nil }
	return r.name, r, do, func(ctx context.Context) error { return n.restart(ctx, r, apart) }
}

func (n *nemesis) restart(ctx context.Context, r *replica, apart time.Duration) error {
	if err := n.cluster.launch(r, apart); err != nil {
		return err
	}
	return r.awaitReady(ctx)
}

func (n *nemesis) pause() (string, *replica, step, step) {
	r := n.chooseReplica()
	return r.name, r, func(context.Context) error { r.signal(syscall.SIGSTOP); return nil },
		func(context.Context) error { r.signal(syscall.SIGCONT); return nil }
}

// restartReplicas draws a fault of the kind "rolling restart": all replicas of a service restart one after the other.
func (n *nemesis) restartReplicas() (string, *replica, step, step) {
	all, apart := n.cluster.listReplicas(services[n.rng.IntN(len(services))]), n.drawClockError()
	return all[0].name, nil, func(ctx context.Context) error {
		for _, r := range all {
			if err := r.stop(); err != nil {
				n.addProblem("rolling restart: %v", err)
			}
			if err := n.restart(ctx, r, apart); err != nil {
				return err
			}
		}
		return nil
	}, doNothing
}

// newLinkFault returns a draw function for a fault of a link. The draw function chooses one of a replica's links: to a
// store, to another service, or from its clients.
func newLinkFault(draw func(*nemesis) condition) func(*nemesis) (string, *replica, step, step) {
	return func(n *nemesis) (string, *replica, step, step) {
		r := n.chooseReplica()
		targets := append(slices.Clone(components.All[r.service].Calls), toRedis, "")
		if slices.Contains(storedServices, r.service) {
			targets = append(targets, toPostgres)
		}
		target := targets[n.rng.IntN(len(targets))]
		c := draw(n)
		if target == "" {
			return "clients to " + r.name, r, newLinkStep(c, r.ingress, r.internalLink),
				newLinkStep(condition{}, r.ingress, r.internalLink)
		}
		return r.name + " to " + target, nil, newLinkStep(c, r.links[target]), newLinkStep(condition{}, r.links[target])
	}
}

func newLinkStep(c condition, links ...*link) step {
	return func(context.Context) error {
		for _, l := range links {
			l.setCondition(c)
		}
		return nil
	}
}

func newRedisFault(c condition) func(*nemesis) (string, *replica, step, step) {
	return func(n *nemesis) (string, *replica, step, step) {
		do := newLinkStep(c, n.listLinks(toRedis)...)
		undo := func(ctx context.Context) error {
			if c.isCut { // the cut simulates a restart of Redis, after which Redis is empty
				if err := n.cluster.stores.redis.FlushAll(ctx).Err(); err != nil {
					return err
				}
			}
			return newLinkStep(condition{}, n.listLinks(toRedis)...)(ctx)
		}
		return toRedis, nil, do, undo
	}
}

func (n *nemesis) listLinks(target string) []*link {
	var all []*link
	for _, r := range n.cluster.replicas {
		all = append(all, r.links[target])
	}
	return all
}

func (n *nemesis) emptyRedis() (string, *replica, step, step) {
	return toRedis, nil, func(ctx context.Context) error {
		return n.cluster.stores.redis.FlushAll(ctx).Err()
	}, doNothing
}

func (n *nemesis) crashPostgres() (string, *replica, step, step) {
	return toPostgres, nil, n.cluster.stores.crashPostgres, n.cluster.stores.restartPostgres
}

// loseDatabaseAnswers draws a fault that affects all replicas of a service with tables. PostgreSQL executes the
// statements, but some of its answers are lost.
func (n *nemesis) loseDatabaseAnswers() (string, *replica, step, step) {
	service := storedServices[n.rng.IntN(len(storedServices))]
	var links []*link
	for _, r := range n.cluster.listReplicas(service) {
		links = append(links, r.links[toPostgres])
	}
	return service + " to postgres", nil, newLinkStep(condition{lossInterval: 9}, links...),
		newLinkStep(condition{}, links...)
}

func (n *nemesis) disturbProvider() (string, *replica, step, step) {
	return "provider", nil, func(context.Context) error { n.w.provider.setIll(true); return nil },
		func(context.Context) error { n.w.provider.setIll(false); return nil }
}

// owner changes the offers and the API keys of the businesses while the clients work.
type owner struct {
	n        *nemesis
	rng      *rand.Rand
	edition  edition
	versions []publication
	changes  map[string]int
}

// publication is an attempt to publish an offer. If no answer contained the new version, the field `version` is 0.
type publication struct {
	business *business
	attempt  *attempt
	version  int64
}

func (o *owner) run(ctx context.Context) {
	for sleep(ctx, time.Duration(500+o.rng.IntN(2000))*time.Millisecond) {
		switch o.rng.IntN(4) {
		case 0:
			o.revoke(ctx)
		case 1:
			o.publish(ctx, o.n.w.exact, edition{})
		default:
			o.change(ctx)
		}
	}
}

// change publishes a change of the offer. The change closes a day that clients request, or makes a staff member
// inactive or active.
func (o *owner) change(ctx context.Context) {
	next := edition{closedDates: map[string]bool{}, inactiveMember: o.edition.inactiveMember}
	for date := range o.edition.closedDates {
		next.closedDates[date] = true
	}
	if o.rng.IntN(2) == 0 {
		next.closedDates[o.n.w.formatDay(int(o.n.w.call.elapsed()/hotPeriod)+o.rng.IntN(4))] = true
	} else if next.inactiveMember = "m1"; o.edition.inactiveMember != "" {
		next.inactiveMember = ""
	}
	if o.publish(ctx, o.n.w.mixed, next) {
		o.edition = next
	}
}

// publish publishes an edition of the offer. It returns true if the answer reported a success.
func (o *owner) publish(ctx context.Context, b *business, e edition) bool {
	m := o.n.w.newAdminMessage(http.MethodPut, "businesses/"+b.slug, b.buildManifest(e, o.n.w.today), "")
	p := publication{business: b}
	m.read = func(a *attempt, body []byte) { p.version = readVersion(a, body) }
	p.attempt = o.n.w.call.send(context.WithoutCancel(ctx), m)
	o.versions = append(o.versions, p)
	o.changes["versions published"]++
	return p.attempt.outcome == succeeded
}

// revoke creates an API key and revokes the oldest one of the same business.
func (o *owner) revoke(ctx context.Context) {
	w, ctx := o.n.w, context.WithoutCancel(ctx)
	b := []*business{w.exact, w.mixed}[o.rng.IntN(2)]
	fresh, err := w.newKey(ctx, b)
	if err != nil {
		return // the next call of revoke tries again
	}
	w.mu.Lock()
	old := w.keys[b][0]
	w.keys[b] = append(w.keys[b], fresh)
	w.mu.Unlock()
	old.revokingAt.Store(int64(w.call.elapsed()))
	m := w.newAdminMessage(http.MethodDelete, "businesses/"+b.slug+"/keys/"+old.id, nil, "")
	m.read = nil // an answer with status 204 has no body
	if a := w.call.send(ctx, m); a.outcome == succeeded {
		old.revokedAt.Store(int64(a.end))
	}
	o.changes["keys revoked"]++
	sleep(ctx, time.Second) // during this pause, clients already use the new key, and some still use the old key
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keys[b] = slices.DeleteFunc(slices.Clone(w.keys[b]), func(k *apiKey) bool { return k == old })
}

// newKey creates an API key.
func (w *workload) newKey(ctx context.Context, b *business) (*apiKey, error) {
	k := &apiKey{}
	m := w.newAdminMessage(http.MethodPost, "businesses/"+b.slug+"/keys",
		object{"name": "soak " + uuid.NewString(), "scope": "all"}, "")
	m.read = func(a *attempt, body []byte) { readKey(k, a, body) }
	if a := w.call.send(ctx, m); a.outcome != succeeded {
		return nil, fmt.Errorf("make a key: status %d %s %s", a.status, a.code, a.problem)
	}
	return k, nil
}
