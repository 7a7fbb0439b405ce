package api_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

var (
	harbourID = uuid.MustParse("00000000-0000-4000-8000-0000000000a1")
	stationID = uuid.MustParse("00000000-0000-4000-8000-0000000000a2")
	videoID   = uuid.MustParse("00000000-0000-4000-8000-0000000000a3")
)

// addLocations gives the business two places and a video call. The haircut is offered
// at all three, the free service at the station only.
func addLocations(o *catalog.Snapshot) {
	o.Locations = []catalog.Location{
		{ID: harbourID, Kind: catalog.KindPlace, Name: catalog.Label{Text: "Harbour"}},
		{ID: stationID, Kind: catalog.KindPlace, Name: catalog.Label{Text: "Station"}},
		{ID: videoID, Kind: catalog.KindLink, Name: catalog.Label{Text: "Video"}, Link: "https://meet.example/{code}"},
	}
	o.Bookings.LocationChangeMinutes = 20
	for i := range o.Services {
		switch o.Services[i].ID {
		case cutID:
			o.Services[i].LocationIDs = []uuid.UUID{harbourID, stationID, videoID}
		case freeID:
			o.Services[i].LocationIDs = []uuid.UUID{stationID}
		}
	}
}

// TestBookRequiresPhoneIfBusinessCalls shows that a customer must give a telephone number for a booking at a location
// at which the business calls.
func TestBookRequiresPhoneIfBusinessCalls(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	w.change(func(o *catalog.Snapshot) {
		addLocations(o)
		o.Locations[2] = catalog.Location{ID: videoID, Kind: catalog.KindPhone, Calls: catalog.CallsBusiness}
	})
	without := map[string]any{"location_id": videoID, "customer_phone": nil}
	if a := w.book(key, newOrder("10:00", without)); !strings.Contains(a.text, "customer_phone: ") {
		t.Errorf("the answer does not name the field: %s", a.text)
	} else {
		w.expect("without a number", a, 400, "invalid_parameter")
	}
	with := map[string]any{"location_id": videoID, "customer_phone": "+351 21 000 0000"}
	w.expect("with a number", w.book(key, newOrder("10:00", with)), 201, "")
	without["location_id"] = harbourID
	w.expect("at a place", w.book(key, newOrder("13:00", without)), 201, "")
}

// TestRescheduleRequiresPhoneIfBusinessCalls shows that a customer without a telephone number cannot reschedule to a
// location at which the business calls, and that the owner can.
func TestRescheduleRequiresPhoneIfBusinessCalls(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	hours := 0
	w.change(func(o *catalog.Snapshot) {
		addLocations(o)
		o.Locations[2] = catalog.Location{ID: videoID, Kind: catalog.KindPhone, Calls: catalog.CallsBusiness}
		for i := range o.Services {
			o.Services[i].LocationIDs = []uuid.UUID{videoID, harbourID}
		}
		o.SelfService.RescheduleUntilHours = &hours
	})
	a := w.book(w.key("write"), newOrder("10:00", map[string]any{"customer_phone": nil}))
	w.expect("booked", a, 201, "")
	if got := bookedPlace(a); !strings.Contains(got, harbourID.String()) {
		t.Errorf("a customer without a number is booked at %s", got)
	}
	id := a.body.Booking.ID
	move := func(clock string, to uuid.UUID) (*booking.CustomerView, error) {
		return w.pages().Reschedule(t.Context(), tokenOf(a.body.ManageURL),
			booking.Reschedule{Date: a.body.Booking.Date, Time: clock, LocationID: new(to.String())})
	}
	if _, err := move("12:00", videoID); !fault.Is(err, fault.InvalidParameter) ||
		!strings.Contains(err.Error(), "customer_phone") {
		t.Errorf("the customer reschedules to a call: %v", err)
	}
	if got, err := w.relocate(ownerActor, id, videoID); err != nil || got.Location.ID != videoID {
		t.Errorf("the owner reschedules to a call: %+v, %v", got, err)
	}
	got, err := move("12:00", videoID)
	if err != nil || got.Booking.Location.ID != videoID || got.Booking.HasPhone {
		t.Errorf("the customer changes the time of the call: %+v, %v", got, err)
	}
	with := w.book(w.key("write"), newOrder("15:00", map[string]any{"customer_phone": "+351 21 000 0000"}))
	got, err = w.pages().CustomerView(t.Context(), tokenOf(with.body.ManageURL))
	if err != nil || !got.Booking.HasPhone {
		t.Errorf("with a number: %+v, %v", got, err)
	}
}

// findFreeLocation returns the first of the requested locations at which the resource can be. It
// compares the time of the services with the bookings at other locations.
func findFreeLocation(offer *catalog.Snapshot, services []*catalog.Service, r availability.BookableRequest,
	resource booking.Resource, span timespan.Span) *uuid.UUID {
	locations, err := offer.ChooseLocations(services, r.Question.LocationID)
	if err != nil {
		return nil
	}
	change := int64(offer.Bookings.LocationChangeMinutes) * 60
	for _, l := range locations {
		isElsewhere := slices.Contains(r.Question.ExcludedLocationIDs, l.ID)
		for _, busy := range r.Occupied.Busy {
			for i := 0; busy.Resource == resource && busy.LocationID != l.ID && i < len(busy.Served); i += 2 {
				wide := timespan.Span{Start: busy.Served[i] - change, End: busy.Served[i+1] + change}
				isElsewhere = isElsewhere || wide.Overlaps(span)
			}
		}
		if !isElsewhere {
			return &l.ID
		}
	}
	return nil
}

// bookedPlace returns the location in the answer to POST /book.
func bookedPlace(a answer) string {
	_, rest, ok := strings.Cut(a.text, `"location":{`)
	if !ok {
		return ""
	}
	place, _, _ := strings.Cut(rest, "}")
	return place
}

func TestBookTakesLocation(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	without := w.book(key, newOrder("08:00", map[string]any{"location_id": 7}))
	if w.expect("without locations", without, 201, ""); strings.Contains(without.text, "location") {
		t.Errorf("a business without locations answers %s", without.text)
	}
	w.change(func(o *catalog.Snapshot) { addLocations(o); o.Locations = o.Locations[:1] })
	if a := w.book(key, newOrder("08:00", nil)); a.status != 201 || strings.Contains(a.text, "location") {
		t.Errorf("a business with one place answers %s", a.text)
	}
	w.change(addLocations)
	for _, c := range []struct {
		name, clock  string
		changes      map[string]any
		status       int
		code, want   string
		wantSentence string
	}{
		{"no location", "10:00", nil, 201, "", `"id":"` + harbourID.String() + `","kind":"place","name":"Harbour"`, ""},
		{"a location", "10:00", map[string]any{"location_id": stationID}, 201, "",
			`"id":"` + stationID.String() + `","kind":"place","name":"Station"`, ""},
		{"null", "13:00", map[string]any{"location_id": nil, "staff_id": benID}, 201, "",
			`"id":"` + harbourID.String() + `","kind":"place","name":"Harbour"`, ""},
		{"malformed", "10:00", map[string]any{"location_id": "x"}, 400, "invalid_parameter", "", "location_id"},
		{"not a string", "10:00", map[string]any{"location_id": 7}, 400, "invalid_parameter", "", "location_id"},
		{"unknown", "10:00", map[string]any{"location_id": annaID}, 404, "location_not_found", "",
			"Location not found: " + annaID.String()},
		{"of another service", "15:00", map[string]any{"service_ids": []uuid.UUID{freeID}, "location_id": harbourID}, 404,
			"location_not_found", "", harbourID.String()},
		{"nothing in common", "15:00", map[string]any{"service_ids": []uuid.UUID{freeID, cutID}, "location_id": harbourID},
			404, "location_not_found", "", harbourID.String()},
		{"the member is elsewhere", "13:50", map[string]any{"location_id": stationID, "staff_id": benID}, 409,
			"slot_unavailable", "", "at this location"},
		{"the member stays", "13:55", map[string]any{"staff_id": benID}, 201, "",
			`"id":"` + harbourID.String() + `","kind":"place","name":"Harbour"`, ""},
		{"the member is at the first that is possible", "15:00", map[string]any{"staff_id": benID}, 201, "",
			`"id":"` + harbourID.String() + `","kind":"place","name":"Harbour"`, ""},
	} {
		a := w.book(key, newOrder(c.clock, c.changes))
		w.expect(c.name, a, c.status, c.code)
		if got := bookedPlace(a); got != c.want || !strings.Contains(a.text, c.wantSentence) {
			t.Errorf("%s: %s", c.name, a.text)
		}
	}
	if n := w.count(`SELECT count(*) FROM bookings WHERE location IS NOT NULL`); n != 5 {
		t.Errorf("%d bookings have a location", n)
	}
}

func TestConcurrentBookKeepsMemberAtOneLocation(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(addLocations)
	key := w.key("write")
	var (
		wg      sync.WaitGroup
		answers = make([]answer, 12)
	)
	for i := range answers {
		at := []uuid.UUID{harbourID, stationID}[i%2]
		clock := []string{"10:00", "11:00"}[i/2%2] // 15 minutes between the services
		wg.Go(func() {
			answers[i] = w.book(key, newOrder(clock, map[string]any{"location_id": at, "staff_id": annaID}))
		})
	}
	wg.Wait()
	places := map[string]int{}
	for _, a := range answers {
		if a.status == 201 {
			places[bookedPlace(a)]++
			continue
		}
		w.expect("refused", a, 409, "slot_unavailable")
	}
	if len(places) != 1 {
		t.Errorf("Anna is at %v", places)
	}
}

func (w *fixture) relocate(by actor.Actor, id, to uuid.UUID) (*booking.Booking, error) {
	w.t.Helper()
	return w.relocateTo(by, id, booking.Relocate{LocationID: to.String()})
}

func (w *fixture) relocateTo(by actor.Actor, id uuid.UUID, to booking.Relocate) (*booking.Booking, error) {
	w.t.Helper()
	return w.client().Relocate(actor.With(w.t.Context(), by), w.offer.ID, id, "harbor", to)
}

func TestRelocateChangesLocationOnly(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	old := w.mustBook(map[string]any{"time": "17:00"}) // made before the business has locations
	w.change(addLocations)
	id := w.mustBook(map[string]any{"staff_id": benID})
	got, err := w.relocate(ownerActor, id, stationID)
	if err != nil || got.StartTime != "09:30:00" || *got.StaffID != benID || got.Sequence != 2 || !got.StaffRequested {
		t.Fatalf("%+v, %v", got, err)
	}
	want := &booking.BookedLocation{ID: stationID, Kind: "place", Name: "Station"}
	if diff := cmp.Diff(want, got.Location); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if again, err := w.relocate(ownerActor, id, stationID); err != nil || again.Sequence != 2 {
		t.Errorf("to where it is: %+v, %v", again, err)
	}
	moved, err := w.reschedule(id, at("12:00"))
	if diff := cmp.Diff(want, moved.Location); err != nil || diff != "" {
		t.Errorf("a reschedule, %v (-want +got):\n%s", err, diff)
	}
	w.mustBook(map[string]any{"time": "12:55", "staff_id": benID, "location_id": stationID})
	if got, err := w.relocate(ownerActor, id, harbourID); err != nil || *got.StaffID != annaID {
		t.Errorf("Ben works at the station ten minutes later: %+v, %v, want Anna", got, err)
	}
	for _, member := range []uuid.UUID{annaID, carlID} {
		w.mustBook(map[string]any{"time": "13:00", "staff_id": member, "location_id": harbourID})
	}
	if got, err := w.relocate(ownerActor, id, stationID); err != nil || *got.StaffID != benID {
		t.Errorf("the others work at the harbour soon after: %+v, %v, want Ben", got, err)
	}
	w.mustBook(map[string]any{"time": "11:00", "staff_id": benID, "location_id": stationID})
	if _, err := w.relocate(ownerActor, id, videoID); !fault.Is(err, fault.SlotUnavailable) {
		t.Errorf("each member is elsewhere soon before or after: %v", err)
	}
	if got, err := w.relocate(ownerActor, old, stationID); err != nil || got.Location.ID != stationID {
		t.Errorf("a booking without a location: %+v, %v", got, err)
	}
	if _, err := w.relocate(ownerActor, id, annaID); !fault.Is(err, fault.LocationNotFound) {
		t.Errorf("to an unknown location: %v", err)
	}
	if _, err := w.relocate(ownerActor, uuid.New(), harbourID); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown booking: %v", err)
	}
	if _, err := w.client().Transition(actor.With(t.Context(), ownerActor), w.offer.ID, id, booking.TransitionCancel); err != nil {
		t.Fatal(err)
	}
	if _, err := w.relocate(ownerActor, id, harbourID); !fault.Is(err, fault.Conflict) {
		t.Errorf("a cancelled booking: %v", err)
	}
	list, err := w.events(t).List(t.Context(), w.offer.ID, event.Filter{Subject: id, Type: event.BookingRelocated}, request.Page{})
	if err != nil || len(list.Events) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, text := range []string{`"from":{`, `"name":"Harbour"`, `"to":{`, `"name":"Station"`} {
		if !strings.Contains(string(list.Events[2].Data), text) {
			t.Errorf("the event misses %s: %s", text, list.Events[2].Data)
		}
	}
}

func TestMeetingLinkIsShownWhileConfirmed(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(addLocations)
	a := w.book(w.key("write"), newOrder("10:00", map[string]any{"location_id": videoID}))
	if w.expect("booked", a, 201, ""); strings.Contains(a.text, "meet.example") {
		t.Errorf("a pending booking shows its link: %s", a.text)
	}
	find := func() string {
		t.Helper()
		got, err := w.pages().CustomerView(t.Context(), tokenOf(a.body.ManageURL))
		if err != nil || got.Booking.Location == nil {
			t.Fatalf("%+v, %v", got, err)
		}
		return got.Booking.Location.Link
	}
	if got := find(); got != "" {
		t.Errorf("pending: %s", got)
	}
	owner := actor.With(t.Context(), ownerActor)
	confirmed, err := w.client().Transition(owner, w.offer.ID, a.body.Booking.ID, booking.TransitionConfirm)
	if err != nil || !strings.HasPrefix(confirmed.Location.Link, "https://meet.example/") {
		t.Fatalf("%+v, %v", confirmed, err)
	}
	shown := find()
	if shown != confirmed.Location.Link || len(shown) != len("https://meet.example/")+26 {
		t.Errorf("the customer sees %s, the owner %s", shown, confirmed.Location.Link)
	}
	w.change(func(o *catalog.Snapshot) {
		o.Locations = append([]catalog.Location(nil), o.Locations...)
		o.Locations[2].Link = "https://other.example/{code}"
	})
	if got := find(); got != shown {
		t.Errorf("after the offer has changed, the link is %s", got)
	}
	if _, err := w.client().Transition(owner, w.offer.ID, a.body.Booking.ID, booking.TransitionCancel); err != nil {
		t.Fatal(err)
	}
	if got := find(); got != "" {
		t.Errorf("cancelled: %s", got)
	}
}

var homeID = uuid.MustParse("00000000-0000-4000-8000-0000000000a4")

// addHome gives the business a place and a location at the customer's address. The haircut is offered at both.
func addHome(o *catalog.Snapshot) {
	addLocations(o)
	o.Locations = append(o.Locations[:1:1], catalog.Location{ID: homeID, Kind: catalog.KindCustomerAddress,
		Name: catalog.Label{Text: "At your place"}, Countries: []string{"PT", "ES"}, PostalCodes: []string{"11*"}})
	for i := range o.Services {
		o.Services[i].LocationIDs = []uuid.UUID{homeID, harbourID}
	}
}

// addressOf returns a customer's address in the area of [addHome], with changed parts.
func addressOf(changes map[string]any) map[string]any {
	a := map[string]any{"street": "Rua 1", "postal_code": "1100-001", "city": "Lisboa", "country": "PT", "note": "2nd floor"}
	maps.Copy(a, changes)
	return a
}

func TestBookTakesCustomerAddress(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	key := w.key("write")
	w.expect("without locations", w.book(key, newOrder("08:00", map[string]any{"customer_address": 7})), 201, "")
	w.change(addHome)
	for _, c := range []struct {
		name     string
		changes  map[string]any
		status   int
		code     string
		sentence string
	}{
		{"missing", map[string]any{"location_id": homeID}, 400, "invalid_parameter", "customer_address: "},
		{"no object", map[string]any{"location_id": homeID, "customer_address": "Rua 1"}, 400, "invalid_parameter", "is not an object"},
		{"no street", map[string]any{"location_id": homeID, "customer_address": addressOf(map[string]any{"street": " "})}, 400,
			"invalid_parameter", "customer_address.street: "},
		{"too long", map[string]any{"location_id": homeID,
			"customer_address": addressOf(map[string]any{"note": strings.Repeat("x", 201)})}, 400, "invalid_parameter",
			"customer_address.note: "},
		{"unknown country", map[string]any{"location_id": homeID, "customer_address": addressOf(map[string]any{"country": "XX"})},
			400, "invalid_parameter", "customer_address.country: "},
		{"no country", map[string]any{"location_id": homeID, "customer_address": addressOf(map[string]any{"country": nil})}, 400,
			"invalid_parameter", "PT, ES"},
		{"no postal code", map[string]any{"location_id": homeID,
			"customer_address": addressOf(map[string]any{"postal_code": ""})}, 400, "invalid_parameter", "postal_code: "},
		{"other country", map[string]any{"location_id": homeID, "customer_address": addressOf(map[string]any{"country": "FR"})},
			409, "outside_area", ""},
		{"other postal code", map[string]any{"location_id": homeID,
			"customer_address": addressOf(map[string]any{"postal_code": "4000-001"})}, 409, "outside_area", ""},
		{"in the area", map[string]any{"location_id": homeID, "customer_address": addressOf(nil)}, 201, "", homeID.String()},
		{"any location", map[string]any{"customer_address": addressOf(map[string]any{"postal_code": "11 50"}), "staff_id": benID},
			201, "", homeID.String()},
		{"any location without an address", map[string]any{"time": "12:00"}, 201, "", harbourID.String()},
		{"any location outside the area", map[string]any{"time": "13:00",
			"customer_address": addressOf(map[string]any{"country": "FR"})}, 201, "", harbourID.String()},
	} {
		a := w.book(key, newOrder("10:00", c.changes))
		w.expect(c.name, a, c.status, c.code)
		if !strings.Contains(a.text, c.sentence) || strings.Contains(a.text, "2nd floor") {
			t.Errorf("%s: %s", c.name, a.text)
		}
	}
	if n := w.count(`SELECT count(*) FROM bookings WHERE customer_address IS NOT NULL`); n != 2 {
		t.Errorf("%d bookings have an address", n)
	}
}

func TestCustomerAddressFollowsRelocation(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(addHome)
	w.change(setAdvanceMonth)
	a := w.book(w.key("write"), newOrder("10:00", map[string]any{"location_id": homeID, "customer_address": addressOf(nil)}))
	w.expect("booked", a, 201, "")
	id := a.body.Booking.ID
	want := &booking.CustomerAddress{Address: postal.Address{Street: "Rua 1", PostalCode: "1100-001", City: "Lisboa",
		Country: "PT"}, Note: "2nd floor"}
	customer, err := w.pages().CustomerView(t.Context(), tokenOf(a.body.ManageURL))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, customer.Booking.CustomerAddress); diff != "" {
		t.Errorf("the customer view (-want +got):\n%s", diff)
	}
	moved, err := w.reschedule(id, at("12:00"))
	if err != nil || moved.CustomerAddress == nil || moved.CustomerAddress.Street != "Rua 1" {
		t.Errorf("a reschedule keeps the address: %+v, %v", moved, err)
	}
	other := *want
	other.Street = "Rua 2"
	moved, err = w.relocateTo(ownerActor, id, booking.Relocate{LocationID: homeID.String(), Address: &other})
	if err != nil || moved.CustomerAddress.Street != "Rua 2" {
		t.Errorf("to another address: %+v, %v", moved, err)
	}
	other.Country = "FR"
	if _, err := w.relocateTo(ownerActor, id, booking.Relocate{LocationID: homeID.String(),
		Address: &other}); !fault.Is(err, fault.OutsideArea) {
		t.Errorf("outside the area: %v", err)
	}
	feed := w.read(bookingclient.CalendarPath(w.feed(nil, booking.ShowsNames).Token))
	if !strings.Contains(feed.text, `LOCATION:Rua 2\, `) {
		t.Errorf("the feed misses the address:\n%s", feed.text)
	}
	moved, err = w.relocate(ownerActor, id, harbourID)
	if err != nil || moved.CustomerAddress != nil {
		t.Errorf("at the harbour: %+v, %v", moved, err)
	}
	if _, err := w.relocate(ownerActor, id, homeID); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("back without an address: %v", err)
	}
}

// TestRescheduleChangesPlaceAndTime shows that one request of the owner can change the time, the location and the
// customer's address. A request that keeps the time is recorded as a relocation.
func TestRescheduleChangesPlaceAndTime(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(addHome)
	w.change(setAdvanceMonth)
	id := w.mustBook(map[string]any{"time": "10:00", "location_id": harbourID})
	before, err := w.client().Booking(t.Context(), w.offer.ID, id)
	if err != nil {
		t.Fatal(err)
	}
	address := booking.CustomerAddress{Address: postal.Address{Street: "Rua 1", PostalCode: "1100-001", City: "Lisboa",
		Country: "PT"}}
	to := booking.Reschedule{Date: before.Date, Time: "12:00", LocationID: new(homeID.String())}
	if _, err := w.reschedule(id, to); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("without an address: %v", err)
	}
	to.Address = &booking.CustomerAddress{Address: postal.Address{Street: "Rua 1"}}
	if _, err := w.reschedule(id, to); !fault.Is(err, fault.InvalidParameter) || !strings.Contains(err.Error(), "address.city") {
		t.Errorf("without a city: %v", err)
	}
	to.Address = &address
	got, err := w.reschedule(id, to)
	if err != nil || got.Location.ID != homeID || got.StartTime != "12:00:00" || got.CustomerAddress.Street != "Rua 1" {
		t.Fatalf("%+v, %v", got, err)
	}
	other := address
	other.Street = "Rua 2"
	got, err = w.reschedule(id, booking.Reschedule{Date: before.Date, Time: "12:00", Address: &other})
	if err != nil || got.CustomerAddress.Street != "Rua 2" || got.Location.ID != homeID {
		t.Errorf("another address: %+v, %v", got, err)
	}
	other.Country = "FR"
	if _, err := w.reschedule(id, booking.Reschedule{Date: before.Date, Time: "14:00",
		Address: &other}); !fault.Is(err, fault.OutsideArea) {
		t.Errorf("outside the area: %v", err)
	}
	got, err = w.reschedule(id, booking.Reschedule{Date: before.Date, Time: "12:00", LocationID: new(harbourID.String())})
	if err != nil || got.Location.ID != harbourID || got.CustomerAddress != nil {
		t.Errorf("back to the harbour: %+v, %v", got, err)
	}
	for kind, want := range map[event.Type]int{event.BookingRescheduled: 1, event.BookingRelocated: 2} {
		list, err := w.events(t).List(t.Context(), w.offer.ID, event.Filter{Subject: id, Type: kind}, request.Page{})
		if err != nil || len(list.Events) != want {
			t.Errorf("%s: %d events, want %d, %v", kind, len(list.Events), want, err)
		}
	}
}

// TestRelocateTakesMissingAddress shows that a booking at a place takes the address and the kind of its location after
// the location has become one at the customer's address.
func TestRelocateTakesMissingAddress(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(addHome)
	id := w.mustBook(map[string]any{"location_id": harbourID})
	address := &booking.CustomerAddress{Address: postal.Address{Street: "Rua 1", City: "Lisboa", Country: "PT"}}
	to := booking.Relocate{LocationID: harbourID.String(), Address: address}
	got, err := w.relocateTo(ownerActor, id, to)
	if err != nil || got.Sequence != 1 || got.CustomerAddress != nil {
		t.Errorf("to a place: %+v, %v", got, err)
	}
	w.change(func(o *catalog.Snapshot) {
		o.Locations = slices.Clone(o.Locations)
		o.Locations[0].Kind = catalog.KindCustomerAddress
	})
	if got, err = w.relocateTo(ownerActor, id, to); err != nil || got.Location.Kind != catalog.KindCustomerAddress {
		t.Fatalf("to the customer: %+v, %v", got, err)
	}
	if diff := cmp.Diff(address, got.CustomerAddress); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCustomerReschedulesToAnotherLocation(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(addLocations)
	hours := 0
	w.change(func(o *catalog.Snapshot) { o.SelfService.RescheduleUntilHours = &hours })
	a := w.book(w.key("write"), newOrder("10:00", map[string]any{"location_id": harbourID}))
	w.expect("booked", a, 201, "")
	move := func(clock string, to *uuid.UUID) (*booking.CustomerView, error) {
		t.Helper()
		r := booking.Reschedule{Date: a.body.Booking.Date, Time: clock}
		if to != nil {
			r.LocationID = new(to.String())
		}
		return w.pages().Reschedule(t.Context(), tokenOf(a.body.ManageURL), r)
	}
	for _, c := range []struct {
		clock string
		to    *uuid.UUID
		want  string
	}{{"12:00", nil, "Harbour"}, {"12:00", &stationID, "Station"}, {"13:00", nil, "Station"}, {"14:00", &harbourID, "Harbour"}} {
		got, err := move(c.clock, c.to)
		if err != nil || got.Booking.Location.Name != c.want || got.Booking.StartTime != c.clock+":00" {
			t.Errorf("to %v at %s: %+v, %v", c.to, c.clock, got, err)
		}
	}
	if _, err := move("15:00", &annaID); !fault.Is(err, fault.LocationNotFound) {
		t.Errorf("to an unknown location: %v", err)
	}
	// A change of the location alone counts as a reschedule: owners get a notice, and the limit applies.
	list, err := w.events(t).List(t.Context(), w.offer.ID,
		event.Filter{Subject: a.body.Booking.ID, Type: event.BookingRescheduled}, request.Page{})
	if err != nil || len(list.Events) != 4 {
		t.Errorf("%d reschedules, want 4, %v", len(list.Events), err)
	}
}

// TestAddressChangeIsRecordedForBookingsAhead requests messages about a new address twice. The job records one event for
// the booking at the place, with the former address.
func TestAddressChangeIsRecordedForBookingsAhead(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(addLocations)
	there := w.mustBook(map[string]any{"location_id": harbourID})
	w.mustBook(map[string]any{"time": "13:00", "location_id": stationID})
	changes := booking.AddressChanges{Version: w.offer.Version, Places: []booking.AddressChange{
		{LocationID: harbourID, IsDefault: true, FormerAddress: "Kai 1, 20457 Hamburg"}}}
	ctx := actor.With(t.Context(), ownerActor)
	if n, err := w.client().CountRelocated(ctx, w.offer.ID, changes); err != nil || n != 1 {
		t.Errorf("%d customers, want 1: %v", n, err)
	}
	if n, err := w.client().CountRelocated(ctx, uuid.New(), changes); err != nil || n != 0 {
		t.Errorf("%d customers of another business, want 0: %v", n, err)
	}
	for range 2 {
		if err := w.client().StoreAddressChanges(ctx, w.offer.ID, changes); err != nil {
			t.Fatal(err)
		}
		w.follow()
	}
	list, err := w.events(t).List(ctx, w.offer.ID, event.Filter{Type: event.BookingRelocated}, request.Page{})
	if err != nil || len(list.Events) != 1 || list.Events[0].Subject.ID != there {
		t.Fatalf("%+v, %v", list, err)
	}
	var relocated booking.Rescheduled
	if err := json.Unmarshal(list.Events[0].Data, &relocated); err != nil {
		t.Fatal(err)
	}
	if relocated.From.Location.Name != "Kai 1, 20457 Hamburg" || relocated.To.Location.Name != "Harbour" ||
		relocated.From.Location.ID != harbourID || !relocated.From.StartsAt.Equal(relocated.StartsAt) ||
		relocated.From.Date != relocated.Date || relocated.Sequence != 2 {
		t.Errorf("the event contains %+v and from %+v", relocated, relocated.From)
	}
	changes.Places = make([]booking.AddressChange, booking.MaxAddressChanges+1)
	if err := w.client().StoreAddressChanges(ctx, w.offer.ID, changes); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("too many places: %v", err)
	}
}

// TestLimitedOwnerUsesOnlyOwnLocations shows that the internal endpoints pass the locations of a limited member on: the
// member books, sees and relocates only at these locations. All endpoints without such a limit refuse the member.
func TestLimitedOwnerUsesOnlyOwnLocations(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	w.change(addLocations)
	owner := actor.With(t.Context(), ownerActor)
	limited := actor.LimitTo(owner, []uuid.UUID{stationID})
	there := w.mustBook(map[string]any{"location_id": harbourID})
	here := w.mustBook(map[string]any{"time": "12:00", "location_id": stationID})
	client, business := w.client(), w.offer.ID
	if _, err := client.Booking(limited, business, there); !fault.Is(err, fault.NotFound) {
		t.Errorf("a booking at another location: %v", err)
	}
	if _, err := client.Booking(limited, business, here); err != nil {
		t.Errorf("a booking at the member's location: %v", err)
	}
	to := booking.Relocate{LocationID: harbourID.String()}
	if _, err := client.Relocate(limited, business, here, "harbor", to); !fault.Is(err, fault.LocationNotFound) {
		t.Errorf("a relocation to another location: %v", err)
	}
	list, err := client.Bookings(limited, business, booking.Filter{}, request.Page{Limit: 10})
	if err != nil || len(list.Bookings) != 1 || list.Bookings[0].ID != here {
		t.Errorf("the list: %+v, %v", list, err)
	}
	order := booking.NewBooking{ServiceIDs: []string{cutID.String()}, Date: "2027-03-01", Time: "15:00",
		CustomerName: "Zoë"}
	booked, err := client.Book(limited, business, "harbor", order)
	if err != nil || booked.Location == nil || booked.Location.ID != stationID {
		t.Errorf("a booking without a chosen location: %+v, %v", booked, err)
	}
	for range 5 { // until all members are occupied
		_, err = client.Book(limited, business, "harbor", order)
	}
	if !fault.Is(err, fault.NoStaffAvailable) {
		t.Errorf("a booking at an occupied time without a chosen location: %v", err)
	}
	order.LocationID, order.Time = new(harbourID.String()), "16:30"
	if _, err := client.Book(limited, business, "harbor", order); !fault.Is(err, fault.LocationNotFound) {
		t.Errorf("a booking at another location: %v", err)
	}
	for name, call := range map[string]func(context.Context) error{
		"tickets": func(ctx context.Context) error {
			_, err := client.Tickets(ctx, business, booking.TicketFilter{}, request.Page{Limit: 10})
			return err
		},
		"customers": func(ctx context.Context) error {
			_, err := client.Customers(ctx, business, customer.Search{Limit: 10})
			return err
		},
		"keys": func(ctx context.Context) error {
			_, err := client.Keys(ctx, business, request.Page{Limit: 10})
			return err
		},
	} {
		if err := call(owner); err != nil {
			t.Errorf("%s without a limit: %v", name, err)
		}
		if err := call(limited); err == nil {
			t.Errorf("%s serve a limited member", name)
		}
	}
}
