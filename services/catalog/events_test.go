package catalog

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
)

// salesServer is a fake booking service. Of each event it has sold `sold` tickets, initially 7. Three of them are of
// the tiers in `tiers`.
type salesServer struct {
	*httptest.Server

	calls       atomic.Int64
	sold        atomic.Int64
	lastRequest atomic.Pointer[booking.SalesRequest]
	path        atomic.Pointer[string]
	tiers       atomic.Pointer[[]uuid.UUID]
	isAway      atomic.Bool
	isSlow      chan struct{} // answers wait until it is closed

	rejectsVersions atomic.Bool // refuses new versions of snapshots
	versions        sync.Map    // path → the last version received
}

// receiveVersion stores the version of a snapshot that catalog sends.
func (s *salesServer) receiveVersion(w http.ResponseWriter, r *http.Request) {
	var newest booking.PublishedOffer
	if err := json.NewDecoder(r.Body).Decode(&newest); err != nil || s.rejectsVersions.Load() {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	s.versions.Store(r.URL.Path, newest.Version)
	w.WriteHeader(http.StatusNoContent)
}

func newSalesServer(t testing.TB) *salesServer {
	s := &salesServer{isSlow: make(chan struct{})}
	close(s.isSlow)
	s.sold.Store(7)
	s.tiers.Store(&[]uuid.UUID{})
	s.Server = httptest.NewServer(http.HandlerFunc(s.sales))
	t.Cleanup(s.Close)
	return s
}

func (s *salesServer) sales(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut {
		s.receiveVersion(w, r)
		return
	}
	s.calls.Add(1)
	<-s.isSlow
	var asked booking.SalesRequest
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || s.isAway.Load() {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	s.lastRequest.Store(&asked)
	s.path.Store(&r.URL.Path)
	answer := booking.Sales{}
	for _, id := range asked.EventIDs {
		event := booking.EventSales{EventID: id, Sold: int(s.sold.Load())}
		for _, tier := range *s.tiers.Load() {
			event.Tiers = append(event.Tiers, booking.TierSales{TierID: tier, Sold: 3})
		}
		answer.Events = append(answer.Events, event)
	}
	_ = json.NewEncoder(w).Encode(answer)
}

const (
	galaID = "3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d20"
	seatID = "3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d21"
	vipID  = "3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d22"
)

const eventsYAML = harborHead + `
events:
  - key: past
    name: Past
    date: 2026-11-20
    start_time: "20:00"
    end_time: "23:00"
    total_capacity: 10
    tiers: [{key: seat, name: Seat, price: 9, capacity: 10}]
  - key: gala
    id: ` + galaID + `
    name: Gala
    date: 2026-11-21
    start_time: "10:00"
    end_time: "11:00"
    total_capacity: 12
    tiers:
      - {key: seat, id: ` + seatID + `, name: Seat, price: 10, capacity: 10, translations: {pt: {name: Lugar}}}
      - {key: vip, id: ` + vipID + `, name: VIP, price: 20, capacity: 4}
    translations: {pt: {name: Gala Grande}}
  - {key: free, name: Free, date: 2026-12-01, start_time: "10:00", end_time: "11:00", total_capacity: 5, tiers: [{key: in, name: In, capacity: 5}]}
`

func TestEventsRequestsQuotesAndSalesInOneCallEach(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	version := h.mustPublish(eventsYAML)
	h.sales.tiers.Store(&[]uuid.UUID{uuid.MustParse(vipID)})
	a := h.get("/events")
	if a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	for _, part := range []string{
		`"name":"Gala","description":"","description_html":"","date":"2026-11-21","start_time":"10:00:00","end_time":"11:00:00"`,
		`"total_capacity":12,"spots_remaining":5,"inventory"`,
		`"name":"Seat","price":10.00,"quoted_price":9.00,"total_capacity":10,"spots_remaining":5`,
		`"name":"VIP","price":20.00,"quoted_price":18.00,"total_capacity":4,"spots_remaining":1`,
		`"name":"In","price":0.00,"quoted_price":null`,
		`"quote":{"date":"2026-11-21","applies_pricing_rules":true`,
	} {
		if !strings.Contains(a.body, part) {
			t.Errorf("%s\nlacks %s", a.body, part)
		}
	}
	if n := len(a.json(t)["events"].([]any)); n != 2 {
		t.Errorf("%d events", n)
	}
	asked := h.pricing.lastRequest.Load()
	if h.pricing.calls.Load() != 1 || len(asked.Items) != 2 || asked.OfferVersion != version ||
		!asked.PurchaseAt.Equal(h.clock.Now()) ||
		asked.Items[1].Kind != pricing.KindEvent || asked.Items[1].ID.String() != galaID ||
		asked.Items[1].TierID.String() != vipID {
		t.Errorf("pricing was asked %d times, last %+v", h.pricing.calls.Load(), asked)
	}
	counted := h.sales.lastRequest.Load()
	if h.sales.calls.Load() != 1 || len(counted.EventIDs) != 2 || counted.EventIDs[0].String() != galaID {
		t.Errorf("booking was asked %d times, last %+v", h.sales.calls.Load(), counted)
	}
	if path := *h.sales.path.Load(); !strings.HasPrefix(path, "/internal/businesses/") || !strings.HasSuffix(path,
		"/tickets/sales") {
		t.Errorf("the path of the request to booking is %s", path)
	}
}

func TestEventsListsIfPeersAreDown(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(*harness){
		"booking fails":        func(h *harness) { h.sales.isAway.Store(true) },
		"booking is not there": func(h *harness) { h.sales.Close() },
		"booking is slow": func(h *harness) {
			h.sales.isSlow = make(chan struct{})
			h.t.Cleanup(func() { close(h.sales.isSlow) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, func(c *Config) { c.BookingTimeout = 300 * time.Millisecond })
			h.mustPublish(eventsYAML)
			away(h)
			a := h.get("/events")
			if a.status != http.StatusOK || strings.Count(a.body, `"spots_remaining":null`) != 5 ||
				!strings.Contains(a.body, `"quoted_price":18.00`) {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	t.Run("pricing fails", func(t *testing.T) {
		t.Parallel()
		h := newHarness(t)
		h.mustPublish(eventsYAML)
		h.pricing.isAway.Store(true)
		a := h.get("/events")
		if a.status != http.StatusOK || strings.Count(a.body, `"quoted_price":null`) != 3 || !strings.Contains(a.body,
			`"applies_pricing_rules":false`) ||
			!strings.Contains(a.body, `"spots_remaining":5`) {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}

func TestEventsListsUntilEndOfDay(t *testing.T) {
	t.Parallel()
	h := newHarness(t) // noon in UTC on 2026-11-21
	names := func() string {
		var list []string
		for _, e := range h.get("/events").json(t)["events"].([]any) {
			list = append(list, e.(map[string]any)["name"].(string))
		}
		return fmt.Sprint(list)
	}
	h.mustPublish(eventsYAML)
	if got := names(); got != "[Gala Free]" {
		t.Errorf("in Lisbon: %s", got)
	}
	h.mustPublish(strings.Replace(eventsYAML, "Europe/Lisbon", "Pacific/Auckland", 1)) // 01:00 on the 22nd in Auckland
	if got := names(); got != "[Free]" {
		t.Errorf("in Auckland: %s", got)
	}
	h.mustPublish(strings.Replace(eventsYAML, "Europe/Lisbon", "Pacific/Honolulu", 1)) // 02:00 on the 21st in Honolulu
	if got := names(); got != "[Gala Free]" {
		t.Errorf("in Honolulu: %s", got)
	}
	h.clock.Advance(-3 * time.Hour) // 23:00 on the 20th in Honolulu
	if got := names(); got != "[Past Gala Free]" {
		t.Errorf("in Honolulu, earlier: %s", got)
	}
}

func TestEventsCallsNoPeerWithoutEvents(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, manifest := range []string{harborYAML, "modules: {events: false}\n" + eventsYAML} {
		h.mustPublish(manifest)
		a := h.get("/events")
		if a.status != http.StatusOK || !strings.HasPrefix(a.body,
			`{"events":[],"currency":"EUR","quote":{"date":"2026-11-21","applies_pricing_rules":true`) {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if n := h.pricing.calls.Load() + h.sales.calls.Load(); n != 0 {
		t.Errorf("%d calls", n)
	}
	h.wantFault(h.call(http.MethodGet, h.public+"/api/public/nobody/events", nil), http.StatusNotFound,
		"business_not_found", "Business not found")
}

func TestEventsResolvesLanguage(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(eventsYAML)
	if a := h.get("/events"); !strings.Contains(a.body, `"name_translations":{"pt":"Gala Grande"}`) ||
		!strings.Contains(a.body, `"name_translations":{"pt":"Lugar"}`) {
		t.Errorf("without locale: %s", a.body)
	}
	for locale, want := range map[string]string{"pt-BR": "Gala Grande Lugar", "xx": "Gala Seat", "%00": "Gala Seat",
		"EN": "Gala Seat"} {
		a := h.get("/events?locale=" + locale)
		gala := a.json(t)["events"].([]any)[0].(map[string]any)
		got := fmt.Sprint(gala["name"], " ", gala["inventory"].([]any)[0].(map[string]any)["name"])
		if a.status != http.StatusOK || got != want || strings.Contains(a.body, "_translations") {
			t.Errorf("%s: %s", locale, a.body)
		}
	}
}
