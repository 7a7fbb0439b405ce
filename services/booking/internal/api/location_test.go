package api_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
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
		isElsewhere := false
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
	return w.client().Relocate(actor.With(w.t.Context(), by), w.offer.ID, id, "harbor",
		booking.Relocate{LocationID: to.String()})
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
