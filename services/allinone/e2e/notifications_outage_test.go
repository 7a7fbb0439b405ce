package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/platform/mailbox"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// outageBookings is the name of an environment variable, which `make away` sets. It has the number of bookings that the
// test makes while notifications is stopped.
const outageBookings = "SLOTMESH_TEST_AWAY"

// TestBookingContinuesWithoutNotifications stops notifications while many bookings are made, and starts it again.
// Bookings are answered as before. After the start, one webhook and one mail are sent for each event (lifecycle.md §2).
// They follow the order of the booking's events, even if a receiver or the mail server refuses at first. The test
// prints how long the bookings took.
func TestBookingContinuesWithoutNotifications(t *testing.T) {
	t.Parallel()
	n := 40
	if text := os.Getenv(outageBookings); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	a := openOutageTest(t)
	running := a.book("with notifications running", max(n/5, 8))
	if err := a.StopService("notifications"); err != nil {
		t.Fatal(err)
	}
	away := a.book("while it was away", n)
	startTime := time.Now()
	a.restart() // another process; its notifications service continues the work of the stopped one
	catching := a.book("while it caught up", max(n/5, 8))
	for _, other := range []map[string]bool{away, catching} {
		if !maps.Equal(running, other) {
			t.Errorf("bookings are answered by %v, and before by %v", other, running)
		}
	}
	a.await("webhooks", func() (int, int) { return a.webhooks.countEvents(), a.created + a.confirmed + a.cancelled })
	a.await("mails", func() (int, int) { // A confirmation or cancellation soon after a booking shares its message.
		return a.mailServer.countMails(), 2 * a.created
	})
	a.await("of all work", func() (int, int) { return -a.countUndelivered(), 0 })
	t.Logf("%d webhooks (%d refused once) and %d mails (%d refused once) reported %d bookings, %s after the start",
		a.webhooks.countEvents(), a.webhooks.refused, a.mailServer.countMails(), len(a.mailServer.refused), a.created,
		time.Since(startTime).Round(time.Second))
	a.webhooks.check(t)
	a.checkMails()
}

// outageTest is a Slotmesh whose notifications service stops and starts, with a receiver of webhooks and a mail server
// of the test.
type outageTest struct {
	*platform

	t          *testing.T
	database   *pgx.Conn
	restart    func() *platform
	webhooks   *webhookReceiver
	mailServer *fakeMailServer
	key, cut   string
	staff      []string

	mu                            sync.Mutex
	booked                        int // requested bookings
	created, confirmed, cancelled int
}

const (
	outageStaff          = 20
	outageBookingsPerDay = 24 * outageStaff // bookings of half an hour, from 8:00 to 20:00
)

// buildOutageSalon returns the manifest of a salon that is open from 8:00 to 20:00 on every day.
func buildOutageSalon() string {
	m := strings.Replace(buildSalon("salon", outageStaff), "languages: [en]",
		"languages: [en]\nnotifications: {owner_emails: [owner@harbor.example], reminders_hours_before: []}", 1)
	open := strings.Index(m, "hours:")
	staff := strings.Index(m, "staff:\n")
	hours := "hours: {"
	for _, day := range strings.Fields("mon tue wed thu fri sat sun") {
		hours += day + `: ["08:00-20:00"], `
	}
	return strings.Replace(m[:open]+strings.TrimSuffix(hours, ", ")+"}\n"+m[staff:], "name: Cut, duration_minutes: 45",
		"name: Cut, duration_minutes: 30", 1)
}

func openOutageTest(t *testing.T) *outageTest {
	t.Helper()
	a := &outageTest{t: t, webhooks: startWebhookReceiver(t), mailServer: startMailServer(t)}
	url, startTime := testkit.Database(t, "e2e"), time.Now()
	a.restart = func() *platform {
		return startPlatform(t, allowLoopback, func(c *allinone.Config) {
			c.DatabaseURL, c.SMTPURL, c.MailFrom, c.Now = url, a.mailServer.url, "no-reply@harbor.example",
				findMondayAfter(t, startTime)
			for _, limit := range []string{"BOOKING_IP_LIMIT_PER_MINUTE", "BOOKING_KEY_LIMIT_PER_MINUTE"} {
				c.Settings[limit] = "100000"
			}
		})
	}
	a.platform = a.restart()
	var err error
	if a.database, err = pgx.Connect(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.database.Close(t.Context()) })
	a.publish(t, "salon", buildOutageSalon())
	a.verifyOwner(t, "owner@harbor.example")
	a.callAdmin(t, http.MethodPost, "businesses/salon/webhooks", fmt.Appendf(nil,
		`{"url": %q, "events": ["booking.created", "booking.confirmed", "booking.cancelled"]}`, a.webhooks.url)).
		checkStatus(t, http.StatusCreated, "")
	a.key, a.cut = a.platform.createKey(t, "salon", "all"), a.idsByName(t, "salon", "services")["Cut"]
	a.staff = slices.Sorted(maps.Values(a.idsByName(t, "salon", "staff")))
	return a
}

// verifyOwner signs in an operator with this address. The platform limits the number of notices to an owner's address
// unless a person has verified the address.
func (a *outageTest) verifyOwner(t *testing.T, email string) {
	t.Helper()
	var invitation struct{ Link string }
	body := fmt.Appendf(nil, `{"email": %q, "role": "operator", "mail": false}`, email)
	a.callAdmin(t, http.MethodPost, "invitations", body).decode(t, http.StatusCreated, &invitation)
	browser := &http.Client{ // the OpenAPI document, which w.http checks, has no pages
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := browser.Post(a.AdminURL+invitation.Link, "application/x-www-form-urlencoded",
		strings.NewReader("confirm=yes"))
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther {
		t.Fatalf("signing in answered %d", answer.StatusCode)
	}
}

// book makes n bookings by four clients, logs how long they took, and returns the forms of the answers. The owner
// confirms every fourth booking and cancels every eighth.
func (a *outageTest) book(when string, n int) map[string]bool {
	a.t.Helper()
	var (
		clients sync.WaitGroup
		took    []time.Duration
		forms   = map[string]bool{}
	)
	for range 4 {
		clients.Go(func() {
			for {
				a.mu.Lock()
				i := a.booked
				more := n > 0
				if more {
					n--
					a.booked++
				}
				a.mu.Unlock()
				if !more {
					return
				}
				form, long := a.bookOne(i)
				a.mu.Lock()
				took, forms[form] = append(took, long), true
				a.mu.Unlock()
			}
		})
	}
	clients.Wait()
	slices.Sort(took)
	at := func(percent int) time.Duration { return took[(len(took)-1)*percent/100].Round(10 * time.Microsecond) }
	a.t.Logf("%d bookings %s: p50 %s, p99 %s, longest %s", len(took), when, at(50), at(99), at(100))
	return forms
}

// bookOne makes the booking number `i`. Each number has its own member and time. It returns the status and form of the
// answer, and the duration of the request.
func (a *outageTest) bookOne(i int) (string, time.Duration) {
	day, slot := i/outageBookingsPerDay, i%outageBookingsPerDay
	o := newOrder(a.cut, time.Date(2027, time.March, 2+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
		fmt.Sprintf("%02d:%02d", 8+slot/2%12, slot%2*30))
	o["staff_id"], o["customer_email"] = a.staff[slot/24], fmt.Sprintf("customer%d@example.com", i)
	startTime := time.Now()
	created, err := a.tryBook("salon", a.key, o, nil)
	took := time.Since(startTime)
	var booked struct{ Booking struct{ ID string } }
	if err == nil {
		err = json.Unmarshal(created.body, &booked)
	}
	if err != nil || created.status != http.StatusCreated {
		return fmt.Sprint(created.status, string(created.body), err), took
	}
	a.actAsOwner(booked.Booking.ID, i%4 == 0, "confirm", &a.confirmed)
	a.actAsOwner(booked.Booking.ID, i%8 == 0, "cancel", &a.cancelled)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.created++
	var answer any
	_ = json.Unmarshal(created.body, &answer)
	return fmt.Sprint(created.status, describeShape(answer)), took
}

// actAsOwner makes the transition `label` of a booking as the owner and increments `count`. It does nothing if `does`
// is false.
func (a *outageTest) actAsOwner(booking string, does bool, label string, count *int) {
	if !does {
		return
	}
	request, err := http.NewRequest(http.MethodPost, a.AdminURL+"/admin/businesses/salon/bookings/"+booking+"/"+label,
		nil)
	if err != nil {
		a.t.Error(err)
		return
	}
	request.Header = http.Header{"Authorization": {"Bearer " + a.AdminToken}, "X-Forwarded-For": {a.address}}
	done, err := a.exchange(request)
	if err != nil || done.status != http.StatusOK {
		a.t.Errorf("%s: %d %s %v", label, done.status, done.body, err)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	*count++
}

// describeShape returns the names of the fields and the types of the values in JSON, without the values.
func describeShape(value any) string {
	switch v := value.(type) {
	case map[string]any:
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			fields = append(fields, name+": "+describeShape(v[name]))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, describeShape(e))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	return fmt.Sprintf("%T", value)
}

// await waits until the first number that `count` returns reaches the second. It fails the test if the first number
// does not change for [testkit.MaxWait].
func (a *outageTest) await(label string, count func() (have, want int)) {
	a.t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last, since := -1<<30, time.Now()
	for {
		have, want := count()
		if have >= want {
			return
		}
		if have != last {
			last, since = have, time.Now()
		}
		if time.Since(since) > testkit.MaxWait {
			a.t.Fatalf("only %d of %d %s have arrived", have, want, label)
		}
		<-tick.C
	}
}

// countUndelivered returns the number of events, messages and webhook deliveries that notifications has not finished.
func (a *outageTest) countUndelivered() int {
	a.t.Helper()
	var n int
	err := a.database.QueryRow(a.t.Context(),
		`SELECT (SELECT count(*) FROM notifications.message_events) + (SELECT count(*) FROM notifications.messages WHERE status = 'queued')
		+ (SELECT count(*) FROM notifications.webhook_deliveries WHERE status = 'pending')`).Scan(&n)
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}

// checkMails compares the mails that arrived with the messages that notifications has stored as sent.
func (a *outageTest) checkMails() {
	a.t.Helper()
	rows, _ := a.database.Query(a.t.Context(),
		`SELECT id::text, kind, recipient, status, attempts FROM notifications.messages ORDER BY position`)
	var id, kind, to, status string
	var attempts int
	kinds, written := map[string]int{}, map[string][]string{}
	_, err := pgx.ForEachRow(rows, []any{&id, &kind, &to, &status, &attempts}, func() error {
		want := 1
		if a.mailServer.refused[to] && kind == "booking_received" {
			want = 2
		}
		if status != "sent" || attempts != want {
			a.t.Errorf("%s to %s is %s after %d attempts, want %d", kind, to, status, attempts, want)
		}
		kinds[kind]++
		written[to] = append(written[to], id)
		return nil
	})
	if err != nil {
		a.t.Fatal(err)
	}
	// A confirmation replaces the message before it if that message was not sent yet. So does a cancellation. On a slow
	// machine, the earlier message may have been sent already.
	most := map[string]int{"booking_received": a.created, "owner_notice": a.created, "booking_confirmed": a.confirmed,
		"booking_cancelled": a.cancelled}
	least := maps.Clone(most)
	least["booking_received"] -= a.confirmed
	least["booking_confirmed"] -= a.cancelled
	for kind, n := range kinds {
		if n < least[kind] || n > most[kind] {
			a.t.Errorf("messages are %v, want at least %v and at most %v", kinds, least, most)
		}
	}
	if len(kinds) != len(most) {
		a.t.Errorf("messages are %v, want all kinds of %v", kinds, most)
	}
	for to, ids := range written {
		arrived := a.mailServer.mails[to]
		if to == "owner@harbor.example" { // mails about many bookings have no order
			slices.Sort(ids)
			slices.Sort(arrived)
		}
		if !slices.Equal(ids, arrived) {
			a.t.Errorf("%d mails arrived at %s; they are not the written ones in their order: %d", len(arrived), to,
				len(ids))
		}
	}
}

// webhookReceiver is the receiver of a business's webhooks. It refuses the first attempt of every twentieth event.
type webhookReceiver struct {
	url string

	mu       sync.Mutex
	attempts map[string]int   // by event id
	order    map[string][]int // accepted sequence numbers, by booking id
	count    int
	refused  int
}

func startWebhookReceiver(t *testing.T) *webhookReceiver {
	h := &webhookReceiver{attempts: map[string]int{}, order: map[string][]int{}}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	h.url = server.URL
	return h
}

func (h *webhookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var event webhookEvent
	if json.Unmarshal(body, &event) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	id := r.Header.Get("webhook-id")
	h.attempts[id]++
	if h.attempts[id] == 1 && len(h.attempts)%20 == 0 {
		h.refused++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	h.count++
	h.order[event.Data.ID] = append(h.order[event.Data.ID], event.Data.Sequence)
}

func (h *webhookReceiver) countEvents() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}

// check checks that each event was accepted once, and that the events of each booking arrived in order.
func (h *webhookReceiver) check(t *testing.T) {
	t.Helper()
	attempts := 0
	for _, n := range h.attempts {
		attempts += n
	}
	if h.count != len(h.attempts) || attempts != h.count+h.refused {
		t.Errorf("%d events were taken, of %d, by %d attempts, of which %d were refused", h.count, len(h.attempts),
			attempts, h.refused)
	}
	for booking, sequences := range h.order {
		for i, n := range sequences {
			if n != i+1 {
				t.Errorf("the sequence numbers of the events of %s are %v", booking, sequences)
				break
			}
		}
	}
}

// fakeMailServer is a mail server. It refuses the first mail of every hundredth recipient with a temporary error.
type fakeMailServer struct {
	url string

	mu      sync.Mutex
	seen    map[string]bool
	refused map[string]bool
	mails   map[string][]string // message ids, by recipient
	count   int
}

func startMailServer(t *testing.T) *fakeMailServer {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &fakeMailServer{url: "smtp://" + listener.Addr().String(), seen: map[string]bool{}, refused: map[string]bool{},
		mails: map[string][]string{}}
	box := mailbox.Open(listener, mailbox.Options{Refuse: p.refuse, Lose: p.keepMail})
	t.Cleanup(func() { _ = box.Close() })
	return p
}

func (p *fakeMailServer) refuse(to string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen[to] {
		return nil
	}
	p.seen[to] = true
	if len(p.seen)%100 != 0 {
		return nil
	}
	p.refused[to] = true
	return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "Greylisted"}
}

var messageID = regexp.MustCompile(`(?mi)^Message-ID: <([0-9a-f-]{36})@`)

// keepMail records the message id of a mail.
func (p *fakeMailServer) keepMail(m mailbox.Mail) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	id := messageID.FindSubmatch(m.Raw)
	if id == nil {
		return fmt.Errorf("a mail to %s has no Message-ID", m.To)
	}
	p.mails[m.To[0]] = append(p.mails[m.To[0]], string(id[1]))
	return nil
}

func (p *fakeMailServer) countMails() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}
