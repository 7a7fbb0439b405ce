package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// TestExplainAgreesWithSlots requests an explanation for every quarter of an hour of a morning. The bookable starts are
// exactly the listed starts.
func TestExplainAgreesWithSlots(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "asked", buildSalon("asked", 1))
	key, cut := w.createKey(t, "asked", "write"), w.idsByName(t, "asked", "services")["Cut"]
	w.book(t, "asked", key, newOrder(cut, "2027-03-02", "10:00")).checkStatus(t, http.StatusCreated, "")
	listed := w.listTimes(t, "asked", "2027-03-02", "service_id="+cut)
	rules := map[string]bool{}
	for minute := 8 * 60; minute < 12*60; minute += 15 {
		clock := fmt.Sprintf("%02d:%02d", minute/60, minute%60)
		var answer struct {
			Computed, Bookable bool
			Reason             *struct{ Rule, Message string }
			Staff              []struct{ Bookable bool }
		}
		w.callAdmin(t, http.MethodGet, "businesses/asked/explain?service_id="+cut+"&date=2027-03-02&time="+clock,
			nil).decode(t, http.StatusOK, &answer)
		if !answer.Computed || answer.Bookable != slices.Contains(listed, clock) ||
			answer.Bookable != (answer.Reason == nil) {
			t.Errorf("%s: %+v, listed are %v", clock, answer, listed)
		}
		if answer.Reason != nil {
			rules[answer.Reason.Rule] = true
		}
	}
	if !rules["closed"] || !rules["booking"] {
		t.Errorf("reasons were %v", rules)
	}
}
