package manifest

import (
	"maps"
	"slices"
	"strings"
)

// The kinds of locations, and the value of Calls that needs a telephone number.
const (
	kindPlace           = "place"
	kindLink            = "link"
	kindPhone           = "phone"
	kindCustomerAddress = "customer_address"
	callsCustomer       = "customer"
)

// maxLink is the maximal length of a link after its placeholder was replaced.
const maxLink = 200

// The placeholders of a link, with values of the length that replaces them.
var linkPlaceholders = map[string]string{
	"{code}":    strings.Repeat("x", 26),
	"{booking}": "00000000-0000-4000-8000-000000000000",
}

// checkLocationKind reports fields that the kind of the location needs or excludes.
func (v *validator) checkLocationKind(at *path, l *Location) {
	if v.report.hasFailed(at.field("kind")) {
		return
	}
	for _, f := range []struct {
		name  string
		kind  string // the only kind that has the field
		isSet bool
	}{
		{"address", kindPlace, l.Address != nil},
		{"geo", kindPlace, l.Geo != nil},
		{"link", kindLink, l.Link != ""},
		{"calls", kindPhone, l.Calls != ""},
		{"countries", kindCustomerAddress, l.Countries != nil},
		{"postal_codes", kindCustomerAddress, l.PostalCodes != nil},
		{"travel_minutes", kindCustomerAddress, l.TravelMinutes != 0},
	} {
		if f.isSet && f.kind != l.Kind {
			v.addProblem(at.field(f.name), "goes only with kind %s, not %s; remove it", f.kind, l.Kind).
				setCode(CodeExcludes, "With", "kind")
		}
	}
	switch l.Kind {
	case kindLink:
		v.checkMeetingLink(at.field("link"), l.Link)
	case kindPhone:
		v.checkCalls(at, l)
	}
	checkUnique(v, at.field("countries"), l.Countries, "", identity[Country])
	checkUnique(v, at.field("postal_codes"), l.PostalCodes, "", identity[Line])
	for i, code := range l.PostalCodes {
		if star := strings.IndexByte(string(code), '*'); star >= 0 && star < len(code)-1 {
			v.addProblem(at.field("postal_codes").item(i), "is %s; write * only at the end, such as 10*",
				quote(string(code))).setCode(CodeFormat, "Value", shorten(string(code)), "Example", "10*")
		}
	}
}

// checkMeetingLink reports a link that is missing or, after its placeholder was replaced, no https URL.
func (v *validator) checkMeetingLink(at *path, link string) {
	if link == "" {
		v.addProblem(at, "is missing; kind link needs the https:// address of the meeting").setCode(CodeMissing)
		return
	}
	filled, count := link, 0
	for _, name := range slices.Sorted(maps.Keys(linkPlaceholders)) {
		count += strings.Count(filled, name)
		filled = strings.ReplaceAll(filled, name, linkPlaceholders[name])
	}
	switch {
	case count > 1:
		v.addProblem(at, "has %d placeholders; write at most one of {code} and {booking}", count)
	case strings.ContainsAny(filled, "{}"):
		v.addProblem(at, "has an unknown placeholder; write {code} or {booking}, or none")
	case !strings.HasPrefix(filled, "https://") || !isWebAddress(filled):
		v.addProblem(at, "is %s; write an https:// address", quote(link)).setCode(CodeURL, "Value", shorten(link))
	case len(filled) > maxLink:
		v.addProblem(at, "is %d characters long with its placeholder filled in; write at most %d", len(filled), maxLink).
			setCode(CodeTooLong, "Count", len(filled), "Max", maxLink)
	}
}

// checkCalls reports a location for telephone calls that does not state who calls, or
// that lacks the telephone number which the customers call.
func (v *validator) checkCalls(at *path, l *Location) {
	hasContact := v.m.Contact != nil && v.m.Contact.Phone != ""
	switch {
	case l.Calls == "":
		v.addProblem(at.field("calls"), "is missing; write business or customer, whoever calls").setCode(CodeMissing)
	case l.Calls == callsCustomer && l.Phone == "" && !hasContact:
		v.addProblem(at.field("phone"), "is missing; write the number that customers call, here or in contact").
			setCode(CodeMissing)
	}
}

// checkStaffLocations checks the hours of a staff member at single locations.
func (v *validator) checkStaffLocations(at *path, s *Staff) {
	here := at.field("at")
	if s.At == nil {
		return
	}
	if len(s.At) == 0 {
		v.addProblem(here, "names no location; write the hours at one, or leave it out").setCode(CodeMissing)
	}
	if s.Hours != nil {
		v.addProblem(at.field("hours"), "stands beside at; write one of the two").setCode(CodeExcludes, "With", "at")
	}
	for _, key := range slices.Sorted(maps.Keys(s.At)) {
		v.checkKey(here.field(string(key)), key, &v.locations)
	}
}

// checkLocationKey reports the key of a location that does not exist.
func (v *validator) checkLocationKey(at *path, key Key) {
	if key != "" {
		v.checkKey(at, key, &v.locations)
	}
}

// checkSessionLocation reports a class session at a location at which its service is not offered.
func (v *validator) checkSessionLocation(at *path, c *ClassSession, s *Service) {
	v.checkLocationKey(at, c.Location)
	if c.Location != "" && v.locations.set[c.Location] && !slices.Contains(v.m.LocationsOf(s), c.Location) {
		v.addProblem(at, "is %s, which is not among the locations of the service; add it to its locations",
			quote(string(c.Location)))
	}
}

// checkCommonLocation reports a package whose services are offered at no common location. The
// argument `services` holds the services by key.
func (v *validator) checkCommonLocation(at *path, p *Package, services map[Key]*Service) {
	if len(v.m.Locations) == 0 || len(p.Services) == 0 {
		return
	}
	offers := make(map[Key]int, len(v.m.Locations)) // by location, the number of services that are offered there
	for i, key := range p.Services {
		service := services[key]
		if service == nil {
			return // reported as an unknown key
		}
		for _, l := range v.m.LocationsOf(service) {
			if offers[l] == i { // all services so far are offered there, and a repeated key counts once
				offers[l]++
			}
		}
	}
	for _, n := range offers {
		if n >= len(p.Services) {
			return
		}
	}
	v.addProblem(at, "have no location in common, so they cannot be booked together; write services that are "+
		"offered at one location")
}

// servicesByKey returns the services of the manifest by key.
func (m *Manifest) servicesByKey() map[Key]*Service {
	services := make(map[Key]*Service, len(m.Services))
	for i := range m.Services {
		services[m.Services[i].Key] = &m.Services[i]
	}
	return services
}

// LocationsOf returns the keys of the locations at which a service is offered. The default is all
// locations of the kind place or, if there are none, all locations.
func (m *Manifest) LocationsOf(s *Service) []Key {
	if len(s.Locations) > 0 {
		return s.Locations
	}
	hasPlace := slices.ContainsFunc(m.Locations, func(l Location) bool { return l.Kind == kindPlace })
	var keys []Key
	for i := range m.Locations {
		if l := &m.Locations[i]; l.Kind == kindPlace || !hasPlace {
			keys = append(keys, l.Key)
		}
	}
	return keys
}
