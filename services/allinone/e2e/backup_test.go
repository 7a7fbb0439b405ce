package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// backupClients is the number of clients that make bookings while the backup runs.
const backupClients = 64

// TestBackupUnderLoadHasAllAcknowledgedBookings makes a backup while many clients book, and restores it into another
// database. The restored database has every booking that was answered with 201 before the backup, with the customer's
// link. After the restore, Slotmesh sends the messages that the backup lists as unsent, and repeats no other message.
// If the database is idle, pg_dump writes the same tables for the original and for the restored database.
func TestBackupUnderLoadHasAllAcknowledgedBookings(t *testing.T) {
	t.Parallel()
	s := openBackupTest(t)
	stop := s.load()
	s.await("bookings", func() (int, int) { return s.count(), 2 * backupClients })
	s.await("mails", func() (int, int) { return s.mailServer.countMails(), 10 })
	s.await("webhooks", func() (int, int) { return s.webhooks.countEvents(), 10 })
	before := s.acknowledgedBookings()
	underLoad := s.backup()
	stop()
	s.platform.stop(t)
	testkit.Administer(t, s.url, insertFormerRecord) // a trigger also writes it to another table
	atRest := s.backup()

	same, _ := s.restore(atRest)
	// A restore releases the locks of the stopped process on feeds and webhook endpoints. Release them in the original
	// database, too, so that the tables are equal.
	for _, held := range []string{"feeds SET reader = NULL, reader_until",
		"webhook_endpoints SET lane = NULL, lane_until"} {
		testkit.Administer(t, s.url, "UPDATE notifications."+held+" = '-infinity'")
	}
	if diff := cmp.Diff(dumpTables(t, s.url), dumpTables(t, same)); diff != "" {
		t.Errorf("the restored tables differ: %s", diff)
	}
	s.checkContinues(underLoad, before)
}

// insertFormerRecord inserts an idempotency record as the release before the table made_writes had them all.
const insertFormerRecord = `INSERT INTO booking.idempotency_records
    (business_id, principal, idempotency_key, request_hash, token, claimed_until, expires_at)
VALUES (gen_random_uuid(), 'page:', 'k', sha256(''), gen_random_uuid(), now(), now() + interval '1 day')`

// backupTest is a Slotmesh that is backed up, with a receiver of webhooks and a mail server.
type backupTest struct {
	*outageTest
	url, home string
	begun     time.Time
	booked    map[string]acknowledgedBooking // by booking id
}

// acknowledgedBooking is a booking that was answered with 201.
type acknowledgedBooking struct {
	order order
	link  string // path of the customer's link
}

func openBackupTest(t *testing.T) *backupTest {
	t.Helper()
	s := &backupTest{outageTest: &outageTest{t: t, webhooks: startWebhookReceiver(t), mailServer: startMailServer(t)},
		url:   testkit.Database(t, "e2e"),
		begun: time.Now(), booked: map[string]acknowledgedBooking{}}
	s.platform = s.start(s.url, "", s.mailServer)
	s.publish(t, "salon", buildOutageSalon())
	s.verifyOwner(t, "owner@harbor.example")
	s.callAdmin(t, http.MethodPost, "businesses/salon/webhooks",
		fmt.Appendf(nil, `{"url": %q, "events": ["booking.created"]}`, s.webhooks.url)).
		checkStatus(t, http.StatusCreated, "")
	s.key, s.cut = s.platform.createKey(t, "salon", "all"), s.idsByName(t, "salon", "services")["Cut"]
	s.staff = slices.Sorted(maps.Values(s.idsByName(t, "salon", "staff")))
	return s
}

// startPlatform starts a Slotmesh with a database and a home folder. If `home` is empty, the Slotmesh gets a new home.
func (s *backupTest) start(url, home string, post *fakeMailServer) *platform {
	return startPlatform(s.t, allowLoopback, func(c *allinone.Config) {
		c.DatabaseURL, c.SMTPURL, c.MailFrom, c.Now = url, post.url, "no-reply@harbor.example",
			findMondayAfter(s.t, s.begun)
		if home != "" {
			c.Home = home
		}
		s.home = c.Home
		for _, limit := range []string{"BOOKING_IP_LIMIT_PER_MINUTE", "BOOKING_KEY_LIMIT_PER_MINUTE"} {
			c.Settings[limit] = "100000"
		}
	})
}

// load starts clients that book all the time. The returned function stops the clients and waits for their last
// requests.
func (s *backupTest) load() func() {
	var (
		clients sync.WaitGroup
		next    atomic.Int64
	)
	ctx, cancel := context.WithCancel(s.t.Context())
	for range backupClients {
		clients.Go(func() {
			for ctx.Err() == nil {
				s.bookOne(int(next.Add(1)))
			}
		})
	}
	return func() {
		cancel()
		clients.Wait()
	}
}

// bookOne makes the booking number `i`. Each number stands for another member and time, so that no two bookings
// conflict.
func (s *backupTest) bookOne(i int) {
	day, slot := i/outageBookingsPerDay, i%outageBookingsPerDay
	o := newOrder(s.cut, time.Date(2027, time.March, 2+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
		fmt.Sprintf("%02d:%02d", 8+slot/2%12, slot%2*30))
	o["staff_id"], o["customer_email"] = s.staff[slot/24], fmt.Sprintf("customer%d@example.com", i)
	a, err := s.tryBook("salon", s.key, o, nil)
	var booked struct {
		Booking   struct{ ID string }
		ManageURL string `json:"manage_url"`
	}
	if err == nil {
		err = json.Unmarshal(a.body, &booked)
	}
	if err != nil || a.status != http.StatusCreated {
		s.t.Errorf("%d %s %v", a.status, a.body, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.booked[booked.Booking.ID] = acknowledgedBooking{o, strings.TrimPrefix(booked.ManageURL, s.PublicURL)}
}

func (s *backupTest) count() int { return len(s.acknowledgedBookings()) }

func (s *backupTest) acknowledgedBookings() map[string]acknowledgedBooking {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.booked)
}

// backup makes a backup and returns the path of its file.
func (s *backupTest) backup() string {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "slotmesh.backup")
	env := envconfig.MapLookuper(map[string]string{"DATABASE_URL": s.url, "SLOTMESH_HOME": s.home})
	if err := allinone.Backup(s.t.Context(), env, file, s.t.Output()); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// restore restores a backup into a new database and a new home. It returns the URL of the database and the path of the
// home. It also checks that a second restore into the same database is refused.
func (s *backupTest) restore(file string) (string, string) {
	s.t.Helper()
	url, home := testkit.Database(s.t, "e2e"), s.t.TempDir()
	env := envconfig.MapLookuper(map[string]string{"DATABASE_URL": url, "SLOTMESH_HOME": home})
	if err := allinone.Restore(s.t.Context(), env, file, s.t.Output()); err != nil {
		s.t.Fatal(err)
	}
	if err := allinone.Restore(s.t.Context(), env, file, io.Discard); err == nil || !strings.Contains(err.Error(),
		"not empty") {
		s.t.Errorf("restoring a second time: %v", err)
	}
	return url, home
}

// dumpTables returns the sorted lines of a dump by pg_dump, with all tables and rows. The dump leaves out the rows of
// goose_db_version, because they have the times of the migrations.
func dumpTables(t *testing.T, url string) []string {
	t.Helper()
	if _, err := inputs.LookPath("pg_dump"); err != nil {
		testkit.SkipOrFail(t, "there is no pg_dump on the PATH")
	}
	text, err := exec.CommandContext(t.Context(), "pg_dump", "--exclude-table-data=*.goose_db_version", url).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
		return strings.HasPrefix(line, `\restrict`) || strings.HasPrefix(line, `\unrestrict`) || strings.Contains(line,
			"goose_db_version_id_seq")
	})
	slices.Sort(lines)
	return lines
}

// checkContinues restores a backup and starts a Slotmesh on it, with a new mail server. It checks that the bookings in
// `before` exist and that the remaining messages are sent.
func (s *backupTest) checkContinues(file string, before map[string]acknowledgedBooking) {
	t := s.t
	url, home := s.restore(file)
	database, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = database.Close(t.Context()) })
	bookings := queryIDs(t, database, `SELECT id::text FROM booking.bookings`)
	for id := range before {
		if !bookings[id] {
			t.Errorf("booking %s was answered before the backup began, but the backup does not contain it", id)
		}
	}
	t.Logf("%d bookings were answered before the backup began; it has %d, and %d were made in all", len(before),
		len(bookings), s.count())
	sent, delivered := queryIDs(t, database, `SELECT id::text FROM notifications.messages WHERE status = 'sent'`),
		queryIDs(t, database, `SELECT event_id::text FROM notifications.webhook_deliveries WHERE status = 'delivered'`)
	if len(sent) == 0 || len(delivered) == 0 {
		t.Errorf("the backup has %d mails that were sent, and %d webhooks that were delivered", len(sent),
			len(delivered))
	}
	counts := s.webhooks.countAttempts()

	on := *s
	on.outageTest = &outageTest{t: t, webhooks: s.webhooks, mailServer: startMailServer(t), database: database,
		key: s.key}
	on.platform = on.start(url, home, on.mailServer)
	on.await("messages about bookings", func() (int, int) {
		return len(queryIDs(t, database,
				`SELECT id::text FROM notifications.messages WHERE kind = 'booking_received'`)),
			len(bookings)
	})
	on.await("of all work", func() (int, int) { return -on.countUndelivered(), 0 })
	on.checkNotifiedOnce(sent, delivered, counts)
	on.checkAcknowledged(before)
}

// checkNotifiedOnce checks that only messages and webhooks that the backup lists as unsent arrive after the restore.
// The argument `counts` has the number of attempts for each event before the restore.
func (s *backupTest) checkNotifiedOnce(sent, delivered map[string]bool, counts map[string]int) {
	t := s.t
	t.Helper()
	want := queryIDs(t, s.database, `SELECT id::text FROM notifications.messages`)
	maps.DeleteFunc(want, func(id string, _ bool) bool { return sent[id] })
	arrived := map[string]bool{}
	s.mailServer.mu.Lock()
	defer s.mailServer.mu.Unlock()
	for to, mails := range s.mailServer.mails {
		for _, id := range mails {
			if arrived[id] {
				t.Errorf("a mail to %s arrived twice", to)
			}
			arrived[id] = true
		}
	}
	if diff := cmp.Diff(want, arrived); diff != "" {
		t.Errorf("the mails after the restore are not exactly those that the backup does not contain: %s", diff)
	}
	events := queryIDs(t, s.database, `SELECT id::text FROM booking.events WHERE type = 'booking.created'`)
	attempts := s.webhooks.countAttempts()
	for id := range events {
		switch now := attempts[id]; {
		case delivered[id] && now != counts[id]:
			t.Errorf("event %s was delivered before the backup, and again after", id)
		case now == 0:
			t.Errorf("event %s is in the backup and was never delivered", id)
		}
	}
	t.Logf("of %d mails %d came after the restore; of %d events %d", len(sent)+len(want), len(want), len(events),
		len(events)-len(delivered))
}

func (h *webhookReceiver) countAttempts() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.attempts)
}

// checkAcknowledged checks that the time of a booking is still occupied and that the customer's link still works.
func (s *backupTest) checkAcknowledged(before map[string]acknowledgedBooking) {
	s.t.Helper()
	for _, b := range before {
		s.platform.book(s.t, "salon", s.key, b.order).checkStatus(s.t, http.StatusConflict, "slot_unavailable")
		if page := s.do(s.t, http.MethodGet, s.PublicURL+b.link, nil,
			http.Header{"Accept": {"text/html"}}); page.status != http.StatusOK {
			s.t.Errorf("the customer's link is answered with %d", page.status)
		}
		return // one booking is enough
	}
}

// queryIDs returns the set of ids that a query returns.
func queryIDs(t *testing.T, database *pgx.Conn, query string) map[string]bool {
	t.Helper()
	rows, err := database.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool, len(list))
	for _, id := range list {
		found[id] = true
	}
	return found
}
