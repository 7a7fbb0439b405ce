package notifications

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/services/notifications/internal/deliver"
	"github.com/slotmesh/slotmesh/services/notifications/internal/jobs"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
	"github.com/slotmesh/slotmesh/services/notifications/internal/messages"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
	"github.com/slotmesh/slotmesh/services/notifications/migrations"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// fakePeers is a fake of the services from which messages read their data.
type fakePeers struct{}

func (fakePeers) Offer(context.Context, uuid.UUID) (*catalog.Snapshot, error) {
	offer := catalog.Snapshot{
		Name: "Harbor Studio", Timezone: "Europe/Lisbon", Currency: "EUR", DefaultLanguage: "en",
		Languages:     []string{"en"},
		Notifications: catalog.Notifications{OwnerEmails: []string{"owner@harbor.example"}},
		Privacy:       catalog.Privacy{KeepCustomersDays: 730},
	}
	return &offer, offer.Prepare()
}

func (fakePeers) Subject(context.Context, uuid.UUID, event.Subject) (json.RawMessage, error) {
	return nil, nil
}
func (fakePeers) VerifiedMembers(_ context.Context, _ uuid.UUID, emails []string) ([]string, error) {
	return emails, nil
}
func (fakePeers) SignIn(context.Context, uuid.UUID, uuid.UUID) (*booking.SignIn, error) {
	return nil, nil
}
func (fakePeers) HasReservations(context.Context, uuid.UUID, string) (bool, error) { return false, nil }
func (fakePeers) PictureFile(context.Context, string) ([]byte, error)              { return nil, nil }
func (fakePeers) DecisionLink(context.Context, uuid.UUID, booking.DecisionRecipient) (string, error) {
	return "", nil
}
func (fakePeers) Link(context.Context, uuid.UUID, event.Subject) (string, error) { return "", nil }

// fixture runs webhooks and messages as the service assembles them, with a manual clock, a receiver
// that always fails, and a test mail server.
type fixture struct {
	t        *testing.T
	pool     *pgxpool.Pool
	clock    *clock.Manual
	box      *mailbox.Box
	records  *store.Store
	webhooks *deliver.Webhooks
	client   *jobs.Client
	calls    atomic.Int32
	endpoint store.Endpoint
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	pool := testkit.Postgres(t, "notifications", migrations.FS)
	f := &fixture{
		t: t, pool: pool, clock: clock.Fixed(time.Date(2027, time.March, 1, 9, 0, 0, 0, time.UTC)),
		box: mailbox.Open(listener, mailbox.Options{}), records: store.New(pool),
	}
	t.Cleanup(func() { _ = f.box.Close() })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		f.calls.Add(1)
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(server.Close)
	smtp, err := mail.NewSender(mail.Config{URL: "smtp://" + listener.Addr().String(),
		From: "no-reply@slotmesh.example", Timeout: testkit.MaxWait})
	if err != nil {
		t.Fatal(err)
	}
	tel := telemetry.Discard()
	notices := messages.New(messages.Config{
		Pool: pool, Store: f.records, Peers: fakePeers{}, Sender: smtp, From: "no-reply@slotmesh.example",
		Limits: messages.NewLimits(1000, nil), KeptFor: minKeptFor, Clock: f.clock, Telemetry: tel,
	})
	sender := webhook.NewSender(webhook.Guard{AllowLoopback: true}, nil, f.clock, testkit.MaxWait)
	t.Cleanup(sender.Close)
	f.webhooks = &deliver.Webhooks{FindSlug: findSlug, Store: f.records, Sender: sender,
		NotifyDisabled: newDisabledNotifier(notices),
		Clock:          f.clock, Telemetry: tel}
	work := jobs.NewWork()
	notices.AddTo(work)
	f.webhooks.AddTo(work)
	if f.client, err = jobs.Open(pool, work, f.clock, tel); err != nil {
		t.Fatal(err)
	}
	f.webhooks.SetJobs(f.client)
	created, err := f.records.CreateEndpoint(testkit.AsSystem(t), store.Endpoint{
		BusinessID: uuid.New(), ID: uuid.New(), URL: server.URL, Events: []string{webhook.AllEvents},
		CreatedAt: f.clock.Now(),
	}, webhook.NewSecret())
	if err != nil {
		t.Fatal(err)
	}
	f.endpoint = created.Endpoint
	ctx, stop := context.WithCancel(context.Background())
	runErr := make(chan error, 1)
	go func() { runErr <- f.client.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-runErr; err != nil {
			t.Errorf("the jobs did not stop cleanly: %v", err)
		}
	})
	return f
}

// takeEvent takes an event like the reader of a feed.
func (f *fixture) takeEvent() {
	f.t.Helper()
	err := pgx.BeginFunc(f.t.Context(), f.pool, func(tx pgx.Tx) error {
		params, err := f.webhooks.Take(f.t.Context(), tx, []event.Event{{
			ID: uuid.New(), Type: event.BookingCreated, BusinessID: f.endpoint.BusinessID, At: f.clock.Now(),
			Sequence: 1,
			Subject:  event.Subject{Kind: event.Booking, ID: uuid.New()}, Data: json.RawMessage(`{}`),
		}})
		if err != nil || len(params) == 0 {
			return err
		}
		_, err = f.client.InsertManyFastTx(f.t.Context(), tx, params)
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// awaitIdle waits until no job is due. It makes due jobs available itself, because the scheduler of
// River does so only every five seconds.
func (f *fixture) awaitIdle() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), testkit.MaxWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for dueJobs := 1; dueJobs > 0; {
		_, err := f.pool.Exec(ctx,
			`UPDATE river_job SET state = 'available' WHERE state = 'scheduled' AND scheduled_at <= $1`, f.clock.Now())
		if err != nil {
			f.t.Fatal(err)
		}
		<-tick.C
		err = f.pool.QueryRow(ctx,
			`SELECT count(*) FROM river_job WHERE kind NOT LIKE '%sweep%' AND state IN ('available', 'running', 'scheduled') AND scheduled_at <= $1`, f.clock.Now()).Scan(&dueJobs)
		if err != nil {
			f.t.Fatal(err)
		}
	}
}

// If every delivery fails for five days, the endpoint is disabled and its owner gets a mail, but not
// earlier.
func TestServiceMailsOwnerAfterFiveDaysOfFailure(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	readEndpoint := func() store.Endpoint {
		list, _, err := f.records.Endpoints(t.Context(), f.endpoint.BusinessID, request.Page{Limit: 1})
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		return list[0]
	}
	for day := range 5 {
		f.takeEvent()
		f.awaitIdle()
		if e := readEndpoint(); !e.Active || len(f.box.Mails()) != 0 {
			t.Fatalf("after %d days the endpoint is %+v, and %d mails were sent", day, e, len(f.box.Mails()))
		}
		f.clock.Advance(24 * time.Hour)
	}
	f.awaitIdle()
	ctx, cancel := context.WithTimeout(t.Context(), testkit.MaxWait)
	defer cancel()
	mails, err := f.box.Await(ctx, 1)
	if err != nil {
		t.Fatalf("%v; the endpoint is %+v", err, readEndpoint())
	}
	f.awaitIdle()
	if e := readEndpoint(); e.Active || e.DisabledReason != store.ReasonFailing {
		t.Errorf("after five days the endpoint is %+v", e)
	}
	host := strings.TrimPrefix(f.endpoint.URL, "http://")
	if len(f.box.Mails()) != 1 || mails[0].To[0] != "owner@harbor.example" || !bytes.Contains(mails[0].Raw,
		[]byte(host)) {
		t.Errorf("%d mails; to %v: %s", len(f.box.Mails()), mails[0].To, mails[0].Raw)
	}
	calls := f.calls.Load()
	f.takeEvent()
	f.awaitIdle()
	if n := f.calls.Load(); n != calls {
		t.Errorf("a disabled endpoint is called: %d times", n-calls)
	}
}

// findSlug returns the same slug for every business.
func findSlug(context.Context, uuid.UUID) (string, error) { return "harbor", nil }
