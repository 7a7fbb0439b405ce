package api

import (
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Bounds of interface.md §8.
const (
	maxServices   = 20
	maxWindowDays = 62
)

// query holds the parameters of a calendar. /slots has one date, From = To.
type query struct {
	From, To timespan.Date
	Services []uuid.UUID // in their order; duplicates stay
	StaffID  *uuid.UUID
	Variants map[uuid.UUID]uuid.UUID // service to variant

	IsPackage    bool
	IsPerService bool // each service may have its own member; ignored without Package

	// For rescheduling a booking; only other services send these.
	RescheduledID *uuid.UUID // its own time counts as free
	PartySize     int        // the seats of a class that it needs
}

// parseSlots reads the parameters of /slots. Fault: invalid_parameter, which names the parameter.
func parseSlots(get request.Query) (query, error) {
	date, err := get.Date("date")
	if err != nil {
		return query{}, err
	}
	return parseShared(get, query{From: date, To: date})
}

// parseDates reads the parameters of /available-dates. Fault: as [parseSlots].
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

// parseShared reads the parameters that both calendars have.
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
	return parsePackage(get, q)
}

// parsePackage reads how the services are combined, and their variants.
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

// maxPartySize bounds the seats in a request, as POST /book does.
const maxPartySize = 1000

// withPeerParameters returns a parser that also reads the parameters that only other services may send.
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
