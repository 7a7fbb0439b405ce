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

const haircutPath = "/business/harbor/offer/services/cut"

// affectedBusiness is a business with a future booking that a change of the offer affects.
type affectedBusiness struct {
	*consoletest.Fixture
	id, ahead uuid.UUID
	mia       string // the session of a manager
}

func newAffectedBusiness(t *testing.T) affectedBusiness {
	t.Helper()
	w := consoletest.Start(t)
	id, future := publish(t, w), newBookingTomorrow("confirmed")
	future.CustomerName = "Cara <b>"
	w.Booking.Add(id, future)
	w.Availability.SetAffected(availability.Conflict{Reason: availability.Reason{Rule: availability.RuleClosed,
		Whose: availability.OfStaff, StaffName: "Anna"}})
	return affectedBusiness{w, id, future.ID,
		w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})}
}

// newHaircutForm returns the form of the haircut with a new price and a longer duration.
func newHaircutForm(price string, more ...string) url.Values {
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

// countVersions returns the number of versions of the business.
func (w affectedBusiness) countVersions(t *testing.T) int {
	t.Helper()
	return strings.Count(w.Call(t, "GET", harb+"/versions", "").Body, `"version"`)
}

// expectSaved sends the form and expects that it is saved as version `version`.
func (w affectedBusiness) expectSaved(t *testing.T, form url.Values, version int) {
	t.Helper()
	got := postForm(t, w.Fixture, haircutPath, w.mia, form)
	if want := fmt.Sprint("saved=", version); got.Status != 303 || !strings.Contains(got.Header.Get("Location"), want) {
		t.Fatalf("%d %s %s, want %s", got.Status, got.Header.Get("Location"), got.Body, want)
	}
}

// expectQuestion sends the form and expects a page that contains `words` and asks for a confirmation. No version is
// saved.
func (w affectedBusiness) expectQuestion(t *testing.T, form url.Values, words ...string) {
	t.Helper()
	before := w.countVersions(t)
	got := postForm(t, w.Fixture, haircutPath, w.mia, form)
	if now := w.countVersions(t); got.Status != 409 || now != before {
		t.Fatalf("%d, and %d versions, not %d", got.Status, now, before)
	}
	for _, word := range words {
		if !strings.Contains(got.Body, word) {
			t.Errorf("%q is not in %s", word, got.Body)
		}
	}
}

// TestSaveAsksIfBookingsAreAffected shows that the form asks for a confirmation if a change affects
// bookings, and keeps its values. It asks again if another version is published before the confirmation.
func TestSaveAsksIfBookingsAreAffected(t *testing.T) {
	t.Parallel()
	w := newAffectedBusiness(t)
	w.expectQuestion(t, newHaircutForm("47"), "What will change", "Haircut · Price", "40", "47",
		"1 booking is affected",
		"Cara &lt;b&gt;",
		"Anna does not work then.", "/business/harbor/bookings/"+w.ahead.String(), "Save anyway", "Back to the form",
		`name="price" value="47"`)
	back := postForm(t, w.Fixture, haircutPath, w.mia, newHaircutForm("47", "again", "yes"))
	if back.Status != 200 || !strings.Contains(back.Body, `value="47"`) || strings.Contains(back.Body,
		`name="agreed"`) || w.countVersions(t) != 1 {
		t.Errorf("back to the form: %d %s", back.Status, back.Body)
	}
	others := strings.Replace(consoletest.BuildManifest("harbor", "Harbor"), "name: Haircut", "name: Trim", 1)
	if got := w.Call(t, "PUT", harb, others, "Content-Type", yaml); got.Status != 200 {
		t.Fatal(got.Body)
	}
	w.expectQuestion(t, newHaircutForm("47", "agreed", "1"), "Trim · Price", `name="agreed" value="2"`)
	w.expectSaved(t, newHaircutForm("47", "agreed", "2"), 3)
	if text := w.Call(t, "GET", harb, "").Body; !strings.Contains(text, "Trim") || !strings.Contains(text, "47") {
		t.Errorf("a change is lost: %s", text)
	}
	// the form changes nothing, so no version is added
	w.expectSaved(t, newHaircutForm("47", "base", "3", "name", "Trim"), 3)
}

// TestSaveAsksOnlyAboutNewOrUnknownConflicts shows that the form does not ask about bookings that were
// affected before. If the bookings cannot be checked, the form says so and asks.
func TestSaveAsksOnlyAboutNewOrUnknownConflicts(t *testing.T) {
	t.Parallel()
	w := newAffectedBusiness(t)
	w.Availability.SetAffected(availability.Conflict{Already: true,
		Reason: availability.Reason{Rule: availability.RuleClosed}})
	w.expectSaved(t, newHaircutForm("47"), 2)
	w.StopBooking()
	w.expectQuestion(
		t,
		newHaircutForm("48", "base", "2", "duration_minutes", "55"),
		"We can’t check right now",
		"47",
		"48",
		"Save anyway",
	)
	w.expectSaved(t, newHaircutForm("48", "base", "2", "duration_minutes", "55", "agreed", "2"), 3)
	if log := w.Log.String(); !strings.Contains(log, "the conflicts of a new offer are unknown") {
		t.Error("the log says nothing")
	}
	got := postForm(t, w.Fixture, "/business/harbor/offer/undo", w.mia,
		url.Values{"version": {"3"}, "section": {"services"}})
	if got.Status != 409 || !strings.Contains(got.Body, "Save anyway") || strings.Contains(got.Body,
		"Back to the form") {
		t.Errorf("undone without a question: %d %s", got.Status, got.Body)
	}
	got = postForm(t, w.Fixture, "/business/harbor/offer/undo", w.mia,
		url.Values{"version": {"3"}, "section": {"services"},
			"agreed": {"3"}})
	if got.Status != 303 || !strings.Contains(got.Header.Get("Location"), "saved=4") {
		t.Errorf("undo: %d %s", got.Status, got.Body)
	}
}

// TestSavePriceCallsPeersAtMostFourTimes shows that saving a price makes at most four calls to other services. It does
// not check bookings, because a price does not affect them.
func TestSavePriceCallsPeersAtMostFourTimes(t *testing.T) {
	t.Parallel()
	w := newAffectedBusiness(t)
	before := w.Peers.ListRequests()
	w.expectSaved(t, newHaircutForm("47", "duration_minutes", "45"), 2)
	requests := w.Peers.ListRequests()[len(before):]
	if len(requests) > 4 ||
		slices.ContainsFunc(requests, func(call string) bool { return !strings.Contains(call, "/harbor") }) {
		t.Errorf("%d calls: %q", len(requests), requests)
	}
	if text := w.Call(t, "GET", harb, "").Body; !strings.Contains(text, "47") {
		t.Errorf("the price is not published: %s", text)
	}
}
