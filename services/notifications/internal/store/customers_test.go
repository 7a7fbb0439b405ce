package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/migrations"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var now = time.Date(2027, time.June, 10, 9, 0, 0, 0, time.UTC)

// adaTexts are texts in the data of the customer Ada. The customer Bob has the same phone number.
var adaTexts = []string{"Ada Lovelace", "ada.l@example.com", "555 019"}

// fixture is a database with one business that has an endpoint.
type fixture struct {
	*testing.T
	pool               *pgxpool.Pool
	store              *store.Store
	business, endpoint uuid.UUID
	wokenEndpoints     []uuid.UUID
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	pool := testkit.Postgres(t, "notifications", migrations.FS)
	w := &fixture{T: t, pool: pool, store: store.New(pool)}
	w.addBusiness()
	return w
}

// addBusiness creates another business with an endpoint. The fixture uses it from now on.
func (w *fixture) addBusiness() {
	w.Helper()
	w.business, w.endpoint = uuid.New(), uuid.New()
	_, err := w.store.CreateEndpoint(testkit.AsSystem(w), store.Endpoint{BusinessID: w.business, ID: w.endpoint,
		URL: "https://hooks.example", Events: []string{"*"}, CreatedAt: now}, []byte("secret"))
	if err != nil {
		w.Fatal(err)
	}
}

// wake records the endpoint for which a job would be inserted.
func (w *fixture) wake(_ context.Context, _ pgx.Tx, endpoint uuid.UUID, _ store.EndpointState) error {
	w.wokenEndpoints = append(w.wokenEndpoints, endpoint)
	return nil
}

// addCustomerData stores all kinds of data about a new subject that ends at the argument ends. It adds
// a message, a stored event and two deliveries. The first delivery has failed once, with customer data
// in the answer.
func (w *fixture) addCustomerData(name, email string, ends time.Time) uuid.UUID {
	w.Helper()
	id, text := uuid.New(), name+" "+email+" 555 019"
	events := make([]event.Event, 2)
	for i := range events {
		data := fmt.Sprintf(`{"customer_name": %q, "customer_email": %q, "customer_phone": "+351 210 555 019"}`, name,
			email)
		events[i] = event.Event{ID: uuid.New(), Type: event.BookingCreated, BusinessID: w.business,
			Subject: event.Subject{Kind: event.Booking, ID: id}, Sequence: i + 1, Data: json.RawMessage(data)}
	}
	w.runInTx(func(tx pgx.Tx) error {
		if err := w.store.StoreEvents(testkit.AsSystem(w), tx, events[1:]); err != nil {
			return err
		}
		_, err := w.store.AddMessage(testkit.AsSystem(w), tx, store.Message{
			BusinessID: w.business, ID: uuid.New(), Kind: "booking_confirmed", EventID: events[0].ID,
			About: events[0].Subject, CustomerEmail: email, Recipient: email,
			Locale: "en", Text: text, HTML: text, Calendar: []byte(text), Status: store.MessageNotSent,
			AboutEndsAt: ends, CreatedAt: now,
		})
		if err != nil {
			return err
		}
		var deliveries []store.NewDelivery
		for _, e := range events {
			deliveries = append(deliveries, w.newDelivery(e.ID, id, e.Sequence, e.Data, strings.ToUpper(email)))
		}
		return store.AddDeliveries(testkit.AsSystem(w), tx, deliveries, now)
	})
	due := w.listDue(id)
	if len(due) != 1 {
		w.Fatalf("%d deliveries are due", len(due))
	}
	w.recordFailure(due[0], text)
	return id
}

func (w *fixture) newDelivery(event, subject uuid.UUID, sequence int, body []byte, email string) store.NewDelivery {
	return store.NewDelivery{
		BusinessID: w.business, EndpointID: w.endpoint, EventID: event, SubjectID: subject,
		EventType: "booking.created", SubjectKind: "booking",
		Sequence: sequence, Body: body, CustomerEmail: email,
	}
}

func (w *fixture) newLock() store.DeliveryLock {
	return store.DeliveryLock{BusinessID: w.business, EndpointID: w.endpoint}
}

// recordFailure records a failed attempt with this answer.
func (w *fixture) recordFailure(d store.DueDelivery, answer string) {
	w.Helper()
	status := 503
	_, err := w.store.RecordAttempt(testkit.AsSystem(w), w.newLock(), store.AttemptResult{
		Delivery: d, Status: store.DeliveryPending, NextAt: now.Add(time.Minute),
		Attempt: store.Attempt{At: now, Status: &status, Answer: answer},
	}, now, nil)
	if err != nil {
		w.Fatal(err)
	}
}

// listDue returns the deliveries of a subject that are due within an hour.
func (w *fixture) listDue(subject uuid.UUID) []store.DueDelivery {
	w.Helper()
	list, err := w.store.DueDeliveries(testkit.AsSystem(w), w.newLock(), 100, now.Add(time.Hour))
	if err != nil {
		w.Fatal(err)
	}
	return slices.DeleteFunc(list, func(d store.DueDelivery) bool { return d.SubjectID != subject })
}

func (w *fixture) runInTx(do func(pgx.Tx) error) {
	w.Helper()
	if err := pgx.BeginFunc(testkit.AsSystem(w), w.pool, do); err != nil {
		w.Fatal(err)
	}
}

func (w *fixture) eraseAda(ctx context.Context, keptSubjects ...uuid.UUID) store.ErasureCounts {
	w.Helper()
	erased, err := w.store.EraseCustomer(ctx, store.Erasure{BusinessID: w.business, Email: "ADA.l@example.com",
		KeptSubjects: keptSubjects}, now, w.wake)
	if err != nil {
		w.Fatal(err)
	}
	return erased
}

// findRows returns the rows of all tables that contain one of these texts.
func (w *fixture) findRows(texts ...string) []string {
	w.Helper()
	return slices.DeleteFunc(testkit.Rows(w, w.pool), func(row string) bool {
		return len(testkit.Find(row, texts...)) == 0
	})
}

func TestEraseCustomerKeepsOnlyFutureSubjects(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	ended := w.addCustomerData("Ada Lovelace", "ada.l@example.com", now)
	future := w.addCustomerData("Ada Lovelace", "ada.l@example.com", now.AddDate(0, 0, 9))
	other := w.addCustomerData("Bob", "bob@example.com", now)
	// The owner's retry stores an idempotency result, which contains the attempts.
	retry := clock.WithArrival(idempotency.With(testkit.AsSystem(t), idempotency.Request{Key: "retry"}), time.Now())
	if _, err := w.store.RetryDelivery(retry, w.business, w.listDue(ended)[0].ID, now, w.wake); err != nil {
		t.Fatal(err)
	}
	for _, text := range adaTexts {
		// two subjects with a message, an event, two deliveries and an attempt each, and the idempotency result
		if n := len(w.findRows(text)); n < 11 {
			t.Fatalf("only %[2]d rows contain %[1]q", text, n)
		}
	}
	withKey := clock.WithArrival(idempotency.With(testkit.AsSystem(t), idempotency.Request{Key: "erase"}), time.Now())
	want := store.ErasureCounts{Messages: 2, Deliveries: 2}
	for range 2 { // the repeated request returns the same counts
		if got := w.eraseAda(withKey, future); got != want {
			t.Errorf("erased %+v, want %+v", got, want)
		}
	}
	for _, line := range w.findRows(adaTexts[:2]...) {
		if !strings.Contains(line, future.String()) && !strings.HasPrefix(line, "webhook_attempts") {
			t.Errorf("left: %s", line)
		}
	}
	if rows := w.findRows(ended.String()); len(rows) != 0 {
		t.Errorf("rows of the ended subject are left: %q", rows)
	}
	for _, id := range []uuid.UUID{future, other} {
		if n := len(w.findRows(id.String())); n != 4 {
			t.Errorf("%d rows of a subject that is not erased, want 4", n)
		}
	}
	if got := w.eraseAda(testkit.AsSystem(t)); got != want {
		t.Errorf("erased %+v of the future subject, want %+v", got, want)
	}
	if rows := w.findRows(adaTexts[:2]...); len(rows) != 0 {
		t.Errorf("left: %q", rows)
	}
	if n := len(w.findRows(adaTexts[2])); n != 5 {
		t.Errorf("%d rows of Bob, who has the same phone number, are left, want 5", n)
	}
	if n := len(w.findRows("bob@example.com")); n != 5 {
		t.Errorf("%d rows of another customer are left, want 5", n)
	}
}

// A delivery without customer data waits for deliveries that are erased. It becomes due, and its
// endpoint is woken. The result of an attempt that was in progress is not stored.
func TestEraseCustomerMakesWaitingDeliveryDue(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	id := w.addCustomerData("Ada Lovelace", "ada.l@example.com", now)
	last := uuid.New()
	w.runInTx(func(tx pgx.Tx) error {
		return store.AddDeliveries(testkit.AsSystem(t), tx,
			[]store.NewDelivery{w.newDelivery(last, id, 3, []byte(`{}`), "")}, now)
	})
	inProgress := w.listDue(id)
	if len(inProgress) != 1 || inProgress[0].EventID == last {
		t.Fatalf("due before: %+v", inProgress)
	}
	w.eraseAda(testkit.AsSystem(t))
	if due := w.listDue(id); len(due) != 1 || due[0].EventID != last || !slices.Equal(w.wokenEndpoints,
		[]uuid.UUID{w.endpoint}) {
		t.Errorf("due after: %+v, woken %v", due, w.wokenEndpoints)
	}
	w.recordFailure(inProgress[0], "Ada Lovelace was told")
	if rows := w.findRows(adaTexts[:2]...); len(rows) != 0 {
		t.Errorf("left: %q", rows)
	}
	if due := w.listDue(id); len(due) != 1 || due[0].EventID != last {
		t.Errorf("due after the attempt: %+v", due)
	}
	w.wokenEndpoints = nil
	w.eraseAda(testkit.AsSystem(t))
	if len(w.wokenEndpoints) != 0 {
		t.Error("an endpoint without due deliveries is woken")
	}
}

// A page that was read before the erasure must not be taken after it, because the page may contain
// data of the customer.
func TestEraseCustomerDiscardsReadPages(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	replica := uuid.New()
	lock := store.FeedLock{Feed: "booking", Replica: replica, Duration: time.Minute, Now: now}
	takePage := func() bool {
		isTaken, err := w.store.TakePage(testkit.AsSystem(t), store.CursorChange{Feed: "booking", Replica: replica,
			From: "",
			To:   "1", CaughtUp: now},
			func(context.Context, pgx.Tx) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return isTaken
	}
	if progress, err := w.store.AcquireFeed(testkit.AsSystem(t), lock); err != nil || !progress.IsLocked {
		t.Fatal(progress, err)
	}
	w.eraseAda(testkit.AsSystem(t))
	if takePage() {
		t.Error("the page of before the erasure is taken")
	}
	if progress, err := w.store.AcquireFeed(testkit.AsSystem(t), lock); err != nil || !progress.IsLocked ||
		progress.Cursor != "" {
		t.Errorf("the replica acquires the lock again: %+v, %v", progress, err)
	}
	if !takePage() {
		t.Error("a page that is read after the erasure is not taken")
	}
}

func TestAnonymizeEndedDeletesDeliveries(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	ended, future := w.addCustomerData("Ada Lovelace", "ada.l@example.com", now),
		w.addCustomerData("Ada Lovelace", "ada.l@example.com", now.Add(time.Hour))
	if n, err := w.store.AnonymizeEnded(testkit.AsSystem(t), w.business, now.Add(-time.Second)); err != nil || n != 0 {
		t.Errorf("deleted %d, %v before the end", n, err)
	}
	// a message and two deliveries
	if n, err := w.store.AnonymizeEnded(testkit.AsSystem(t), w.business, now); err != nil || n != 3 {
		t.Errorf("deleted %d, %v", n, err)
	}
	if len(w.listDue(ended)) != 0 || len(w.listDue(future)) != 1 {
		t.Errorf("due: %+v of the ended subject, %+v of the future subject", w.listDue(ended), w.listDue(future))
	}
	next := uuid.New() // a new event of the ended subject waits for nothing
	w.runInTx(func(tx pgx.Tx) error {
		return store.AddDeliveries(testkit.AsSystem(t), tx,
			[]store.NewDelivery{w.newDelivery(next, ended, 3, []byte(`{}`), "")}, now)
	})
	if due := w.listDue(ended); len(due) != 1 || due[0].EventID != next {
		t.Errorf("due: %+v", due)
	}
}

// A feed returns stored events again after its cursor was reset. They are not delivered again, and a new event of the
// same subject does not wait for them.
func TestAddDeliveriesSkipsStoredEvents(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	subject, stored, added := uuid.New(), uuid.New(), uuid.New()
	add := func(events ...uuid.UUID) {
		t.Helper()
		var deliveries []store.NewDelivery
		for i, id := range events {
			deliveries = append(deliveries, w.newDelivery(id, subject, i+1, []byte(`{}`), ""))
		}
		w.runInTx(func(tx pgx.Tx) error { return store.AddDeliveries(testkit.AsSystem(t), tx, deliveries, now) })
	}
	add(stored)
	if _, err := w.pool.Exec(testkit.AsSystem(t), `UPDATE webhook_deliveries SET status = 'delivered', due_at = NULL
WHERE business_id = $1 AND event_id = $2`, w.business, stored); err != nil {
		t.Fatal(err)
	}
	add(stored, added)
	if due := w.listDue(subject); len(due) != 1 || due[0].EventID != added {
		t.Errorf("due: %+v, want the new event alone", due)
	}
}

// addMessages stores a message for each of n subjects, which end at the argument ends. For the first
// subject it also stores a newer message, according to which the subject ends at the argument later.
func (w *fixture) addMessages(n int, ends, later time.Time) {
	w.Helper()
	_, err := w.pool.Exec(testkit.AsSystem(w), `
INSERT INTO messages (business_id, id, kind, event_id, about_kind, about_id, customer_email, recipient, locale, from_name, reply_to, subject, text, html,
    calendar_method, status, about_ends_at, created_at, queued_at)
SELECT $1, gen_random_uuid(), 'booking_confirmed', gen_random_uuid(), 'booking', md5(i % $2 || $1::uuid::text)::uuid, '', '', 'en', '', '', '', '', '', '', 'not_sent',
    CASE WHEN i < $2 THEN $3::timestamptz ELSE $4::timestamptz END, $3, $3
FROM generate_series(0, $2::integer) AS i`, w.business, n, ends, later)
	if err != nil {
		w.Fatal(err)
	}
}

// TestAnonymizeEndedDeletesInBatches needs several transactions. All messages are deleted except one
// about a subject that ends later.
func TestAnonymizeEndedDeletesInBatches(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.addMessages(250, now, now.Add(time.Hour))
	if n, err := w.store.AnonymizeEnded(testkit.AsSystem(t), w.business, now); err != nil || n != 250 {
		t.Errorf("deleted %d, %v, want 250", n, err)
	}
	var remaining int
	if err := w.pool.QueryRow(testkit.AsSystem(t), `SELECT count(*) FROM messages WHERE about_ends_at > $1`,
		now).Scan(&remaining); err != nil || remaining != 1 {
		t.Errorf("%d messages with a later end are left, %v", remaining, err)
	}
}

func TestBusinessesToAnonymizePages(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	var ended []uuid.UUID
	for i := range 5 {
		w.addBusiness()
		w.addMessages(3, now.Add(time.Duration(i%2)*time.Hour), now.Add(time.Hour))
		if i%2 == 0 {
			ended = append(ended, w.business)
		}
	}
	slices.SortFunc(ended, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	var found []uuid.UUID
	for after := uuid.Nil; ; after = found[len(found)-1] {
		page, err := w.store.BusinessesToAnonymize(testkit.AsSystem(t), after, now, 2)
		if err != nil {
			t.Fatal(err)
		}
		if found = append(found, page...); len(page) < 2 {
			break
		}
	}
	if !slices.Equal(found, ended) {
		t.Errorf("found %v, want %v", found, ended)
	}
}
