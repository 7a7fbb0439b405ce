package usecase_test

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// ids draws one of six ids, so that some services occur twice.
var ids = rapid.Map(rapid.Uint8Range(0, 5), func(n uint8) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte{n})
})

func TestSelectionQueryRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := usecase.Selection{
			Services: rapid.SliceOfN(ids, 1, 5).Draw(t, "services"),
			Staff: rapid.OneOf(rapid.SampledFrom([]string{"", usecase.AnyStaff, usecase.AnyStaffPerService}),
				rapid.Map(ids, uuid.UUID.String)).Draw(t, "staff"),
		}
		for _, id := range s.Services {
			if rapid.Bool().Draw(t, "varied") {
				if s.Variants == nil {
					s.Variants = map[uuid.UUID]uuid.UUID{}
				}
				s.Variants[id] = ids.Draw(t, "variant")
			}
		}
		if rapid.Bool().Draw(t, "started") {
			date, at := timespan.Date(rapid.Int32Range(0, 50_000).Draw(t, "date")),
				timespan.TimeOfDay(rapid.IntRange(0, 1439).Draw(t, "time"))
			s.Date, s.Time = &date, &at
		}
		if rapid.Bool().Draw(t, "located") {
			s.Location = new(ids.Draw(t, "location"))
		}
		query, err := url.ParseQuery(s.Values().Encode())
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := usecase.ReadSelection(query)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, parsed); diff != "" {
			t.Errorf("(-chosen +read):\n%s", diff)
		}
	})
}

func TestReadSelectionRejectsInvalidQuery(t *testing.T) {
	t.Parallel()
	id := uuid.NewString()
	for _, query := range []string{"service=x", "service=" + id + ":x", "service=" + id + "&staff=me",
		"service=" + id + "&date=2027-02-30", "service=" + id + "&time=25:00", "session=x", "at=x"} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := usecase.ReadSelection(values); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", query, err)
		}
	}
	many := url.Values{}
	for range 21 {
		many.Add("service", id)
	}
	if _, err := usecase.ReadSelection(many); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("21 services: %v", err)
	}
}

// TestAppointmentChoosesLocation shows that visitors choose between the locations that all services have.
func TestAppointmentChoosesLocation(t *testing.T) {
	t.Parallel()
	cut, dye, harbour, station, video := uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New()
	newBusiness := func(locations ...uuid.UUID) *usecase.Business {
		snapshot := &catalog.Snapshot{
			Slug: "harbor", Timezone: "Europe/Lisbon", Currency: "EUR", Modules: catalog.Modules{Services: true},
			Services: []catalog.Service{
				{ID: cut, Active: true, DurationMinutes: 30, LocationIDs: []uuid.UUID{station, harbour}},
				{ID: dye, Active: true, DurationMinutes: 30, LocationIDs: []uuid.UUID{harbour}},
			},
		}
		for _, id := range locations {
			snapshot.Locations = append(snapshot.Locations, catalog.Location{ID: id, Kind: catalog.KindPlace})
		}
		if err := snapshot.Prepare(); err != nil {
			t.Fatal(err)
		}
		return &usecase.Business{Snapshot: snapshot}
	}
	several := newBusiness(harbour, station, video)
	call := newBusiness(station)
	if a, err := call.Appointment(usecase.Selection{Services: []uuid.UUID{cut}}); err != nil || a.NeedsPhone() {
		t.Errorf("the customer of a place must give a telephone number: %v", err)
	}
	call.Snapshot.Locations[0].Kind, call.Snapshot.Locations[0].Calls = catalog.KindPhone, catalog.CallsBusiness
	if a, err := call.Appointment(usecase.Selection{Services: []uuid.UUID{cut}}); err != nil || !a.NeedsPhone() {
		t.Errorf("the business calls a customer without a telephone number: %v", err)
	}
	for name, c := range map[string]struct {
		business     *usecase.Business
		services     []uuid.UUID
		chosen, want *uuid.UUID
		place        *uuid.UUID
	}{
		"no locations":            {newBusiness(), []uuid.UUID{cut}, &station, nil, nil},
		"one place":               {newBusiness(station), []uuid.UUID{cut}, &station, nil, nil},
		"the first by default":    {several, []uuid.UUID{cut}, nil, &station, &station},
		"the chosen":              {several, []uuid.UUID{cut}, &harbour, &harbour, &harbour},
		"not offered there":       {several, []uuid.UUID{cut}, &video, &station, &station},
		"only one in common":      {several, []uuid.UUID{cut, dye}, nil, nil, &harbour},
		"no choice for a service": {several, []uuid.UUID{dye}, &station, nil, &harbour},
	} {
		a, err := c.business.Appointment(usecase.Selection{Services: c.services, Location: c.chosen})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, a.Location); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if l := a.Place(); (l == nil) != (c.place == nil) || l != nil && l.ID != *c.place {
			t.Errorf("%s: the place is %+v", name, l)
		}
	}
}
