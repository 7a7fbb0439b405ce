// Package venue writes the place of a sale into calendar entries. The package does no I/O.
package venue

import (
	"cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
)

// Set sets the location and the position of a calendar entry to the place of the business. The
// location is the address on one line or, if the place has no address, the name of the place. The
// country and the name are in the given language. Set changes nothing if the business has no place.
func Set(event *ical.Event, snapshot *catalog.Snapshot, language string) {
	place := snapshot.Place()
	if place == nil {
		return
	}
	country := ""
	if code := place.Address.Country; code != "" {
		country = words.CountryName(code, cmp.Or(language, snapshot.DefaultLanguage))
	}
	event.Location = cmp.Or(place.Address.OneLine(country), place.Name.In(language))
	if place.Geo != nil {
		event.Geo = &ical.Geo{Lat: place.Geo.Lat, Lon: place.Geo.Lon}
	}
}
