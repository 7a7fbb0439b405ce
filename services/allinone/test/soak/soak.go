// Package soak runs a cluster of processes under load and causes faults in the cluster. The package then compares all
// answers that the clients received with the contents of the tables (`make soak`). These are its parts, by file:
//
//	stores, cluster, link   two replicas of every service, a PostgreSQL with fsync, a Redis, and the simulated network
//	nemesis                 the faults, drawn from a seed, and the owner, who publishes offers and revokes API keys
//	workload, reschedules   the clients
//	attempt                 the answers that the clients received
//	provider                a fake payment provider that breaks off answers, hangs and repeats notifications
//	tables, check           the rules about the tables, and the comparison of each answer with the tables
//	history                 the linearizability of each resource, checked by porcupine
//
// The soak checks whether the results are correct, but not the speed. The report also contains the time from each fault
// to the next successful answer.
package soak

import (
	"bytes"
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Options are the parameters of a soak.
type Options struct {
	Programs string        // folder of the services' programs
	Duration time.Duration // how long the clients work
	Clients  int
	Think    time.Duration // pause of a client between two operations
	Seed     uint64        // seed of the faults and of the clients' choices
	IsCalm   bool          // the soak causes no faults
	Home     string        // folder for the data of the stores and the logs of the services; it is not removed
	Progress io.Writer     // receives a line for each fault; nil: no lines are written

	// Sabotage contains SQL statements that damage the database before the clients begin. With these statements, a test
	// shows that the soak finds such damage.
	Sabotage []string
}

func (o Options) log(format string, args ...any) {
	if o.Progress != nil {
		_, _ = fmt.Fprintf(o.Progress, format+"\n", args...)
	}
}

// adminToken is the token of the cluster's admin API, which listens only on loopback.
var adminToken = cryptorand.Text()

// now returns the current time, for measurements. The clocks of the services differ from this time.
func now() time.Time { return time.Now() } //nolint:forbidigo // measures, with the monotonic clock

// run is a running soak.
type run struct {
	o        Options
	stores   *stores
	cluster  *cluster
	provider *provider
	call     *caller
	workload *workload
	nemesis  *nemesis
	owner    *owner

	mu              sync.Mutex
	answers         map[string]int
	attempts        int
	successes       []*attempt // in the order in which the attempts ended
	unusualAttempts []*attempt
}

// Run runs a soak and checks the results. It returns an error only if the soak itself fails. The findings of the soak
// are in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &run{o: o, answers: map[string]int{}}
	defer r.close()
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	r.work(ctx)
	if err := r.awaitFinalState(ctx); err != nil {
		return nil, err
	}
	return r.check(ctx)
}

func (r *run) close() {
	if r.call != nil {
		r.call.client.CloseIdleConnections()
	}
	if r.cluster != nil {
		r.cluster.close()
	}
	if r.provider != nil {
		r.provider.close()
	}
	if r.stores != nil {
		_ = r.stores.stop() // after a crash, PostgreSQL cannot stop properly
	}
}

func (r *run) newRandom(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(r.o.Seed, stream)) }

// The numbers of the random number streams. Each part of the soak has its own stream, so that one part does not change
// the random numbers of another part. The streams of the clients begin at 100.
const (
	faultStream = iota
	ownerStream
	providerStream
	clientStream = 100
)

func (r *run) start(ctx context.Context) error {
	logs := filepath.Join(r.o.Home, "logs")
	err := os.MkdirAll(logs, 0o755)
	if err != nil {
		return err
	}
	if r.stores, err = startStores(ctx, r.o.Home); err != nil {
		return err
	}
	if r.provider, err = startProvider(r.newRandom(providerStream)); err != nil {
		return err
	}
	if r.cluster, err = newCluster(r.o.Programs, logs, r.stores, newSettings(r.provider.address)); err != nil {
		return err
	}
	if err := r.cluster.start(ctx); err != nil {
		return err
	}
	r.call = newCaller(r.cluster, now(), r.recordAttempt)
	r.workload = &workload{
		o: r.o, call: r.call, exact: newExactBusiness(), mixed: newMixedBusiness(), provider: r.provider,
		today: now().UTC().Truncate(24 * time.Hour), keys: map[*business][]*apiKey{},
	}
	r.nemesis = &nemesis{w: r.workload, cluster: r.cluster, rng: r.newRandom(faultStream)}
	r.owner = &owner{n: r.nemesis, rng: r.newRandom(ownerStream), changes: map[string]int{}}
	return r.publishBusinesses(ctx)
}

// newSettings returns the settings of every service. The limits in these settings are so high that no client reaches
// them.
func newSettings(stripe string) []string {
	return []string{
		"SLOTMESH_ADMIN_TOKEN=" + adminToken, "BOOKING_KEY_LIMIT_PER_MINUTE=100000", "ADMIN_LIMIT_PER_MINUTE=100000",
		"MESSAGES_PER_DAY=1000000",
		"STRIPE_SECRET_KEY=sk_soak", "STRIPE_WEBHOOK_SECRET=" + webhookSecret, "STRIPE_API_BASE=" + stripe,
		"PAYMENT_TIMEOUT=2s", "PAYMENT_EXPIRES_AFTER=20s",
	}
}

// publishBusinesses publishes both businesses, creates their API keys and executes Options.Sabotage. publishBusinesses
// also reads from the OpenAPI document whether the admin API accepts idempotency keys.
func (r *run) publishBusinesses(ctx context.Context) error {
	document := r.workload.newAdminMessage(http.MethodGet, "openapi.json", nil, "")
	document.read = func(_ *attempt, body []byte) {
		r.workload.hasAdminKeys = bytes.Contains(body, []byte("Idempotency-Key"))
	}
	if a := r.call.send(ctx, document); a.outcome != succeeded {
		return fmt.Errorf("read the admin API's document: %s", a)
	}
	for _, b := range []*business{r.workload.exact, r.workload.mixed} {
		if !r.owner.publish(ctx, b, edition{}) {
			a := r.owner.versions[len(r.owner.versions)-1].attempt
			return fmt.Errorf("publish %s: %s", b.slug, a)
		}
		for range 4 {
			key, err := r.workload.newKey(ctx, b)
			if err != nil {
				return err
			}
			r.workload.keys[b] = append(r.workload.keys[b], key)
		}
	}
	t, err := openTables(ctx, r.stores.databaseURL())
	if err != nil {
		return err
	}
	defer t.close(ctx)
	for _, statement := range r.o.Sabotage {
		if _, err := t.conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// recordAttempt counts an answer by its status. recordAttempt also stores attempts with a successful or an unusual
// answer.
func (r *run) recordAttempt(a *attempt) {
	label := fmt.Sprint(a.status)
	switch {
	case a.isLate:
		label = "none in time"
	case a.status == 0:
		label = "connection lost"
	case a.code != "":
		label += " " + a.code
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[label]++
	r.attempts++
	if a.outcome == succeeded {
		r.successes = append(r.successes, a)
	}
	if a.isLate || a.problem != "" || !slices.Contains(expected, a.status) {
		r.unusualAttempts = append(r.unusualAttempts, a)
	}
}

// work runs the clients, the owner and the nemesis for Options.Duration. It returns when the running actions have
// finished and every fault has ended.
func (r *run) work(ctx context.Context) {
	working, cancel := context.WithTimeout(ctx, r.o.Duration)
	defer cancel()
	var all sync.WaitGroup
	for i := range r.o.Clients {
		c := &client{workload: r.workload, rng: r.newRandom(clientStream + uint64(i))}
		all.Go(func() { c.run(working) })
	}
	if !r.o.IsCalm {
		all.Go(func() { r.nemesis.run(working) })
		all.Go(func() { r.owner.run(working) })
	}
	all.Wait()
}

const (
	requestTimeout = 10 * time.Second // default of REQUEST_TIMEOUT, which limits each request in a service
	finalTimeout   = 5 * time.Minute
)

// awaitFinalState waits until no service still works on a request whose client stopped waiting. awaitFinalState also
// waits until every charge is final.
func (r *run) awaitFinalState(ctx context.Context) error {
	for _, replica := range r.cluster.replicas {
		if err := replica.awaitReady(ctx); err != nil {
			return err
		}
	}
	if !sleep(ctx, requestTimeout+2*time.Second) {
		return ctx.Err()
	}
	t, err := openTables(ctx, r.stores.databaseURL())
	if err != nil {
		return err
	}
	defer t.close(ctx)
	webhook := "http://" + r.cluster.listReplicas("booking")[0].ingress.address() + "/api/public/stripe/webhook"
	err = retryUntil(ctx, finalTimeout, time.Second, func() error {
		told := r.provider.sendNotices(ctx, r.call.client, webhook)
		remaining, err := t.hastenPayments(ctx)
		if remaining > 0 {
			err = errors.Join(err, fmt.Errorf("%d charges are not final", remaining))
		}
		return errors.Join(told, err)
	})
	if err != nil {
		r.nemesis.addProblem("after the soak: %v", err)
	}
	return ctx.Err()
}

// check reads the tables and compares all answers of the clients with the tables.
func (r *run) check(ctx context.Context) (*Report, error) {
	t, err := openTables(ctx, r.stores.databaseURL(), r.workload.exact, r.workload.mixed)
	if err != nil {
		return nil, err
	}
	defer t.close(ctx)
	found, err := t.findViolations(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := t.readRows(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := t.readChanges(ctx)
	if err != nil {
		return nil, err
	}
	if r.workload.editions, err = t.readEditions(ctx); err != nil {
		return nil, err
	}
	charges, err := t.readPayments(ctx)
	if err != nil {
		return nil, err
	}
	j := &checker{w: r.workload, rows: rows, changes: changes, versions: r.owner.versions,
		pastFaults: r.nemesis.pastFaults}
	j.checkOperations()
	for _, a := range r.unusualAttempts {
		j.checkAnswer(a)
	}
	j.checkCharges(charges, r.provider)
	resources, broken := r.workload.checkHistories(rows, changes)
	report := r.newReport(len(rows), resources)
	report.Findings = slices.Concat(found, j.findings, broken, r.nemesis.problems, r.cluster.findPanics())
	return report, nil
}
