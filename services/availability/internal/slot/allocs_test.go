package slot

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// newMonthQuestion returns an offer with 5 members, and a question about 30 days. Starts are step minutes apart.
func newMonthQuestion(t *testing.T, apart int) (*catalog.Snapshot, Question, booking.Occupied) {
	t.Helper()
	first := timespan.NewDate(2027, time.March, 1)
	offer := &catalog.Snapshot{Timezone: "Europe/Berlin", Currency: "EUR", Bookings: catalog.Bookings{AdvanceDays: 365}}
	service := catalog.Service{ID: uuid.UUID{1}, Active: true, DurationMinutes: 5, SlotIntervalMinutes: apart}
	for d := range offer.Hours {
		offer.Hours[d] = []timespan.Window{{From: 8 * 60, To: 18 * 60}}
	}
	var occupied booking.Occupied
	for i := range 5 {
		id := uuid.UUID{2, byte(i)}
		offer.Staff = append(offer.Staff, catalog.Staff{ID: id, Active: true, Order: i})
		service.StaffIDs = append(service.StaffIDs, id)
		busy := booking.Busy{Resource: booking.Resource{ID: id}}
		for d := range int64(30) {
			noon := (int64(first)+d)*day + 12*3600
			busy.Add(timespan.Span{Start: noon, End: noon + 3600})
		}
		occupied.Busy = append(occupied.Busy, busy)
	}
	offer.Services = []catalog.Service{service}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	q := Question{Services: []*catalog.Service{&offer.Services[0]}, From: first, To: first + 29,
		Now: time.Unix(int64(first-7)*day, 0)}
	return offer, q, occupied
}

// TestFindAllocatesIndependentlyOfSlotCount compares two grids with the same windows and bookings: one start an hour,
// and one a minute. Both must need the same number of allocations. The test is not parallel, because it counts the
// allocations of the whole process.
func TestFindAllocatesIndependentlyOfSlotCount(t *testing.T) {
	type figures struct{ slots, find, days, list float64 }
	measure := func(apart int) figures {
		offer, q, occupied := newMonthQuestion(t, apart)
		found := Find(offer, q, occupied)
		total := 0
		return figures{
			slots: float64(listSlots(found, q)),
			find:  testing.AllocsPerRun(20, func() { Find(offer, q, occupied) }),
			days:  testing.AllocsPerRun(20, func() { total += countSlots(found, q) }),
			list:  testing.AllocsPerRun(20, func() { total += listSlots(found, q) }),
		}
	}
	few, many := measure(60), measure(1)
	if few.slots != 5*30*9 || many.slots < 50*few.slots {
		t.Fatalf("%v and %v slots are too few for a comparison", few.slots, many.slots)
	}
	if many.find > few.find || many.days > few.days || many.list > few.list {
		t.Errorf("allocations of %v slots: %+v, of %v slots: %+v", few.slots, few, many.slots, many)
	}
}
