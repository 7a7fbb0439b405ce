// Package venue writes the place of a sale into calendar entries. The package does no I/O.
package venue

import (
	"cmp"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
)

// Set sets the location and the position of a calendar entry to the place of the business. The
// location is the address on one line or, if the place has no address, the name of the place. The
// country and the name are in the given language. Set changes nothing if the business has no place.
func Set(event *ical.Event, snapshot *catalog.Snapshot, language string) {
	if place := snapshot.Place(); place != nil {
		setPlace(event, snapshot, place, language)
	}
}

// Booked is the location of a booking: its id, its name at the time
// of the sale, and the link to the online meeting or "".
type Booked struct {
	ID   uuid.UUID
	Name string
	Link string
}

// SetBooked sets the location, the position and the conference of a calendar entry to the location of a booking. For an
// address, SetBooked writes what [Set] writes. For a telephone call, the location is the number that the customer
// calls; for an online meeting, it is the link. Without them, the location is the name.
func SetBooked(event *ical.Event, snapshot *catalog.Snapshot, at Booked, language string) {
	event.Location = at.Name
	place := snapshot.FindLocation(at.ID)
	switch {
	case place == nil: // the business has removed the location
	case place.Kind == catalog.KindPlace:
		setPlace(event, snapshot, place, language)
	case place.Kind == catalog.KindPhone && place.Calls == catalog.CallsCustomer:
		event.Location = cmp.Or(place.Phone, snapshot.Contact.Phone, place.Name.In(language))
	default:
		event.Location = place.Name.In(language)
	}
	if at.Link != "" {
		event.Location, event.Conference = at.Link, at.Link
	}
}

func setPlace(event *ical.Event, snapshot *catalog.Snapshot, place *catalog.Location, language string) {
	country := ""
	if code := place.Address.Country; code != "" {
		country = words.CountryName(code, cmp.Or(language, snapshot.DefaultLanguage))
	}
	event.Location = cmp.Or(place.Address.OneLine(country), place.Name.In(language))
	if place.Geo != nil {
		event.Geo = &ical.Geo{Lat: place.Geo.Lat, Lon: place.Geo.Lon}
	}
}
