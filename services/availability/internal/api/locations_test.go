package api

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

var (
	pier  = uuid.MustParse("aaaaaaaa-0000-4000-8000-000000000001")
	hill  = uuid.MustParse("aaaaaaaa-0000-4000-8000-000000000002")
	video = uuid.MustParse("aaaaaaaa-0000-4000-8000-000000000003")
)

// addLocations gives the business two places and a video call. Anna works at the pier on Mondays and at
// the hill on Tuesdays; Ben works at both. Colour is only offered at the hill.
func addLocations(n *fakePeers) {
	n.offer.Locations = []catalog.Location{
		{ID: pier, Kind: catalog.KindPlace}, {ID: hill, Kind: catalog.KindPlace},
		{ID: video, Kind: catalog.KindLink, Link: "https://meet.example.org/{code}"},
	}
	n.offer.Bookings.LocationChangeMinutes = 90
	day := func(d time.Weekday) catalog.WeekHours {
		var week catalog.WeekHours
		week[d] = []timespan.Window{{From: 9 * 60, To: 11 * 60}}
		return week
	}
	n.offer.Staff[0].At = []catalog.StaffLocation{{LocationID: pier, Hours: day(time.Monday)},
		{LocationID: hill, Hours: day(time.Tuesday)}}
	n.offer.Services[1].LocationIDs = []uuid.UUID{hill}
}

func TestCalendarsRestrictToLocation(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) {
		addLocations(n)
		n.busy = nil
		at := newBusy(ben, 0, "2027-03-01T08:00", "2027-03-01T09:00")
		at.LocationID, at.Served = hill, at.Edges
		n.busy = append(n.busy, at)
	})
	annas := func(time, end, location string) string {
		return `{"time": "` + time + `", "endTime": "` + end + `", "staffId": "` + anna.String() +
			`", "staffName": "Anna \"A\" <Ω>", "date": "2027-03-01", "dateOffset": 0` + location + `}`
	}
	bens := strings.NewReplacer(anna.String(), ben.String(), `Anna \"A\" <Ω>`, "Ben")
	const cut = "11111111-1111-4111-8111-111111111111"
	at := `, "locationId": "` + pier.String() + `"`
	s.get(t, "harbor/slots", "date", monday, "service_id", cut, "location_id", pier.String()).expect(t, 200,
		`{"computed": true, "timezone": "Europe/Lisbon", "slots": [`+annas("09:00", "10:00", at)+`,`+
			annas("10:00", "11:00", at)+`,`+bens.Replace(annas("11:00", "12:00", at))+`]}`)
	s.get(t, "harbor/slots", "date", monday, "service_id", cut).expect(t, 200,
		`{"computed": true, "timezone": "Europe/Lisbon", "slots": [`+annas("09:00", "10:00", "")+`,`+
			bens.Replace(annas("09:00", "10:00", ""))+`,`+annas("10:00", "11:00", "")+`,`+
			bens.Replace(annas("10:00", "11:00", ""))+`,`+bens.Replace(annas("11:00", "12:00", ""))+`]}`)
	dates := func(location string) reply {
		return s.get(t, "harbor/available-dates", "start", monday, "end", "2027-03-02", "service_id", colour.String(),
			"location_id", location)
	}
	dates(hill.String()).expect(t, 200,
		`{"days": {"2027-03-01": 0, "2027-03-02": 2}, "computed": true, "timezone": "Europe/Lisbon"}`)
	dates(pier.String()).expect(t, 404,
		`{"error": "Location not found: `+pier.String()+`", "messageCode": "location_not_found"}`)
	dates(anna.String()).expect(t, 404,
		`{"error": "Location not found: `+anna.String()+`", "messageCode": "location_not_found"}`)
	for _, path := range []string{"slots", "available-dates"} {
		got := s.get(t, "harbor/"+path, "date", monday, "start", monday, "end", monday, "service_id", cut,
			"location_id", "pier")
		if got.status != 400 || !strings.Contains(got.body, `"messageCode":"invalid_parameter"`) ||
			!strings.Contains(got.body, "location_id") {
			t.Errorf("%s with a malformed location: %d %s", path, got.status, got.body)
		}
	}
}

func TestCalendarsWithoutCommonLocationAreEmpty(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) {
		addLocations(n)
		n.offer.Services[0].LocationIDs = []uuid.UUID{pier, video}
	})
	services := haircut.String() + "," + colour.String()
	s.get(t, "harbor/slots", "date", monday, "service_id", services).expect(t, 200,
		`{"computed": true, "timezone": "Europe/Lisbon", "slots": []}`)
	if len(s.requestedWindows) > 0 {
		t.Errorf("booking was asked for %v", s.requestedWindows)
	}
}

func TestBusinessWithoutLocationsIgnoresLocation(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	want := s.get(t, "harbor/slots", "date", monday, "service_id", haircut.String())
	for _, location := range []string{"pier", pier.String()} {
		got := s.get(t, "harbor/slots", "date", monday, "service_id", haircut.String(), "location_id", location)
		if got.status != 200 || got.body != want.body {
			t.Errorf("location_id %s: %d %s", location, got.status, got.body)
		}
	}
}
