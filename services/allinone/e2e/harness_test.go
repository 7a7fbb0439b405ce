// Package e2e drives the whole of Slotmesh as its users do: over HTTP, through the front, on real stores.
package e2e

import (
	"bytes"
	"context"
	cryptorand "crypto/rand"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/services/allinone"
	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
	"github.com/slotmesh/slotmesh/services/allinone/test/deadlines"
	"github.com/slotmesh/slotmesh/services/booking"
	"github.com/slotmesh/slotmesh/services/catalog"
	"github.com/slotmesh/slotmesh/services/console"
	"github.com/slotmesh/slotmesh/services/notifications"
	"github.com/slotmesh/slotmesh/services/rental"
)

// Some tests wait for a line that is slow on purpose: others use the processors meanwhile. A -parallel that is asked
// for stays.
func TestMain(m *testing.M) {
	flag.Parse()
	if most := flag.Lookup("test.parallel"); most.Value.String() == most.DefValue {
		if err := most.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	if pattern := flag.Lookup("test.run"); pattern.Value.String() == "" && len(racedTests) > 0 {
		if err := pattern.Value.Set(namesOf(racedTests)); err != nil {
			panic(err)
		}
	}
	leaks.Verify(tests{m})
}

// racedTests are the tests that run with the race detector, unless -run asks for others: with it the whole package
// takes three times as long, and the packages of the services have tests of their own. Without the detector the list
// is empty.
var racedTests []func(*testing.T)

// namesOf is a pattern that matches the names of these tests.
func namesOf(tests []func(*testing.T)) string {
	var names []string
	for _, test := range tests {
		name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
		names = append(names, name[strings.LastIndex(name, ".")+1:])
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// tests are all tests, after which the template of their databases goes.
type tests struct{ *testing.M }

func (m tests) Run() int {
	code := m.M.Run()
	if err := errors.Join(visitor.Close(), platform.stop(), tables.Drop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// tables are those of every service. A world begins with a copy of them: to make them anew takes a third of its start.
var tables = testkit.Template{Fill: func(ctx context.Context, databaseURL string) error {
	at := postgres.Config{URL: databaseURL, StatementTimeout: testkit.MaxWait}
	for _, migrate := range []func() error{
		func() error { return catalog.Migrate(ctx, catalog.Config{Postgres: at}) },
		func() error { return booking.Migrate(ctx, booking.Config{Postgres: at}) },
		func() error { return rental.Migrate(ctx, rental.Config{Postgres: at}) },
		func() error { return notifications.Migrate(ctx, notifications.Config{Postgres: at}) },
		func() error { return console.Migrate(ctx, console.Config{Postgres: at}) },
	} {
		if err := migrate(); err != nil {
			return err
		}
	}
	return nil
}}

// monday is the clock's start in most tests: 2027-03-01, a Monday, 06:00 UTC.
const monday = "2027-03-01T06:00:00Z"

// afterMonday is what a clock shows that was at monday at this instant. A process that goes on with what another one
// left has it go on too: what is due would else wait for as long again as that one ran.
func afterMonday(t *testing.T, begun time.Time) string {
	t.Helper()
	at, err := time.Parse(time.RFC3339, monday)
	if err != nil {
		t.Fatal(err)
	}
	return at.Add(time.Since(begun)).Format(time.RFC3339Nano)
}

// world is one Slotmesh and a client of it.
type world struct {
	*allinone.Process
	http    *http.Client
	address string // of a client of its own
	once    sync.Once

	isShared    bool // other tests use the process too
	databaseURL string
	inbox       *inbox // nil if SMTP_URL names a mail server
}

// start brings up a Slotmesh without the demo on a database of its own. The front believes X-Forwarded-For, so that one
// test can be many clients. Limits that are settings are roomy: tests share a Redis, and some this machine's address.
func start(t *testing.T, change ...func(*allinone.Config)) *world {
	t.Helper()
	cfg := defaults(t, t.TempDir())
	for _, c := range change {
		c(&cfg)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	p, err := allinone.Start(ctx, cfg, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, p)
	w.databaseURL = cfg.DatabaseURL
	if p.Mailbox != nil {
		w.inbox = openInbox(t, p.Mailbox)
	}
	t.Cleanup(func() {
		w.stop(t)
		if t.Failed() {
			showWarnings(t, filepath.Join(cfg.Home, allinone.LogFile))
		}
	})
	return w
}

// startWithin is the time in which a Slotmesh starts.
const startWithin = 2 * time.Minute

// defaults are the settings of a Slotmesh on a new database.
func defaults(t testing.TB, home string) allinone.Config {
	inputs.Checkout() // tests read documents and pages of all services
	return allinone.Config{
		Home: home, Now: monday, TrustedProxies: []string{"127.0.0.0/8"},
		DatabaseURL: tables.Copy(t, "e2e"), RedisURL: os.Getenv(testkit.RedisURL), AdminToken: cryptorand.Text(),
		Settings:             with(deadlines.Roomy, "MESSAGES_PER_DAY", "1000000", "ADMIN_LIMIT_PER_MINUTE", "50000"),
		PublicLimitPerMinute: 50_000, WrongTokensPerMinute: 10_000,
	}
}

// newWorld is a client of a process. Services close a connection that is idle for two minutes, and a request that is
// sent at that moment fails: the client closes it earlier.
func newWorld(t *testing.T, p *allinone.Process) *world {
	t.Helper()
	w := &world{Process: p, address: client(), http: &http.Client{Timeout: 3 * time.Minute}}
	w.http.Transport = addressed{w.address,
		w.underContract(t, &http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: 30 * time.Second})}
	return w
}

// showWarnings shows the newest of what the services of a test that failed have warned of: their log goes with its
// home.
func showWarnings(t *testing.T, log string) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Logf("there is no log: %v", err)
		return
	}
	var warnings []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`) {
			warnings = append(warnings, line)
		}
	}
	const most = 40
	t.Logf("the services have warned %d times, at last:\n%s", len(warnings),
		strings.Join(warnings[max(0, len(warnings)-most):], ""))
}

// alone gives a world limits of its own: programs that are run as they are name no address, and all of them come from
// this machine's.
func alone(t *testing.T) func(*allinone.Config) {
	t.Helper()
	redis := testkit.RedisDatabase(t)
	return func(cfg *allinone.Config) { cfg.RedisURL = redis }
}

func (w *world) stop(t *testing.T) {
	t.Helper()
	w.once.Do(func() {
		w.http.CloseIdleConnections()
		if err := w.Stop(); err != nil {
			t.Errorf("Slotmesh did not stop cleanly: %v", err)
		}
	})
}

// addressed is a transport that sends requests without X-Forwarded-For from an address of the world's own, because
// all worlds count their requests in one Redis.
type addressed struct {
	address string
	next    http.RoundTripper
}

func (a addressed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("X-Forwarded-For") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("X-Forwarded-For", a.address)
	}
	return a.next.RoundTrip(r)
}

// CloseIdleConnections lets [http.Client.CloseIdleConnections] reach the connections.
func (a addressed) CloseIdleConnections() {
	if closer, ok := a.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// proxy returns the address of a proxy before an address of the world. Programs that name no client address use it:
// the proxy sends their requests from an address of the world's own.
func (w *world) proxy(t *testing.T, address string) string {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	server := httptest.NewServer(&httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Set("X-Forwarded-For", w.address)
	}})
	t.Cleanup(server.Close)
	return server.URL
}

// client is an address of its own, so that limits by address do not join what tests keep apart.
func client() string {
	return fmt.Sprintf("100.%d.%d.%d", 64+rand.IntN(64), rand.IntN(256), 1+rand.IntN(254))
}

// answer is a response with its body read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// object is the body as JSON.
func (a answer) object(t *testing.T) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(a.body, &o); err != nil {
		t.Fatalf("status %d, body %q: %v", a.status, a.body, err)
	}
	return o
}

// into decodes the body of an answer that must have this status.
func (a answer) into(t *testing.T, status int, out any) {
	t.Helper()
	a.want(t, status, "")
	if err := json.Unmarshal(a.body, out); err != nil {
		t.Fatalf("body %q: %v", a.body, err)
	}
}

// want checks the status and, for an error, its shape and messageCode (semantics.md §7).
func (a answer) want(t *testing.T, status int, code string) {
	t.Helper()
	if a.status != status {
		t.Fatalf("got status %d, want %d: %s", a.status, status, a.body)
	}
	if status < http.StatusBadRequest {
		return
	}
	o := a.object(t)
	sentence, _ := o["error"].(string)
	if o["messageCode"] != code || sentence == "" {
		t.Errorf("got %s, want a sentence and messageCode %s", a.body, code)
	}
}

// do sends one request; a nil body sends none.
func (w *world) do(t *testing.T, method, url string, body []byte, header http.Header) answer {
	t.Helper()
	a, err := w.try(method, url, body, header)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// try is do for goroutines, which must not end the test.
func (w *world) try(method, url string, body []byte, header http.Header) (answer, error) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if request.Header = header.Clone(); request.Header == nil {
		request.Header = http.Header{}
	}
	return w.exchange(request)
}

func (w *world) exchange(request *http.Request) (answer, error) {
	response, err := w.http.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, read}, err
}

// get reads a public path, such as "harbor/slots?…", from an address of its own.
func (w *world) get(t *testing.T, path string) answer {
	t.Helper()
	return w.getFrom(t, client(), path)
}

func (w *world) getFrom(t *testing.T, address, path string) answer {
	t.Helper()
	return w.do(t, http.MethodGet, w.PublicURL+"/api/public/"+path, nil, http.Header{"X-Forwarded-For": {address}})
}

// admin calls the admin API below /admin.
func (w *world) admin(t *testing.T, method, path string, body []byte) answer {
	t.Helper()
	header := http.Header{"Authorization": {"Bearer " + w.AdminToken}, "Content-Type": {"application/json"}}
	if method == http.MethodPut {
		header.Set("Content-Type", "application/yaml")
	}
	return w.do(t, method, w.AdminURL+"/admin/"+path, body, header)
}

// publish makes a manifest the newest version of its business.
func (w *world) publish(t *testing.T, slug, manifest string) {
	t.Helper()
	if w.isShared {
		platform.own(t, slug)
	}
	a := w.admin(t, http.MethodPut, "businesses/"+slug, []byte(manifest))
	if a.status != http.StatusCreated && a.status != http.StatusOK {
		t.Fatalf("publishing %s answered %d: %s", slug, a.status, a.body)
	}
}

// key makes an API key.
func (w *world) key(t *testing.T, slug, scope string) string {
	t.Helper()
	var made struct{ Key string }
	w.admin(t, http.MethodPost, "businesses/"+slug+"/keys", fmt.Appendf(nil, `{"name":"test","scope":%q}`,
		scope)).into(t, http.StatusCreated, &made)
	return made.Key
}

// order is a request of POST /book.
type order map[string]any

// appointment is an order of one service.
func appointment(serviceID, date, time string) order {
	return order{
		"service_ids": []string{serviceID}, "date": date, "time": time,
		"customer_name": "Ada Example", "customer_email": "ada@example.com",
	}
}

func (o order) with(field string, value any) order {
	changed := order{field: value}
	for k, v := range o {
		if k != field {
			changed[k] = v
		}
	}
	return changed
}

// encoded is v as JSON.
func encoded(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// book sends an order from an address of its own.
func (w *world) book(t *testing.T, slug, key string, o order) answer {
	t.Helper()
	a, err := w.tryBook(slug, key, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (w *world) tryBook(slug, key string, o order, header http.Header) (answer, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return answer{}, err
	}
	all := http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + key},
		"X-Forwarded-For": {client()}}
	for name, values := range header {
		all[name] = values
	}
	return w.try(http.MethodPost, w.PublicURL+"/api/public/"+slug+"/book", body, all)
}

// named maps the names of a list's elements to their ids.
func (w *world) named(t *testing.T, slug, list string) map[string]string {
	t.Helper()
	var all map[string]json.RawMessage
	w.get(t, slug+"/"+list).into(t, http.StatusOK, &all)
	var elements []struct{ ID, Name string }
	if err := json.Unmarshal(all[list], &elements); err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]string)
	for _, e := range elements {
		ids[e.Name] = e.ID
	}
	return ids
}

// slots is an answer of /slots.
type slots struct {
	Slots []struct {
		Date, Time, EndTime string
		StaffID, StaffName  *string
		DateOffset          int
	}
	Computed *bool
	Timezone string
}

func (w *world) slots(t *testing.T, slug, date, query string) slots {
	t.Helper()
	var s slots
	w.get(t, slug+"/slots?date="+date+"&"+query).into(t, http.StatusOK, &s)
	if s.Computed == nil || !*s.Computed {
		t.Fatalf("slots of %s on %s were not computed", slug, date)
	}
	return s
}

// salon is a business with as many staff as asked for, all of whom perform Cut; Sauna has two lanes.
func salon(slug string, staff int) string {
	var members, keys strings.Builder
	for i := range staff {
		fmt.Fprintf(&members, "  - {key: s%d, name: Member %d, order: %d}\n", i, i, i)
		fmt.Fprintf(&keys, "s%d, ", i)
	}
	return fmt.Sprintf(`apiVersion: slotmesh/v1
kind: Business
slug: %s
name: Salon
currency: EUR
timezone: Europe/Lisbon
default_language: en
languages: [en]
modules: {services: true, events: true, rentals: true}
bookings: {slot_interval_minutes: 15, min_notice_minutes: 0, advance_days: 365}
hours:
  mon: ["09:00-17:00"]
  tue: ["09:00-17:00"]
  wed: ["09:00-17:00"]
staff:
%s
services:
  - {key: cut, name: Cut, duration_minutes: 45, price: 40.00, staff: [%s], order: 1}
  - {key: wash, name: Wash, duration_minutes: 30, buffer_after_minutes: 15, price: 10.00, staff: [%s], order: 2}
  - {key: sauna, name: Sauna, duration_minutes: 60, price: 15.00, capacity: 2, order: 3}
pricing_rules:
  - {key: tuesday, kind: day_of_week, days: [tue], percent: -10}
`, slug, members.String(), strings.TrimSuffix(keys.String(), ", "), strings.TrimSuffix(keys.String(), ", "))
}
