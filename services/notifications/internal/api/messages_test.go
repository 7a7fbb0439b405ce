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

// postOffice is the owner's side of messages and webhooks over HTTP, on real tables. No job runs.
type postOffice struct {
	t        *testing.T
	pool     *pgxpool.Pool
	store    *store.Store
	client   *notifications.Client
	business uuid.UUID
}

// silent is a mail server that nothing is sent to, as no job runs.
type silent struct{}

func (silent) Send(context.Context, mail.Message) error { return nil }

// live is catalog, whose businesses are none for trying out.
type live struct{ messages.Peers }

func (live) Offer(context.Context, uuid.UUID) (*catalog.Offer, error) { return &catalog.Offer{}, nil }

// open serves it; without a sender there is no mail server.
func open(t *testing.T, sender messages.Sender) *postOffice {
	t.Helper()
	pool, now := testkit.Postgres(t, "notifications", migrations.FS), clock.Fixed(monday)
	p := &postOffice{t: t, pool: pool, store: store.New(pool), business: uuid.New()}
	mails := messages.New(messages.Config{Pool: pool, Store: p.store, Peers: live{}, Sender: sender, Clock: now,
		Telemetry: telemetry.Discard()})
	work := jobs.NewWork()
	mails.AddTo(work)
	sends, err := jobs.Open(pool, work, now, telemetry.Discard())
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
		Again: func(ctx context.Context, businessID, id uuid.UUID) (store.Message, error) {
			return mails.Retry(ctx, sends, businessID, id)
		}}}).Mount(srv.Internal)
	webhooks := &usecase.Webhooks{Slug: func(context.Context, uuid.UUID) (string, error) {
		return "harbor", nil
	}, Store: p.store, Guard: webhook.Guard{Loopback: true}, Resolve: webhook.Resolve, Clock: now}
	(&api.Webhooks{Records: p.store, Owner: webhooks}).Mount(srv.Internal)
	(&api.Customers{Records: p.store, Owner: &usecase.Customers{Store: p.store, Clock: now}}).Mount(srv.Internal)
	caller := peer.New("notifications", "http://"+srv.InternalAddr().String(), telemetry.Discard(),
		peer.Timeout(testkit.MaxWait))
	p.client = notifications.NewClient(caller)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- srv.Run(ctx) }()
	t.Cleanup(func() {
		caller.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return p
}

// written is a message that came to a status so many seconds after the others' beginning.
func (p *postOffice) written(seconds int, kind letter.Kind, status string) store.Message {
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
		return p.store.EndSending(p.t.Context(), tx, store.Outcome{BusinessID: p.business, ID: m.ID, Status: status,
			Reason: "because", Now: monday.Add(time.Hour)})
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

func (p *postOffice) count(sql string) int {
	p.t.Helper()
	var n int
	if err := p.pool.QueryRow(p.t.Context(), sql).Scan(&n); err != nil {
		p.t.Fatal(err)
	}
	return n
}

func TestMessagesAreListedNewestFirstByStatusAndKind(t *testing.T) {
	t.Parallel()
	p := open(t, silent{})
	kept := p.written(1, letter.BookingReceived, store.MessageNotSent)
	failed := p.written(2, letter.BookingConfirmed, store.MessageFailed)
	sent := p.written(3, letter.BookingConfirmed, store.MessageSent)
	for name, test := range map[string]struct {
		filter notifications.MessageFilter
		want   []uuid.UUID
	}{
		"all":       {notifications.MessageFilter{}, []uuid.UUID{sent.ID, failed.ID, kept.ID}},
		"by status": {notifications.MessageFilter{Status: notifications.MessageNotSent}, []uuid.UUID{kept.ID}},
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
		t.Errorf("a cursor that is none: %v", err)
	}
}

func TestAMessageIsShownWhole(t *testing.T) {
	t.Parallel()
	p := open(t, silent{})
	m := p.written(0, letter.BookingConfirmed, store.MessageSent)
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
			t.Errorf("a message that the business has not: %v", err)
		}
	}
}

func TestWhatIsHeldOfACustomerAreTheirMessages(t *testing.T) {
	t.Parallel()
	p := open(t, silent{})
	second, first := p.written(2, letter.Reminder, store.MessageNotSent),
		p.written(1, letter.BookingConfirmed, store.MessageSent)
	notice := p.written(3, letter.OwnerNotice, store.MessageFailed)
	held, err := p.client.Held(t.Context(), p.business, " Zoe@Example.com")
	if err != nil || len(held.Messages) != 3 {
		t.Fatalf("%+v, %v", held, err)
	}
	if m := held.Messages[2]; m.ID != notice.ID || m.Text != notice.Text || m.Recipient != "" || m.Reason != "" {
		t.Errorf("an owner's address, or what may name it: %+v", m)
	}
	for i, want := range []store.Message{first, second} {
		if m := held.Messages[i]; m.ID != want.ID || m.Text != want.Text || m.Recipient != want.Recipient {
			t.Errorf("message %d is %+v, want %+v", i, m, want)
		}
	}
	for business, email := range map[uuid.UUID]string{p.business: "bob@example.com", uuid.New(): "zoe@example.com"} {
		if held, err := p.client.Held(t.Context(), business, email); err != nil || held.Messages == nil ||
			len(held.Messages) != 0 {
			t.Errorf("of %s: %+v, %v", email, held, err)
		}
	}
	if _, err := p.client.Held(t.Context(), p.business, "zoe"); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("no address: %v", err)
	}
}

func TestAMessageIsSentAgainOnceForEachKey(t *testing.T) {
	t.Parallel()
	p := open(t, silent{})
	failed, kept := p.written(0, letter.BookingConfirmed, store.MessageFailed),
		p.written(1, letter.BookingReceived, store.MessageNotSent)
	named := func(key string) context.Context {
		return idempotency.With(t.Context(), idempotency.Request{Key: key})
	}
	for try := range 2 {
		again, err := p.client.RetryMessage(named("a"), p.business, failed.ID)
		if err != nil || again.ID != failed.ID || again.Status != notifications.MessageQueued || again.Reason != "" {
			t.Fatalf("try %d: %+v, %v", try, again, err)
		}
	}
	if again, err := p.client.RetryMessage(t.Context(), p.business, kept.ID); err != nil ||
		again.Status != notifications.MessageQueued {
		t.Errorf("one that was kept: %+v, %v", again, err)
	}
	if n := p.count(`SELECT count(*) FROM river_job WHERE kind = 'send_message'`); n != 2 {
		t.Errorf("%d jobs send two messages", n)
	}
	if n := p.count(`SELECT count(*) FROM made_writes WHERE convert_from(answer, 'UTF8') ~ 'zoe|Zoë'`); n != 0 {
		t.Error("the note of a retry holds a customer's data")
	}
	if _, err := p.client.RetryMessage(named("a"), p.business, kept.ID); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Errorf("the key for another message: %v", err)
	}
}

func TestAMessageThatCannotBeSentAgainIsRefused(t *testing.T) {
	t.Parallel()
	p := open(t, silent{})
	sent, queued := p.written(0, letter.BookingConfirmed, store.MessageSent),
		p.written(1, letter.BookingConfirmed, store.MessageQueued)
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
			t.Errorf("a message that the business has not: %v", err)
		}
	}
	without := open(t, nil)
	kept := without.written(0, letter.BookingConfirmed, store.MessageNotSent)
	if _, err := without.client.RetryMessage(t.Context(), without.business, kept.ID); !fault.Is(err, fault.Conflict) ||
		!strings.Contains(err.Error(), "SMTP_URL") {
		t.Errorf("without a mail server: %v", err)
	}
	if got, err := without.client.Message(t.Context(), without.business, kept.ID); err != nil ||
		got.Status != notifications.MessageNotSent {
		t.Errorf("it is %+v then, %v", got, err)
	}
}
