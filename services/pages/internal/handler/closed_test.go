package handler

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// staleBusiness is a business that has published a new version after the page cached the old one. Booking refuses each
// sale by the new version.
type staleBusiness struct {
	cached, fresh *catalog.Snapshot // fresh is nil if catalog is unavailable
	refusal       fault.Kind
}

func (m staleBusiness) Get(context.Context, string) (*catalog.Snapshot, error) { return m.cached, nil }

func (m staleBusiness) Fresh(context.Context, string) (*catalog.Snapshot, error) {
	if m.fresh == nil {
		return nil, fault.New(fault.PeerUnavailable, "catalog is away")
	}
	return m.fresh, nil
}

func (m staleBusiness) Book(context.Context, uuid.UUID, string, booking.NewBooking) (*booking.Booking, error) {
	return nil, fault.New(m.refusal, "refused")
}

func (m staleBusiness) SellTicket(context.Context, uuid.UUID, booking.NewTicket) (*booking.Ticket, error) {
	return nil, fault.New(m.refusal, "refused")
}

func (m staleBusiness) Quotes(context.Context, pricing.QuotesRequest) (*pricing.QuotesResponse, error) {
	return &pricing.QuotesResponse{Quotes: []pricing.Quote{{Price: 1200}}}, nil
}

const (
	galaID = "8f14e45f-ceea-467f-a2b6-1d1f7e0f5a98"
	tierID = "8f14e45f-ceea-467f-a2b6-1d1f7e0f5a99"
	cutID  = "8f14e45f-ceea-467f-a2b6-1d1f7e0f5a9a"
)

// newTheatre returns the pages of a business that sells tickets of a gala for twelve euros.
func newTheatre(t *testing.T, snapshots usecase.Snapshots, prices usecase.Prices,
	bookings usecase.Bookings) (*Pages, *fiber.App) {
	t.Helper()
	catalogServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := `{}`
		if strings.HasSuffix(r.URL.Path, "/events") {
			text = `{"events": [{"id": "` + galaID +
				`", "name": "Gala", "date": "2027-04-03", "start_time": "20:00:00", "end_time": "22:00:00", "inventory": [{"id": "` + tierID + `", "name": "Stalls", "price": 12}]}]}`
		}
		if strings.HasSuffix(r.URL.Path, "/services") {
			text = `{"services": [{"id": "` + cutID +
				`", "name": "Corte", "category": "Hair", "duration_minutes": 30, "price": 0}]}`
		}
		_, _ = io.WriteString(w, text)
	}))
	p := peer.New("catalog", catalogServer.URL, telemetry.Discard(), peer.Timeout(2*time.Minute))
	t.Cleanup(func() { p.Close(); catalogServer.Close() })
	now := clock.Fixed(time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC))
	pages, err := New(&usecase.Shop{Snapshots: snapshots, Catalog: catalogclient.NewAnswers(p, 0), Prices: prices,
		Bookings: bookings,
		Clock:    now}, nil, Config{Secrets: []string{"a secret of thirty-two characters."}})
	if err != nil {
		t.Fatal(err)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, StreamRequestBody: true})
	pages.Mount(app)
	return pages, app
}

// buyTicket submits the form for one ticket of twelve euros. It returns the status and the text of the page.
func buyTicket(t *testing.T, business staleBusiness) (int, string) {
	t.Helper()
	pages, app := newTheatre(t, business, business, business)
	form := url.Values{"token": {pages.tokens.create("theatre")}, "n-" + tierID: {"1"}, "total": {"12.00"},
		"name": {"Zoë"}, "email": {"zoe@example.com"}}
	request := httptest.NewRequest(http.MethodPost, "/b/theatre/events/"+galaID+"/details",
		strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", fiber.MIMEApplicationForm)
	answer, err := app.Test(request, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// TestRefusedOrderPageShowsReasonFromFreshSnapshot shows that a refused customer reads the reason from the fresh
// snapshot. For example, the page names the end of a pause that began after the page was shown.
func TestRefusedOrderPageShowsReasonFromFreshSnapshot(t *testing.T) {
	t.Parallel()
	newSnapshot := func(change func(*catalog.Snapshot)) *catalog.Snapshot {
		o := &catalog.Snapshot{Slug: "theatre", Name: "Theatre", Currency: "EUR", Timezone: "Europe/Lisbon",
			DefaultLanguage: "en", Account: catalog.Account{SubscriptionActive: true}}
		change(o)
		if err := o.Prepare(); err != nil {
			t.Fatal(err)
		}
		return o
	}
	day, err := timespan.ParseDate("2027-03-08")
	if err != nil {
		t.Fatal(err)
	}
	open := newSnapshot(func(*catalog.Snapshot) {})
	paused := newSnapshot(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = &day })
	sandbox := newSnapshot(func(o *catalog.Snapshot) { o.Account.Sandbox = true })
	for name, c := range map[string]struct {
		staleBusiness
		status   int
		wantText string
	}{
		"paused": {staleBusiness{open, paused, fault.NotAcceptingBookings}, http.StatusConflict,
			"paused until Monday, 8 March 2027"},
		"not paid for": {staleBusiness{open, newSnapshot(func(o *catalog.Snapshot) {
			o.Account.SubscriptionActive = false
		}), fault.SubscriptionInactive}, http.StatusConflict, "Online booking is closed for now."},
		"leaving": {staleBusiness{open, newSnapshot(func(o *catalog.Snapshot) {
			o.Account.RemovalOn = &day
		}), fault.AccountClosing}, http.StatusConflict, "Online booking is closed for now."},
		"not open yet": {staleBusiness{open, newSnapshot(func(o *catalog.Snapshot) {
			o.NotYetOpen = true
		}), fault.NotOpenYet}, http.StatusConflict, "is not open for bookings yet"},
		"open in the meantime": {staleBusiness{open, newSnapshot(func(*catalog.Snapshot) {}),
			fault.NotAcceptingBookings},
			http.StatusServiceUnavailable, `value="zoe@example.com"`},
		"a sandbox": {staleBusiness{sandbox, sandbox, fault.NotAcceptingBookings}, http.StatusServiceUnavailable,
			"Test mode – no payments, no emails."},
		"fresh snapshot unavailable": {staleBusiness{open, nil, fault.NotAcceptingBookings}, http.StatusConflict,
			"Online booking is closed for now."},
	} {
		if status, text := buyTicket(t, c.staleBusiness); status != c.status || !strings.Contains(text, c.wantText) {
			t.Errorf("%s: status %d, want text %q, got: %s", name, status, c.wantText, text)
		}
	}
}
