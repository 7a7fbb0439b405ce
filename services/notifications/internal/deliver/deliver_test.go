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

func pageAfter(cursor string) request.Page { return request.Page{Limit: 1000, Cursor: cursor} }

// The times between the attempts that a receiver sees are those of lifecycle.md §2, as the jobs of River say them.
func TestADeliveryIsTriedOnScheduleUntilItHasFailed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) {
		w.WriteHeader(500)
		_, _ = fmt.Fprintf(w, "not today: %d", n)
	})
	endpoint, happened := w.endpoint(to.URL), w.happened(uuid.New(), 1)
	w.take(happened)
	w.drain()
	pauses := []time.Duration{0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}
	d := w.deliveries(endpoint.Endpoint.ID)[0]
	if d.Status != store.Failed || d.DueAt != nil || len(d.Attempts) != len(pauses) || len(to.got()) != len(pauses) {
		t.Fatalf("%+v after %d requests", d, len(to.got()))
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
	sent := to.got()
	for i, r := range sent {
		if r.header.Get("webhook-id") != happened[0].ID.String() || string(r.body) != string(sent[0].body) {
			t.Errorf("attempt %d sends something else", i+1)
		}
	}
}

func TestRetryAfterIsObeyedAndSuccessEndsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) {
		if n == 1 {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
		}
	})
	endpoint := w.endpoint(to.URL)
	w.take(w.happened(uuid.New(), 1))
	w.drain()
	d := w.deliveries(endpoint.Endpoint.ID)[0]
	if d.Status != store.Delivered || len(d.Attempts) != 2 || d.Attempts[1].At.Sub(d.Attempts[0].At) != time.Hour {
		t.Errorf("%+v", d)
	}
}

func TestGoneDisablesTheEndpointAndTellsItsOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gone, well := newReceiver(t, always(410)), newReceiver(t, always(204))
	endpoint, other := w.endpoint(gone.URL), w.endpoint(well.URL)
	w.take(w.happened(uuid.New(), 1, 2, 3))
	w.drain()
	if len(gone.got()) != 1 || len(well.got()) != 3 {
		t.Errorf("sent %d and %d", len(gone.got()), len(well.got()))
	}
	list, _, err := w.records.Endpoints(t.Context(), w.business, pageAfter(""))
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, e := range list {
		if e.ID == endpoint.Endpoint.ID && (e.Active || e.DisabledReason != store.Gone) || e.ID == other.Endpoint.ID &&
			!e.Active {
			t.Errorf("%+v", e)
		}
	}
	if len(w.told) != 1 || w.told[0].ID != endpoint.Endpoint.ID || w.told[0].URL != gone.URL {
		t.Errorf("the owner is told of %+v", w.told)
	}
	w.take(w.happened(uuid.New(), 1))
	w.drain()
	if len(gone.got()) != 1 || w.count(store.Pending) != 0 {
		t.Error("it goes on")
	}
}

// While a call is on its way the owner names another address, or switches the endpoint off and on again: the 410 that
// answers it is about what was.
func TestGoneOfWhatAnOwnerHasReplacedDisablesNothing(t *testing.T) {
	t.Parallel()
	off, on := false, true
	well := newReceiver(t, always(204))
	for name, c := range map[string]struct {
		changes   []store.EndpointChange
		delivered int // of two events: one is on its way, one waits for it
	}{
		"another address": {[]store.EndpointChange{{URL: &well.URL}}, 2},
		"off and on":      {[]store.EndpointChange{{Active: &off}, {Active: &on}}, 0},
	} {
		w := newWorld(t)
		var endpoint uuid.UUID
		gone := newReceiver(t, func(_ int, to http.ResponseWriter, _ *http.Request, _ []byte) {
			for _, change := range c.changes {
				if _, err := w.records.ChangeEndpoint(testkit.AsSystem(t), w.business, endpoint, change); err != nil {
					t.Error(err)
				}
			}
			to.WriteHeader(http.StatusGone)
		})
		endpoint = w.endpoint(gone.URL).Endpoint.ID
		w.take(w.happened(uuid.New(), 1, 2))
		w.drain()
		list, _, err := w.records.Endpoints(t.Context(), w.business, pageAfter(""))
		if err != nil || len(list) != 1 || !list[0].Active || len(w.told) != 0 {
			t.Errorf("%s: %+v, %v; the owner is told of %+v", name, list, err, w.told)
		}
		if n := w.count(store.Delivered); n != c.delivered || w.count(store.Pending) != 0 || len(gone.got()) != 1 {
			t.Errorf("%s: %d delivered, want %d; %d pending, %d calls of the one that is gone", name, n, c.delivered,
				w.count(store.Pending), len(gone.got()))
		}
	}
}

// Every delivery fails for five days: then the endpoint is disabled. One that goes well begins the days anew.
func TestFiveDaysOfFailureDisable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	status := 500
	var mu sync.Mutex
	to := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) {
		mu.Lock()
		defer mu.Unlock()
		w.WriteHeader(status)
	})
	endpoint := w.endpoint(to.URL)
	active := func() bool {
		list, _, err := w.records.Endpoints(t.Context(), w.business, pageAfter(""))
		if err != nil {
			t.Fatal(err)
		}
		return list[0].Active
	}
	daily := func(days int) {
		for range days {
			w.take(w.happened(uuid.New(), 1))
			for end := w.clock.Now().Add(24 * time.Hour); ; w.next() {
				if due, any := w.due(); !any || due.After(end) {
					w.clock.Set(end)
					break
				}
			}
		}
	}
	daily(4)
	mu.Lock()
	status = 200
	mu.Unlock()
	w.drain() // all of them arrive
	mu.Lock()
	status = 500
	mu.Unlock()
	failing := w.clock.Now()
	daily(4)
	if !active() || len(w.told) != 0 {
		t.Errorf("disabled after %v", w.clock.Now().Sub(failing))
	}
	daily(2)
	if active() || len(w.told) != 1 || w.told[0].DisabledReason != store.Failing ||
		w.told[0].ID != endpoint.Endpoint.ID {
		t.Errorf("active after %v: %+v", w.clock.Now().Sub(failing), w.told)
	}
	if w.count(store.Pending) != 0 {
		t.Error("deliveries of a disabled endpoint are pending")
	}
}

// subjectOf is the subject of a delivery, and the event's number among its own.
func subjectOf(t *testing.T, body []byte) (string, int) {
	var sent struct {
		Data struct {
			ID       string
			Sequence int
		}
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Error(err)
	}
	return sent.Data.ID, sent.Data.Sequence
}

// Receivers fail at random; what they took came in the order of each subject, all of it, once.
func TestEventsOfASubjectArriveInTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var (
		mu    sync.Mutex
		taken = map[string][]int{}
		ids   = map[string]int{}
	)
	to := newReceiver(t, func(_ int, w http.ResponseWriter, r *http.Request, body []byte) {
		mu.Lock()
		defer mu.Unlock()
		if rand.IntN(3) == 0 {
			w.WriteHeader(503)
			return
		}
		id, sequence := subjectOf(t, body)
		taken[id] = append(taken[id], sequence)
		ids[r.Header.Get("webhook-id")]++
	})
	w.endpoint(to.URL)
	const subjects, each = 20, 6
	var all [][]event.Event
	for range subjects {
		of := uuid.New()
		all = append(all, w.happened(of, 1), w.happened(of, 2, 3), w.happened(of, 4, 5, 6))
	}
	for part := range 3 { // events come while earlier ones of their subjects are still tried again
		var page []event.Event
		for i := part; i < len(all); i += 3 {
			page = append(page, all[i]...)
		}
		w.take(page)
		for range rand.IntN(4) {
			w.next()
		}
	}
	w.drain()
	if n := w.count(store.Delivered); n != subjects*each || len(ids) != subjects*each {
		t.Errorf("%d delivered, %d arrived, want %d", n, len(ids), subjects*each)
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("%s arrived %d times", id, n)
		}
	}
	for subject, sequences := range taken {
		for i, n := range sequences {
			if n != i+1 {
				t.Fatalf("%s: %v", subject, sequences)
			}
		}
	}
}

func verifies(t *testing.T, secret []byte, r received) bool {
	t.Helper()
	receiver, err := standardwebhooks.NewWebhook(webhook.ShowSecret(secret))
	if err != nil {
		t.Fatal(err)
	}
	return receiver.VerifyIgnoringTimestamp(r.body, r.header) == nil
}

// The owner rotates the secret and names another address while a delivery is on its way: the next one of the same turn
// follows.
func TestAnEndpointThatChangesWhileItIsSentToIsObeyed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var endpoint, renewed store.Created
	after := newReceiver(t, always(200))
	before := newReceiver(t, func(int, http.ResponseWriter, *http.Request, []byte) {
		var err error
		if renewed, err = w.records.RotateSecret(testkit.AsSystem(t), w.business, endpoint.Endpoint.ID,
			webhook.NewSecret(), w.clock.Now().Add(24*time.Hour)); err != nil {
			t.Error(err)
		}
		if _, err := w.records.ChangeEndpoint(testkit.AsSystem(t), w.business, endpoint.Endpoint.ID,
			store.EndpointChange{URL: &after.URL}); err != nil {
			t.Error(err)
		}
	})
	endpoint = w.endpoint(before.URL)
	w.take(w.happened(uuid.New(), 1, 2))
	w.drain()
	if len(before.got()) != 1 || len(after.got()) != 1 {
		t.Fatalf("sent %d to the address before and %d to the one after", len(before.got()), len(after.got()))
	}
	if r := after.got()[0]; !verifies(t, endpoint.Secret, r) || !verifies(t, renewed.Secret, r) {
		t.Error("one of two secrets does not sign")
	}
}

func TestBothSecretsSignForADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, always(200))
	first := w.endpoint(to.URL)
	second, err := w.records.RotateSecret(testkit.AsSystem(t), w.business, first.Endpoint.ID, webhook.NewSecret(),
		w.clock.Now().Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	verifies := func(secret []byte, r received) bool { return verifies(t, secret, r) }
	w.take(w.happened(uuid.New(), 1))
	w.drain()
	if r := to.got()[0]; !verifies(first.Secret, r) || !verifies(second.Secret, r) {
		t.Error("one of two secrets does not sign")
	}
	kept := func() int {
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
	if kept() != 1 {
		t.Error("the secret before is dropped while it signs")
	}
	w.clock.Advance(24 * time.Hour)
	w.take(w.happened(uuid.New(), 1))
	w.drain()
	if r := to.got()[1]; verifies(first.Secret, r) || !verifies(second.Secret, r) {
		t.Error("a day later the secret before signs on, or the new one does not")
	}
	if kept() != 0 {
		t.Error("the secret before is kept though it signs no more")
	}
}

func TestAnOwnerSendsAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) {
		if n <= 2 {
			w.WriteHeader(500)
		}
	})
	endpoint := w.endpoint(to.URL).Endpoint.ID
	w.take(w.happened(uuid.New(), 1, 2))
	w.next()
	list := w.deliveries(endpoint)
	again := func(d store.Delivery) error {
		_, err := w.records.SendAgain(testkit.AsSystem(t), w.business, d.ID, w.clock.Now(), w.wake)
		return err
	}
	if err := again(list[1]); !errors.Is(err, store.ErrBlocked) {
		t.Errorf("one that waits for another: %v", err)
	}
	if err := again(list[0]); err != nil { // due in five seconds
		t.Error(err)
	}
	before := w.clock.Now()
	w.next()
	if d := w.deliveries(endpoint)[0]; len(d.Attempts) != 2 || !d.Attempts[1].At.Equal(before) {
		t.Errorf("it is not sent at once: %+v", d)
	}
	w.drain()
	if n := w.count(store.Delivered); n != 2 {
		t.Errorf("%d delivered", n)
	}
	if err := again(w.deliveries(endpoint)[0]); err != nil { // over
		t.Error(err)
	}
	w.drain()
	if d := w.deliveries(endpoint)[0]; d.Status != store.Delivered || len(d.Attempts) != 4 {
		t.Errorf("%+v", d)
	}
}

func TestDeliveriesAreLoggedForThirtyDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, always(200))
	endpoint := w.endpoint(to.URL).Endpoint.ID
	w.take(w.happened(uuid.New(), 1))
	w.drain()
	for _, days := range []int{30, 31} {
		want := 31 - days
		w.clock.Set(start.AddDate(0, 0, days))
		if err := w.webhooks.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := len(w.deliveries(endpoint)); got != want {
			t.Errorf("after %d days there are %d", days, got)
		}
	}
}

// An event is 31 days old and not sent yet, as where this service was away: it goes, and a later one of its subject
// that waited for it is sent.
func TestWhatWaitsBehindADeliveryThatIsTooOldIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, always(200))
	w.endpoint(to.URL)
	subject := uuid.New()
	w.take(w.happened(subject, 1, 2))
	w.clock.Set(start.AddDate(0, 0, 31))
	w.take(w.happened(subject, 3, 4))
	if _, err := w.pool.Exec(t.Context(), `DELETE FROM river_job`); err != nil { // the sweep makes the one that goes on
		t.Fatal(err)
	}
	if err := w.webhooks.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.drain()
	var sent []int
	for _, r := range to.got() {
		_, sequence := subjectOf(t, r.body)
		sent = append(sent, sequence)
	}
	if !slices.Equal(sent, []int{3, 4}) || w.count(store.Delivered) != 2 || w.count(store.Pending) != 0 {
		t.Errorf("sent are %v; %d delivered, %d pending", sent, w.count(store.Delivered), w.count(store.Pending))
	}
}

// Two jobs look after one endpoint: one sends. The lane is free once that one leaves it, or has died.
func TestOneJobAtATimeSendsToAnEndpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	endpoint := w.endpoint("http://127.0.0.1:9").Endpoint.ID
	lane := func() store.Lane {
		return store.Lane{BusinessID: w.business, EndpointID: endpoint, Holder: uuid.New()}
	}
	takes := func(l store.Lane) bool {
		t.Helper()
		taken, err := w.records.TakeLane(t.Context(), l, time.Hour, false)
		if err != nil {
			t.Fatal(err)
		}
		return taken
	}
	first, second, third := lane(), lane(), lane()
	if !takes(first) || takes(second) {
		t.Error("the first job does not have the lane, or the second one has it too")
	}
	if !takes(first) {
		t.Error("the first job, run again, does not have the lane that is its own")
	}
	if err := w.records.LeaveLane(t.Context(), first, w.clock.Now(), nil); err != nil {
		t.Fatal(err)
	}
	if !takes(second) || takes(third) {
		t.Error("a lane that was left is not free, or has two jobs")
	}
	w.expireLanes()
	if !takes(third) {
		t.Error("the lane of a job that died is not free")
	}
}

// Jobs for an endpoint whose last attempt failed have workers of their own, until one goes well.
func TestEndpointsThatFailHaveWorkersOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	to := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) {
		if n < 3 {
			w.WriteHeader(503)
		}
	})
	endpoint := w.endpoint(to.URL).Endpoint.ID
	queue := func() string {
		t.Helper()
		var name string
		if err := w.pool.QueryRow(t.Context(),
			`SELECT queue FROM river_job WHERE kind = 'webhook_lane' ORDER BY id DESC LIMIT 1`).Scan(&name); err != nil {
			t.Fatal(err)
		}
		return name
	}
	w.take(w.happened(uuid.New(), 1))
	if got := queue(); got != "webhooks" {
		t.Errorf("a new endpoint's job is in %s", got)
	}
	for attempt := range 2 {
		w.next()
		if got := queue(); got != "webhooks_failing" {
			t.Errorf("after %d failures the job is in %s", attempt+1, got)
		}
	}
	w.take(w.happened(uuid.New(), 1))
	if got := queue(); got != "webhooks_failing" {
		t.Errorf("the job of a new event is in %s", got)
	}
	w.drain() // the third attempt goes well
	_, err := w.records.SendTest(testkit.AsSystem(t), store.NewDelivery{
		BusinessID: w.business, EndpointID: endpoint, EventID: uuid.New(), EventType: "webhook.test",
		SubjectKind: "webhook", SubjectID: endpoint, Sequence: 1, Body: []byte(`{}`),
	}, w.clock.Now(), w.wake)
	if err != nil {
		t.Fatal(err)
	}
	if got := queue(); got != "webhooks" {
		t.Errorf("after a success the job is in %s", got)
	}
}

// With River running: receivers that do not answer, beside twenty that do. Those have all they are to be sent while the
// others still hang.
func TestAReceiverThatHangsHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const good, bad, events = 20, 5, 30
	release := make(chan struct{})
	hangs := func(_ int, _ http.ResponseWriter, r *http.Request, _ []byte) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	arrived := make(chan struct{}, good*events)
	var all []event.Event
	for i := range good + bad {
		w.business = uuid.New()
		if i < bad {
			w.endpoint(newReceiver(t, hangs).URL)
		} else {
			w.endpoint(newReceiver(t, func(int, http.ResponseWriter, *http.Request, []byte) {
				arrived <- struct{}{}
			}).URL)
		}
		for range events {
			all = append(all, w.happened(uuid.New(), 1)...)
		}
	}
	w.take(all)
	stop := w.run()
	for range good * events {
		select {
		case <-arrived:
		case <-time.After(testkit.MaxWait):
			t.Fatal("those that answer wait")
		}
	}
	if n := w.count(store.Failed); n != 0 {
		t.Errorf("%d failed", n)
	}
	close(release)
	stop()
}

// River schedules by the service's clock: an hour that nobody waits for is an hour.
func TestJobsGoByTheClockOfTheService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	arrived := make(chan int, 2)
	to := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request, _ []byte) {
		if n == 1 {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(503)
		}
		arrived <- n
	})
	w.endpoint(to.URL)
	stop := w.run()
	defer stop()
	w.take(w.happened(uuid.New(), 1))
	await := func() {
		t.Helper()
		select {
		case <-arrived:
		case <-time.After(testkit.MaxWait):
			t.Fatal("nothing arrives")
		}
	}
	await()
	for scheduled := false; !scheduled; { // by the job that was answered
		_, scheduled = w.due()
		if t.Context().Err() != nil {
			t.Fatal("no job is scheduled")
		}
	}
	w.clock.Advance(time.Hour + time.Second)
	await()
}

// With River running: a job cannot leave its lane, as where the database is away, and what is added meanwhile finds the
// lane taken. The job is run again, and sends that too.
func TestALaneThatCouldNotBeLeftIsGoneOnWith(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
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
	to := newReceiver(t, always(200))
	w.endpoint(to.URL)
	stop := w.run()
	defer stop()
	w.take(w.happened(uuid.New(), 1))
	testkit.WaitUntil(t, "the job is to be run again",
		w.has(1, `SELECT count(*) FROM river_job WHERE kind = 'webhook_lane' AND state = 'scheduled'`))
	// however slow this machine is
	if _, err := w.pool.Exec(t.Context(), `UPDATE webhook_endpoints SET lane_until = 'infinity'`); err != nil {
		t.Fatal(err)
	}
	w.take(w.happened(uuid.New(), 1))
	testkit.WaitUntil(t, "the job of what was added has found the lane taken",
		w.has(1, `SELECT count(*) FROM river_job WHERE kind = 'webhook_lane' AND state = 'completed'`))
	if n := w.count(store.Delivered); n != 1 {
		t.Errorf("%d are delivered while the lane is held, want 1", n)
	}
	w.clock.Advance(time.Minute)
	testkit.WaitUntil(t, "what was added is sent",
		w.has(2, `SELECT count(*) FROM webhook_deliveries WHERE status = 'delivered'`))
}

// As where many wait for a connection: the lane is left for as long as its job goes on.
func TestALaneIsLeftThoughThatTakesLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.pool.Exec(t.Context(), `
CREATE FUNCTION takes_long() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(4); RETURN NEW; END $$;
CREATE TRIGGER takes_long BEFORE UPDATE ON webhook_endpoints FOR EACH ROW WHEN (OLD.lane IS NOT NULL AND NEW.lane IS NULL) EXECUTE FUNCTION takes_long()`)
	if err != nil {
		t.Fatal(err)
	}
	w.endpoint(newReceiver(t, always(200)).URL)
	w.take(w.happened(uuid.New(), 1))
	var (
		id   int64
		args []byte
	)
	if err := w.pool.QueryRow(t.Context(), `SELECT id, args FROM river_job WHERE kind = 'webhook_lane'`).Scan(&id,
		&args); err != nil {
		t.Fatal(err)
	}
	if err := w.webhooks.Run(t.Context(), id, args); err != nil {
		t.Error(err)
	}
	if err := w.has(1, `SELECT count(*) FROM webhook_endpoints WHERE lane IS NULL`)(t.Context()); err != nil {
		t.Error("the lane is held: ", err)
	}
}

// The database does not take what became of an attempt, however often it is made: its job goes on after a pause, and no
// other one before it.
func TestAnAttemptThatCannotBeWrittenDownIsNotRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.pool.Exec(t.Context(), `
CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not taken'; END $$;
CREATE TRIGGER fails BEFORE INSERT ON webhook_attempts FOR EACH ROW EXECUTE FUNCTION fails()`)
	if err != nil {
		t.Fatal(err)
	}
	to := newReceiver(t, always(200))
	w.endpoint(to.URL)
	w.take(w.happened(uuid.New(), 1))
	var (
		id     int64
		args   []byte
		paused *river.JobSnoozeError
	)
	if err := w.pool.QueryRow(t.Context(), `SELECT id, args FROM river_job WHERE kind = 'webhook_lane'`).Scan(&id,
		&args); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if err := w.webhooks.Run(t.Context(), id, args); !errors.As(err, &paused) || paused.Duration < time.Second {
			t.Errorf("run %d: %v", n+1, err)
		}
		if len(to.got()) != n+1 {
			t.Errorf("%d calls after run %d", len(to.got()), n+1)
		}
	}
	// however slow this machine is
	if _, err := w.pool.Exec(t.Context(), `UPDATE webhook_endpoints SET lane_until = 'infinity'`); err != nil {
		t.Fatal(err)
	}
	w.take(w.happened(uuid.New(), 1)) // finds the lane taken
	rows, _ := w.pool.Query(t.Context(), `SELECT id, args FROM river_job WHERE kind = 'webhook_lane' AND id <> $1`, id)
	others := 0
	_, err = pgx.ForEachRow(rows, []any{&id, &args}, func() error {
		others++
		return w.webhooks.Run(t.Context(), id, args)
	})
	if err != nil || others != 1 || len(to.got()) != 2 {
		t.Errorf("%d other jobs, %v; %d calls", others, err, len(to.got()))
	}
}

// Three replicas send while events come, and each is killed again and again: what it was doing is broken off. Nothing
// that was taken is left behind, and what arrived came in order.
func TestNothingIsLeftBehindWhereReplicasDie(t *testing.T) {
	t.Parallel()
	first := newWorld(t)
	var (
		mu    sync.Mutex
		taken = map[string][]int{}
	)
	to := newReceiver(t, func(_ int, _ http.ResponseWriter, _ *http.Request, body []byte) {
		id, sequence := subjectOf(t, body)
		mu.Lock()
		defer mu.Unlock()
		taken[id] = append(taken[id], sequence)
	})
	first.endpoint(to.URL)
	first.endpoint(to.URL)
	const subjects, each = 60, 5
	var replicas sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range 3 {
		replica := worldOn(t, first.pool, first.clock, first.business)
		replicas.Go(func() {
			for ctx.Err() == nil {
				alive, kill := context.WithCancel(ctx)
				if rand.IntN(2) == 0 {
					kill() // it breaks off where it is
				}
				replica.runOne(alive)
				kill()
			}
		})
	}
	for n := 1; n <= each; n++ {
		var page []event.Event
		for subject := range subjects {
			page = append(page, first.happened(uuid.NewSHA1(uuid.Nil, []byte{byte(subject)}), n)...)
		}
		first.take(page)
	}
	testkit.WaitUntil(t, "everything is sent",
		first.has(2*subjects*each, `SELECT count(*) FROM webhook_deliveries WHERE status = 'delivered'`))
	stop()
	replicas.Wait()
	mu.Lock()
	defer mu.Unlock()
	for subject, sequences := range taken {
		seen := map[int]int{} // of two endpoints each
		for _, n := range sequences {
			if n > 1 && seen[n-1] == 0 {
				t.Fatalf("%s: %v", subject, sequences)
			}
			seen[n]++
		}
		if len(seen) != each {
			t.Errorf("%s: %v", subject, sequences)
		}
	}
}

// A process is killed while its job holds the lane of an endpoint. Webhooks of the endpoint go on within a minute.
func TestRescueSendsWhereAJobDied(t *testing.T) {
	t.Parallel()
	if deliver.LongestPause > time.Minute {
		t.Errorf("webhooks pause for up to %s, want at most a minute", deliver.LongestPause)
	}
	w := newWorld(t)
	endpoint := w.endpoint(newReceiver(t, always(200)).URL)
	w.take(w.happened(uuid.New(), 1))
	dead := store.Lane{BusinessID: w.business, EndpointID: endpoint.Endpoint.ID, Holder: uuid.New()}
	if taken, err := w.records.TakeLane(t.Context(), dead, time.Hour, false); err != nil || !taken {
		t.Fatal(taken, err)
	}
	// it counts as running until River finds out
	if _, err := w.pool.Exec(t.Context(), `DELETE FROM river_job`); err != nil {
		t.Fatal(err)
	}
	rescue := func() {
		t.Helper()
		if err := w.webhooks.Rescue(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.drain()
	}
	if rescue(); w.count(store.Delivered) != 0 {
		t.Error("it is sent while the lane may be held")
	}
	w.expireLanes()
	if rescue(); w.count(store.Delivered) != 1 {
		t.Error("it is not sent once the lane has expired")
	}
}
