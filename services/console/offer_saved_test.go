package console_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// saveForm sends a form of the offer and returns the page that follows.
func saveForm(t *testing.T, w *consoletest.Fixture, session, path string, form url.Values) consoletest.Answer {
	t.Helper()
	got := postForm(t, w, path, session, form)
	if got.Status != 303 {
		t.Fatalf("%s is not saved: %d %s", path, got.Status, got.Body)
	}
	return getPage(t, w, got.Header.Get("Location"), session)
}

func newSalonForm() url.Values {
	return url.Values{
		"name": {"Gala"}, "date": {"2030-12-31"}, "start_time": {"20:00"}, "end_time": {"23:00"},
		"total_capacity": {"50"}, "tiers.n": {"1"},
		"tiers.0.name": {"Seat"}, "tiers.0.capacity": {"50"}, "active": {"yes"}, "public": {"yes"},
	}
}

func TestFirstObjectEnablesItsModule(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	text := consoletest.BuildManifest("harbor", "Harbor") + "modules: {services: true, events: false, rentals: false}\n"
	id := publishText(t, w, text)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	for section, form := range map[string]url.Values{
		"events": newSalonForm(),
		"rentals": {"name": {"Kayak"}, "price_type": {"daily"}, "quantity": {"3"}, "units_count": {"3"},
			"active": {"yes"}},
	} {
		page := saveForm(t, w, mia, "/business/harbor/offer/"+section+"/new", form)
		if !strings.Contains(page.Body, "Customers see it now") || !strings.Contains(page.Body,
			`href="https://book.example.org/b/harbor"`) {
			t.Errorf("the notice of %s: %s", section, page.Body)
		}
	}
	got := w.Call(t, "GET", harb, "", "Accept", yaml).Body
	if !strings.Contains(got, "events: true") || !strings.Contains(got, "rentals: true") {
		t.Errorf("a module is still off:\n%s", got)
	}
}

func TestSavedNoticeNamesHidingField(t *testing.T) {
	t.Parallel()
	kayak := url.Values{"name": {"Kayak"}, "price_type": {"daily"}, "quantity": {""}, "units_count": {""},
		"active": {"yes"}}
	without := func(form url.Values, name, value string) url.Values {
		changed := url.Values{name: {value}}
		for n, values := range form {
			if n != name {
				changed[n] = values
			}
		}
		return changed
	}
	for name, c := range map[string]struct {
		manifest, section string
		form              url.Values
		says, leads       string
	}{
		"inactive": {"", "events", without(newSalonForm(), "active", ""), "Check: Tickets on sale", "/offer/events/gala"},
		"private": {"", "events", without(newSalonForm(), "public", ""), "Check: Visible on booking page",
			"/offer/events/gala"},
		"past": {"", "events", without(newSalonForm(), "date", "2020-01-01"), "Check: Date",
			"/offer/events/gala"},
		"no quantity": {"", "rentals", kayak, "Check: Offered online", "/offer/rentals/kayak"},
		"no units":    {"", "rentals", without(kayak, "quantity", "2"), "Check: Number of items", "/offer/rentals/kayak"},
		"module off":  {"modules: {events: false}\nevents: [{key: ball, name: Ball, date: 2030-01-01, start_time: \"20:00\", end_time: \"21:00\", total_capacity: 5}]\n", "events", newSalonForm(), "Check: Events", "/offer/business"},
		"inactive cut": {"", "services", url.Values{"name": {"Shave"}, "duration_minutes": {"30"}}, "Check: Visible on booking page",
			"/offer/services/shave"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := consoletest.Start(t)
			id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+c.manifest)
			mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
			page := saveForm(t, w, mia, "/business/harbor/offer/"+c.section+"/new", c.form)
			if strings.Contains(page.Body, "Customers see it now") || !strings.Contains(page.Body, c.says) ||
				!strings.Contains(page.Body, c.leads+`"`) {
				t.Errorf("want %q and a link to %s: %s", c.says, c.leads, page.Body)
			}
		})
	}
}

func TestBusinessFormSwitchesModules(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publishText(t, w, consoletest.BuildManifest("harbor", "Harbor")+"modules: {services: true, events: false}\n")
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	saveForm(t, w, mia, "/business/harbor/offer/business", url.Values{"base": {"1"}, "modules.services": {"yes"},
		"modules.events": {"yes"}})
	if text := w.Call(t, "GET", harb, "", "Accept", yaml).Body; !strings.Contains(text, "events: true") {
		t.Errorf("the module is still off:\n%s", text)
	}
}

func TestListedUnitsReplaceQuantity(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	saveForm(t, w, mia, "/business/harbor/offer/rentals/new", url.Values{
		"name": {"Kayak"}, "price_type": {"daily"}, "quantity": {"1"}, "units_count": {"1"}, "active": {"yes"},
		"units.n": {"1"}, "units.0.key": {"red"}, "units.0.in_service": {"yes"},
	})
	if text := w.Call(t, "GET", harb, "", "Accept", yaml).Body; !strings.Contains(text, "key: red") ||
		strings.Contains(text, "units_count") {
		t.Errorf("%s", text)
	}
}
