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

// backupClients book all the time while the backup is made.
const backupClients = 64

// A backup is made while many clients book, and restored elsewhere: every booking that was answered before is there,
// with its customer's link; what was told of is not told again, and what was not yet is. One made when nothing runs is,
// restored, the same tables as PostgreSQL's own program writes them.
func TestABackupUnderLoadHasEveryBookingThatWasAnsweredBefore(t *testing.T) {
	t.Parallel()
	s := openSaved(t)
	stop := s.load()
	s.await("bookings", func() (int, int) { return s.count(), 2 * backupClients })
	s.await("mails", func() (int, int) { return s.post.taken(), 10 })
	s.await("webhooks", func() (int, int) { return s.hooks.taken(), 10 })
	before := s.taken()
	underLoad := s.backup()
	stop()
	s.world.stop(t)
	atRest := s.backup()

	same, _ := s.restore(atRest)
	// by who stopped, which a restore lets go
	for _, held := range []string{"feeds SET reader = NULL, reader_until",
		"webhook_endpoints SET lane = NULL, lane_until"} {
		testkit.Administer(t, s.url, "UPDATE notifications."+held+" = '-infinity'")
	}
	if diff := cmp.Diff(dumped(t, s.url), dumped(t, same)); diff != "" {
		t.Errorf("the restored tables differ: %s", diff)
	}
	s.goesOn(underLoad, before)
}

// saved is a Slotmesh that is backed up, with a receiver of webhooks and a mail server.
type saved struct {
	*away
	url, home string
	begun     time.Time
	booked    map[string]made // by id
}

// made is a booking that was answered with 201.
type made struct {
	order order
	link  string // its customer's, without the address of the pages
}

func openSaved(t *testing.T) *saved {
	t.Helper()
	s := &saved{away: &away{t: t, hooks: openHooks(t), post: openPost(t)}, url: testkit.Database(t, "e2e"),
		begun: time.Now(), booked: map[string]made{}}
	s.world = s.start(s.url, "", s.post)
	s.publish(t, "salon", awaySalon())
	s.verifyOwner(t, "owner@harbor.example")
	s.admin(t, http.MethodPost, "businesses/salon/webhooks",
		fmt.Appendf(nil, `{"url": %q, "events": ["booking.created"]}`, s.hooks.url)).
		want(t, http.StatusCreated, "")
	s.key, s.cut = s.world.key(t, "salon", "all"), s.named(t, "salon", "services")["Cut"]
	s.staff = slices.Sorted(maps.Values(s.named(t, "salon", "staff")))
	return s
}

// start brings up a Slotmesh on a database and in a home, "" for one of its own.
func (s *saved) start(url, home string, post *post) *world {
	return start(s.t, loopback, func(c *allinone.Config) {
		c.DatabaseURL, c.SMTPURL, c.MailFrom, c.Now = url, post.url, "no-reply@harbor.example",
			afterMonday(s.t, s.begun)
		if home != "" {
			c.Home = home
		}
		s.home = c.Home
		for _, limit := range []string{"BOOKING_IP_LIMIT_PER_MINUTE", "BOOKING_KEY_LIMIT_PER_MINUTE"} {
			c.Settings[limit] = "100000"
		}
	})
}

// load lets the clients book until what it returns was called, and has returned.
func (s *saved) load() func() {
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

// bookOne books the time of a number, which no other has.
func (s *saved) bookOne(i int) {
	day, slot := i/awayPerDay, i%awayPerDay
	o := appointment(s.cut, time.Date(2027, time.March, 2+day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly),
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
	s.booked[booked.Booking.ID] = made{o, strings.TrimPrefix(booked.ManageURL, s.PublicURL)}
}

func (s *saved) count() int { return len(s.taken()) }

func (s *saved) taken() map[string]made {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.booked)
}

// backup returns the file that it has made.
func (s *saved) backup() string {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "slotmesh.backup")
	env := envconfig.MapLookuper(map[string]string{"DATABASE_URL": s.url, "SLOTMESH_HOME": s.home})
	if err := allinone.Backup(s.t.Context(), env, file, s.t.Output()); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// restore fills a new database and a new home, and returns the URL of the one and the other.
func (s *saved) restore(file string) (string, string) {
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

// dumped is what PostgreSQL's program writes of a database, tables and rows, in lines without an order. When migrations
// were applied is left out.
func dumped(t *testing.T, url string) []string {
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

// goesOn restores a file and starts a Slotmesh on it, with a mail server that has had no mail.
func (s *saved) goesOn(file string, before map[string]made) {
	t := s.t
	url, home := s.restore(file)
	database, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = database.Close(t.Context()) })
	bookings := ids(t, database, `SELECT id::text FROM booking.bookings`)
	for id := range before {
		if !bookings[id] {
			t.Errorf("booking %s was answered before the backup began, and is not in it", id)
		}
	}
	t.Logf("%d bookings were answered before the backup began; it has %d, and %d were made in all", len(before),
		len(bookings), s.count())
	sent, delivered := ids(t, database, `SELECT id::text FROM notifications.messages WHERE status = 'sent'`),
		ids(t, database, `SELECT event_id::text FROM notifications.webhook_deliveries WHERE status = 'delivered'`)
	if len(sent) == 0 || len(delivered) == 0 {
		t.Errorf("the backup has %d mails that were sent, and %d webhooks that were delivered", len(sent),
			len(delivered))
	}
	told := s.hooks.attempted()

	on := *s
	on.away = &away{t: t, hooks: s.hooks, post: openPost(t), database: database, key: s.key}
	on.world = on.start(url, home, on.post)
	on.await("messages about bookings", func() (int, int) {
		return len(ids(t, database, `SELECT id::text FROM notifications.messages WHERE kind = 'booking_received'`)),
			len(bookings)
	})
	on.await("of all work", func() (int, int) { return -on.left(), 0 })
	on.tellsOnce(sent, delivered, told)
	on.keepsItsWord(before)
}

// tellsOnce holds what came after the restore against what had been told of in the backup.
func (s *saved) tellsOnce(sent, delivered map[string]bool, told map[string]int) {
	t := s.t
	t.Helper()
	want := ids(t, s.database, `SELECT id::text FROM notifications.messages`)
	maps.DeleteFunc(want, func(id string, _ bool) bool { return sent[id] })
	arrived := map[string]bool{}
	s.post.mu.Lock()
	defer s.post.mu.Unlock()
	for to, mails := range s.post.arrived {
		for _, id := range mails {
			if arrived[id] {
				t.Errorf("a mail to %s came twice", to)
			}
			arrived[id] = true
		}
	}
	if diff := cmp.Diff(want, arrived); diff != "" {
		t.Errorf("mails after the restore are not those that the backup lacks: %s", diff)
	}
	events := ids(t, s.database, `SELECT id::text FROM booking.events WHERE type = 'booking.created'`)
	attempts := s.hooks.attempted()
	for id := range events {
		switch now := attempts[id]; {
		case delivered[id] && now != told[id]:
			t.Errorf("event %s was delivered before the backup, and again after", id)
		case now == 0:
			t.Errorf("event %s is in the backup and was never delivered", id)
		}
	}
	t.Logf("of %d mails %d came after the restore; of %d events %d", len(sent)+len(want), len(want), len(events),
		len(events)-len(delivered))
}

func (h *hooks) attempted() map[string]int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.attempts)
}

// keepsItsWord asks for what customers were promised: their time, and their link.
func (s *saved) keepsItsWord(before map[string]made) {
	s.t.Helper()
	for _, b := range before {
		s.world.book(s.t, "salon", s.key, b.order).want(s.t, http.StatusConflict, "slot_unavailable")
		if page := s.do(s.t, http.MethodGet, s.PublicURL+b.link, nil,
			http.Header{"Accept": {"text/html"}}); page.status != http.StatusOK {
			s.t.Errorf("the customer's link is answered with %d", page.status)
		}
		return // one stands for all
	}
}

// ids are those that a query finds.
func ids(t *testing.T, database *pgx.Conn, query string) map[string]bool {
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
