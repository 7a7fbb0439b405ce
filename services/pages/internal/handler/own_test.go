package handler

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

const (
	ownToken  = "abcdefghijklmnopqrstuv"
	ownSecret = "vutsrqponmlkjihgfedcba"
)

// ownPeers is a fake of the services booking, rental and notifications for the pages with a customer's own bookings.
type ownPeers struct {
	mu         sync.Mutex
	calls      []string // method, path and body of each call, without ids
	isUsed     bool     // the link was used
	hasNoMail  bool     // no mail server is configured
	upcoming   []booking.CustomerSale
	past       []booking.CustomerSale
	reserved   []rental.OwnReservation
	mayMail    bool
	limitFault error
}

func (o *ownPeers) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	if !strings.Contains(r.URL.Path, "customer-") { // catalog's answer about the business
		_, _ = io.WriteString(w, `{}`)
		return
	}
	path := r.URL.Path[strings.LastIndex(r.URL.Path, "customer-"):]
	o.calls = append(o.calls, r.Method+" "+path+" "+string(body))
	var request struct{ Token, Secret string }
	var list booking.CustomerSalesRequest
	_ = json.Unmarshal(body, &request)
	_ = json.Unmarshal(body, &list)
	answer := func(status int, out any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(out)
	}
	notFound := map[string]string{"error": "not found", "messageCode": "not_found"}
	switch {
	case path == "customer-sign-ins":
		answer(http.StatusCreated, booking.SignInID{ID: uuid.MustParse(galaID)})
	case strings.HasPrefix(path, "customer-sign-ins/") && o.hasNoMail:
		answer(http.StatusConflict, map[string]string{"error": "no mail server", "messageCode": "conflict"})
	case strings.HasPrefix(path, "customer-sign-ins/"):
		w.WriteHeader(http.StatusAccepted)
	case path == "customer-sessions" && (request.Token != ownToken || o.isUsed),
		strings.HasPrefix(path, "customer-sessions/") && !strings.HasSuffix(path, "/end") && request.Secret != ownSecret:
		answer(http.StatusNotFound, notFound)
	case path == "customer-sessions":
		o.isUsed = true
		answer(http.StatusCreated, booking.NewSession{Secret: ownSecret})
	case strings.HasSuffix(path, "/end"):
		w.WriteHeader(http.StatusNoContent)
	case strings.HasSuffix(path, "/sales") && list.IsPast:
		answer(http.StatusOK, booking.CustomerSales{Sales: o.past})
	case strings.HasSuffix(path, "/sales"):
		answer(http.StatusOK, booking.CustomerSales{Sales: o.upcoming})
	case list.IsPast:
		answer(http.StatusOK, rental.OwnReservations{})
	default:
		answer(http.StatusOK, rental.OwnReservations{Reservations: o.reserved})
	}
}

func (o *ownPeers) count(context.Context, netip.Addr, uuid.UUID, string, server.Header) (bool, error) {
	return o.mayMail, o.limitFault
}

// newOwn returns the pages of a business with fake peers.
func newOwn(t *testing.T) (*ownPeers, *fiber.App) {
	t.Helper()
	peers := &ownPeers{mayMail: true}
	return peers, newOwnApp(t, peers, Config{CountLink: peers.count})
}

// newOwnApp returns the pages of a business with the given settings and with fake peers.
func newOwnApp(t *testing.T, peers *ownPeers, cfg Config) *fiber.App {
	t.Helper()
	fake := httptest.NewServer(peers)
	p := peer.New("booking", fake.URL, telemetry.Discard(), peer.Timeout(2*time.Minute))
	t.Cleanup(func() { p.Close(); fake.Close() })
	snapshot := &catalog.Snapshot{ID: uuid.New(), Slug: "theatre", Name: "Theatre", Currency: "EUR",
		Timezone: "Europe/Lisbon", DefaultLanguage: "en", Languages: []string{"en", "de"},
		Account: catalog.Account{SubscriptionActive: true},
		Page:    catalog.Page{EmbedOrigins: []string{"https://www.example.com"}}}
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	shop := &usecase.Shop{Snapshots: staleBusiness{cached: snapshot, fresh: snapshot}, Catalog: catalogclient.NewAnswers(p, 0),
		Clock: clock.Fixed(time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC))}
	cfg.Secrets = []string{"a secret of thirty-two characters."}
	cfg.Own = &usecase.OwnSales{Sessions: bookingclient.NewSessions(p), Reservations: rental.NewClient(p),
		Notifications: notifications.NewClient(p)}
	pages, err := New(shop, nil, cfg)
	if err != nil {
		t.Fatal(err)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, StreamRequestBody: true,
		ErrorHandler: func(c *fiber.Ctx, err error) error { return pages.ShowFault(c, fault.Of(err)) }})
	pages.Mount(app)
	return app
}

// send sends a request. If `form` is not nil, it is a POST. The argument `cookie` is the secret of a session, or "".
func (o *ownPeers) send(t *testing.T, app *fiber.App, path string, form url.Values, cookie string) (*http.Response,
	string) {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, path, nil)
	if form != nil {
		request = httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
		request.Header.Set("Content-Type", fiber.MIMEApplicationForm)
	}
	if cookie != "" {
		request.AddCookie(&http.Cookie{Name: ownCookie, Value: cookie})
	}
	answer, err := app.Test(request, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

// TestLinkRequestsAreTheSameForEveryAddress shows that the answer to a request for a link is the same page, whether the
// address may get a mail or not, and that the pages never ask whether the business knows it.
func TestLinkRequestsAreTheSameForEveryAddress(t *testing.T) {
	t.Parallel()
	peers, app := newOwn(t)
	ask := func(email string) (int, string) {
		answer, text := peers.send(t, app, "/b/theatre/mine", url.Values{"email": {email}}, "")
		return answer.StatusCode, text
	}
	status, first := ask("Zoe@Example.com")
	if status != http.StatusOK || !strings.Contains(first, "If we know this address, we have sent a link.") {
		t.Fatalf("%d %s", status, first)
	}
	want := []string{`POST customer-sign-ins {"email":"zoe@example.com","locale":"en"}`,
		"POST customer-sign-ins/" + galaID + " "}
	if diff := cmp.Diff(want, peers.calls); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	peers.mayMail = false // the address has reached its limit
	if status, text := ask("zoe@example.com"); status != http.StatusOK || text != first || len(peers.calls) != 2 {
		t.Errorf("above the limit of the address: %d, %d calls: %s", status, len(peers.calls), text)
	}
	peers.limitFault = fault.New(fault.RateLimited, "Rate limit exceeded")
	if status, _ := ask("zoe@example.com"); status != http.StatusTooManyRequests {
		t.Errorf("above the limit of the network: %d", status)
	}
	peers.limitFault, peers.mayMail, peers.hasNoMail = nil, true, true
	if status, text := ask("zoe@example.com"); status != http.StatusConflict || strings.Contains(text, "have sent") {
		t.Errorf("without a mail server: %d %s", status, text)
	}
	for _, invalid := range []string{"", "zoe", `"><script>`} {
		if status, text := ask(invalid); status != http.StatusUnprocessableEntity ||
			!strings.Contains(text, `aria-invalid="true"`) || !strings.Contains(text, "<title>Error: ") ||
			strings.Contains(text, "<script>") {
			t.Errorf("%q: %d %s", invalid, status, text)
		}
	}
}

// TestMailedLinkSignsInByItsButton shows that opening the link uses nothing up, and that its button signs in once.
func TestMailedLinkSignsInByItsButton(t *testing.T) {
	t.Parallel()
	peers, app := newOwn(t)
	path := "/b/theatre/mine/" + ownToken
	answer, text := peers.send(t, app, path, nil, "")
	if answer.StatusCode != http.StatusOK || len(peers.calls) != 0 || !strings.Contains(text, `action="`+path+`"`) {
		t.Fatalf("%d, calls %v: %s", answer.StatusCode, peers.calls, text)
	}
	if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") ||
		answer.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", answer.Header)
	}
	answer, _ = peers.send(t, app, path, url.Values{}, "")
	cookies := answer.Cookies()
	if answer.StatusCode != http.StatusSeeOther || answer.Header.Get("Location") != "/b/theatre/mine" ||
		len(cookies) != 1 {
		t.Fatalf("%d %v", answer.StatusCode, answer.Header)
	}
	c := cookies[0]
	if c.Name != ownCookie || c.Value != ownSecret || c.Path != "/b/theatre/mine" || !c.HttpOnly || !c.Secure ||
		c.SameSite != http.SameSiteLaxMode || c.MaxAge != 24*60*60 {
		t.Errorf("%+v", c)
	}
	answer, text = peers.send(t, app, path, url.Values{}, "")
	if answer.StatusCode != http.StatusNotFound || len(answer.Cookies()) != 0 ||
		!strings.Contains(text, "This link no longer works.") {
		t.Errorf("a second time: %d %s", answer.StatusCode, text)
	}
	answer, _ = peers.send(t, app, "/b/theatre/mine/sign-out", url.Values{}, ownSecret)
	if cookies := answer.Cookies(); answer.StatusCode != http.StatusSeeOther || len(cookies) != 1 ||
		cookies[0].Value != "" || peers.calls[len(peers.calls)-1] != `POST customer-sessions/end {"secret":"`+ownSecret+`"}` {
		t.Errorf("signing out: %d %v %v", answer.StatusCode, answer.Header, peers.calls)
	}
	request := httptest.NewRequest(http.MethodPost, path, strings.NewReader(""))
	request.Header.Set("Content-Type", fiber.MIMEApplicationForm)
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	foreign, err := app.Test(request, -1)
	if err != nil || foreign.StatusCode != http.StatusForbidden {
		t.Fatalf("a form of another site: %v, %v", foreign.StatusCode, err)
	}
	_ = foreign.Body.Close()
}

func newOwnBooking(start time.Time, status, token string) booking.CustomerSale {
	id := uuid.New()
	return booking.CustomerSale{Position: booking.SalePosition{StartsAt: start, ID: id}, Token: token,
		CustomerView: booking.CustomerView{Kind: event.Booking, Booking: &booking.CustomerBooking{
			ID: id, Status: status, Date: start.Format(time.DateOnly), StartTime: start.Format(time.TimeOnly),
			StartsAt: start, EndsAt: start.Add(time.Hour), Timezone: "Europe/Lisbon", Currency: "EUR", Total: "40.00",
			Services:   []booking.BookedService{{ID: uuid.MustParse(cutID), Name: "Haircut <b>"}},
			Reschedule: booking.ReschedulePermission{Allowed: token != ""},
		}}}
}

// TestSignedInCustomerSeesOwnBookings shows that the page lists upcoming and past sales of both services in order, with
// their actions, and that nothing of them may be cached or embedded.
func TestSignedInCustomerSeesOwnBookings(t *testing.T) {
	t.Parallel()
	peers, app := newOwn(t)
	day := time.Date(2027, 3, 5, 10, 0, 0, 0, time.UTC)
	peers.upcoming = []booking.CustomerSale{newOwnBooking(day, booking.StatusConfirmed, "token-of-the-booking")}
	peers.past = []booking.CustomerSale{newOwnBooking(day.AddDate(0, -6, 0), booking.StatusCompleted, "")}
	peers.reserved = []rental.OwnReservation{{Position: booking.SalePosition{StartsAt: day.Add(-time.Hour)},
		Token: "token-of-the-kayak", CustomerView: rental.CustomerView{Reservation: rental.CustomerReservation{
			RentalName: "Kayak", Status: rental.StatusReserved, Quantity: 2, StartDate: timespan.NewDate(2027, 3, 5),
			EndDate: timespan.NewDate(2027, 3, 5)}}}}
	answer, text := peers.send(t, app, "/b/theatre/mine", nil, ownSecret)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Cache-Control") != "no-store" ||
		!strings.Contains(answer.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("%d %v", answer.StatusCode, answer.Header)
	}
	at := 0
	for _, part := range []string{"Upcoming", "2 × Kayak", `href="/m/token-of-the-kayak"`, "Haircut &lt;b&gt;", "Booking confirmed",
		`href="/m/token-of-the-booking"`, `href="/m/token-of-the-booking/move"`,
		`href="/m/token-of-the-booking/calendar.ics"`, "Past", "5 September 2026", `href="/b/theatre/when?`, "Sign out"} {
		found := strings.Index(text[at:], part)
		if found < 0 {
			t.Fatalf("the page has no %s after:\n%s", part, text[:at])
		}
		at += found
	}
	for n := range 21 {
		peers.past = append(peers.past, newOwnBooking(day.AddDate(0, 0, -100-n), booking.StatusCompleted, ""))
	}
	_, text = peers.send(t, app, "/b/theatre/mine?list=past", nil, ownSecret)
	if n := strings.Count(text, "<h3>"); n != 20 || strings.Contains(text, "Upcoming") ||
		!strings.Contains(text, "after=") {
		t.Errorf("%d of 22 on one page: %s", n, text)
	}
	answer, text = peers.send(t, app, "/b/theatre/mine", nil, "AAAAAAAAAAAAAAAAAAAAAA")
	if cookies := answer.Cookies(); answer.StatusCode != http.StatusOK || !strings.Contains(text, `name="email"`) ||
		strings.Contains(text, "Haircut") || len(cookies) != 1 || cookies[0].Value != "" {
		t.Errorf("with another secret: %d %v %s", answer.StatusCode, cookies, text)
	}
	if _, text = peers.send(t, app, "/b/theatre/mine", nil, ""); !strings.Contains(text, `name="email"`) {
		t.Errorf("signed out: %s", text)
	}
}

func TestPositionsSurviveURLs(t *testing.T) {
	t.Parallel()
	p := booking.SalePosition{StartsAt: time.Date(2027, 3, 5, 10, 0, 0, 123000, time.UTC), ID: uuid.New()}
	if got := usecase.ParsePosition(usecase.FormatPosition(p)); got == nil || !cmp.Equal(*got, p) {
		t.Errorf("%v, want %v", got, p)
	}
	for _, text := range []string{"", "1", "_", "x_" + galaID, "1_x", "-1_" + galaID, "99999999999999999999_" + galaID} {
		if got := usecase.ParsePosition(text); got != nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
