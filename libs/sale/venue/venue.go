// Package venue writes the place of a sale into calendar entries. The package does no I/O.
package venue

import (
	"cmp"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/ical"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/postal"
)

// Set sets the location and the position of a calendar entry to the location `at` of the business. The result is the
// address on one line or, for a telephone call, the number that the customer calls. Without them, the result
// is the name of the location. The country and the name are in the given language. If `at` is nil, the result is the
// name of the business.
func Set(event *ical.Event, snapshot *catalog.Snapshot, at *catalog.Location, language string) {
	if at == nil {
		event.Location = snapshot.NameIn(language)
		return
	}
	number := ""
	if at.Kind == catalog.KindPhone && at.Calls == catalog.CallsCustomer {
		number = cmp.Or(at.Phone, snapshot.Contact.Phone)
	}
	event.Location = cmp.Or(formatAddress(at.Address, snapshot, language), number, at.Name.In(language),
		snapshot.NameIn(language))
	if at.Geo != nil {
		event.Geo = &ical.Geo{Lat: at.Geo.Lat, Lon: at.Geo.Lon}
	}
}

// Booked is the location of a booking: its id, its name at the time of the
// sale, the link to the online meeting or "", and the customer's address.
type Booked struct {
	ID      uuid.UUID
	Name    string
	Link    string
	Address postal.Address // for a location of the kind customer_address
}

// SetBooked sets the location, the position and the conference of a calendar entry to the location of a booking. For an
// online meeting, the location is the link; at the customer's address, it is this address. Otherwise SetBooked
// writes what [Set] writes. If the business has removed the location, SetBooked writes its name as of the sale.
func SetBooked(event *ical.Event, snapshot *catalog.Snapshot, at Booked, language string) {
	if place := snapshot.FindLocation(at.ID); place != nil {
		Set(event, snapshot, place, language)
	} else {
		event.Location = at.Name
	}
	if at.Address != (postal.Address{}) {
		event.Location = formatAddress(at.Address, snapshot, language)
	}
	if at.Link != "" {
		event.Location, event.Conference = at.Link, at.Link
	}
}

// formatAddress returns an address on one line, with the country in the given language.
func formatAddress(a postal.Address, snapshot *catalog.Snapshot, language string) string {
	country := ""
	if a.Country != "" {
		country = words.CountryName(a.Country, cmp.Or(language, snapshot.DefaultLanguage))
	}
	return a.OneLine(country)
}
