package catalog

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// quotes expects that the answer has the quoted price.
func (h *harness) quotes(path, price string) {
	h.t.Helper()
	if a := h.get(path); a.status != http.StatusOK || !strings.Contains(a.body, `"quoted_price":`+price) {
		h.t.Errorf("%s at %s: %d %s, want a quoted price of %s", path, h.clock.Now(), a.status, a.body, price)
	}
}

func TestAnswerIsCachedByVersionLanguageAndDate(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	paths := []string{"/services", "/services?date=2026-12-25", "/services?locale=pt", "/services?locale=xx", "/staff",
		"/staff?locale=pt", "/info"}
	first := map[string]string{}
	for _, path := range paths {
		first[path] = h.get(path).body
	}
	asked := h.pricing.calls.Load()
	for _, path := range paths {
		if second := h.get(path).body; second != first[path] {
			t.Errorf("%s: first %s, then %s", path, first[path], second)
		}
	}
	if asked != 4 || h.pricing.calls.Load() != asked {
		t.Errorf("pricing was asked %d times at first, then %d times", asked, h.pricing.calls.Load()-asked)
	}
	seen := map[string]string{}
	for path, body := range first {
		if other, same := seen[body]; same {
			t.Errorf("%s and %s are the same: %s", path, other, body)
		}
		seen[body] = path
	}
}

func TestStaffIsCachedByService(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	ids := h.serviceIDs()
	for range 2 {
		for path, n := range map[string]int{"/staff": 1, "/staff?service_id=" + ids["cut"]: 1,
			"/staff?service_id=" + ids["talk"]: 0} {
			if got := len(h.get(path).json(t)["staff"].([]any)); got != n {
				t.Errorf("%s lists %d, want %d", path, got, n)
			}
		}
	}
}

func TestPricesAreRefreshedAfterTwoSeconds(t *testing.T) {
	t.Parallel()
	for path, manifest := range map[string]string{"/services": harborYAML, "/events": eventsYAML,
		"/rentals": rentalsYAML} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			h.mustPublish(manifest)
			h.quotes(path, "9.00")
			h.pricing.percent.Store(50)
			h.clock.Advance(2*time.Second - 1)
			h.quotes(path, "9.00")
			h.clock.Advance(1)
			h.quotes(path, "5.00")
			h.clock.Advance(-time.Hour) // after the clock goes back, prices are not cached longer
			h.pricing.percent.Store(20)
			h.quotes(path, "2.00")
		})
	}
}

func TestUnchangedPricesKeepEntityTag(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	first := h.get("/services")
	h.clock.Advance(2 * time.Second)
	if a := h.get("/services", "If-None-Match", first.header.Get("ETag")); a.status != http.StatusNotModified ||
		h.pricing.calls.Load() != 2 {
		t.Errorf("%d after %d calls", a.status, h.pricing.calls.Load())
	}
	calls := h.pricing.calls.Load()
	h.clock.Advance(time.Second)
	if h.get("/services"); h.pricing.calls.Load() != calls {
		t.Error("prices that were just asked for are asked for again")
	}
}

func TestPricesExpireAtValidUntil(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	for _, edge := range []time.Time{
		time.Date(2026, 11, 21, 12, 1, 0, 0, time.UTC), time.Date(2026, 11, 21, 12, 2, 0, 0, time.UTC),
	} {
		h.pricing.validUntil.Store(&edge)
		h.pricing.percent.Store(90)
		h.clock.Set(edge.Add(-time.Millisecond))
		h.quotes("/services", "9.00")
		h.pricing.percent.Store(50)
		h.clock.Set(edge)
		h.quotes("/services", "5.00")
		h.clock.Advance(time.Minute / 2)
	}
}

func TestQuotesChangeAtMidnightOfBusiness(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(strings.Replace(harborYAML, "Europe/Lisbon", "Pacific/Auckland", 1))
	for _, path := range []string{"/services?date=2026-12-25", "/services"} {
		h.pricing.percent.Store(90)
		h.clock.Set(time.Date(2026, 11, 22, 10, 59, 59, 999_000_000, time.UTC))
		h.quotes(path, "9.00")
		h.pricing.percent.Store(50)
		h.clock.Advance(time.Millisecond) // midnight in Auckland
		h.quotes(path, "5.00")
	}
}

func TestDegradedAnswerIsNotCached(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	h.pricing.isAway.Store(true)
	h.quotes("/services", "null")
	h.pricing.isAway.Store(false)
	h.quotes("/services", "9.00") // at once, because the clock does not advance
}

func TestQuotesOfNewerVersionAreNotCached(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	h.pricing.leadTime.Store(1)
	h.quotes("/services", "9.00")
	h.pricing.percent.Store(50)
	h.quotes("/services", "5.00")
}

func TestNewVersionIsNotServedFromCache(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	paths := []string{"/info", "/services", "/staff"}
	for _, path := range paths {
		h.get(path)
	}
	h.mustPublish(strings.NewReplacer("name: Harbor", "name: Changed", "name: Cut", "name: Changed", "name: Anna",
		"name: Changed").Replace(harborYAML))
	for _, path := range paths {
		if a := h.get(path); !strings.Contains(a.body, `"name":"Changed"`) {
			t.Errorf("%s: %s", path, a.body)
		}
	}
}

func TestSoldTicketsShowWhilePricesAreCached(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(eventsYAML)
	before := h.get("/events")
	h.sales.sold.Store(9)
	after := h.get("/events")
	if !strings.Contains(before.body, `"total_capacity":12,"spots_remaining":5`) || !strings.Contains(after.body,
		`"total_capacity":12,"spots_remaining":3`) {
		t.Errorf("before %s, after %s", before.body, after.body)
	}
	if h.pricing.calls.Load() != 1 || h.sales.calls.Load() != 2 {
		t.Errorf("pricing was asked %d times, booking %d times", h.pricing.calls.Load(), h.sales.calls.Load())
	}
	h.sales.isAway.Store(true)
	if a := h.get("/events"); strings.Count(a.body, `"spots_remaining":null`) != 5 || !strings.Contains(a.body,
		`"quoted_price":18.00`) {
		t.Errorf("without booking: %s", a.body)
	}
	h.sales.isAway.Store(false)
	if a := h.get("/events"); a.body != after.body || a.header.Get("ETag") != after.header.Get("ETag") {
		t.Errorf("booking is back: %s", a.body)
	}
}

func TestCeilingsShowWhilePricesAreCached(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(rentalsYAML)
	before := h.get("/rentals")
	h.ceilings.isAway.Store(true)
	away := h.get("/rentals")
	h.ceilings.isAway.Store(false)
	after := h.get("/rentals")
	if !strings.Contains(before.body, `"max_bookable_online":2`) || strings.Contains(away.body,
		`"max_bookable_online":2`) || after.body != before.body {
		t.Errorf("before %s, while rental was unavailable %s, after %s", before.body, away.body, after.body)
	}
	if !strings.Contains(away.body, `"quoted_price":9.00`) || h.pricing.calls.Load() != 1 {
		t.Errorf("pricing was asked %d times: %s", h.pricing.calls.Load(), away.body)
	}
}
