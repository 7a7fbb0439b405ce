package console_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

const ofCut = "/business/harbor/offer/services/cut"

// askedFirst is a business with a future booking that a change of the offer affects.
type askedFirst struct {
	*consoletest.World
	id, ahead uuid.UUID
	mia       string // the session of a manager
}

func asked(t *testing.T) askedFirst {
	t.Helper()
	w := consoletest.Start(t)
	id, ahead := publish(t, w), soon("confirmed")
	ahead.CustomerName = "Cara <b>"
	w.Booking.Add(id, ahead)
	w.Availability.LeaveOutside(availability.Outside{Reason: availability.Reason{Rule: availability.RuleClosed,
		Whose: availability.OfStaff, StaffName: "Anna"}})
	return askedFirst{w, id, ahead.ID,
		w.SessionOf(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})}
}

// priced returns the form of the haircut with a new price and a longer duration.
func priced(price string, more ...string) url.Values {
	form := url.Values{
		"base":             {"1"},
		"name":             {"Haircut"},
		"duration_minutes": {"50"},
		"price":            {price},
		"active":           {"yes"},
	}
	for i := 0; i < len(more); i += 2 {
		form.Set(more[i], more[i+1])
	}
	return form
}

// newest returns the number of versions of the business.
func (w askedFirst) newest(t *testing.T) int {
	t.Helper()
	return strings.Count(w.Call(t, "GET", harb+"/versions", "").Body, `"version"`)
}

// saves sends the form and expects that it is saved as version `version`.
func (w askedFirst) saves(t *testing.T, form url.Values, version int) {
	t.Helper()
	got := fill(t, w.World, ofCut, w.mia, form)
	if want := fmt.Sprint("saved=", version); got.Status != 303 || !strings.Contains(got.Header.Get("Location"), want) {
		t.Fatalf("%d %s %s, want %s", got.Status, got.Header.Get("Location"), got.Body, want)
	}
}

// asks sends the form and expects a page that contains `words` and asks for a confirmation. No version is saved.
func (w askedFirst) asks(t *testing.T, form url.Values, words ...string) {
	t.Helper()
	before := w.newest(t)
	got := fill(t, w.World, ofCut, w.mia, form)
	if now := w.newest(t); got.Status != 409 || now != before {
		t.Fatalf("%d, and %d versions, not %d", got.Status, now, before)
	}
	for _, word := range words {
		if !strings.Contains(got.Body, word) {
			t.Errorf("%q is not in %s", word, got.Body)
		}
	}
}

// TestSavingAsksFirstWhereBookingsWouldFallOutside shows that the form asks for a confirmation if a change affects
// bookings, and keeps its values. It asks again if another version is published before the confirmation.
func TestSavingAsksFirstWhereBookingsWouldFallOutside(t *testing.T) {
	t.Parallel()
	w := asked(t)
	w.asks(t, priced("47"), "What will change", "Haircut · Price", "40", "47", "1 booking would then fall outside",
		"Cara &lt;b&gt;",
		"Anna does not work then.", "/business/harbor/bookings/"+w.ahead.String(), "Save anyway", "Back to the form",
		`name="price" value="47"`)
	back := fill(t, w.World, ofCut, w.mia, priced("47", "again", "yes"))
	if back.Status != 200 || !strings.Contains(back.Body, `value="47"`) || strings.Contains(back.Body,
		`name="agreed"`) || w.newest(t) != 1 {
		t.Errorf("back to the form: %d %s", back.Status, back.Body)
	}
	others := strings.Replace(consoletest.Manifest("harbor", "Harbor"), "name: Haircut", "name: Trim", 1)
	if got := w.Call(t, "PUT", harb, others, "Content-Type", yaml); got.Status != 200 {
		t.Fatal(got.Body)
	}
	w.asks(t, priced("47", "agreed", "1"), "Trim · Price", `name="agreed" value="2"`)
	w.saves(t, priced("47", "agreed", "2"), 3)
	if text := w.Call(t, "GET", harb, "").Body; !strings.Contains(text, "Trim") || !strings.Contains(text, "47") {
		t.Errorf("a change is lost: %s", text)
	}
	w.saves(t, priced("47", "base", "3", "name", "Trim"), 3) // the form changes nothing, so no version is added
}

// TestSavingAsksNothingWithoutNeedAndSaysWhatNobodyKnows shows that the form does not ask about bookings that were
// affected before. If the bookings cannot be checked, the form says so and asks.
func TestSavingAsksNothingWithoutNeedAndSaysWhatNobodyKnows(t *testing.T) {
	t.Parallel()
	w := asked(t)
	w.Availability.LeaveOutside(availability.Outside{Already: true,
		Reason: availability.Reason{Rule: availability.RuleClosed}})
	w.saves(t, priced("47"), 2)
	w.StopBooking()
	w.asks(
		t,
		priced("48", "base", "2", "duration_minutes", "55"),
		"It cannot be checked now",
		"47",
		"48",
		"Save anyway",
	)
	w.saves(t, priced("48", "base", "2", "duration_minutes", "55", "agreed", "2"), 3)
	if log := w.Log.String(); !strings.Contains(log, "would leave outside is not known") {
		t.Error("the log says nothing")
	}
	got := fill(t, w.World, "/business/harbor/offer/undo", w.mia, url.Values{"version": {"3"}, "section": {"services"}})
	if got.Status != 409 || !strings.Contains(got.Body, "Save anyway") || strings.Contains(got.Body,
		"Back to the form") {
		t.Errorf("undone without a question: %d %s", got.Status, got.Body)
	}
	got = fill(t, w.World, "/business/harbor/offer/undo", w.mia, url.Values{"version": {"3"}, "section": {"services"},
		"agreed": {"3"}})
	if got.Status != 303 || !strings.Contains(got.Header.Get("Location"), "saved=4") {
		t.Errorf("undo: %d %s", got.Status, got.Body)
	}
}

// TestSavingAPriceAsksPeersFourTimes shows that saving a price makes at most four calls to other services. It does not
// check bookings, because a price does not affect them.
func TestSavingAPriceAsksPeersFourTimes(t *testing.T) {
	t.Parallel()
	w := asked(t)
	before := w.Peers.Asked()
	w.saves(t, priced("47", "duration_minutes", "45"), 2)
	asked := w.Peers.Asked()[len(before):]
	if len(asked) > 4 ||
		slices.ContainsFunc(asked, func(call string) bool { return !strings.Contains(call, "/harbor") }) {
		t.Errorf("%d calls: %q", len(asked), asked)
	}
	if text := w.Call(t, "GET", harb, "").Body; !strings.Contains(text, "47") {
		t.Errorf("the price is not published: %s", text)
	}
}
