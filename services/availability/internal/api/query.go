package api

import (
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/request"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Bounds of interface.md §8.
const (
	maxServices   = 20
	maxWindowDays = 62
)

// query is a calendar question as the URL asks it: /slots has one date, From = To.
type query struct {
	From, To timespan.Date
	Services []uuid.UUID // in their order; one given twice stays twice
	StaffID  *uuid.UUID
	Variants map[uuid.UUID]uuid.UUID // service to variant

	Package    bool
	PerService bool // its services have members of their own; it says nothing without Package

	// Of a booking that is to be moved, which peers alone ask for.
	Moving    *uuid.UUID // its own time counts as free
	PartySize int        // seats that it needs of a class
}

// parseSlots reads the parameters of /slots. Its errors are of kind invalid_parameter and name the parameter.
func parseSlots(get request.Query) (query, error) {
	date, err := get.Date("date")
	if err != nil {
		return query{}, err
	}
	return parseShared(get, query{From: date, To: date})
}

// parseDates reads the parameters of /available-dates, as [parseSlots] does.
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

// parseShared reads what both calendars take.
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

// parsePackage reads how services are combined and as which variants.
func parsePackage(get request.Query, q query) (query, error) {
	pack, err := get.Text("is_package")
	if err != nil {
		return query{}, err
	}
	staffing, err := get.Text("staffing_mode")
	if err != nil {
		return query{}, err
	}
	q.Package, q.PerService = pack == "true", staffing == availability.StaffingPerService
	variants, err := get.Text("variants")
	if err != nil || variants == "" {
		return q, err
	}
	q.Variants, err = catalog.ParseVariants(strings.Split(variants, ","))
	return q, err
}

// maxPartySize bounds the seats that a peer may ask for, as POST /book does.
const maxPartySize = 1000

// forPeers has a parser read what peers may ask for beside what everybody may.
func forPeers(parse parser) parser {
	return func(get request.Query) (query, error) {
		q, err := parse(get)
		if err != nil {
			return query{}, err
		}
		if q.Moving, err = get.OptionalID("moving"); err != nil {
			return query{}, err
		}
		q.PartySize, err = get.OptionalNumber("party_size", maxPartySize, 1)
		return q, err
	}
}
