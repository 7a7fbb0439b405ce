package catalog

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
)

// ceilingServer is a fake rental service. At most two of the kayaks of a business can be booked.
type ceilingServer struct {
	*httptest.Server

	calls       atomic.Int64
	lastRequest atomic.Pointer[string] // path and query
	isAway      atomic.Bool
	isSlow      atomic.Pointer[chan struct{}] // answers wait until it is closed
}

func newCeilingServer(t testing.TB) *ceilingServer {
	s := &ceilingServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.ceilings))
	t.Cleanup(s.Close)
	return s
}

func (s *ceilingServer) ceilings(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	uri := r.URL.RequestURI()
	s.lastRequest.Store(&uri)
	if slow := s.isSlow.Load(); slow != nil {
		<-*slow
	}
	if s.isAway.Load() {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(rental.Ceilings{Ceilings: map[uuid.UUID]int{uuid.MustParse(kayakID): 2}})
}

const kayakID = "3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d30"

const rentalsYAML = harborHead + `
rentals:
  - key: kayak
    id: ` + kayakID + `
    name: Kayak
    price: 12
    price_type: hourly
    quantity: 6
    units_count: 2
    upsells: [{rental: vest}]
    translations: {pt: {name: Caiaque}}
  - {key: vest, name: Vest, price_type: daily, quantity: 1, units_count: 1, add_on: true}
`

func TestRentalsRequestsQuotesAndCeilingsInOneCallEach(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	version := h.mustPublish(rentalsYAML)
	a := h.get("/rentals?date=2026-12-25&locale=pt-BR")
	if a.status != http.StatusOK || a.header.Get("ETag") == "" {
		t.Fatalf("%d %v %s", a.status, a.header, a.body)
	}
	for _, part := range []string{
		`{"rentals":[{"id":"` + kayakID +
			`","name":"Caiaque","description":"","description_html":"","category":"","price":12.00,"quoted_price":9.00`,
		`"quantity":6,"max_bookable_online":2,`,
		`"add_on_rentals":[{`, `"name":"Vest"`, `"quoted_price":null`, `"max_bookable_online":null`,
		`"rental_upsells":[{"rental_id":"` + kayakID + `"`,
		`"quote":{"date":"2026-12-25","applies_pricing_rules":true`,
	} {
		if !strings.Contains(a.body, part) {
			t.Errorf("%s\nlacks %s", a.body, part)
		}
	}
	if strings.Contains(a.body, "_translations") {
		t.Errorf("the answer for a locale contains translations: %s", a.body)
	}
	asked := h.pricing.lastRequest.Load()
	if h.pricing.calls.Load() != 1 || len(asked.Items) != 1 || asked.OfferVersion != version ||
		asked.Items[0].Kind != pricing.KindRental ||
		asked.Items[0].ID.String() != kayakID || asked.Items[0].Date.String() != "2026-12-25" {
		t.Errorf("pricing was asked %d times, last %+v", h.pricing.calls.Load(), asked)
	}
	if h.ceilings.calls.Load() != 1 ||
		*h.ceilings.lastRequest.Load() != "/internal/businesses/harbor/ceilings?offer_version=1" {
		t.Errorf("rental was asked %d times, last %s", h.ceilings.calls.Load(), *h.ceilings.lastRequest.Load())
	}
}

func TestRentalsListsIfPeersAreDown(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*harness){
		"away": func(h *harness) { h.ceilings.isAway.Store(true); h.pricing.isAway.Store(true) },
		"slow": func(h *harness) {
			slow := make(chan struct{})
			h.t.Cleanup(func() { close(slow) })
			h.ceilings.isSlow.Store(&slow)
			h.pricing.isAway.Store(true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, func(c *Config) { c.RentalTimeout = 300 * time.Millisecond })
			h.mustPublish(rentalsYAML)
			stop(h)
			a := h.get("/rentals")
			if a.status != http.StatusOK || strings.Count(a.body, `"max_bookable_online":null`) != 2 ||
				strings.Count(a.body, `"quoted_price":null`) != 2 || !strings.Contains(a.body,
				`"applies_pricing_rules":false`) {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
}

func TestRentalsCallsNoPeerWithoutRentals(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborHead)
	a := h.get("/rentals")
	if a.status != http.StatusOK || !strings.HasPrefix(a.body,
		`{"rentals":[],"add_on_rentals":[],"rental_upsells":[],"currency":"EUR","quote":{"date":"2026-11-21","applies_pricing_rules":true`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if h.pricing.calls.Load()+h.ceilings.calls.Load() != 0 {
		t.Error("a peer was asked about nothing")
	}
	h.wantFault(h.get("/rentals?date=2027-02-29"), http.StatusBadRequest, "invalid_parameter", "date")
}
