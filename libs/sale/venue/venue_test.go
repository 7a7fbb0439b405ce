package venue_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/venue"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/libs/values/postal"
)

func TestSetWritesThePlaceOfTheBusiness(t *testing.T) {
	t.Parallel()
	lisbon := postal.Address{Street: "Rua 1", PostalCode: "1100-001", City: "Lisboa", Country: "PT"}
	name := catalog.Label{Text: "Quay", Translations: map[string]string{"pt": "Cais"}}
	for _, c := range []struct {
		name, language string
		locations      []catalog.Location
		want           ical.Event
	}{
		{"no place", "en", nil, ical.Event{Location: "Harbor"}},
		{"an address", "de", []catalog.Location{{Kind: catalog.KindPlace, Name: name, Address: lisbon,
			Geo: &catalog.Geo{Lat: 38.71, Lon: -9.13}}},
			ical.Event{Location: "Rua 1, 1100-001 Lisboa, Portugal", Geo: &ical.Geo{Lat: 38.71, Lon: -9.13}}},
		{"the default language", "", []catalog.Location{{Kind: catalog.KindPlace,
			Address: postal.Address{City: "Berlin", Country: "DE"}}}, ical.Event{Location: "Berlin, Deutschland"}},
		{"no address", "pt", []catalog.Location{{Kind: catalog.KindPlace, Name: name}}, ical.Event{Location: "Cais"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var got ical.Event
			snapshot := &catalog.Snapshot{Name: "Harbor", DefaultLanguage: "de", Locations: c.locations}
			venue.Set(&got, snapshot, snapshot.Place(), c.language)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
