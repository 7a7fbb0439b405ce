package console_test

import (
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

const locationsPath = "/business/harbor/offer/locations"

// twoLocations is a business with two locations and one member.
const twoLocations = `apiVersion: slotmesh/v1
kind: Business
slug: harbor
name: Harbor
currency: EUR
timezone: Europe/Lisbon
default_language: en
hours: {mon: ["09:00-17:00"]}
locations:
  - {key: quay, kind: place, name: Quay, address: {city: Lisboa}}
  - {key: video, kind: link, name: Video call, link: "https://meet.example.org/{code}"}
staff: [{key: anna, name: Anna, at: {quay: {mon: ["09:00-12:00"]}}}]
services:
  - {key: cut, name: Haircut, duration_minutes: 45, staff: [anna], locations: [video, quay]}
  - {key: talk, name: Talk, duration_minutes: 30, locations: [video]}
events:
  - {key: gala, name: Gala, date: 2030-12-31, start_time: "20:00", end_time: "23:00", total_capacity: 50,
     location: video, tiers: [{key: seat, name: Seat, capacity: 50}]}
rentals: [{key: kayak, name: Kayak, price_type: daily, quantity: 1, units_count: 1}]
`

func startLocations(t *testing.T, text string) (*consoletest.Fixture, uuid.UUID, string) {
	t.Helper()
	w := consoletest.Start(t)
	id := publishText(t, w, text)
	return w, id, w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
}

// checkText checks that the newest manifest contains each text.
func checkText(t *testing.T, w *consoletest.Fixture, texts ...string) {
	t.Helper()
	newest := readText(t, w)
	for _, text := range texts {
		if !strings.Contains(newest, text) {
			t.Errorf("%q is not in the manifest:\n%s", text, newest)
		}
	}
}

// TestLocationFormsAddEveryKind adds a location of each kind by its form, shows it in the list, and shows the form
// again.
func TestLocationFormsAddEveryKind(t *testing.T) {
	t.Parallel()
	w, _, mia := startLocations(t, consoletest.BuildManifest("harbor", "Harbor"))
	choice := getPage(t, w, locationsPath+"/new", mia).Body
	if place := getPage(t, w, locationsPath+"/new?kind=place", mia).Body; !strings.Contains(place,
		`<option value="PT" selected>`) {
		t.Errorf("no country is suggested: %s", place)
	}
	for kind, c := range map[string]struct {
		form          url.Values
		path          string
		stored, shown []string
	}{
		"place": {url.Values{"address.street": {"Rua 1"}, "address.city": {"Lisboa"}, "address.country": {"PT"},
			"phone": {"+351 21 000 0000"}, "name": {"Quay"}, "geo": {"38.71, -9.13"}, "hours.mode": {"own"},
			"hours.mon.n": {"1"}, "hours.mon.0.from": {"10:00"}, "hours.mon.0.to": {"12:00"}, "overrides.n": {"1"},
			"overrides.0.date": {"2030-12-24"}, "overrides.0.hours.n": {"0"}, "directions_html": {"Second door"}},
			"quay", []string{"kind: place", "street: Rua 1", "country: PT", "phone: +351 21 000 0000", "lat: 38.71",
				"10:00-12:00", "2030-12-24", "<p>Second door</p>"}, []string{`value="Rua 1"`, `value="10:00"`}},
		"link": {url.Values{"name": {"Video"}, "link": {"https://meet.example/{code}"}}, "video",
			[]string{"kind: link", "https://meet.example/{code}"}, []string{`name="link" `}},
		"phone": {url.Values{"name": {"Call"}, "calls": {"customer"}, "phone": {"+351 21 000 0001"}}, "call",
			[]string{"kind: phone", "calls: customer", "+351 21 000 0001"}, []string{`<option value="customer" selected>`}},
		"customer_address": {url.Values{"name": {"Home"}, "countries": {"PT", "ES", ""}, "postal_codes": {"10*\r\n11*"},
			"travel_minutes": {"30"}}, "home", []string{"kind: customer_address", "travel_minutes: 30", "10*", "11*",
			"- PT\n      - ES"}, []string{`<option value="PT" selected>Portugal`, `<option value="ES" selected>Spain`, ">min<"}},
	} {
		if !strings.Contains(choice, "/offer/locations/new?kind="+kind) {
			t.Errorf("%s cannot be chosen", kind)
		}
		for _, name := range []string{"link", "calls", "address.street", "countries"} {
			_, has := c.form[name]
			form := getPage(t, w, locationsPath+"/new?kind="+kind, mia).Body
			if strings.Contains(form, `name="`+name+`"`) != has {
				t.Errorf("the form for %s has the field %s: %v, want %v", kind, name, !has, has)
			}
		}
		c.form.Set("kind", kind)
		page := saveForm(t, w, mia, locationsPath+"/new", c.form)
		if !strings.Contains(page.Body, c.form.Get("name")) {
			t.Errorf("%s is not in the list: %s", kind, page.Body)
		}
		checkText(t, w, c.stored...)
		shown := getPage(t, w, locationsPath+"/"+c.path, mia).Body
		for _, text := range c.shown {
			if !strings.Contains(shown, text) {
				t.Errorf("%s: %q is not in %s", kind, text, shown)
			}
		}
	}
	got := postForm(t, w, locationsPath+"/new", mia, url.Values{"kind": {"moon"}, "name": {"Moon"}})
	if got.Status != 200 ||
		!strings.Contains(got.Body, "/offer/locations/new?kind=link") {
		t.Errorf("an unknown kind: %d %s", got.Status, got.Body)
	}
}

// TestLocationFormKeepsRejectedValues shows that a rejected form names each error at its input and keeps all values.
func TestLocationFormKeepsRejectedValues(t *testing.T) {
	t.Parallel()
	w, _, mia := startLocations(t, consoletest.BuildManifest("harbor", "Harbor"))
	for name, c := range map[string]struct {
		kind, typed, says string
		form              url.Values
	}{
		"link":  {"link", "http://meet.example", "is not a web address", url.Values{"name": {"Video"}}},
		"name":  {"link", "", "Fill in this field", url.Values{"link": {"https://meet.example"}}},
		"phone": {"phone", "", "Fill in this field", url.Values{"name": {"Call"}, "calls": {"customer"}}},
		"postal_codes": {"customer_address", "1*0", "is not valid here", url.Values{"name": {"Home"},
			"countries": {"PT"}}},
		"travel_minutes": {"customer_address", "5000", "to 1440", url.Values{"name": {"Home"}, "countries": {"PT"}}},
	} {
		form := maps.Clone(c.form)
		form.Set("kind", c.kind)
		form.Set(name, c.typed)
		got := postForm(t, w, locationsPath+"/new", mia, form)
		_, field, _ := strings.Cut(got.Body, `name="`+name+`"`)
		field, _, _ = strings.Cut(field, `class="cell`)
		if got.Status != 422 || !strings.Contains(field, c.says) {
			t.Errorf("%s: %d %s", name, got.Status, field)
		}
		for kept, values := range c.form {
			if !strings.Contains(got.Body, `value="`+values[0]+`"`) {
				t.Errorf("%s: the value of %s is lost", name, kept)
			}
		}
		if !strings.Contains(got.Body, `<input type="hidden" name="kind" value="`+c.kind+`"`) {
			t.Errorf("%s: the form no longer knows the kind", name)
		}
	}
}

// TestLocationsCanBeOrdered shows that a location can become the first one, which the list marks as the main one.
func TestLocationsCanBeOrdered(t *testing.T) {
	t.Parallel()
	w, _, mia := startLocations(t, twoLocations)
	const order = locationsPath + "-order"
	page := saveForm(t, w, mia, order, url.Values{"base": {"1"}, "key": {"video"}, "to": {"forward"}}).Body
	video, main := strings.Index(page, ">Video call<"), strings.Index(page, "Main location")
	quay := strings.Index(page, ">Quay<")
	if video < 0 || video > main || main > quay {
		t.Errorf("the order is wrong: %s", page)
	}
	text := readText(t, w)
	if strings.Index(text, "key: video") > strings.Index(text, "key: quay") {
		t.Errorf("the manifest has the old order:\n%s", text)
	}
	for _, form := range []url.Values{{"base": {"2"}, "key": {"video"}, "to": {"forward"}},
		{"base": {"2"}, "key": {"quay"}, "to": {"back"}}, {"base": {"2"}, "key": {"none"}, "to": {"back"}}} {
		if got := postForm(t, w, order, mia, form); !strings.Contains(got.Header.Get("Location"), "wrong=changed") {
			t.Errorf("%v: %d %s", form, got.Status, got.Header)
		}
	}
}

// TestLocationsCanBeOrderedAfterAnotherChange shows that a location moves forward although another person has added a
// location since the list was shown.
func TestLocationsCanBeOrderedAfterAnotherChange(t *testing.T) {
	t.Parallel()
	w, _, mia := startLocations(t, twoLocations)
	saveForm(t, w, mia, locationsPath+"/new", url.Values{"kind": {"link"}, "name": {"Chat"},
		"link": {"https://chat.example"}})
	saveForm(t, w, mia, locationsPath+"-order", url.Values{"base": {"1"}, "key": {"video"}, "to": {"forward"}})
	if text := readText(t, w); strings.Index(text, "key: video") > strings.Index(text, "key: quay") ||
		!strings.Contains(text, "name: Chat") {
		t.Errorf("the manifest has the old order, or no chat:\n%s", text)
	}
}

// TestMainLocationChangeAsksForUnstoredLocations shows that a person confirms that bookings without a stored location
// get another place, because another place becomes the main one or because the main one is removed. Another order of the
// other locations needs no confirmation.
func TestMainLocationChangeAsksForUnstoredLocations(t *testing.T) {
	t.Parallel()
	const station = "  - {key: station, kind: place, name: Station, address: {city: Porto}}\n"
	w, id, mia := startLocations(t, strings.Replace(twoLocations, "staff:", station+"staff:", 1))
	unstored, video := newBookingTomorrow("confirmed"), newBookingTomorrow("pending")
	video.Location = &booking.BookedLocation{ID: (&manifest.Location{Key: "video"}).ObjectID(id), Kind: "link"}
	w.Booking.Add(id, unstored)
	w.Booking.Add(id, video)
	if got := planManifest(t, w, consoletest.Token, strings.Replace(readText(t, w), "Quay", "Pier", 1)); got.Conflicts.Count != 0 {
		t.Errorf("another name: %+v", got.Conflicts)
	}
	saveForm(t, w, mia, locationsPath+"-order", url.Values{"base": {"1"}, "key": {"station"}, "to": {"forward"}})
	for path, form := range map[string]url.Values{
		locationsPath + "-order":       {"base": {"2"}, "key": {"station"}, "to": {"forward"}},
		locationsPath + "/quay/remove": {"base": {"2"}},
	} {
		asked := postForm(t, w, path, mia, form)
		if asked.Status != 409 || !strings.Contains(asked.Body, "1 booking is affected") ||
			!strings.Contains(asked.Body, "Location: Quay → Station") {
			t.Errorf("%s: %d %s", path, asked.Status, asked.Body)
		}
	}
	if page := getPage(t, w, locationsPath+"/quay/remove", mia).Body; !strings.Contains(page, "Upcoming bookings that stay in your calendar: 1") {
		t.Errorf("the removal names no booking: %s", page)
	}
}

// TestLocationRemovalNamesConsequences shows that the removal of a location names the bookings and objects that it
// affects, and removes the location from all of these objects. A service without a location left is hidden.
func TestLocationRemovalNamesConsequences(t *testing.T) {
	t.Parallel()
	w, id, mia := startLocations(t, twoLocations)
	future := newBookingTomorrow("confirmed")
	video := &manifest.Location{Key: "video"}
	future.Location = &booking.BookedLocation{ID: video.ObjectID(id), Kind: "link", Name: "Video call"}
	w.Booking.Add(id, future)
	w.Availability.SetAffected(availability.Conflict{Reason: availability.Reason{Rule: availability.RuleRemoved,
		Name: "Video call"}})
	page := getPage(t, w, locationsPath+"/video/remove", mia).Body
	for _, want := range []string{"Remove Video call?", "Upcoming bookings that stay in your calendar: 1", "Services no longer offered there: 1",
		"which will be hidden: 1", "Classes, events and rentals that lose this location: 1"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in %s", want, page)
		}
	}
	asked := postForm(t, w, locationsPath+"/video/remove", mia, url.Values{"base": {"1"}})
	if asked.Status != 409 || !strings.Contains(asked.Body, "What will change") ||
		!strings.Contains(asked.Body, "Video call is no longer offered") {
		t.Fatalf("%d %s", asked.Status, asked.Body)
	}
	saveForm(t, w, mia, locationsPath+"/video/remove", url.Values{"base": {"1"}, "agreed": {"1"}})
	text := readText(t, w)
	if strings.Contains(text, "video") || !strings.Contains(text, "active: false") {
		t.Errorf("the location is still in the manifest, or a service is not hidden:\n%s", text)
	}
	saveForm(t, w, mia, locationsPath+"/quay/remove", url.Values{"base": {"2"}, "agreed": {"2"}})
	if text := readText(t, w); strings.Contains(text, "quay") || !strings.Contains(text, "hours: {}") {
		t.Errorf("the member still works at the location, or at any time:\n%s", text)
	}
}

// TestFormsAskForLocation shows that the forms of services, classes, events, rentals, members and policies have fields
// for locations if the business has several, and write them.
func TestFormsAskForLocation(t *testing.T) {
	t.Parallel()
	single := strings.Replace(consoletest.BuildManifest("harbor", "Harbor"), "services:",
		"locations: [{key: quay, kind: place}]\nservices:", 1)
	one, _, noa := startLocations(t, single)
	for _, path := range []string{"services/cut", "events/new", "rentals/new", "policies", "classes/new", "team/new"} {
		body := getPage(t, one, "/business/harbor/offer/"+path, noa).Body
		for _, field := range []string{`name="location"`, `name="locations"`, "location_change_minutes",
			`value="locations"`} {
			if strings.Contains(body, field) {
				t.Errorf("the form %s has %s", path, field)
			}
		}
	}
	w, _, mia := startLocations(t, twoLocations)
	save := func(path string, form url.Values) { saveForm(t, w, mia, "/business/harbor/offer/"+path, form) }
	// ticking the same locations in the order of the form keeps the order of the manifest, in which the first is preferred
	save("services/cut", url.Values{"base": {"1"}, "name": {"Cut"}, "locations": {"quay", "video"}, "staff": {"anna"},
		"duration_minutes": {"45"}, "active": {"yes"}})
	checkText(t, w, "locations: [video, quay]", "name: Cut")
	save("services/cut", url.Values{"base": {"2"}, "name": {"Cut"}, "staff": {"anna"}, "duration_minutes": {"45"},
		"active": {"yes"}})
	if text := readText(t, w); strings.Contains(text, "[video, quay]") {
		t.Errorf("the service keeps its locations:\n%s", text)
	}
	save("events/gala", url.Values{"base": {"3"}, "location": {"quay"}})
	if text := readText(t, w); strings.Contains(text, "location: video") {
		t.Errorf("the event keeps its location:\n%s", text)
	}
	checkText(t, w, "location: quay") // an explicit choice stays if another location becomes the main one
	save("rentals/kayak", url.Values{"base": {"4"}, "location": {"video"}})
	save("policies", url.Values{"base": {"5"}, "bookings.location_change_minutes": {"20"}})
	checkText(t, w, "location: video", "location_change_minutes: 20")
	save("classes/new", url.Values{"name": {"Yoga"}, "duration_minutes": {"60"}, "classes.n": {"1"}, "active": {"yes"},
		"classes.0.weekday": {"mon"}, "classes.0.time": {"10:00"}, "classes.0.capacity": {"5"},
		"classes.0.location": {"quay"}, "locations": {"quay"}})
	checkText(t, w, "location: quay", "key: yoga")
}

// TestMemberFormHasHoursAtLocations shows that the form of a member shows and writes hours at each location, and that
// a member with such hours needs at least one location.
func TestMemberFormHasHoursAtLocations(t *testing.T) {
	t.Parallel()
	w, _, mia := startLocations(t, twoLocations)
	const path = "/business/harbor/offer/team/anna"
	shown := getPage(t, w, path, mia).Body
	for _, want := range []string{`value="locations" checked`, `name="at.quay.mon.0.from" value="09:00"`,
		`name="at.video.fri.0.from" value=""`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in %s", want, shown)
		}
	}
	form := url.Values{"base": {"1"}, "name": {"Anna"}, "active": {"yes"}, "hours.mode": {"locations"},
		"at.quay.mon.n": {"1"}, "at.quay.mon.0.from": {""}, "at.quay.mon.0.to": {""}, "at.video.fri.n": {"1"},
		"at.video.fri.0.from": {"10:00"}, "at.video.fri.0.to": {"12:00"}}
	saveForm(t, w, mia, path, form)
	checkText(t, w, "video", "fri:", "10:00-12:00")
	if text := readText(t, w); strings.Contains(text, "09:00-12:00") {
		t.Errorf("the member still works at the quay:\n%s", text)
	}
	form.Set("base", "2")
	form.Set("at.video.fri.0.from", "")
	form.Set("at.video.fri.0.to", "")
	if got := postForm(t, w, path, mia, form); got.Status != 422 || !strings.Contains(got.Body, "Fill in this field") {
		t.Errorf("a member without a location: %d %s", got.Status, got.Body)
	}
	form.Set("hours.mode", "business")
	saveForm(t, w, mia, path, form)
	if text := readText(t, w); strings.Contains(text, "at:") {
		t.Errorf("the member still has hours at locations:\n%s", text)
	}
}
