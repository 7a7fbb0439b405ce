package api

import (
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
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
	Services []uuid.UUID
	StaffID  *uuid.UUID
	Variants map[uuid.UUID]uuid.UUID // service to variant

	Package    bool
	PerService bool // its services have members of their own; it says nothing without Package
}

// values gives every value of a query parameter in the order it was sent.
type values func(name string) []string

// parseSlots reads the parameters of /slots. Its errors are of kind invalid_parameter and name the parameter.
func parseSlots(get values) (query, error) {
	date, err := parseDate(get, "date")
	if err != nil {
		return query{}, err
	}
	return parseShared(get, query{From: date, To: date})
}

// parseDates reads the parameters of /available-dates, as [parseSlots] does.
func parseDates(get values) (query, error) {
	start, err := parseDate(get, "start")
	if err != nil {
		return query{}, err
	}
	end, err := parseDate(get, "end")
	if err != nil {
		return query{}, err
	}
	if end < start {
		return query{}, invalid("end: %s lies before start, %s; give a date on or after it", end, start)
	}
	if end-start >= maxWindowDays {
		return query{}, invalid("Window too large (max %d days).", maxWindowDays) // the words of interface.md §4
	}
	return parseShared(get, query{From: start, To: end})
}

// parseShared reads what both calendars take.
func parseShared(get values, q query) (query, error) {
	var err error
	if q.Services, err = parseServices(get); err != nil {
		return query{}, err
	}
	staff, err := single(get, "staff_id")
	if err != nil {
		return query{}, err
	}
	if staff != "" {
		id, err := parseUUID("staff_id", staff)
		if err != nil {
			return query{}, err
		}
		q.StaffID = &id
	}
	return parsePackage(get, q)
}

// parsePackage reads how services are combined and as which variants.
func parsePackage(get values, q query) (query, error) {
	pack, err := single(get, "is_package")
	if err != nil {
		return query{}, err
	}
	staffing, err := single(get, "staffing_mode")
	if err != nil {
		return query{}, err
	}
	q.Package, q.PerService = pack == "true", staffing == availability.StaffingPerService
	variants, err := single(get, "variants")
	if err != nil || variants == "" {
		return q, err
	}
	q.Variants, err = catalog.ParseVariants(strings.Split(variants, ","))
	return q, err
}

// single returns the one value of a parameter, "" where it is not there.
func single(get values, name string) (string, error) {
	all := get(name)
	switch {
	case len(all) == 0:
		return "", nil
	case len(all) > 1:
		return "", invalid("%s: is given %d times; give it once", name, len(all))
	case !utf8.ValidString(all[0]) || strings.ContainsRune(all[0], 0):
		return "", invalid("%s: is no text; write it in UTF-8 without NUL bytes", name)
	}
	return all[0], nil
}

func parseDate(get values, name string) (timespan.Date, error) {
	s, err := single(get, name)
	if err != nil {
		return 0, err
	}
	if s == "" {
		return 0, invalid("%s: is missing; write YYYY-MM-DD, such as 2027-03-01", name)
	}
	d, err := timespan.ParseDate(s)
	if err != nil {
		return 0, invalid("%s: %s", name, err)
	}
	return d, nil
}

// parseServices reads the comma-separated ids of service_id in their order; one given twice stays twice.
func parseServices(get values) ([]uuid.UUID, error) {
	s, err := single(get, "service_id")
	if err != nil {
		return nil, err
	}
	if s == "" {
		return nil, invalid("service_id: is missing; write a service's id, or several separated by commas")
	}
	if strings.Count(s, ",") >= maxServices {
		return nil, invalid("Too many service_id values (max %d).", maxServices)
	}
	var ids []uuid.UUID
	for part := range strings.SplitSeq(s, ",") {
		id, err := parseUUID("service_id", part)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// parseUUID reads the usual form alone; the library also takes braces and URNs.
func parseUUID(name, s string) (uuid.UUID, error) {
	const length = 36
	if len(s) == length {
		if id, err := uuid.Parse(s); err == nil {
			return id, nil
		}
	}
	return uuid.UUID{}, invalid("%s: %q is not a UUID; write one such as 6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b", name, clip(s))
}

func invalid(format string, args ...any) error {
	return fault.Newf(fault.InvalidParameter, format, args...)
}

// clip bounds what a sentence quotes of the caller's input.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
