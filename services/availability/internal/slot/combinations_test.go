package slot

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// TestFindAgreesForAllParameterCombinations asks random businesses with all combinations of parameters. The number of a
// day equals the length of its list. A package lists the first slot of each start. Each listed slot can be booked with
// its member.
func TestFindAgreesForAllParameterCombinations(t *testing.T) {
	t.Parallel()
	listed := 0
	for seed := uint64(1); seed <= countBusinesses(t)/200; seed++ {
		b := newBusiness(seed)
		offer := b.drawOffer()
		q := b.drawQuestion(offer).Question
		occupied := b.drawOccupied(offer)
		q.SessionID = nil
		for _, services := range listSelections(offer) {
			for _, variants := range listVariantChoices(offer, services) {
				for _, staff := range listMemberChoices(offer) {
					var err error
					if q.Services, err = offer.Appointment(services, variants); err != nil {
						t.Fatal(err)
					}
					q.StaffID = staff
					listed += checkPackages(t, offer, q, occupied)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if listed == 0 {
		t.Error("nothing is listed, so the comparison proves nothing")
	}
}

// listSelections returns the lists of services to ask for: each active service alone, each appointment service twice,
// and all appointment services together in both orders.
func listSelections(offer *catalog.Snapshot) [][]uuid.UUID {
	var all [][]uuid.UUID
	var together []uuid.UUID
	for i := range offer.Services {
		s := &offer.Services[i]
		if !s.Active {
			continue
		}
		all = append(all, []uuid.UUID{s.ID})
		if !s.IsClass() {
			all = append(all, []uuid.UUID{s.ID, s.ID})
			together = append(together, s.ID)
		}
	}
	reversed := slices.Clone(together)
	slices.Reverse(reversed)
	return append(all, together, reversed)
}

// listVariantChoices returns no variants, and the first variant of each service that has variants.
func listVariantChoices(offer *catalog.Snapshot, services []uuid.UUID) []map[uuid.UUID]uuid.UUID {
	chosen := map[uuid.UUID]uuid.UUID{}
	for _, id := range services {
		if s := offer.Service(id); len(s.Variants) > 0 {
			chosen[id] = s.Variants[0].ID
		}
	}
	if len(chosen) == 0 {
		return []map[uuid.UUID]uuid.UUID{nil}
	}
	return []map[uuid.UUID]uuid.UUID{nil, chosen}
}

// listMemberChoices returns nil for any member, an unknown id, and the id of each member.
func listMemberChoices(offer *catalog.Snapshot) []*uuid.UUID {
	all := []*uuid.UUID{nil, {1}}
	for i := range offer.Staff {
		all = append(all, &offer.Staff[i].ID)
	}
	return all
}

// checkPackages asks for the services as an appointment, as a package, and as a package with staff per service. It
// returns the total number of slots.
func checkPackages(t *testing.T, offer *catalog.Snapshot, q Question, occupied booking.Occupied) int {
	t.Helper()
	q.IsPackage, q.IsPerService = false, true // ignored without a package
	plain := listEachDate(t, offer, q, occupied)
	q.IsPackage, q.IsPerService = true, false
	once := listEachDate(t, offer, q, occupied)
	for d := range plain {
		want := plain[d]
		if !q.Services[0].IsClass() {
			want = slices.CompactFunc(slices.Clone(want), func(a, b Slot) bool { return a.Start == b.Start })
		}
		if !slices.Equal(want, once[d]) {
			t.Errorf("a package on %s (-plain +package):\n%s", q.From,
				cmp.Diff(summarizeSlots(want), summarizeSlots(once[d])))
		}
	}
	q.IsPerService = true
	return len(slices.Concat(plain...)) + len(slices.Concat(listEachDate(t, offer, q, occupied)...))
}

// listEachDate returns the slots of each date. It also checks the numbers of the days, and that the first and the last
// slot of each date can be booked.
func listEachDate(t *testing.T, offer *catalog.Snapshot, q Question, occupied booking.Occupied) [][]Slot {
	t.Helper()
	var lists [][]Slot
	found := Find(offer, q, occupied)
	numbers := countDays(found, q)
	for d := q.From; d <= q.To; d++ {
		slots := found.AppendSlots(nil, d)
		lists = append(lists, slots)
		if numbers[d] != len(slots) {
			t.Errorf("%s has %d slots, days says %d: %+v", d, len(slots), numbers[d], q)
		}
		for i, s := range slots {
			if i == 0 || i == len(slots)-1 {
				checkBookable(t, offer, q, occupied, s)
			}
		}
	}
	return lists
}

// checkBookable fails if no assignment has the member or the session of the slot.
func checkBookable(t *testing.T, offer *catalog.Snapshot, q Question, occupied booking.Occupied, s Slot) {
	t.Helper()
	for _, c := range FindAssignments(offer, q, s.Date, s.Time, occupied) {
		same := c.During.Start == s.Start
		if s.Session != nil {
			same = same && c.Session != nil && c.Session.ID == s.Session.ID && c.Session.Remaining == int(s.Remaining)
		} else {
			same = same && (s.Staff == nil) == (c.StaffID == nil) && (s.Staff == nil || *c.StaffID == s.Staff.ID)
		}
		if same {
			return
		}
	}
	t.Errorf("%+v is listed but cannot be booked: %+v", s, q)
}
