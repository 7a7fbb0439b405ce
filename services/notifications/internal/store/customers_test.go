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

// adas is what is known of Ada.
var adas = []string{"Ada Lovelace", "ada.l@example.com", "555 019"}

// world is the tables of one business with an endpoint.
type world struct {
	*testing.T
	pool               *pgxpool.Pool
	store              *store.Store
	business, endpoint uuid.UUID
	woken              []uuid.UUID
}

func open(t *testing.T) *world {
	t.Helper()
	pool := testkit.Postgres(t, "notifications", migrations.FS)
	w := &world{T: t, pool: pool, store: store.New(pool)}
	w.another()
	return w
}

// another has the world go on with another business that has an endpoint.
func (w *world) another() {
	w.Helper()
	w.business, w.endpoint = uuid.New(), uuid.New()
	_, err := w.store.CreateEndpoint(testkit.AsSystem(w), store.Endpoint{BusinessID: w.business, ID: w.endpoint,
		URL: "https://hooks.example", Events: []string{"*"}, CreatedAt: now}, []byte("secret"))
	if err != nil {
		w.Fatal(err)
	}
}

// wake notes whose lane is looked after.
func (w *world) wake(_ context.Context, _ pgx.Tx, endpoint uuid.UUID, _ store.LaneState) error {
	w.woken = append(w.woken, endpoint)
	return nil
}

// hold has a subject that ends then leave all that one can: a message to the customer, an event that messages are still
// to be made of, and two deliveries, the first of which failed once and told of the customer in its answer.
func (w *world) hold(name, email string, ends time.Time) uuid.UUID {
	w.Helper()
	id, said := uuid.New(), name+" "+email+" 555 019"
	events := make([]event.Event, 2)
	for i := range events {
		data := fmt.Sprintf(`{"customer_name": %q, "customer_email": %q, "customer_phone": "+351 210 555 019"}`, name,
			email)
		events[i] = event.Event{ID: uuid.New(), Type: event.BookingCreated, BusinessID: w.business,
			Subject: event.Subject{Kind: event.Booking, ID: id}, Sequence: i + 1, Data: json.RawMessage(data)}
	}
	w.in(func(tx pgx.Tx) error {
		if err := w.store.KeepEvents(testkit.AsSystem(w), tx, events[1:]); err != nil {
			return err
		}
		_, err := w.store.AddMessage(testkit.AsSystem(w), tx, store.Message{
			BusinessID: w.business, ID: uuid.New(), Kind: "booking_confirmed", EventID: events[0].ID,
			About: events[0].Subject, CustomerEmail: email, Recipient: email,
			Locale: "en", Text: said, HTML: said, Calendar: []byte(said), Status: store.MessageNotSent,
			AboutEndsAt: ends, CreatedAt: now,
		})
		if err != nil {
			return err
		}
		var all []store.NewDelivery
		for _, e := range events {
			all = append(all, w.delivery(e.ID, id, e.Sequence, e.Data, strings.ToUpper(email)))
		}
		return store.AddDeliveries(testkit.AsSystem(w), tx, all, now)
	})
	due := w.due(id)
	if len(due) != 1 {
		w.Fatalf("%d deliveries are due", len(due))
	}
	w.record(due[0], said)
	return id
}

func (w *world) delivery(event, subject uuid.UUID, sequence int, body []byte, email string) store.NewDelivery {
	return store.NewDelivery{
		BusinessID: w.business, EndpointID: w.endpoint, EventID: event, SubjectID: subject,
		EventType: "booking.created", SubjectKind: "booking",
		Sequence: sequence, Body: body, CustomerEmail: email,
	}
}

func (w *world) lane() store.Lane { return store.Lane{BusinessID: w.business, EndpointID: w.endpoint} }

// record has an attempt fail, with this answer.
func (w *world) record(d store.Due, answer string) {
	w.Helper()
	status := 503
	_, err := w.store.Record(testkit.AsSystem(w), w.lane(), store.AttemptOutcome{
		Delivery: d, Status: store.Pending, Again: now.Add(time.Minute),
		Attempt: store.Attempt{At: now, Status: &status, Answer: answer},
	}, now, nil)
	if err != nil {
		w.Fatal(err)
	}
}

// due are the deliveries of a subject that are due within the hour.
func (w *world) due(subject uuid.UUID) []store.Due {
	w.Helper()
	all, err := w.store.Due(testkit.AsSystem(w), w.lane(), 100, now.Add(time.Hour))
	if err != nil {
		w.Fatal(err)
	}
	return slices.DeleteFunc(all, func(d store.Due) bool { return d.SubjectID != subject })
}

func (w *world) in(do func(pgx.Tx) error) {
	w.Helper()
	if err := pgx.BeginFunc(testkit.AsSystem(w), w.pool, do); err != nil {
		w.Fatal(err)
	}
}

func (w *world) erase(ctx context.Context, stay ...uuid.UUID) store.Erased {
	w.Helper()
	erased, err := w.store.EraseCustomer(ctx, store.Erase{BusinessID: w.business, Email: "ADA.l@example.com",
		Stay: stay}, now, w.wake)
	if err != nil {
		w.Fatal(err)
	}
	return erased
}

// holding are the rows that hold one of these texts.
func (w *world) holding(texts ...string) []string {
	w.Helper()
	return slices.DeleteFunc(testkit.Rows(w, w.pool), func(row string) bool {
		return len(testkit.Find(row, texts...)) == 0
	})
}

func TestErasingACustomerLeavesNothingOfTheirsButWhatLiesAhead(t *testing.T) {
	t.Parallel()
	w := open(t)
	done := w.hold("Ada Lovelace", "ada.l@example.com", now)
	ahead := w.hold("Ada Lovelace", "ada.l@example.com", now.AddDate(0, 0, 9))
	other := w.hold("Bob", "bob@example.com", now)
	// The owner's retry leaves an answer with the attempts, for whoever repeats it.
	retry := clock.WithArrival(idempotency.With(testkit.AsSystem(t), idempotency.Request{Key: "retry"}), time.Now())
	if _, err := w.store.SendAgain(retry, w.business, w.due(done)[0].ID, now, w.wake); err != nil {
		t.Fatal(err)
	}
	for _, text := range adas {
		// a message, an event, two deliveries and an attempt of each of two, and the answer
		if n := len(w.holding(text)); n < 11 {
			t.Fatalf("the test finds %q in %d rows only", text, n)
		}
	}
	named := clock.WithArrival(idempotency.With(testkit.AsSystem(t), idempotency.Request{Key: "erase"}), time.Now())
	want := store.Erased{Messages: 2, Deliveries: 2}
	for range 2 { // repeated under its key it answers the same
		if got := w.erase(named, ahead); got != want {
			t.Errorf("erased %+v, want %+v", got, want)
		}
	}
	for _, line := range w.holding(adas[:2]...) {
		if !strings.Contains(line, ahead.String()) && !strings.HasPrefix(line, "webhook_attempts") {
			t.Errorf("left: %s", line)
		}
	}
	if left := w.holding(done.String()); len(left) != 0 {
		t.Errorf("of what has ended is left: %q", left)
	}
	for _, id := range []uuid.UUID{ahead, other} {
		if n := len(w.holding(id.String())); n != 4 {
			t.Errorf("%d rows of what stays, want 4", n)
		}
	}
	if got := w.erase(testkit.AsSystem(t)); got != want {
		t.Errorf("erased %+v of what lay ahead, want %+v", got, want)
	}
	if left := w.holding(adas[:2]...); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if n := len(w.holding(adas[2])); n != 5 {
		t.Errorf("%d rows of Bob's, who has the same phone, are left, want 5", n)
	}
	if n := len(w.holding("bob@example.com")); n != 5 {
		t.Errorf("%d rows of another customer are left, want 5", n)
	}
}

// A delivery that waits behind erased ones holds nothing of the customer: it is due, its lane is woken, and an attempt
// that was on its way meanwhile is written down nowhere.
func TestWhatWaitsBehindErasedDeliveriesIsSent(t *testing.T) {
	t.Parallel()
	w := open(t)
	id := w.hold("Ada Lovelace", "ada.l@example.com", now)
	last := uuid.New()
	w.in(func(tx pgx.Tx) error {
		return store.AddDeliveries(testkit.AsSystem(t), tx,
			[]store.NewDelivery{w.delivery(last, id, 3, []byte(`{}`), "")}, now)
	})
	flying := w.due(id)
	if len(flying) != 1 || flying[0].EventID == last {
		t.Fatalf("due before: %+v", flying)
	}
	w.erase(testkit.AsSystem(t))
	if due := w.due(id); len(due) != 1 || due[0].EventID != last || !slices.Equal(w.woken, []uuid.UUID{w.endpoint}) {
		t.Errorf("due after: %+v, woken %v", due, w.woken)
	}
	w.record(flying[0], "Ada Lovelace was told")
	if left := w.holding(adas[:2]...); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if due := w.due(id); len(due) != 1 || due[0].EventID != last {
		t.Errorf("due after the attempt: %+v", due)
	}
	w.woken = nil
	w.erase(testkit.AsSystem(t))
	if len(w.woken) != 0 {
		t.Error("a lane is woken for nothing")
	}
}

// A page that was asked for before the others forgot, and is taken after, would bring the customer back.
func TestAPageThatWasReadBeforeIsNotTakenAfterErasing(t *testing.T) {
	t.Parallel()
	w := open(t)
	replica := uuid.New()
	hold := store.Hold{Feed: "booking", Replica: replica, For: time.Minute, Now: now}
	take := func() bool {
		taken, err := w.store.TakePage(testkit.AsSystem(t), store.Move{Feed: "booking", Replica: replica, From: "",
			To: "1", CaughtUp: now},
			func(context.Context, pgx.Tx) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return taken
	}
	if at, err := w.store.HoldFeed(testkit.AsSystem(t), hold); err != nil || !at.Held {
		t.Fatal(at, err)
	}
	w.erase(testkit.AsSystem(t))
	if take() {
		t.Error("the page is taken")
	}
	if at, err := w.store.HoldFeed(testkit.AsSystem(t), hold); err != nil || !at.Held || at.Cursor != "" {
		t.Errorf("the replica holds the feed again as %+v, %v", at, err)
	}
	if !take() {
		t.Error("the page that is asked for after is not taken")
	}
}

func TestDeliveriesAreForgottenWithTheMessagesOfWhatHasEnded(t *testing.T) {
	t.Parallel()
	w := open(t)
	ended, ahead := w.hold("Ada Lovelace", "ada.l@example.com", now),
		w.hold("Ada Lovelace", "ada.l@example.com", now.Add(time.Hour))
	if n, err := w.store.ForgetEnded(testkit.AsSystem(t), w.business, now.Add(-time.Second)); err != nil || n != 0 {
		t.Errorf("forgot %d, %v before the end", n, err)
	}
	// a message and two deliveries
	if n, err := w.store.ForgetEnded(testkit.AsSystem(t), w.business, now); err != nil || n != 3 {
		t.Errorf("forgot %d, %v", n, err)
	}
	if len(w.due(ended)) != 0 || len(w.due(ahead)) != 1 {
		t.Errorf("due: %+v of what has ended, %+v of what has not", w.due(ended), w.due(ahead))
	}
	next := uuid.New() // of what was forgotten: it waits for nothing
	w.in(func(tx pgx.Tx) error {
		return store.AddDeliveries(testkit.AsSystem(t), tx,
			[]store.NewDelivery{w.delivery(next, ended, 3, []byte(`{}`), "")}, now)
	})
	if due := w.due(ended); len(due) != 1 || due[0].EventID != next {
		t.Errorf("due: %+v", due)
	}
}

// told writes down n messages, each of a subject of its own that ends then, and for the first of them a later one by
// which it ends later.
func (w *world) told(n int, ends, later time.Time) {
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

// More than one transaction forgets: all of it goes but what was told of a subject that ends later.
func TestAllThatHasEndedIsForgotten(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.told(250, now, now.Add(time.Hour))
	if n, err := w.store.ForgetEnded(testkit.AsSystem(t), w.business, now); err != nil || n != 250 {
		t.Errorf("forgot %d, %v, want 250", n, err)
	}
	var left int
	if err := w.pool.QueryRow(testkit.AsSystem(t), `SELECT count(*) FROM messages WHERE about_ends_at > $1`,
		now).Scan(&left); err != nil || left != 1 {
		t.Errorf("%d of what ends later are left, %v", left, err)
	}
}

func TestBusinessesWithCustomersToForgetAreNamedInTurn(t *testing.T) {
	t.Parallel()
	w := open(t)
	var ended []uuid.UUID
	for i := range 5 {
		w.another()
		w.told(3, now.Add(time.Duration(i%2)*time.Hour), now.Add(time.Hour))
		if i%2 == 0 {
			ended = append(ended, w.business)
		}
	}
	slices.SortFunc(ended, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	var named []uuid.UUID
	for after := uuid.Nil; ; after = named[len(named)-1] {
		page, err := w.store.RemembersEnded(testkit.AsSystem(t), after, now, 2)
		if err != nil {
			t.Fatal(err)
		}
		if named = append(named, page...); len(page) < 2 {
			break
		}
	}
	if !slices.Equal(named, ended) {
		t.Errorf("named are %v, want %v", named, ended)
	}
}
