package api

import (
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Maximum values of interface.md §8.
const (
	maxServices   = 20
	maxWindowDays = 62
)

// query holds the parsed parameters of a calendar. /slots has one date, so that From equals To.
type query struct {
	From, To timespan.Date
	Services []uuid.UUID // ids of the services, in the order of the request, with duplicates
	StaffID  *uuid.UUID
	Variants map[uuid.UUID]uuid.UUID // the key is the id of a service, the value the id of its variant

	// LocationID is the requested location. LocationFault is set if the parameter is invalid. It is reported
	// only for a business with locations, because other businesses do not have the parameter.
	LocationID    *uuid.UUID
	LocationFault error

	IsPackage    bool
	IsPerService bool // each service of a package may have its own staff member; ignored unless IsPackage is true

	// The following fields are for rescheduling a booking. Only other services send them.
	RescheduledID *uuid.UUID // id of the booking to reschedule; its time counts as free
	PartySize     int        // number of class seats that the booking needs
}

// parseSlots parses the parameters of /slots. Fault: invalid_parameter, which names the parameter.
func parseSlots(get request.Query) (query, error) {
	date, err := get.Date("date")
	if err != nil {
		return query{}, err
	}
	return parseShared(get, query{From: date, To: date})
}

// parseDates parses the parameters of /available-dates. Fault: invalid_parameter, which names the parameter.
func parseDates(get request.Query) (query, error) {
	start, end, err := get.Dates("start", "end")
	if err != nil {
		return query{}, err
	}
	if end-start >= maxWindowDays {
		return query{}, request.TooWide(maxWindowDays)
	}
	return parseShared(get, query{From: start, To: end})
}

// parseShared parses the parameters that both calendars have.
func parseShared(get request.Query, q query) (query, error) {
	var err error
	if q.Services, err = get.IDs("service_id", "a service"); err != nil {
		return query{}, err
	}
	if len(q.Services) > maxServices {
		return query{}, request.TooMany("service_id", maxServices)
	}
	if q.StaffID, err = get.OptionalID("staff_id"); err != nil {
		return query{}, err
	}
	q.LocationID, q.LocationFault = get.OptionalID("location_id")
	return parsePackage(get, q)
}

// chooseLocation returns the requested location, or nil if the request names none or the business has no
// locations. Faults: invalid_parameter, location_not_found.
func (q query) chooseLocation(offer *catalog.Snapshot, services []*catalog.Service) (*uuid.UUID, error) {
	if len(offer.Locations) == 0 {
		return nil, nil
	}
	if q.LocationFault != nil {
		return nil, q.LocationFault
	}
	_, err := offer.ChooseLocations(services, q.LocationID)
	return q.LocationID, err
}

// parsePackage parses the parameters of a package (is_package and staffing_mode), and the variants.
func parsePackage(get request.Query, q query) (query, error) {
	pack, err := get.Text("is_package")
	if err != nil {
		return query{}, err
	}
	staffing, err := get.Text("staffing_mode")
	if err != nil {
		return query{}, err
	}
	q.IsPackage, q.IsPerService = pack == "true", staffing == availability.StaffingPerService
	variants, err := get.Text("variants")
	if err != nil || variants == "" {
		return q, err
	}
	q.Variants, err = catalog.ParseVariants(strings.Split(variants, ","))
	return q, err
}

// maxPartySize is the maximum of the parameter party_size. POST /book has the same maximum.
const maxPartySize = 1000

// withPeerParameters returns a parser that also parses `moving` and `party_size`, which only other services may send.
func withPeerParameters(parse parser) parser {
	return func(get request.Query) (query, error) {
		q, err := parse(get)
		if err != nil {
			return query{}, err
		}
		if q.RescheduledID, err = get.OptionalID("moving"); err != nil {
			return query{}, err
		}
		q.PartySize, err = get.OptionalNumber("party_size", maxPartySize, 1)
		return q, err
	}
}
