package messages_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/jobs"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
	"github.com/slotmesh/slotmesh/services/notifications/internal/messages"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/migrations"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var monday = time.Date(2027, time.March, 1, 9, 0, 0, 0, time.UTC)

// fakePeers is a fake of catalog, booking, rental and console.
type fakePeers struct {
	mu            sync.Mutex
	offer         catalog.Snapshot
	isRemoved     bool
	failures      int // number of calls of Offer that fail
	subjects      map[uuid.UUID]json.RawMessage
	onRead        func() // called after each read of a subject, if not nil
	members       []string
	signIns       map[uuid.UUID]booking.SignIn
	renters       []string // addresses of customers with reservations
	isConsoleDown bool     // calls to console fail
	pictures      map[string][]byte
	pictureReads  int

	hasNoDecisions bool // calls of DecisionLink fail
}

func (p *fakePeers) lockAndChange(change func(*fakePeers)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

func (p *fakePeers) Offer(context.Context, uuid.UUID) (*catalog.Snapshot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failures > 0 {
		p.failures--
		return nil, fault.New(fault.PeerUnavailable, "The catalog service does not answer; try again shortly.")
	}
	if p.isRemoved {
		return nil, fault.New(fault.BusinessNotFound, "Business not found")
	}
	offer := p.offer
	return &offer, offer.Prepare()
}

func (p *fakePeers) Subject(_ context.Context, _ uuid.UUID, subject event.Subject) (json.RawMessage, error) {
	p.mu.Lock()
	data, ok := p.subjects[subject.ID]
	onRead := p.onRead
	p.mu.Unlock()
	if onRead != nil {
		onRead()
	}
	if !ok {
		return nil, fault.New(fault.NotFound, "Booking not found")
	}
	return data, nil
}

func (p *fakePeers) VerifiedMembers(_ context.Context, _ uuid.UUID, emails []string) ([]string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isConsoleDown {
		return nil, fault.New(fault.PeerUnavailable, "The console service does not answer; try again shortly.")
	}
	return slices.DeleteFunc(slices.Clone(emails), func(email string) bool {
		return !slices.Contains(p.members, email)
	}), nil
}

func (p *fakePeers) SignIn(_ context.Context, _, id uuid.UUID) (*booking.SignIn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	in, ok := p.signIns[id]
	if !ok {
		return nil, fault.New(fault.NotFound, "Sign-in not found")
	}
	return &in, nil
}

func (p *fakePeers) HasReservations(_ context.Context, _ uuid.UUID, email string) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.renters, email), nil
}

func (p *fakePeers) PictureFile(_ context.Context, name string) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pictureReads++
	if content, ok := p.pictures[name]; ok {
		return content, nil
	}
	return nil, fault.New(fault.PeerUnavailable, "The catalog service does not answer; try again shortly.")
}

func (p *fakePeers) DecisionLink(_ context.Context, _ uuid.UUID, to booking.DecisionRecipient) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hasNoDecisions {
		return "", fault.New(fault.PeerUnavailable, "The booking service does not answer; try again shortly.")
	}
	return "https://book.example/b/" + to.Slug + "/decide/" + to.Booking.String() + to.Email, nil
}

func (p *fakePeers) Link(_ context.Context, _ uuid.UUID, subject event.Subject) (string, error) {
	return "https://book.example/m/" + subject.ID.String(), nil
}

// fixture runs the messages part of the service with a real database, a manual clock and fake peers.
type fixture struct {
	t         *testing.T
	business  uuid.UUID
	pool      *pgxpool.Pool
	store     *store.Store
	clock     *clock.Manual
	peers     *fakePeers
	box       *mailbox.Box // nil without a mail server
	messages  *messages.Messages
	client    *jobs.Client
	sequences map[uuid.UUID]int
}

// newFixture starts a fixture. If options is nil, there is no mail server.
func newFixture(t *testing.T, options *mailbox.Options) *fixture {
	t.Helper()
	pool := testkit.Postgres(t, "notifications", migrations.FS)
	w := &fixture{
		t: t, business: uuid.New(), pool: pool, store: store.New(pool), clock: clock.Fixed(monday),
		sequences: map[uuid.UUID]int{},
		peers: &fakePeers{members: []string{"hello@harbor.example"}, subjects: map[uuid.UUID]json.RawMessage{},
			offer: catalog.Snapshot{
				Name: "Harbor Studio", Slug: "harbor", Timezone: "Europe/Lisbon", Currency: "EUR", DefaultLanguage: "en",
				Languages: []string{"en", "pt"},
				Notifications: catalog.Notifications{OwnerEmails: []string{"hello@harbor.example"},
					ReplyTo: "hello@harbor.example"},
				Privacy: catalog.Privacy{KeepCustomersDays: 730},
			}},
	}
	cfg := messages.Config{
		Pool: pool, Store: w.store, Peers: w.peers, From: "no-reply@slotmesh.example", KeptFor: 90 * 24 * time.Hour,
		OwnerURL: "https://owner.example",
		Limits:   messages.NewLimits(1000, nil), Clock: w.clock, Telemetry: telemetry.Discard(),
	}
	if options != nil {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		w.box = mailbox.Open(listener, *options)
		t.Cleanup(func() { _ = w.box.Close() })
		if cfg.Sender, err = mail.NewSender(mail.Config{URL: "smtp://" + listener.Addr().String(), From: cfg.From,
			Timeout: testkit.MaxWait}); err != nil {
			t.Fatal(err)
		}
	}
	w.messages = messages.New(cfg)
	work := jobs.NewWork()
	work.PollEvery = 20 * time.Millisecond
	w.messages.AddTo(work)
	client, err := jobs.Open(pool, work, w.clock, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	w.client = client
	ctx, stop := context.WithCancel(context.Background())
	runErr := make(chan error, 1)
	go func() { runErr <- client.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-runErr; err != nil {
			t.Errorf("the jobs did not stop cleanly: %v", err)
		}
	})
	return w
}

// take takes events like the reader of a feed.
func (w *fixture) take(events ...event.Event) {
	w.t.Helper()
	err := pgx.BeginFunc(w.t.Context(), w.pool, func(tx pgx.Tx) error {
		params, err := w.messages.Take(w.t.Context(), tx, events)
		if err != nil || len(params) == 0 {
			return err
		}
		_, err = w.client.InsertManyFastTx(w.t.Context(), tx, params)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// newEvent returns an event about a subject. The peers return the same data for the subject from now
// on.
func (w *fixture) newEvent(typ event.Type, kind event.SubjectKind, id uuid.UUID, by actor.Kind,
	data map[string]any) event.Event {
	w.t.Helper()
	w.sequences[id]++
	data["sequence"] = w.sequences[id]
	body, err := json.Marshal(data)
	if err != nil {
		w.t.Fatal(err)
	}
	w.peers.lockAndChange(func(p *fakePeers) { p.subjects[id] = body })
	return event.Event{
		ID: uuid.Must(uuid.NewV7()), Type: typ, BusinessID: w.business, Subject: event.Subject{Kind: kind, ID: id},
		At:    w.clock.Now(),
		Actor: actor.Actor{Kind: by}, Sequence: w.sequences[id], Data: body,
	}
}

// newBooking returns a booking as the admin API shows it.
func (w *fixture) newBooking(id uuid.UUID, status string, start time.Time) map[string]any {
	return map[string]any{
		"id": id, "status": status, "date": start.Format(time.DateOnly), "start_time": start.Format(time.TimeOnly),
		"end_time":          start.Add(45 * time.Minute).Format(time.TimeOnly),
		"class_schedule_id": nil, "starts_at": start, "ends_at": start.Add(45 * time.Minute),
		"services":   []any{map[string]any{"name": "Haircut", "price": 40}},
		"party_size": 1, "total": 40.00, "currency": "EUR", "customer_name": "Ada Lovelace",
		"customer_email": "ada@example.com",
		"created_at":     w.clock.Now(), "updated_at": w.clock.Now(),
	}
}

// await waits until the query returns want.
func (w *fixture) await(want, sql string, args ...any) {
	w.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(w.t.Context(), testkit.MaxWait)
	defer cancel()
	for got := ""; got != want; {
		w.promoteDueJobs()
		if err := w.pool.QueryRow(w.t.Context(), sql, args...).Scan(&got); err != nil &&
			!errors.Is(err, pgx.ErrNoRows) {
			w.t.Fatal(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.t.Fatalf("%s: still %q, want %q", sql, got, want)
		}
	}
}

// promoteDueJobs makes jobs available that are due by the manual clock. River does so only every five
// seconds.
func (w *fixture) promoteDueJobs() {
	w.t.Helper()
	_, err := w.pool.Exec(w.t.Context(), `UPDATE river_job SET state = 'available'
		WHERE kind <> 'sweep_messages' AND state IN ('scheduled', 'retryable') AND scheduled_at <= $1`, w.clock.Now())
	if err != nil {
		w.t.Fatal(err)
	}
}

// countBusySQL counts the jobs that are running or due, except the sweep.
const countBusySQL = `SELECT count(*)::text FROM river_job WHERE kind <> 'sweep_messages' AND state IN ('available', 'running', 'retryable', 'scheduled', 'pending')
	AND (state = 'running' OR scheduled_at <= $1)`

// awaitIdle waits until no job is running or due.
func (w *fixture) awaitIdle() {
	w.t.Helper()
	w.await("0", countBusySQL, w.clock.Now())
}

// maxStep limits how far [fixture.awaitMails] moves the clock for one job. It exceeds the pause of a
// message that waits for an earlier one, and the pause before the second and third attempt of a job.
const maxStep = 2 * time.Minute

// awaitMails returns the mails that have arrived, as soon as there are n of them. If all jobs wait, it
// moves the manual clock to the next job that is due soon, for example a message that waits for an
// earlier one.
func (w *fixture) awaitMails(n int) []mailbox.Mail {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), testkit.MaxWait)
	defer cancel()
	for {
		waitCtx, done := context.WithTimeout(ctx, 20*time.Millisecond)
		mails, err := w.box.Await(waitCtx, n)
		done()
		if err == nil {
			return mails
		}
		if ctx.Err() != nil {
			w.t.Fatal(err)
		}
		w.advanceToNextJob()
	}
}

// advanceToNextJob moves the clock to the next job that is due within maxStep, if no job is due now.
func (w *fixture) advanceToNextJob() {
	w.t.Helper()
	now := w.clock.Now()
	var busy string
	var due *time.Time
	if err := w.pool.QueryRow(w.t.Context(), countBusySQL, now).Scan(&busy); err != nil {
		w.t.Fatal(err)
	}
	err := w.pool.QueryRow(w.t.Context(),
		`SELECT min(scheduled_at) FROM river_job WHERE kind <> 'sweep_messages' AND state IN ('available', 'retryable', 'scheduled')
		AND scheduled_at > $1 AND scheduled_at <= $2`, now, now.Add(maxStep)).Scan(&due)
	if err != nil {
		w.t.Fatal(err)
	}
	if busy == "0" && due != nil {
		w.clock.Set(due.UTC())
	}
	w.promoteDueJobs()
}

// listMessages returns the stored messages with their contents, oldest first.
func (w *fixture) listMessages() []store.Message {
	w.t.Helper()
	list, _, err := w.store.Messages(w.t.Context(), w.business, store.MessageFilter{}, request.Page{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	for i, m := range list {
		if list[i], err = w.store.Message(w.t.Context(), w.business, m.ID); err != nil {
			w.t.Fatal(err)
		}
	}
	return list
}
