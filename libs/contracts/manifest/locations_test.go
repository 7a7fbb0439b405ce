package manifest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withoutStaff is minimal without its last line, the staff.
var withoutStaff = minimal[:strings.Index(minimal, "staff:")]

var salon = withoutStaff + `locations:
- {key: harbour, kind: place, name: Harbour, address: {city: Lisboa}, hours: {mon: ["09:00-18:00"]}}
- {key: video, kind: link, name: Video call, link: "https://meet.example.org/{code}"}
- {key: call, kind: phone, name: We call you, calls: business}
- {key: home, kind: customer_address, name: At your place, countries: [PT], postal_codes: ["10*", "1100-001"], travel_minutes: 30}
staff:
- {key: anna, name: Anna, at: {harbour: {mon: ["09:00-12:00"]}, video: {fri: ["09:00-12:00"]}}}
- {key: bea, name: Bea, at: {home: {mon: ["09:00-12:00"]}}}
services:
- {key: cut, name: Cut, duration_minutes: 30, staff: [anna, bea], locations: [video, harbour]}
- {key: wash, name: Wash, duration_minutes: 30}
bookings: {location_change_minutes: 20}
`

func TestManifestWithAllKindsOfLocationsIsValid(t *testing.T) {
	t.Parallel()
	m := mustParse(t, []byte(salon))
	if got := m.LocationsOf(&m.Services[0]); !slices.Equal(got, []Key{"video", "harbour"}) {
		t.Errorf("the service is offered at %v", got)
	}
	if got := m.LocationsOf(&m.Services[1]); !slices.Equal(got, []Key{"harbour"}) {
		t.Errorf("without locations, the service is offered at %v", got)
	}
	online := &Manifest{Locations: m.Locations[1:]}
	if got := online.LocationsOf(&m.Services[1]); !slices.Equal(got, []Key{"video", "call", "home"}) {
		t.Errorf("without a place, the service is offered at %v", got)
	}
}

func TestStaffLocationsHavePathAndLine(t *testing.T) {
	t.Parallel()
	got := parseProblems(withoutStaff + "locations: [{key: harbour, kind: place}]\nstaff:\n- {key: x, name: X, at: {}}\n" +
		"- {key: y, name: Y, hours: {}, at: {harbour: {}, harbor: {mon: []}}}\n" +
		"- {key: z, name: Z, at: {harbour: {mom: []}, A: {}}}\n")
	want := []string{
		"line 10: staff[0].at: names no location; write the hours at one, or leave it out",
		"line 11: staff[1].hours: stands beside at; write one of the two",
		`line 11: staff[1].at.harbor: names "harbor", but there is no such location; did you mean harbour?`,
		"line 12: staff[2].at.harbour.mom: is no field here; did you mean mon?",
		`line 12: staff[2].at.A: "A" is not a key; write 1 to 63 of a-z, 0-9 and "-"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWarningsNameStaffWhoWorkElsewhere(t *testing.T) {
	t.Parallel()
	var got []string
	for _, p := range Warnings([]byte(salon), warnedAt) {
		got = append(got, p.Path+": "+p.Message)
	}
	want := []string{"services[0].staff[1]: is bea, who works at no location of the service; add one to `at` of the " +
		"member or to the locations of the service"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSlotBoundCountsEveryLocation(t *testing.T) {
	t.Parallel()
	m := mustParse(t, []byte(strings.Replace(salon, "locations: [video, harbour]", "slot_interval_minutes: 10", 1)))
	one := newSlotBound(m).maxListing(&m.Services[0])
	m.Services[0].Locations = []Key{"video", "harbour"}
	two := newSlotBound(m).maxListing(&m.Services[0])
	if one.slots == 0 || two.slots != 2*one.slots {
		t.Errorf("%d slots at one location, %d at two", one.slots, two.slots)
	}
}
