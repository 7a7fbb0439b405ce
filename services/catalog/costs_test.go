package catalog

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

func TestServicesSkipsQuotesForUnbookableDates(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(strings.Replace(rentalsYAML, "bookings: {", "bookings: {advance_days: 30, ", 1) +
		"services: [{key: cut, name: Cut, duration_minutes: 30, price: 10}]\n")
	for _, path := range []string{"/services", "/rentals"} {
		for date, quoted := range map[string]bool{
			"2026-11-20": false, "2026-11-21": true, "2026-12-21": true, "2026-12-22": false, "0001-01-01": false,
			"9999-12-31": false,
		} {
			before := h.pricing.calls.Load()
			a := h.get(path + "?date=" + date)
			quote := a.json(t)["quote"].(map[string]any)
			if a.status != http.StatusOK || quote["date"] != date || quote["applies_pricing_rules"] != quoted {
				t.Errorf("%s of %s: %d %v, quoted %t", path, date, a.status, quote, quoted)
			}
			if strings.Contains(a.body, `"quoted_price":9.00`) != quoted || strings.Contains(quote["basis"].(string),
				"nothing can be booked for "+date) == quoted {
				t.Errorf("%s of %s: %s", path, date, a.body)
			}
			if asked := h.pricing.calls.Load() > before; asked != quoted {
				t.Errorf("%s of %s: pricing was asked: %t", path, date, asked)
			}
		}
		h.wantFault(h.get(path+"?date=2026-13-01"), http.StatusBadRequest, "invalid_parameter", "date")
	}
}

func TestQuotesOfBusinessesAreIndependent(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var concurrent, maxConcurrent int
	waiting, release := make(chan struct{}, 200), make(chan struct{})
	h := newHarness(t)
	h.pricing.asked = func(slug string) {
		if slug != "harbor" {
			return
		}
		mu.Lock()
		concurrent++
		maxConcurrent = max(maxConcurrent, concurrent)
		mu.Unlock()
		waiting <- struct{}{}
		<-release
		mu.Lock()
		concurrent--
		mu.Unlock()
	}
	h.mustPublish(harborYAML)
	other := h.call(http.MethodPut, h.internal+"/internal/businesses/other",
		[]byte(strings.Replace(harborYAML, "slug: harbor", "slug: other", 1)))
	if other.status != http.StatusCreated {
		t.Fatalf("publish: %d %s", other.status, other.body)
	}
	var all sync.WaitGroup
	for day := range 60 {
		all.Go(func() { h.get(fmt.Sprintf("/services?date=2026-%02d-%02d", 12-day/30, 1+day%30)) })
	}
	<-waiting // the requests of harbor wait for pricing
	for range 20 {
		a := h.call(http.MethodGet, h.public+"/api/public/other/services?date=2026-12-25", nil)
		if a.status != http.StatusOK || !strings.Contains(a.body, `"applies_pricing_rules":true`) {
			t.Errorf("the other business: %d %s", a.status, a.body)
		}
	}
	close(release)
	all.Wait()
	if maxConcurrent > placesPerBusiness() {
		t.Errorf("%d questions of one business were asked at once, of %d places", maxConcurrent, placesPerBusiness())
	}
}

func TestConcurrentRequestsShareQuotes(t *testing.T) {
	t.Parallel()
	waiting, release := make(chan struct{}, 200), make(chan struct{})
	h := newHarness(t)
	h.pricing.asked = func(string) {
		waiting <- struct{}{}
		<-release
	}
	h.mustPublish(harborYAML)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if a := h.get("/services?date=2026-12-25"); a.status != http.StatusOK || !strings.Contains(a.body,
				`"quoted_price":9.00`) {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	<-waiting
	close(release)
	all.Wait()
	if n := h.pricing.calls.Load(); n != 1 {
		t.Errorf("pricing was asked %d times", n)
	}
}

// TestConcurrentEventRequestsShareQuotes sends requests at the same time, and expects one request for prices. Each
// of the requests asks for the sales or the available units itself, because only prices are cached.
func TestConcurrentEventRequestsShareQuotes(t *testing.T) {
	t.Parallel()
	const many = 20
	for path, manifest := range map[string]string{"/events": eventsYAML, "/rentals?date=2026-12-25": rentalsYAML} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			counted := func() int64 { return h.sales.calls.Load() + h.ceilings.calls.Load() }
			release := make(chan struct{})
			h.pricing.asked = func(string) { <-release }
			h.mustPublish(manifest)
			var all sync.WaitGroup
			for range many {
				all.Go(func() {
					if a := h.get(path); a.status != http.StatusOK || !strings.Contains(a.body, `"quoted_price":9.00`) {
						t.Errorf("%d %s", a.status, a.body)
					}
				})
			}
			testkit.WaitUntil(t, "all have come", func(context.Context) error {
				if n := counted(); n < many {
					return fmt.Errorf("%d of %d", n, many)
				}
				return nil
			})
			close(release)
			all.Wait()
			if n := counted(); n != many {
				t.Errorf("%d requests have asked for counts %d times", many, n)
			}
			if n := h.pricing.calls.Load(); n > 3 { // a request that starts just before the answer is cached asks again
				t.Errorf("pricing was asked %d times", n)
			}
		})
	}
}
