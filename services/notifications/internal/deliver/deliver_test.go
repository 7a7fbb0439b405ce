package deliver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/notifications/internal/deliver"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
)

func newPage(cursor string) request.Page { return request.Page{Limit: 1000, Cursor: cursor} }

// The pauses between the attempts are those of lifecycle.md §2.
func TestSendRetriesOnScheduleUntilFailed(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	to := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.WriteHeader(500)
		_, _ = fmt.Fprintf(w, "not today: %d", n)
	})
	endpoint, events := w.addEndpoint(to.URL), w.newEvents(uuid.New(), 1)
	w.take(events)
	w.runAllJobs()
	pauses := []time.Duration{0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
	d := w.listDeliveries(endpoint.Endpoint.ID)[0]
	if d.Status != store.DeliveryFailed || d.DueAt != nil || len(d.Attempts) != len(pauses) ||
		len(to.receivedRequests()) != len(pauses) {
		t.Fatalf("%+v after %d requests", d, len(to.receivedRequests()))
	}
	last := start
	for i, a := range d.Attempts {
		if pause := a.At.Sub(last); pause < pauses[i] || pause > pauses[i]+pauses[i]/10+time.Millisecond {
			t.Errorf("attempt %d after %v, want %v and at most a tenth more", i+1, pause, pauses[i])
		}
		if last = a.At; a.Number != i+1 || a.Status == nil || *a.Status != 500 ||
			a.Answer != fmt.Sprintf("not today: %d", i+1) {
			t.Errorf("attempt %d is logged as %+v", i+1, a)
		}
	}
	sent := to.receivedRequests()
	for i, r := range sent {
		if r.header.Get("webhook-id") != events[0].ID.String() || string(r.body) != string(sent[0].body) {
			t.Errorf("attempt %d sends something else", i+1)
		}
	}
}

func TestSendHonoursRetryAfter(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	to := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) {
		if n == 1 {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
		}
	})
	endpoint := w.addEndpoint(to.URL)
	w.take(w.newEvents(uuid.New(), 1))
	w.runAllJobs()
	d := w.listDeliveries(endpoint.Endpoint.ID)[0]
	if d.Status != store.DeliveryDelivered || len(d.Attempts) != 2 ||
		d.Attempts[1].At.Sub(d.Attempts[0].At) != time.Hour {
		t.Errorf("%+v", d)
	}
}

func TestSendDisablesEndpointAfter410(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	gone, healthy := newReceiver(t, alwaysAnswer(410)), newReceiver(t, alwaysAnswer(204))
	endpoint, other := w.addEndpoint(gone.URL), w.addEndpoint(healthy.URL)
	w.take(w.newEvents(uuid.New(), 1, 2, 3))
	w.runAllJobs()
	if len(gone.receivedRequests()) != 1 || len(healthy.receivedRequests()) != 3 {
		t.Errorf("sent %d and %d", len(gone.receivedRequests()), len(healthy.receivedRequests()))
	}
	list, _, err := w.records.Endpoints(t.Context(), w.business, newPage(""))
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, e := range list {
		if e.ID == endpoint.Endpoint.ID && (e.Active || e.DisabledReason != store.ReasonGone) ||
			e.ID == other.Endpoint.ID &&
				!e.Active {
			t.Errorf("%+v", e)
		}
	}
	if len(w.disabled) != 1 || w.disabled[0].ID != endpoint.Endpoint.ID || w.disabled[0].URL != gone.URL {
		t.Errorf("the owner gets notices about %+v", w.disabled)
	}
	w.take(w.newEvents(uuid.New(), 1))
	w.runAllJobs()
	if len(gone.receivedRequests()) != 1 || w.countDeliveries(store.DeliveryPending) != 0 {
		t.Error("a disabled endpoint gets another delivery")
	}
}

// During a call, the owner changes the URL of the endpoint, or disables and enables the endpoint. If
// the call then answers 410, this concerns the old state and disables nothing.
func TestSendIgnores410OfReplacedEndpoint(t *testing.T) {
	t.Parallel()
	off, on := false, true
	healthy := newReceiver(t, alwaysAnswer(204))
	for name, c := range map[string]struct {
		changes   []store.EndpointChange
		delivered int // of two events: the first is being sent, the second waits for it
	}{
		"another address": {[]store.EndpointChange{{URL: &healthy.URL}}, 2},
		"off and on":      {[]store.EndpointChange{{Active: &off}, {Active: &on}}, 0},
	} {
		w := newFixture(t)
		var endpoint uuid.UUID
		gone := newReceiver(t, func(_ int, to http.ResponseWriter, _ *http.Request, _ []byte) {
			for _, change := range c.changes {
				if _, err := w.records.ChangeEndpoint(testkit.AsSystem(t), w.business, endpoint, change); err != nil {
					t.Error(err)
				}
			}
			to.WriteHeader(http.StatusGone)
		})
		endpoint = w.addEndpoint(gone.URL).Endpoint.ID
		w.take(w.newEvents(uuid.New(), 1, 2))
		w.runAllJobs()
		list, _, err := w.records.Endpoints(t.Context(), w.business, newPage(""))
		if err != nil || len(list) != 1 || !list[0].Active || len(w.disabled) != 0 {
			t.Errorf("%s: %+v, %v; the owner gets notices about %+v", name, list, err, w.disabled)
		}
		if n := w.countDeliveries(store.DeliveryDelivered); n != c.delivered ||
			w.countDeliveries(store.DeliveryPending) != 0 || len(gone.receivedRequests()) != 1 {
			t.Errorf("%s: %d delivered, want %d; %d pending, %d calls of the old URL", name, n, c.delivered,
				w.countDeliveries(store.DeliveryPending), len(gone.receivedRequests()))
		}
	}
}

// An endpoint is disabled after every delivery has failed for five days. A successful delivery
// restarts the five days.
func TestSendDisablesEndpointAfterFiveDaysOfFailure(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	status := 500
	var mu sync.Mutex
	to := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) {
		mu.Lock()
		defer mu.Unlock()
		w.WriteHeader(status)
	})
	endpoint := w.addEndpoint(to.URL)
	isActive := func() bool {
		list, _, err := w.records.Endpoints(t.Context(), w.business, newPage(""))
		if err != nil {
			t.Fatal(err)
		}
		return list[0].Active
	}
	failDaily := func(days int) {
		for range days {
			w.take(w.newEvents(uuid.New(), 1))
			for end := w.clock.Now().Add(24 * time.Hour); ; w.runNextJob() {
				if due, exists := w.nextJobTime(); !exists || due.After(end) {
					w.clock.Set(end)
					break
				}
			}
		}
	}
	failDaily(4)
	mu.Lock()
	status = 200
	mu.Unlock()
	w.runAllJobs() // all of them arrive
	mu.Lock()
	status = 500
	mu.Unlock()
	failing := w.clock.Now()
	failDaily(4)
	if !isActive() || len(w.disabled) != 0 {
		t.Errorf("disabled after %v", w.clock.Now().Sub(failing))
	}
	failDaily(2)
	if isActive() || len(w.disabled) != 1 || w.disabled[0].DisabledReason != store.ReasonFailing ||
		w.disabled[0].ID != endpoint.Endpoint.ID {
		t.Errorf("active after %v: %+v", w.clock.Now().Sub(failing), w.disabled)
	}
	if w.countDeliveries(store.DeliveryPending) != 0 {
		t.Error("deliveries of a disabled endpoint are pending")
	}
}

// parseSubject returns the subject and the sequence number in the body of a webhook.
func parseSubject(t *testing.T, body []byte) (string, int) {
	var parsed struct {
		Data struct {
			ID       string
			Sequence int
		}
	}
	if err := json.Unmarshal(body, &parsed); err != nil {
		t.Error(err)
	}
	return parsed.Data.ID, parsed.Data.Sequence
}

// Although the receiver fails at random, it gets every event once, in the order of each subject.
func TestSendKeepsOrderOfSubject(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var (
		mu       sync.Mutex
		received = map[string][]int{}
		ids      = map[string]int{}
	)
	to := newReceiver(t, func(_ int, w http.ResponseWriter, r *http.Request, body []byte) {
		mu.Lock()
		defer mu.Unlock()
		if rand.IntN(3) == 0 {
			w.WriteHeader(503)
			return
		}
		id, sequence := parseSubject(t, body)
		received[id] = append(received[id], sequence)
		ids[r.Header.Get("webhook-id")]++
	})
	w.addEndpoint(to.URL)
	const subjects, eventsPerSubject = 20, 6
	var pages [][]event.Event
	for range subjects {
		subject := uuid.New()
		pages = append(pages, w.newEvents(subject, 1), w.newEvents(subject, 2, 3), w.newEvents(subject, 4, 5, 6))
	}
	for part := range 3 { // new events arrive while earlier events of the same subjects are retried
		var page []event.Event
		for i := part; i < len(pages); i += 3 {
			page = append(page, pages[i]...)
		}
		w.take(page)
		for range rand.IntN(4) {
			w.runNextJob()
		}
	}
	w.runAllJobs()
	if n := w.countDeliveries(store.DeliveryDelivered); n != subjects*eventsPerSubject ||
		len(ids) != subjects*eventsPerSubject {
		t.Errorf("%d delivered, %d arrived, want %d", n, len(ids), subjects*eventsPerSubject)
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("%s arrived %d times", id, n)
		}
	}
	for subject, sequences := range received {
		for i, n := range sequences {
			if n != i+1 {
				t.Fatalf("%s: %v", subject, sequences)
			}
		}
	}
}

func isSignedWith(t *testing.T, secret []byte, r receivedRequest) bool {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(webhook.ShowSecret(secret))
	if err != nil {
		t.Fatal(err)
	}
	return verifier.VerifyIgnoringTimestamp(r.body, r.header) == nil
}

// During a call, the owner rotates the secret and changes the URL. The next delivery of the same job
// uses both.
func TestSendUsesChangedEndpointAtOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var endpoint, rotated store.EndpointSecret
	currentReceiver := newReceiver(t, alwaysAnswer(200))
	oldReceiver := newReceiver(t, func(int, http.ResponseWriter, *http.Request, []byte) {
		var err error
		if rotated, err = w.records.RotateSecret(testkit.AsSystem(t), w.business, endpoint.Endpoint.ID,
			webhook.NewSecret(), w.clock.Now().Add(24*time.Hour)); err != nil {
			t.Error(err)
		}
		if _, err := w.records.ChangeEndpoint(testkit.AsSystem(t), w.business, endpoint.Endpoint.ID,
			store.EndpointChange{URL: &currentReceiver.URL}); err != nil {
			t.Error(err)
		}
	})
	endpoint = w.addEndpoint(oldReceiver.URL)
	w.take(w.newEvents(uuid.New(), 1, 2))
	w.runAllJobs()
	if len(oldReceiver.receivedRequests()) != 1 || len(currentReceiver.receivedRequests()) != 1 {
		t.Fatalf("sent %d to the old address and %d to the new one", len(oldReceiver.receivedRequests()),
			len(currentReceiver.receivedRequests()))
	}
	if r := currentReceiver.receivedRequests()[0]; !isSignedWith(t, endpoint.Secret, r) || !isSignedWith(t,
		rotated.Secret, r) {
		t.Error("one of the two secrets does not sign")
	}
}

func TestSendSignsWithBothSecretsForADay(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	to := newReceiver(t, alwaysAnswer(200))
	first := w.addEndpoint(to.URL)
	second, err := w.records.RotateSecret(testkit.AsSystem(t), w.business, first.Endpoint.ID, webhook.NewSecret(),
		w.clock.Now().Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	isSigned := func(secret []byte, r receivedRequest) bool { return isSignedWith(t, secret, r) }
	w.take(w.newEvents(uuid.New(), 1))
	w.runAllJobs()
	if r := to.receivedRequests()[0]; !isSigned(first.Secret, r) || !isSigned(second.Secret, r) {
		t.Error("one of the two secrets does not sign")
	}
	sweepAndCount := func() int {
		if err := w.webhooks.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := w.pool.QueryRow(t.Context(),
			`SELECT count(*) FROM webhook_endpoints WHERE previous_secret IS NOT NULL`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if sweepAndCount() != 1 {
		t.Error("the previous secret is deleted while it still signs")
	}
	w.clock.Advance(24 * time.Hour)
	w.take(w.newEvents(uuid.New(), 1))
	w.runAllJobs()
	if r := to.receivedRequests()[1]; isSigned(first.Secret, r) || !isSigned(second.Secret, r) {
		t.Error("a day later, the previous secret still signs, or the new one does not")
	}
	if sweepAndCount() != 0 {
		t.Error("the previous secret is stored although it no longer signs")
	}
}

func TestRetryDeliverySendsAtOnce(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	to := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) {
		if n <= 2 {
			w.WriteHeader(500)
		}
	})
	endpoint := w.addEndpoint(to.URL).Endpoint.ID
	w.take(w.newEvents(uuid.New(), 1, 2))
	w.runNextJob()
	list := w.listDeliveries(endpoint)
	retry := func(d store.Delivery) error {
		_, err := w.records.RetryDelivery(testkit.AsSystem(t), w.business, d.ID, w.clock.Now(), w.wake)
		return err
	}
	if err := retry(list[1]); !errors.Is(err, store.ErrBlocked) {
		t.Errorf("a delivery that waits for another: %v", err)
	}
	if err := retry(list[0]); err != nil { // it is due in five seconds
		t.Error(err)
	}
	before := w.clock.Now()
	w.runNextJob()
	if d := w.listDeliveries(endpoint)[0]; len(d.Attempts) != 2 || !d.Attempts[1].At.Equal(before) {
		t.Errorf("the retried delivery is not sent at once: %+v", d)
	}
	w.runAllJobs()
	if n := w.countDeliveries(store.DeliveryDelivered); n != 2 {
		t.Errorf("%d delivered", n)
	}
	if err := retry(w.listDeliveries(endpoint)[0]); err != nil { // the delivery has ended
		t.Error(err)
	}
	w.runAllJobs()
	if d := w.listDeliveries(endpoint)[0]; d.Status != store.DeliveryDelivered || len(d.Attempts) != 4 {
		t.Errorf("%+v", d)
	}
}

func TestSweepKeepsDeliveriesForThirtyDays(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	to := newReceiver(t, alwaysAnswer(200))
	endpoint := w.addEndpoint(to.URL).Endpoint.ID
	w.take(w.newEvents(uuid.New(), 1))
	w.runAllJobs()
	for _, days := range []int{30, 31} {
		want := 31 - days
		w.clock.Set(start.AddDate(0, 0, days))
		if err := w.webhooks.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(w.listDeliveries(endpoint)); got != want {
			t.Errorf("after %d days there are %d", days, got)
		}
	}
}

// If the service was unavailable for a long time, a pending delivery can be older than the retention
// period. The sweep deletes it, and a later delivery of the same subject, which waited for it, is
// sent.
func TestSweepMakesWaitingDeliveryDue(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	to := newReceiver(t, alwaysAnswer(200))
	w.addEndpoint(to.URL)
	subject := uuid.New()
	w.take(w.newEvents(subject, 1, 2))
	w.clock.Set(start.AddDate(0, 0, 31))
	w.take(w.newEvents(subject, 3, 4))
	// the sweep inserts the job that continues
	if _, err := w.pool.Exec(t.Context(), `DELETE FROM river_job`); err != nil {
		t.Fatal(err)
	}
	if err := w.webhooks.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.runAllJobs()
	var sent []int
	for _, r := range to.receivedRequests() {
		_, sequence := parseSubject(t, r.body)
		sent = append(sent, sequence)
	}
	if !slices.Equal(sent, []int{3, 4}) || w.countDeliveries(store.DeliveryDelivered) != 2 ||
		w.countDeliveries(store.DeliveryPending) != 0 {
		t.Errorf("got the events %v; %d delivered, %d pending", sent, w.countDeliveries(store.DeliveryDelivered),
			w.countDeliveries(store.DeliveryPending))
	}
}

// Of two jobs for one endpoint, one holds the delivery lock. The lock is free after the holder has
// released it, and after it has expired.
func TestDeliveryLockHasOneHolder(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	endpoint := w.addEndpoint("http://127.0.0.1:9").Endpoint.ID
	newLock := func() store.DeliveryLock {
		return store.DeliveryLock{BusinessID: w.business, EndpointID: endpoint, Holder: uuid.New()}
	}
	acquire := func(l store.DeliveryLock) bool {
		t.Helper()
		isAcquired, err := w.records.AcquireDeliveryLock(t.Context(), l, time.Hour, false)
		if err != nil {
			t.Fatal(err)
		}
		return isAcquired
	}
	first, second, third := newLock(), newLock(), newLock()
	if !acquire(first) || acquire(second) {
		t.Error("the first job does not hold the lock, or the second job holds it too")
	}
	if !acquire(first) {
		t.Error("the first job does not hold its own lock when it runs again")
	}
	if err := w.records.ReleaseDeliveryLock(t.Context(), first, w.clock.Now(), nil); err != nil {
		t.Fatal(err)
	}
	if !acquire(second) || acquire(third) {
		t.Error("a released lock is not free, or has two holders")
	}
	w.expireLocks()
	if !acquire(third) {
		t.Error("an expired lock is not free")
	}
}

// Jobs for an endpoint whose last attempt failed run in a separate queue, until an attempt succeeds.
func TestJobsOfFailingEndpointsHaveOwnQueue(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	to := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) {
		if n < 3 {
			w.WriteHeader(503)
		}
	})
	endpoint := w.addEndpoint(to.URL).Endpoint.ID
	newestQueue := func() string {
		t.Helper()
		var name string
		if err := w.pool.QueryRow(t.Context(),
			`SELECT queue FROM river_job WHERE kind = 'webhook_lane' ORDER BY id DESC LIMIT 1`).Scan(&name); err != nil {
			t.Fatal(err)
		}
		return name
	}
	w.take(w.newEvents(uuid.New(), 1))
	if got := newestQueue(); got != "webhooks" {
		t.Errorf("a new endpoint's job is in %s", got)
	}
	for attempt := range 2 {
		w.runNextJob()
		if got := newestQueue(); got != "webhooks_failing" {
			t.Errorf("after %d failures the job is in %s", attempt+1, got)
		}
	}
	w.take(w.newEvents(uuid.New(), 1))
	if got := newestQueue(); got != "webhooks_failing" {
		t.Errorf("the job of a new event is in %s", got)
	}
	w.runAllJobs() // the third attempt succeeds
	_, err := w.records.SendTest(testkit.AsSystem(t), store.NewDelivery{
		BusinessID: w.business, EndpointID: endpoint, EventID: uuid.New(), EventType: "webhook.test",
		SubjectKind: "webhook", SubjectID: endpoint, Sequence: 1, Body: []byte(`{}`),
	}, w.clock.Now(), w.wake)
	if err != nil {
		t.Fatal(err)
	}
	if got := newestQueue(); got != "webhooks" {
		t.Errorf("after a success the job is in %s", got)
	}
}

// While five receivers do not answer, twenty others receive all their deliveries. River runs the jobs.
func TestHangingReceiverDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	const healthy, hanging, events = 20, 5, 30
	release := make(chan struct{})
	hang := func(_ int, _ http.ResponseWriter, r *http.Request, _ []byte) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	arrived := make(chan struct{}, healthy*events)
	var all []event.Event
	for i := range healthy + hanging {
		w.business = uuid.New()
		if i < hanging {
			w.addEndpoint(newReceiver(t, hang).URL)
		} else {
			w.addEndpoint(newReceiver(t, func(int, http.ResponseWriter, *http.Request, []byte) {
				arrived <- struct{}{}
			}).URL)
		}
		for range events {
			all = append(all, w.newEvents(uuid.New(), 1)...)
		}
	}
	w.take(all)
	stop := w.startJobs()
	for range healthy * events {
		select {
		case <-arrived:
		case <-time.After(testkit.MaxWait):
			t.Fatal("the healthy receivers wait")
		}
	}
	if n := w.countDeliveries(store.DeliveryFailed); n != 0 {
		t.Errorf("%d failed", n)
	}
	close(release)
	stop()
}

// River schedules jobs by the manual clock of the service, so that the test need not wait for an hour.
func TestJobsUseClockOfService(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	arrived := make(chan int, 2)
	to := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) {
		if n == 1 {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(503)
		}
		arrived <- n
	})
	w.addEndpoint(to.URL)
	stop := w.startJobs()
	defer stop()
	w.take(w.newEvents(uuid.New(), 1))
	await := func() {
		t.Helper()
		select {
		case <-arrived:
		case <-time.After(testkit.MaxWait):
			t.Fatal("the receiver gets no request")
		}
	}
	await()
	for isScheduled := false; !isScheduled; { // wait until the job has scheduled the next attempt
		_, isScheduled = w.nextJobTime()
		if t.Context().Err() != nil {
			t.Fatal("no job is scheduled")
		}
	}
	w.clock.Advance(time.Hour + time.Second)
	await()
}

// A job cannot release the delivery lock, for example because the database is unavailable. A delivery
// that is added in the meantime finds the lock held. The job runs again and sends that delivery too.
// River runs the jobs.
func TestJobRetriesFailedLockRelease(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, err := w.pool.Exec(t.Context(), `
CREATE SEQUENCE leaving;
CREATE FUNCTION fails_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF nextval('leaving') = 1 THEN RAISE EXCEPTION 'the database is away'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fails_once BEFORE UPDATE ON webhook_endpoints FOR EACH ROW WHEN (OLD.lane IS NOT NULL AND NEW.lane IS NULL) EXECUTE FUNCTION fails_once()`)
	if err != nil {
		t.Fatal(err)
	}
	to := newReceiver(t, alwaysAnswer(200))
	w.addEndpoint(to.URL)
	stop := w.startJobs()
	defer stop()
	w.take(w.newEvents(uuid.New(), 1))
	testkit.WaitUntil(t, "the job is scheduled again",
		w.checkCount(1, `SELECT count(*) FROM river_job WHERE kind = 'webhook_lane' AND state = 'scheduled'`))
	// The lock must not expire, even if the test is slow.
	if _, err := w.pool.Exec(t.Context(), `UPDATE webhook_endpoints SET lane_until = 'infinity'`); err != nil {
		t.Fatal(err)
	}
	w.take(w.newEvents(uuid.New(), 1))
	testkit.WaitUntil(t, "the job of the second delivery has found the lock held",
		w.checkCount(1, `SELECT count(*) FROM river_job WHERE kind = 'webhook_lane' AND state = 'completed'`))
	if n := w.countDeliveries(store.DeliveryDelivered); n != 1 {
		t.Errorf("%d are delivered while the lock is held, want 1", n)
	}
	w.clock.Advance(time.Minute)
	testkit.WaitUntil(t, "the second delivery is sent",
		w.checkCount(2, `SELECT count(*) FROM webhook_deliveries WHERE status = 'delivered'`))
}

// If many connections are busy, the release of the delivery lock takes long. While the job is not
// cancelled, the release has no time limit.
func TestJobAwaitsSlowLockRelease(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, err := w.pool.Exec(t.Context(), `
CREATE FUNCTION takes_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(4); RETURN NEW; END $$;
CREATE TRIGGER takes_long BEFORE UPDATE ON webhook_endpoints FOR EACH ROW WHEN (OLD.lane IS NOT NULL AND NEW.lane IS NULL) EXECUTE FUNCTION takes_long()`)
	if err != nil {
		t.Fatal(err)
	}
	w.addEndpoint(newReceiver(t, alwaysAnswer(200)).URL)
	w.take(w.newEvents(uuid.New(), 1))
	var (
		id   int64
		args []byte
	)
	if err := w.pool.QueryRow(t.Context(), `SELECT id, args FROM river_job WHERE kind = 'webhook_lane'`).Scan(&id,
		&args); err != nil {
		t.Fatal(err)
	}
	if err := w.webhooks.RunJob(t.Context(), id, args); err != nil {
		t.Error(err)
	}
	if err := w.checkCount(1, `SELECT count(*) FROM webhook_endpoints WHERE lane IS NULL`)(t.Context()); err != nil {
		t.Error("the lock is still held: ", err)
	}
}

// If the database does not store the result of an attempt, the job pauses before it repeats the
// attempt. No other job sends in the meantime.
func TestJobPausesIfResultCannotBeStored(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, err := w.pool.Exec(t.Context(), `
CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not taken'; END $$;
CREATE TRIGGER fails BEFORE INSERT ON webhook_attempts FOR EACH ROW EXECUTE FUNCTION fails()`)
	if err != nil {
		t.Fatal(err)
	}
	to := newReceiver(t, alwaysAnswer(200))
	w.addEndpoint(to.URL)
	w.take(w.newEvents(uuid.New(), 1))
	var (
		id     int64
		args   []byte
		snooze *river.JobSnoozeError
	)
	if err := w.pool.QueryRow(t.Context(), `SELECT id, args FROM river_job WHERE kind = 'webhook_lane'`).Scan(&id,
		&args); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if err := w.webhooks.RunJob(t.Context(), id, args); !errors.As(err, &snooze) || snooze.Duration < time.Second {
			t.Errorf("run %d: %v", n+1, err)
		}
		if len(to.receivedRequests()) != n+1 {
			t.Errorf("%d calls after run %d", len(to.receivedRequests()), n+1)
		}
	}
	// The lock must not expire, even if the test is slow.
	if _, err := w.pool.Exec(t.Context(), `UPDATE webhook_endpoints SET lane_until = 'infinity'`); err != nil {
		t.Fatal(err)
	}
	w.take(w.newEvents(uuid.New(), 1)) // the job of this event finds the lock held
	rows, _ := w.pool.Query(t.Context(), `SELECT id, args FROM river_job WHERE kind = 'webhook_lane' AND id <> $1`, id)
	others := 0
	_, err = pgx.ForEachRow(rows, []any{&id, &args}, func() error {
		others++
		return w.webhooks.RunJob(t.Context(), id, args)
	})
	if err != nil || others != 1 || len(to.receivedRequests()) != 2 {
		t.Errorf("%d other jobs, %v; %d calls", others, err, len(to.receivedRequests()))
	}
}

// Three replicas send while events arrive. Each replica is killed repeatedly, in the middle of its
// work. Every delivery is sent, in the order of its subject.
func TestDeliveriesSurviveKilledReplicas(t *testing.T) {
	t.Parallel()
	first := newFixture(t)
	var (
		mu       sync.Mutex
		received = map[string][]int{}
	)
	to := newReceiver(t, func(_ int, _ http.ResponseWriter, _ *http.Request, body []byte) {
		id, sequence := parseSubject(t, body)
		mu.Lock()
		defer mu.Unlock()
		received[id] = append(received[id], sequence)
	})
	first.addEndpoint(to.URL)
	first.addEndpoint(to.URL)
	const subjects, eventsPerSubject = 60, 5
	var replicas sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range 3 {
		replica := newReplica(t, first.pool, first.clock, first.business)
		replicas.Go(func() {
			for ctx.Err() == nil {
				replicaCtx, kill := context.WithCancel(ctx)
				if rand.IntN(2) == 0 {
					kill() // the job is interrupted at any point
				}
				replica.runRandomJob(replicaCtx)
				kill()
			}
		})
	}
	for n := 1; n <= eventsPerSubject; n++ {
		var page []event.Event
		for subject := range subjects {
			page = append(page, first.newEvents(uuid.NewSHA1(uuid.Nil, []byte{byte(subject)}), n)...)
		}
		first.take(page)
	}
	testkit.WaitUntil(t, "every delivery is sent",
		first.checkCount(2*subjects*eventsPerSubject,
			`SELECT count(*) FROM webhook_deliveries WHERE status = 'delivered'`))
	stop()
	replicas.Wait()
	mu.Lock()
	defer mu.Unlock()
	for subject, sequences := range received {
		seen := map[int]int{} // each event is sent to two endpoints
		for _, n := range sequences {
			if n > 1 && seen[n-1] == 0 {
				t.Fatalf("%s: %v", subject, sequences)
			}
			seen[n]++
		}
		if len(seen) != eventsPerSubject {
			t.Errorf("%s: %v", subject, sequences)
		}
	}
}

// A process is killed while its job holds the delivery lock of an endpoint. Deliveries to the endpoint
// resume within a minute.
func TestRescueResumesEndpointOfDeadJob(t *testing.T) {
	t.Parallel()
	if deliver.MaxPause > time.Minute {
		t.Errorf("webhooks pause for up to %s, want at most a minute", deliver.MaxPause)
	}
	w := newFixture(t)
	endpoint := w.addEndpoint(newReceiver(t, alwaysAnswer(200)).URL)
	w.take(w.newEvents(uuid.New(), 1))
	lock := store.DeliveryLock{BusinessID: w.business, EndpointID: endpoint.Endpoint.ID, Holder: uuid.New()}
	if isAcquired, err := w.records.AcquireDeliveryLock(t.Context(), lock, time.Hour, false); err != nil ||
		!isAcquired {
		t.Fatal(isAcquired, err)
	}
	// River treats the job of the dead process as running, so no other job exists.
	if _, err := w.pool.Exec(t.Context(), `DELETE FROM river_job`); err != nil {
		t.Fatal(err)
	}
	rescue := func() {
		t.Helper()
		if err := w.webhooks.Rescue(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.runAllJobs()
	}
	if rescue(); w.countDeliveries(store.DeliveryDelivered) != 0 {
		t.Error("the delivery is sent before the lock has expired")
	}
	w.expireLocks()
	if rescue(); w.countDeliveries(store.DeliveryDelivered) != 1 {
		t.Error("the delivery is not sent after the lock has expired")
	}
}
