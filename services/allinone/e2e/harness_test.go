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

// TestMain runs twice as many tests in parallel as there are processors, because some tests wait for slow connections.
// The flag -parallel overrides that number.
func TestMain(m *testing.M) {
	flag.Parse()
	if most := flag.Lookup("test.parallel"); most.Value.String() == most.DefValue {
		if err := most.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	if pattern := flag.Lookup("test.run"); pattern.Value.String() == "" && len(racedTests) > 0 {
		if err := pattern.Value.Set(listNames(racedTests)); err != nil {
			panic(err)
		}
	}
	leaks.Verify(packageTests{m})
}

// racedTests are the tests that run with the race detector, unless -run selects others. With the detector the whole
// package takes three times as long, and the services' packages have their own tests. Without the detector the list is
// empty.
var racedTests []func(*testing.T)

// listNames returns a pattern that matches the names of the tests.
func listNames(tests []func(*testing.T)) string {
	var names []string
	for _, test := range tests {
		name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
		names = append(names, name[strings.LastIndex(name, ".")+1:])
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// packageTests are all tests of the package. After the tests, Run stops the browser and the shared platform, and drops
// the template database.
type packageTests struct{ *testing.M }

func (m packageTests) Run() int {
	code := m.M.Run()
	if err := errors.Join(visitor.Close(), sharedInstance.stop(), databaseTemplate.Drop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// databaseTemplate is a database with the tables of all services. Each platform starts with a copy of it, because
// migrations take a third of a start.
var databaseTemplate = testkit.Template{Fill: func(ctx context.Context, databaseURL string) error {
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

// findMondayAfter returns the present time of a clock that showed [monday] at the instant `startTime`. A process on the
// database of an earlier process must continue the earlier process's clock. Otherwise due work would wait again.
func findMondayAfter(t *testing.T, startTime time.Time) string {
	t.Helper()
	at, err := time.Parse(time.RFC3339, monday)
	if err != nil {
		t.Fatal(err)
	}
	return at.Add(time.Since(startTime)).Format(time.RFC3339Nano)
}

// platform is a running Slotmesh with a client of it.
type platform struct {
	*allinone.Process
	http    *http.Client
	address string // client address of requests without X-Forwarded-For
	once    sync.Once

	isShared    bool // other tests use the process too
	databaseURL string
	inbox       *inbox // nil if SMTP_URL names a mail server
}

// startPlatform starts a Slotmesh without the demo business and with its own database. The front trusts
// X-Forwarded-For, so that a test can act as many clients. The configured limits are high, because tests share a Redis,
// and some tests share this machine's address.
func startPlatform(t *testing.T, change ...func(*allinone.Config)) *platform {
	t.Helper()
	cfg := newConfig(t, t.TempDir())
	for _, c := range change {
		c(&cfg)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	p, err := allinone.Start(ctx, cfg, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	w := newPlatform(t, p)
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

// startTimeout is the time limit for the start of a Slotmesh.
const startTimeout = 2 * time.Minute

// newConfig returns the settings of a Slotmesh with a new database.
func newConfig(t testing.TB, home string) allinone.Config {
	inputs.Checkout() // tests read files of all services
	return allinone.Config{
		Home: home, Now: monday, TrustedProxies: []string{"127.0.0.0/8"},
		DatabaseURL: databaseTemplate.Copy(t, "e2e"), RedisURL: os.Getenv(testkit.RedisURL),
		AdminToken: cryptorand.Text(),
		Settings: withSettings(deadlines.Roomy, "MESSAGES_PER_DAY", "1000000", "ADMIN_LIMIT_PER_MINUTE",
			"50000"),
		PublicLimitPerMinute: 50_000, WrongTokensPerMinute: 10_000,
	}
}

// newPlatform returns a client of a process. The client closes idle connections after 30 seconds. The services close
// idle connections after two minutes, and a request that is sent at that moment would fail.
func newPlatform(t *testing.T, p *allinone.Process) *platform {
	t.Helper()
	w := &platform{Process: p, address: newAddress(), http: &http.Client{Timeout: 3 * time.Minute}}
	w.http.Transport = addressTransport{w.address,
		w.underContract(t, &http.Transport{MaxIdleConnsPerHost: 256, IdleConnTimeout: 30 * time.Second})}
	return w
}

// showWarnings logs the last warnings and errors of the services of a failed test, because the test removes their log
// file.
func showWarnings(t *testing.T, log string) {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Logf("the log is missing: %v", err)
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

// useOwnRedis gives a platform its own Redis database, so that other tests do not count towards its limits.
func useOwnRedis(t *testing.T) func(*allinone.Config) {
	t.Helper()
	redis := testkit.RedisDatabase(t)
	return func(cfg *allinone.Config) { cfg.RedisURL = redis }
}

func (w *platform) stop(t *testing.T) {
	t.Helper()
	w.once.Do(func() {
		w.http.CloseIdleConnections()
		if err := w.Stop(); err != nil {
			t.Errorf("Slotmesh did not stop cleanly: %v", err)
		}
	})
}

// addressTransport is a transport that adds X-Forwarded-For with the client's address to requests that have none,
// because all platforms count their requests in one Redis.
type addressTransport struct {
	address string
	next    http.RoundTripper
}

func (a addressTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("X-Forwarded-For") == "" {
		r = r.Clone(r.Context())
		r.Header.Set("X-Forwarded-For", a.address)
	}
	return a.next.RoundTrip(r)
}

// CloseIdleConnections lets [http.Client.CloseIdleConnections] reach the connections.
func (a addressTransport) CloseIdleConnections() {
	if closer, ok := a.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// startProxy starts a proxy of an address of the platform and returns the proxy's address. Programs that cannot send
// X-Forwarded-For use the proxy, which adds a client address to their requests.
func (w *platform) startProxy(t *testing.T, address string) string {
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

// newAddress returns a random client address, so that limits by address count each client separately.
func newAddress() string {
	return fmt.Sprintf("100.%d.%d.%d", 64+rand.IntN(64), rand.IntN(256), 1+rand.IntN(254))
}

// reply is a response with its whole body.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// decodeObject decodes the body, which must be a JSON object.
func (a reply) decodeObject(t *testing.T) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(a.body, &o); err != nil {
		t.Fatalf("status %d, body %q: %v", a.status, a.body, err)
	}
	return o
}

// decode checks the status and decodes the JSON body into `out`.
func (a reply) decode(t *testing.T, status int, out any) {
	t.Helper()
	a.checkStatus(t, status, "")
	if err := json.Unmarshal(a.body, out); err != nil {
		t.Fatalf("body %q: %v", a.body, err)
	}
}

// checkStatus checks the status. If the response is an error, checkStatus also checks its shape and its messageCode
// (semantics.md §7).
func (a reply) checkStatus(t *testing.T, status int, code string) {
	t.Helper()
	if a.status != status {
		t.Fatalf("got status %d, want %d: %s", a.status, status, a.body)
	}
	if status < http.StatusBadRequest {
		return
	}
	o := a.decodeObject(t)
	sentence, _ := o["error"].(string)
	if o["messageCode"] != code || sentence == "" {
		t.Errorf("got %s, want a sentence and messageCode %s", a.body, code)
	}
}

// do sends a request, without a body if `body` is nil.
func (w *platform) do(t *testing.T, method, url string, body []byte, header http.Header) reply {
	t.Helper()
	a, err := w.tryDo(method, url, body, header)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// tryDo sends a request and returns its error. Goroutines use it, because only the test's goroutine may call Fatal.
func (w *platform) tryDo(method, url string, body []byte, header http.Header) (reply, error) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if request.Header = header.Clone(); request.Header == nil {
		request.Header = http.Header{}
	}
	return w.exchange(request)
}

func (w *platform) exchange(request *http.Request) (reply, error) {
	response, err := w.http.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = response.Body.Close() }()
	read, err := io.ReadAll(response.Body)
	return reply{response.StatusCode, response.Header, read}, err
}

// get reads a public path, such as "harbor/slots?…", from a new client address.
func (w *platform) get(t *testing.T, path string) reply {
	t.Helper()
	return w.getFrom(t, newAddress(), path)
}

func (w *platform) getFrom(t *testing.T, address, path string) reply {
	t.Helper()
	return w.do(t, http.MethodGet, w.PublicURL+"/api/public/"+path, nil, http.Header{"X-Forwarded-For": {address}})
}

// callAdmin calls the admin API below /admin.
func (w *platform) callAdmin(t *testing.T, method, path string, body []byte) reply {
	t.Helper()
	header := http.Header{"Authorization": {"Bearer " + w.AdminToken}, "Content-Type": {"application/json"}}
	if method == http.MethodPut {
		header.Set("Content-Type", "application/yaml")
	}
	return w.do(t, method, w.AdminURL+"/admin/"+path, body, header)
}

// publish publishes a manifest.
func (w *platform) publish(t *testing.T, slug, manifest string) {
	t.Helper()
	if w.isShared {
		sharedInstance.reserveSlug(t, slug)
	}
	a := w.callAdmin(t, http.MethodPut, "businesses/"+slug, []byte(manifest))
	if a.status != http.StatusCreated && a.status != http.StatusOK {
		t.Fatalf("publishing %s answered %d: %s", slug, a.status, a.body)
	}
}

// createKey creates an API key and returns it.
func (w *platform) createKey(t *testing.T, slug, scope string) string {
	t.Helper()
	var created struct{ Key string }
	w.callAdmin(t, http.MethodPost, "businesses/"+slug+"/keys", fmt.Appendf(nil, `{"name":"test","scope":%q}`,
		scope)).decode(t, http.StatusCreated, &created)
	return created.Key
}

// order is the body of a request to POST /book.
type order map[string]any

// newOrder returns an order of one service.
func newOrder(serviceID, date, time string) order {
	return order{
		"service_ids": []string{serviceID}, "date": date, "time": time,
		"customer_name": "Ada Example", "customer_email": "ada@example.com",
	}
}

func (o order) withField(field string, value any) order {
	changed := order{field: value}
	for k, v := range o {
		if k != field {
			changed[k] = v
		}
	}
	return changed
}

// encodeJSON returns v as JSON.
func encodeJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// book sends an order from a new client address.
func (w *platform) book(t *testing.T, slug, key string, o order) reply {
	t.Helper()
	a, err := w.tryBook(slug, key, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (w *platform) tryBook(slug, key string, o order, header http.Header) (reply, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return reply{}, err
	}
	all := http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + key},
		"X-Forwarded-For": {newAddress()}}
	for name, values := range header {
		all[name] = values
	}
	return w.tryDo(http.MethodPost, w.PublicURL+"/api/public/"+slug+"/book", body, all)
}

// idsByName maps the names of a list's elements to their ids.
func (w *platform) idsByName(t *testing.T, slug, list string) map[string]string {
	t.Helper()
	var all map[string]json.RawMessage
	w.get(t, slug+"/"+list).decode(t, http.StatusOK, &all)
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

// listSlots is a response of /slots.
type slots struct {
	Slots []struct {
		Date, Time, EndTime string
		StaffID, StaffName  *string
		DateOffset          int
	}
	Computed *bool
	Timezone string
}

func (w *platform) listSlots(t *testing.T, slug, date, query string) slots {
	t.Helper()
	var s slots
	w.get(t, slug+"/slots?date="+date+"&"+query).decode(t, http.StatusOK, &s)
	if s.Computed == nil || !*s.Computed {
		t.Fatalf("slots of %s on %s were not computed", slug, date)
	}
	return s
}

// buildSalon returns the manifest of a business. All members of the staff perform Cut and Wash; Sauna has two capacity
// units.
func buildSalon(slug string, staff int) string {
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
