package slot

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// monday is an open day of newAlwaysOpenOffer.
var monday = timespan.NewDate(2027, time.March, 1)

// newAlwaysOpenOffer returns a business that is always open, with these staff and services, and a question about all
// services.
func newAlwaysOpenOffer(t *testing.T, zone string, staff []catalog.Staff,
	services ...catalog.Service) (*catalog.Snapshot, Question) {
	t.Helper()
	o := &catalog.Snapshot{Timezone: zone, Currency: "EUR", Staff: staff, Services: services,
		Bookings: catalog.Bookings{AdvanceDays: 365}}
	for d := range o.Hours {
		o.Hours[d] = []timespan.Window{{From: 0, To: timespan.MinutesPerDay}}
	}
	if err := o.Prepare(); err != nil {
		t.Fatal(err)
	}
	q := Question{Now: time.Date(2027, time.January, 1, 0, 0, 0, 0, time.UTC)}
	for i := range o.Services {
		q.Services = append(q.Services, &o.Services[i])
	}
	return o, q
}

func TestFindAssignmentsLimitsCapacityUnits(t *testing.T) {
	t.Parallel()
	hall := catalog.Service{ID: uuid.UUID{1}, DurationMinutes: 60, SlotIntervalMinutes: 60, Capacity: 1000}
	offer, q := newAlwaysOpenOffer(t, "UTC", nil, hall)
	assignments := FindAssignments(offer, q, monday, 600, booking.Occupied{})
	if len(assignments) != 64 || assignments[63].Parts[0].Resource.CapacityUnit != 64 {
		t.Errorf("%d assignments, want the 64 lowest units", len(assignments))
	}
}

func TestFindAssignmentsTriesEachMemberWithSeveralUnits(t *testing.T) {
	t.Parallel()
	staff := []catalog.Staff{{ID: uuid.UUID{2}, Active: true}, {ID: uuid.UUID{3}, Active: true, Order: 1}}
	hall := catalog.Service{ID: uuid.UUID{1}, DurationMinutes: 60, SlotIntervalMinutes: 60, Capacity: 1000}
	cut := catalog.Service{ID: uuid.UUID{4}, DurationMinutes: 30, SlotIntervalMinutes: 60,
		StaffIDs: []uuid.UUID{{2}, {3}}}
	offer, q := newAlwaysOpenOffer(t, "UTC", staff, hall, cut)
	assignments := FindAssignments(offer, q, monday, 600, booking.Occupied{})
	if len(assignments) != 64 || *assignments[31].StaffID != staff[0].ID || *assignments[32].StaffID != staff[1].ID {
		t.Errorf("%d assignments, want 32 units for each of the two members", len(assignments))
	}
}

// TestFindAssignmentsUsesBusinessTime has local times around clock changes. A skipped local time means the instant
// after the gap. A repeated local time means its first occurrence (semantics.md §1).
func TestFindAssignmentsUsesBusinessTime(t *testing.T) {
	t.Parallel()
	service := catalog.Service{ID: uuid.UUID{1}, DurationMinutes: 15, SlotIntervalMinutes: 30, Capacity: 1}
	offer, q := newAlwaysOpenOffer(t, "Europe/Berlin", nil, service)
	for _, c := range []struct{ date, at, want string }{
		{"2027-03-28", "02:30", "2027-03-28T01:00:00Z"},
		{"2027-03-28", "03:00", "2027-03-28T01:00:00Z"},
		{"2027-10-31", "02:30", "2027-10-31T00:30:00Z"},
	} {
		l, err := timespan.ParseLocalDateTime(c.date + "T" + c.at)
		if err != nil {
			t.Fatal(err)
		}
		assignments := FindAssignments(offer, q, l.Date, l.Time, booking.Occupied{})
		if len(assignments) != 1 {
			t.Errorf("%s %s: %d assignments, want 1", c.date, c.at, len(assignments))
			continue
		}
		if got := time.Unix(assignments[0].During.Start, 0).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s %s begins at %s, want %s", c.date, c.at, got, c.want)
		}
	}
}

func TestFindAssignmentsLimitsPackageCombinations(t *testing.T) {
	t.Parallel()
	var staff []catalog.Staff
	var everybody []uuid.UUID
	for i := range 70 {
		id := uuid.UUID{2, byte(i)}
		staff, everybody = append(staff, catalog.Staff{ID: id, Active: true, Order: i}), append(everybody, id)
	}
	hall := catalog.Service{ID: uuid.UUID{1}, DurationMinutes: 60, SlotIntervalMinutes: 60, Capacity: 1000}
	cut := catalog.Service{ID: uuid.UUID{4}, DurationMinutes: 30, SlotIntervalMinutes: 60, StaffIDs: everybody}
	offer, q := newAlwaysOpenOffer(t, "UTC", staff, hall, cut)
	q.IsPackage, q.IsPerService = true, true
	at := func(services ...*catalog.Service) []availability.Assignment {
		q.Services = services
		return FindAssignments(offer, q, monday, 600, booking.Occupied{})
	}
	hallOf, cutOf := q.Services[0], q.Services[1]
	if assignments := at(hallOf, cutOf); len(assignments) != 64 ||
		assignments[63].Parts[1].Resource.ID != everybody[63] {
		t.Errorf("%d ways with 1000 units and 70 members, want each of the first 64 members on one unit",
			len(assignments))
	}
	cutOf.StaffIDs = everybody[:2]
	if assignments := at(hallOf, cutOf); len(assignments) != 64 ||
		assignments[31].Parts[1].Resource.ID != everybody[0] || assignments[32].Parts[1].Resource.ID != everybody[1] {
		t.Errorf("%d ways with 1000 units and 2 members, want 32 units for each of the two members", len(assignments))
	}
	if assignments := at(cutOf, cutOf); len(assignments) != 2 || len(assignments[1].Parts) != 1 ||
		*assignments[1].StaffID != everybody[1] {
		t.Errorf("%+v, want one stretch of each of the two members", assignments)
	}
}

// TestFindAssignmentsOccupiesEachPerformer asks for packages with staff per service, of random businesses.
func TestFindAssignmentsOccupiesEachPerformer(t *testing.T) {
	t.Parallel()
	named := 0
	for seed := uint64(1); seed <= 4_000; seed++ {
		a := newExplainCase(seed)
		q := a.question.Question
		q.IsPackage, q.IsPerService = true, true
		for _, c := range FindAssignments(a.offer, q, a.date, a.time, a.occupied) {
			if c.Performers == nil {
				continue
			}
			if len(c.Performers) != len(q.Services) {
				t.Fatalf("seed %d: %d performers of %d services", seed, len(c.Performers), len(q.Services))
			}
			at := c.During.Start
			for i, s := range q.Services {
				until := at + int64(s.DurationMinutes)*minute
				isHeld := slices.ContainsFunc(c.Parts, func(p availability.Part) bool {
					return p.Resource.CapacityUnit == 0 && c.Performers[i] != nil && p.Resource.ID == *c.Performers[i] &&
						p.Occupies.Start <= at && until <= p.Occupies.End
				})
				if hasStaff := len(s.StaffIDs) > 0; isHeld != hasStaff {
					t.Errorf("seed %d: service %d is held by its performer: %t, has staff: %t", seed, i, isHeld,
						hasStaff)
				}
				if at = until; isHeld {
					named++
				}
			}
		}
	}
	if named == 0 {
		t.Error("no member performs a service, so the comparison proves nothing")
	}
}
