package catalog_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// newPlaces returns a business that is open from 9 to 12, with a place that is open from 14 to 18 and a video call.
func newPlaces(t *testing.T) *catalog.Snapshot {
	t.Helper()
	o := newSalon(t)
	hours := &catalog.WeekHours{}
	for d := range hours {
		o.Hours[d] = []timespan.Window{{From: 9 * 60, To: 12 * 60}}
		hours[d] = []timespan.Window{{From: 14 * 60, To: 18 * 60}}
	}
	o.Locations = []catalog.Location{
		{ID: uuid.UUID{1}, Kind: catalog.KindPlace, Hours: hours}, {ID: uuid.UUID{2}, Kind: catalog.KindLink},
		{ID: uuid.UUID{3}, Kind: catalog.KindPlace},
	}
	return o
}

func TestChooseLocationsReturnsCommonLocations(t *testing.T) {
	t.Parallel()
	o := newPlaces(t)
	first, second := o.Service(cut), o.Service(wash)
	first.LocationIDs = []uuid.UUID{{3}, {2}, {1}}
	ask := func(id *uuid.UUID) ([]byte, error) {
		var ids []byte
		found, err := o.ChooseLocations([]*catalog.Service{first, second}, id)
		for _, l := range found {
			ids = append(ids, l.ID[0])
		}
		return ids, err
	}
	if got, err := ask(nil); err != nil || string(got) != "\x03\x01" {
		t.Errorf("common locations: %v, %v; want the places in the order of the first service", got, err)
	}
	if got, err := ask(&uuid.UUID{1}); err != nil || string(got) != "\x01" {
		t.Errorf("the named location: %v, %v", got, err)
	}
	for _, id := range []uuid.UUID{{2}, {9}} {
		if _, err := ask(&id); !fault.Is(err, fault.LocationNotFound) {
			t.Errorf("%s: %v, want location_not_found", id, err)
		}
	}
	second.LocationIDs = []uuid.UUID{{2}}
	first.LocationIDs = nil
	if got, err := ask(nil); err != nil || got != nil {
		t.Errorf("without a common location: %v, %v", got, err)
	}
	o.Locations = nil
	if got, err := ask(&uuid.UUID{9}); err != nil || got != nil {
		t.Errorf("without locations: %v, %v", got, err)
	}
}

func TestOpeningOnPrefersLocation(t *testing.T) {
	t.Parallel()
	o := newPlaces(t)
	d := timespan.NewDate(2027, time.March, 1)
	own, business := &o.Locations[0], &o.Locations[2]
	early := []timespan.Window{{From: 60, To: 120}}
	start := func(windows []timespan.Window) timespan.TimeOfDay {
		if len(windows) == 0 {
			return 0
		}
		return windows[0].From / 60
	}
	check := func(name string, wantOwn, wantBusiness timespan.TimeOfDay) {
		t.Helper()
		if got := start(o.OpeningOn(own, d)); got != wantOwn {
			t.Errorf("%s: the place with own hours opens at %d, want %d", name, got, wantOwn)
		}
		if got := start(o.OpeningOn(business, d)); got != wantBusiness {
			t.Errorf("%s: the other place opens at %d, want %d", name, got, wantBusiness)
		}
		if got := start(o.OpeningOn(nil, d)); got != wantBusiness {
			t.Errorf("%s: the business opens at %d, want %d", name, got, wantBusiness)
		}
	}
	check("weekly hours", 14, 9)
	o.Overrides = []catalog.DayOverride{{Date: d, Hours: early}}
	check("override of the business", 14, 1)
	o.Overrides[0].Hours = nil
	check("closed business", 0, 0)
	if !o.ClosesOn(own, d) || !o.ClosesOn(nil, d) || o.ClosesOn(own, d+1) {
		t.Error("a closed business closes its places on this date only")
	}
	own.Overrides = []catalog.DayOverride{{Date: d, Hours: early}}
	check("override of the place", 1, 0)
	if o.ClosesOn(own, d) {
		t.Error("the override of the place opens the place")
	}
}

func TestRentalIsHandedOverAtItsLocation(t *testing.T) {
	t.Parallel()
	o := newPlaces(t)
	at := func(hour timespan.TimeOfDay) int64 {
		return timespan.Instant(timespan.NewDate(2027, time.March, 1), hour*60, o.Location())
	}
	r := &catalog.Rental{}
	if o.HandsOver(r, at(10), false) || !o.HandsOver(r, at(15), false) {
		t.Error("the rental without a location is not handed over at the first location")
	}
	r.LocationID = &uuid.UUID{3}
	if !o.HandsOver(r, at(10), false) || o.HandsOver(r, at(15), false) {
		t.Error("the rental is not handed over in the hours of its location")
	}
}

func TestLocationsOfEventAndSession(t *testing.T) {
	t.Parallel()
	o := newPlaces(t)
	class := o.Service(yoga)
	if l := o.SessionLocation(class, &catalog.ClassSession{}); l != &o.Locations[0] {
		t.Errorf("the session is at %v, not at the first place", l)
	}
	if l := o.SessionLocation(class, &catalog.ClassSession{LocationID: &uuid.UUID{3}}); l != &o.Locations[2] {
		t.Errorf("the session is at %v, not at its location", l)
	}
	o.Rentals = []catalog.Rental{{ID: uuid.New(), LocationID: &uuid.UUID{3}}}
	if err := o.Prepare(); err != nil {
		t.Fatal(err)
	}
	if l := o.SoldLocation(o.Rentals[0].ID); l != &o.Locations[2] {
		t.Errorf("the location of a sold rental: %v", l)
	}
	if l := o.SoldLocation(uuid.New()); l != nil {
		t.Errorf("the location of an object that is no longer offered: %v", l)
	}
	if one := (&catalog.Snapshot{Locations: o.Locations[:1]}); one.SoldLocation(uuid.New()) != &one.Locations[0] {
		t.Error("a sale of a business with one place is not there")
	}
	if l := o.EventLocation(&catalog.Event{LocationID: &uuid.UUID{2}}); l != &o.Locations[1] {
		t.Errorf("the event is at %v, not at its location", l)
	}
	if l := newSalon(t).EventLocation(&catalog.Event{}); l != nil {
		t.Errorf("without locations, the event is at %v", l)
	}
}

func TestLocationServesArea(t *testing.T) {
	t.Parallel()
	l := catalog.Location{Countries: []string{"PT", "GB"}, PostalCodes: []string{"11*", "4000-001", "SW1A 1AA"}}
	for address, want := range map[postal.Address]bool{
		{Country: "PT", PostalCode: "1100-001"}: true,
		{Country: "PT", PostalCode: "4000 001"}: true,
		{Country: "GB", PostalCode: "sw1a1aa"}:  true,
		{Country: "PT", PostalCode: "4000"}:     false,
		{Country: "PT"}:                         false,
		{PostalCode: "1100-001"}:                false,
		{Country: "ES", PostalCode: "1100-001"}: false,
	} {
		if got := l.Serves(address); got != want {
			t.Errorf("%+v is served: %v", address, got)
		}
	}
	if everywhere := (&catalog.Location{}); !everywhere.Serves(postal.Address{City: "Porto"}) {
		t.Error("a location without an area does not serve an address")
	}
}
