package venue_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/venue"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/libs/values/postal"
)

func TestSetBookedWritesLocationByKind(t *testing.T) {
	t.Parallel()
	place, call, called, video := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	snapshot := &catalog.Snapshot{DefaultLanguage: "en", Locations: []catalog.Location{
		{ID: uuid.New(), Kind: catalog.KindPlace, Address: postal.Address{City: "Porto"}},
		{ID: place, Kind: catalog.KindPlace, Address: postal.Address{City: "Lisboa"}, Geo: &catalog.Geo{Lat: 1, Lon: 2}},
		{ID: call, Kind: catalog.KindPhone, Name: catalog.Label{Text: "Call us"}, Phone: "+351 1", Calls: catalog.CallsCustomer},
		{ID: called, Kind: catalog.KindPhone, Name: catalog.Label{Text: "We call you"}, Phone: "+351 1", Calls: catalog.CallsBusiness},
		{ID: video, Kind: catalog.KindLink, Name: catalog.Label{Text: "Video"}},
	}}
	for name, c := range map[string]struct {
		at   venue.Booked
		want ical.Event
	}{
		"place":  {venue.Booked{ID: place}, ical.Event{Location: "Lisboa", Geo: &ical.Geo{Lat: 1, Lon: 2}}},
		"call":   {venue.Booked{ID: call}, ical.Event{Location: "+351 1"}},
		"called": {venue.Booked{ID: called}, ical.Event{Location: "We call you"}},
		"meeting": {venue.Booked{ID: video, Link: "https://m.example/1"},
			ical.Event{Location: "https://m.example/1", Conference: "https://m.example/1"}},
		"hidden link": {venue.Booked{ID: video, Name: "Old"}, ical.Event{Location: "Video"}},
		"customer": {venue.Booked{ID: video, Address: postal.Address{Street: "Rua 1", City: "Lisboa", Country: "PT"}},
			ical.Event{Location: "Rua 1, Lisboa, Portugal"}},
		"removed place": {venue.Booked{ID: uuid.New(), Name: "Old"}, ical.Event{Location: "Old"}},
	} {
		var got ical.Event
		venue.SetBooked(&got, snapshot, c.at, "en")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
