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
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// meanwhile is a business that has published a new offer after the page read the old one. Booking refuses each sale by
// the new offer.
type meanwhile struct {
	known, newest *catalog.Snapshot // newest is nil if catalog is unavailable
	refusal       fault.Kind
}

func (m meanwhile) Get(context.Context, string) (*catalog.Snapshot, error) { return m.known, nil }

func (m meanwhile) Fresh(context.Context, string) (*catalog.Snapshot, error) {
	if m.newest == nil {
		return nil, fault.New(fault.PeerUnavailable, "catalog is away")
	}
	return m.newest, nil
}

func (m meanwhile) Book(context.Context, uuid.UUID, string, booking.NewBooking) (*booking.Booking, error) {
	return nil, fault.New(m.refusal, "refused")
}

func (m meanwhile) SellTicket(context.Context, uuid.UUID, booking.NewTicket) (*booking.Ticket, error) {
	return nil, fault.New(m.refusal, "refused")
}

func (m meanwhile) Quotes(context.Context, pricing.QuotesRequest) (*pricing.QuotesResponse, error) {
	return &pricing.QuotesResponse{Quotes: []pricing.Quote{{Price: 1200}}}, nil
}

const (
	galaID = "8f14e45f-ceea-467f-a2b6-1d1f7e0f5a98"
	tierID = "8f14e45f-ceea-467f-a2b6-1d1f7e0f5a99"
	cutID  = "8f14e45f-ceea-467f-a2b6-1d1f7e0f5a9a"
)

// theatre returns the pages of a business that sells tickets of a gala for twelve euros.
func theatre(t *testing.T, offers usecase.Offers, prices usecase.Prices,
	bookings usecase.Bookings) (*Pages, *fiber.App) {
	t.Helper()
	offered := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	p := peer.New("catalog", offered.URL, telemetry.Discard(), peer.Timeout(2*time.Minute))
	t.Cleanup(func() { p.Close(); offered.Close() })
	now := clock.Fixed(time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC))
	pages, err := New(&usecase.Shop{Offers: offers, Catalog: usecase.NewReader(p), Prices: prices, Bookings: bookings,
		Clock: now}, nil, Config{Secrets: []string{"a secret of thirty-two characters."}})
	if err != nil {
		t.Fatal(err)
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, StreamRequestBody: true})
	pages.Mount(app)
	return pages, app
}

// buyTicket submits the form for one ticket of twelve euros. It returns the status and the text of the page.
func buyTicket(t *testing.T, m meanwhile) (int, string) {
	t.Helper()
	pages, app := theatre(t, m, m, m)
	form := url.Values{"token": {pages.forms.token("theatre")}, "n-" + tierID: {"1"}, "total": {"12.00"},
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

// TestWhatClosesABusinessMeanwhileIsSaidByItsNewestOffer shows that a refused customer reads the reason from the newest
// offer. For example, the page names the end of a pause that began after the page was shown.
func TestWhatClosesABusinessMeanwhileIsSaidByItsNewestOffer(t *testing.T) {
	t.Parallel()
	offer := func(change func(*catalog.Snapshot)) *catalog.Snapshot {
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
	open := offer(func(*catalog.Snapshot) {})
	paused := offer(func(o *catalog.Snapshot) { o.Bookings.PausedUntil = &day })
	sandbox := offer(func(o *catalog.Snapshot) { o.Account.Sandbox = true })
	for name, c := range map[string]struct {
		meanwhile
		status int
		says   string
	}{
		"paused": {meanwhile{open, paused, fault.NotAcceptingBookings}, http.StatusConflict,
			"paused until Monday, 8 March 2027"},
		"not paid for": {meanwhile{open, offer(func(o *catalog.Snapshot) {
			o.Account.SubscriptionActive = false
		}), fault.SubscriptionInactive}, http.StatusConflict, "takes no online bookings"},
		"leaving": {meanwhile{open, offer(func(o *catalog.Snapshot) {
			o.Account.RemovalOn = &day
		}), fault.AccountClosing}, http.StatusConflict, "takes no online bookings"},
		"not open yet": {meanwhile{open, offer(func(o *catalog.Snapshot) {
			o.NotYetOpen = true
		}), fault.NotOpenYet}, http.StatusConflict, "is not open for bookings yet"},
		"open again by then": {meanwhile{open, offer(func(*catalog.Snapshot) {}), fault.NotAcceptingBookings},
			http.StatusServiceUnavailable, `value="zoe@example.com"`},
		"a sandbox": {meanwhile{sandbox, sandbox, fault.NotAcceptingBookings}, http.StatusServiceUnavailable,
			"For testing only: nothing is charged, and no messages are sent."},
		"nobody can tell": {meanwhile{open, nil, fault.NotAcceptingBookings}, http.StatusConflict,
			"takes no online bookings"},
	} {
		if status, text := buyTicket(t, c.meanwhile); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: %d, and not %q: %s", name, status, c.says, text)
		}
	}
}
