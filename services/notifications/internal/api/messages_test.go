package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/api"
	"github.com/slotmesh/slotmesh/services/notifications/internal/jobs"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/mail"
	"github.com/slotmesh/slotmesh/services/notifications/internal/messages"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
	"github.com/slotmesh/slotmesh/services/notifications/internal/usecase"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
	"github.com/slotmesh/slotmesh/services/notifications/migrations"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var monday = time.Date(2027, time.March, 1, 9, 0, 0, 0, time.UTC)

// fixture serves the API of messages, webhooks and customers over HTTP, with a real database. No job
// runs.
type fixture struct {
	t        *testing.T
	pool     *pgxpool.Pool
	store    *store.Store
	client   *notifications.Client
	business uuid.UUID
}

// discardSender is a mail sender that no test uses, because no job runs.
type discardSender struct{}

func (discardSender) Send(context.Context, mail.Message) error { return nil }

// fakeCatalog is a catalog without sandbox businesses.
type fakeCatalog struct{ messages.Peers }

func (fakeCatalog) Offer(context.Context, uuid.UUID) (*catalog.Snapshot, error) {
	return &catalog.Snapshot{}, nil
}

// newFixture starts a server. If sender is nil, there is no mail server.
func newFixture(t *testing.T, sender messages.Sender) *fixture {
	t.Helper()
	pool, now := testkit.Postgres(t, "notifications", migrations.FS), clock.Fixed(monday)
	p := &fixture{t: t, pool: pool, store: store.New(pool), business: uuid.New()}
	mails := messages.New(messages.Config{Pool: pool, Store: p.store, Peers: fakeCatalog{}, Sender: sender, Clock: now,
		Telemetry: telemetry.Discard()})
	work := jobs.NewWork()
	mails.AddTo(work)
	jobsClient, err := jobs.Open(pool, work, now, telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	cfg := server.Config{
		PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0", RequestTimeout: 2 * time.Minute,
		DrainTimeout: 2 * time.Minute, PublicBodyLimit: 1000, InternalBodyLimit: 1000,
	}
	srv, err := server.New(cfg, server.Runtime{Open: true, Name: "notifications", Clock: now,
		Telemetry: telemetry.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	(&api.Messages{Owner: &usecase.Messages{Store: p.store,
		RetryMessage: func(ctx context.Context, businessID, id uuid.UUID) (store.Message, error) {
			return mails.Retry(ctx, jobsClient, businessID, id)
		}}}).Mount(srv.Internal)
	webhooks := &usecase.Webhooks{FindSlug: func(context.Context, uuid.UUID) (string, error) {
		return "harbor", nil
	}, Store: p.store, Guard: webhook.Guard{AllowLoopback: true}, ResolveHost: webhook.Resolve, Clock: now}
	(&api.Webhooks{Records: p.store, Owner: webhooks}).Mount(srv.Internal)
	(&api.Customers{Records: p.store, Owner: &usecase.Customers{Store: p.store, Clock: now}}).Mount(srv.Internal)
	caller := peer.New("notifications", "http://"+srv.InternalAddr().String(), telemetry.Discard(),
		peer.Timeout(testkit.MaxWait))
	p.client = notifications.NewClient(caller)
	ctx, stop := context.WithCancel(context.Background())
	runErr := make(chan error, 1)
	go func() { runErr <- srv.Run(ctx) }()
	t.Cleanup(func() {
		caller.Close()
		stop()
		if err := <-runErr; err != nil {
			t.Error(err)
		}
	})
	return p
}

// addMessage stores a message that was created this many seconds after monday, and sets its status.
func (p *fixture) addMessage(seconds int, kind letter.Kind, status string) store.Message {
	p.t.Helper()
	m := store.Message{
		BusinessID: p.business, ID: uuid.New(), Kind: string(kind), EventID: uuid.New(),
		About:         event.Subject{Kind: event.Booking, ID: uuid.New()},
		CustomerEmail: "zoe@example.com", Recipient: "zoe@example.com", Locale: "en", FromName: "Harbor",
		ReplyTo: "desk@example.com", Subject: "Your booking",
		Text: "Hello Zoë", HTML: "<p>Hello Zoë</p>", Calendar: []byte("BEGIN:VCALENDAR"), Method: "REQUEST",
		Status:      store.MessageQueued,
		AboutEndsAt: monday, CreatedAt: monday.Add(time.Duration(seconds) * time.Second),
	}
	if status == store.MessageNotSent {
		m.Status = status
	}
	if kind == letter.OwnerNotice {
		m.Recipient = "owner@example.com"
	}
	err := pgx.BeginFunc(p.t.Context(), p.pool, func(tx pgx.Tx) error {
		if _, err := p.store.AddMessage(p.t.Context(), tx, m); err != nil || m.Status == status {
			return err
		}
		return p.store.EndSending(p.t.Context(), tx, store.SendResult{BusinessID: p.business, ID: m.ID, Status: status,
			Reason: "because", Now: monday.Add(time.Hour)})
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

func (p *fixture) count(sql string) int {
	p.t.Helper()
	var n int
	if err := p.pool.QueryRow(p.t.Context(), sql).Scan(&n); err != nil {
		p.t.Fatal(err)
	}
	return n
}

func TestMessagesListFiltersNewestFirst(t *testing.T) {
	t.Parallel()
	p := newFixture(t, discardSender{})
	notSent := p.addMessage(1, letter.BookingReceived, store.MessageNotSent)
	failed := p.addMessage(2, letter.BookingConfirmed, store.MessageFailed)
	sent := p.addMessage(3, letter.BookingConfirmed, store.MessageSent)
	for name, test := range map[string]struct {
		filter notifications.MessageFilter
		want   []uuid.UUID
	}{
		"all":       {notifications.MessageFilter{}, []uuid.UUID{sent.ID, failed.ID, notSent.ID}},
		"by status": {notifications.MessageFilter{Status: notifications.MessageNotSent}, []uuid.UUID{notSent.ID}},
		"by kind":   {notifications.MessageFilter{Kind: "booking_confirmed"}, []uuid.UUID{sent.ID, failed.ID}},
		"by both": {notifications.MessageFilter{Status: notifications.MessageFailed, Kind: "booking_confirmed"},
			[]uuid.UUID{failed.ID}},
		"of owners: none": {notifications.MessageFilter{Kind: "owner_notice"}, nil},
	} {
		var got []uuid.UUID
		page := request.Page{Limit: 2}
		for {
			list, err := p.client.Messages(t.Context(), p.business, test.filter, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range list.Messages {
				got = append(got, m.ID)
			}
			if page.Cursor = list.NextCursor; page.Cursor == "" {
				break
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if list, err := p.client.Messages(t.Context(), uuid.New(), notifications.MessageFilter{},
		request.Page{}); err != nil || len(list.Messages) != 0 {
		t.Errorf("another business has %v, %v", list, err)
	}
	for name, filter := range map[string]notifications.MessageFilter{"status": {Status: "lost"},
		"kind": {Kind: "gossip"}} {
		if _, err := p.client.Messages(t.Context(), p.business, filter, request.Page{}); !fault.Is(err,
			fault.InvalidParameter) || !strings.Contains(err.Error(), name+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.client.Messages(t.Context(), p.business, notifications.MessageFilter{},
		request.Page{Cursor: "x"}); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("an invalid cursor: %v", err)
	}
}

func TestMessagesShowReturnsWholeMessage(t *testing.T) {
	t.Parallel()
	p := newFixture(t, discardSender{})
	m := p.addMessage(0, letter.BookingConfirmed, store.MessageSent)
	sentAt := monday.Add(time.Hour)
	want := &notifications.WholeMessage{
		Message: notifications.Message{
			ID: m.ID, Kind: "booking_confirmed", EventID: m.EventID, About: notifications.Subject{Kind: "booking",
				ID: m.About.ID}, Recipient: "zoe@example.com", Locale: "en",
			Subject: "Your booking", Status: "sent", Reason: "because", CreatedAt: monday, SentAt: &sentAt,
		},
		FromName: "Harbor", ReplyTo: "desk@example.com", Text: "Hello Zoë", HTML: "<p>Hello Zoë</p>",
		Calendar: "BEGIN:VCALENDAR", CalendarMethod: "REQUEST",
	}
	got, err := p.client.Message(t.Context(), p.business, m.ID)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for business, id := range map[uuid.UUID]uuid.UUID{p.business: uuid.New(), uuid.New(): m.ID} {
		if _, err := p.client.Message(t.Context(), business, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("a message that the business does not have: %v", err)
		}
	}
}

func TestCustomersListMessagesOfCustomer(t *testing.T) {
	t.Parallel()
	p := newFixture(t, discardSender{})
	second, first := p.addMessage(2, letter.Reminder, store.MessageNotSent),
		p.addMessage(1, letter.BookingConfirmed, store.MessageSent)
	notice := p.addMessage(3, letter.OwnerNotice, store.MessageFailed)
	held, err := p.client.CustomerData(t.Context(), p.business, " Zoe@Example.com")
	if err != nil || len(held.Messages) != 3 {
		t.Fatalf("%+v, %v", held, err)
	}
	if m := held.Messages[2]; m.ID != notice.ID || m.Text != notice.Text || m.Recipient != "" || m.Reason != "" {
		t.Errorf("the notice shows the owner's address, or a reason that may contain it: %+v", m)
	}
	for i, want := range []store.Message{first, second} {
		if m := held.Messages[i]; m.ID != want.ID || m.Text != want.Text || m.Recipient != want.Recipient {
			t.Errorf("message %d is %+v, want %+v", i, m, want)
		}
	}
	for business, email := range map[uuid.UUID]string{p.business: "bob@example.com", uuid.New(): "zoe@example.com"} {
		if held, err := p.client.CustomerData(t.Context(), business, email); err != nil || held.Messages == nil ||
			len(held.Messages) != 0 {
			t.Errorf("of %s: %+v, %v", email, held, err)
		}
	}
	if _, err := p.client.CustomerData(t.Context(), p.business, "zoe"); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("no address: %v", err)
	}
}

func TestMessagesRetryRunsOncePerKey(t *testing.T) {
	t.Parallel()
	p := newFixture(t, discardSender{})
	failed, notSent := p.addMessage(0, letter.BookingConfirmed, store.MessageFailed),
		p.addMessage(1, letter.BookingReceived, store.MessageNotSent)
	withKey := func(key string) context.Context {
		return idempotency.With(t.Context(), idempotency.Request{Key: key})
	}
	for try := range 2 {
		retried, err := p.client.RetryMessage(withKey("a"), p.business, failed.ID)
		if err != nil || retried.ID != failed.ID || retried.Status != notifications.MessageQueued ||
			retried.Reason != "" {
			t.Fatalf("try %d: %+v, %v", try, retried, err)
		}
	}
	if retried, err := p.client.RetryMessage(t.Context(), p.business, notSent.ID); err != nil ||
		retried.Status != notifications.MessageQueued {
		t.Errorf("a retry of a message that was not sent: %+v, %v", retried, err)
	}
	if n := p.count(`SELECT count(*) FROM river_job WHERE kind = 'send_message'`); n != 2 {
		t.Errorf("%d jobs send two messages", n)
	}
	if n := p.count(`SELECT count(*) FROM made_writes WHERE convert_from(answer, 'UTF8') ~ 'zoe|Zoë'`); n != 0 {
		t.Error("the idempotency result of a retry contains customer data")
	}
	if _, err := p.client.RetryMessage(withKey("a"), p.business, notSent.ID); !fault.Is(err,
		fault.IdempotencyMismatch) {
		t.Errorf("the key for another message: %v", err)
	}
}

func TestMessagesRetryRejectsSentMessage(t *testing.T) {
	t.Parallel()
	p := newFixture(t, discardSender{})
	sent, queued := p.addMessage(0, letter.BookingConfirmed, store.MessageSent),
		p.addMessage(1, letter.BookingConfirmed, store.MessageQueued)
	for text, id := range map[string]uuid.UUID{"was sent": sent.ID, "being tried": queued.ID} {
		for _, ctx := range []context.Context{t.Context(),
			idempotency.With(t.Context(), idempotency.Request{Key: id.String()})} {
			if _, err := p.client.RetryMessage(ctx, p.business, id); !fault.Is(err, fault.Conflict) ||
				!strings.Contains(err.Error(), text) {
				t.Errorf("one that %s: %v", text, err)
			}
		}
	}
	for business, id := range map[uuid.UUID]uuid.UUID{p.business: uuid.New(), uuid.New(): sent.ID} {
		if _, err := p.client.RetryMessage(t.Context(), business, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("a message that the business does not have: %v", err)
		}
	}
	withoutServer := newFixture(t, nil)
	notSent := withoutServer.addMessage(0, letter.BookingConfirmed, store.MessageNotSent)
	if _, err := withoutServer.client.RetryMessage(t.Context(), withoutServer.business, notSent.ID); !fault.Is(err,
		fault.Conflict) ||
		!strings.Contains(err.Error(), "SMTP_URL") {
		t.Errorf("without a mail server: %v", err)
	}
	if got, err := withoutServer.client.Message(t.Context(), withoutServer.business, notSent.ID); err != nil ||
		got.Status != notifications.MessageNotSent {
		t.Errorf("after the refused retry: %+v, %v", got, err)
	}
}
