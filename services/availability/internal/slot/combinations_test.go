package slot

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// TestEveryCombinationOfParametersAgrees asks each of some random businesses in all ways there are: the counts of days
// are the lengths of their lists, a package is the plain list with the first slot of each start alone, and what is
// listed can be booked by whom it names.
func TestEveryCombinationOfParametersAgrees(t *testing.T) {
	t.Parallel()
	listed := 0
	for seed := uint64(1); seed <= businesses(t)/200; seed++ {
		b := newBusiness(seed)
		offer := b.offer()
		q := b.question(offer).Question
		occupied := b.occupied(offer)
		q.SessionID = nil
		for _, services := range selections(offer) {
			for _, variants := range variantsOf(offer, services) {
				for _, staff := range members(offer) {
					var err error
					if q.Services, err = offer.Appointment(services, variants); err != nil {
						t.Fatal(err)
					}
					q.StaffID = staff
					listed += agrees(t, offer, q, occupied)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if listed == 0 {
		t.Error("nothing is listed: the comparison means nothing")
	}
}

// selections are each active service by itself, each other than a class twice, and all others than classes together.
func selections(offer *catalog.Offer) [][]uuid.UUID {
	var all [][]uuid.UUID
	var together []uuid.UUID
	for i := range offer.Services {
		s := &offer.Services[i]
		if !s.Active {
			continue
		}
		all = append(all, []uuid.UUID{s.ID})
		if !s.Class() {
			all = append(all, []uuid.UUID{s.ID, s.ID})
			together = append(together, s.ID)
		}
	}
	reversed := slices.Clone(together)
	slices.Reverse(reversed)
	return append(all, together, reversed)
}

// variantsOf are no variants, and the first of each service that has any.
func variantsOf(offer *catalog.Offer, services []uuid.UUID) []map[uuid.UUID]uuid.UUID {
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

// members are nobody in particular, a stranger, and each member.
func members(offer *catalog.Offer) []*uuid.UUID {
	all := []*uuid.UUID{nil, {1}}
	for i := range offer.Staff {
		all = append(all, &offer.Staff[i].ID)
	}
	return all
}

// agrees asks one appointment as such, as a package and as a package by service, and returns how many slots it has.
func agrees(t *testing.T, offer *catalog.Offer, q Question, occupied booking.Occupied) int {
	t.Helper()
	q.Package, q.PerService = false, true // which says nothing without a package
	plain := listsOf(t, offer, q, occupied)
	q.Package, q.PerService = true, false
	once := listsOf(t, offer, q, occupied)
	for d := range plain {
		want := plain[d]
		if !q.Services[0].Class() {
			want = slices.CompactFunc(slices.Clone(want), func(a, b Slot) bool { return a.Start == b.Start })
		}
		if !slices.Equal(want, once[d]) {
			t.Errorf("a package on %s (-plain +package):\n%s", q.From, cmp.Diff(brief(want), brief(once[d])))
		}
	}
	q.PerService = true
	return len(slices.Concat(plain...)) + len(slices.Concat(listsOf(t, offer, q, occupied)...))
}

// listsOf are the slots of each date. It asks for their numbers, and whether the first and the last can be booked, too.
func listsOf(t *testing.T, offer *catalog.Offer, q Question, occupied booking.Occupied) [][]Slot {
	t.Helper()
	var lists [][]Slot
	found := Find(offer, q, occupied)
	numbers := daysOf(found, q)
	for d := q.From; d <= q.To; d++ {
		slots := found.AppendOn(nil, d)
		lists = append(lists, slots)
		if numbers[d] != len(slots) {
			t.Errorf("%s has %d slots, days says %d: %+v", d, len(slots), numbers[d], q)
		}
		for i, s := range slots {
			if i == 0 || i == len(slots)-1 {
				canBeBooked(t, offer, q, occupied, s)
			}
		}
	}
	return lists
}

// canBeBooked: by the member, or in the session, that the slot names.
func canBeBooked(t *testing.T, offer *catalog.Offer, q Question, occupied booking.Occupied, s Slot) {
	t.Helper()
	for _, c := range Bookable(offer, q, s.Date, s.Time, occupied) {
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
