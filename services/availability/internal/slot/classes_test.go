package slot

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// TestLongClassOccupiesMemberForDays has a camp that begins on Monday and lasts a week. It occupies its guide on all
// days.
func TestLongClassOccupiesMemberForDays(t *testing.T) {
	t.Parallel()
	guide := uuid.UUID{2}
	camp := catalog.Service{
		ID: uuid.UUID{1}, Active: true, DurationMinutes: 7 * timespan.MinutesPerDay,
		Classes: []catalog.ClassSession{{ID: uuid.UUID{3}, Date: &monday, Time: 9 * 60, Capacity: 5, StaffID: &guide}},
	}
	walk := catalog.Service{ID: uuid.UUID{4}, Active: true, DurationMinutes: 60, SlotIntervalMinutes: 60,
		StaffIDs: []uuid.UUID{guide}}
	offer, q := newAlwaysOpenOffer(t, "UTC", []catalog.Staff{{ID: guide, Active: true}}, camp, walk)
	q.Services = q.Services[1:]
	for days, want := range []int{9, 0, 0, 0, 0, 0, 0, 24 - 9, 24} {
		q.From = monday + timespan.Date(days)
		q.To = q.From
		if n := len(Find(offer, q, booking.Occupied{}).AppendSlots(nil, q.From)); n != want {
			t.Errorf("%d days after it began there are %d walks, want %d", days, n, want)
		}
	}
}

// TestSkippedBlockDoesNotCancelClass has a block on 2011-12-30, a date that the clock of Apia skipped. The block covers
// no instant, so it does not cancel a class that runs over that date.
func TestSkippedBlockDoesNotCancelClass(t *testing.T) {
	t.Parallel()
	first := timespan.NewDate(2011, time.December, 29)
	retreat := catalog.Service{
		ID: uuid.UUID{1}, Active: true, DurationMinutes: timespan.MinutesPerDay,
		Classes: []catalog.ClassSession{{ID: uuid.UUID{3}, Date: &first, Time: 12 * 60, Capacity: 5}},
	}
	offer, q := newAlwaysOpenOffer(t, "Pacific/Apia", nil, retreat)
	offer.Blocks = []catalog.Block{{
		From: timespan.LocalDateTime{Date: first + 1, Time: 10 * 60},
		To:   timespan.LocalDateTime{Date: first + 1, Time: 11 * 60},
	}}
	q.Now = time.Date(2011, time.December, 1, 0, 0, 0, 0, time.UTC)
	q.From, q.To = first, first
	slots := Find(offer, q, booking.Occupied{}).AppendSlots(nil, first)
	if len(slots) != 1 || slots[0].Remaining != 5 {
		t.Errorf("the retreat is offered as %+v", slots)
	}
}

// TestFindOmitsYesterdaysSessions has a session on the date that Apia skipped. It begins when the next date begins, and
// then belongs to yesterday.
func TestFindOmitsYesterdaysSessions(t *testing.T) {
	t.Parallel()
	skipped := timespan.NewDate(2011, time.December, 30)
	yoga := catalog.Service{
		ID: uuid.UUID{1}, Active: true, DurationMinutes: 60,
		Classes: []catalog.ClassSession{{ID: uuid.UUID{3}, Date: &skipped, Time: 12 * 60, Capacity: 5}},
	}
	offer, q := newAlwaysOpenOffer(t, "Pacific/Apia", nil, yoga)
	q.From, q.To = skipped, skipped
	midnight := time.Date(2011, time.December, 31, 0, 0, 0, 0, offer.Location())
	for now, want := range map[time.Time]int{midnight.Add(-time.Second): 1, midnight: 0} {
		q.Now = now
		if n := len(Find(offer, q, booking.Occupied{}).AppendSlots(nil, skipped)); n != want {
			t.Errorf("%s: %d sessions, want %d", now, n, want)
		}
	}
}

// TestBlockOnLastDayCancelsLongClass has a camp of a week over a clock change. Its end follows the clock of the last
// day, and a block before that end cancels it.
func TestBlockOnLastDayCancelsLongClass(t *testing.T) {
	t.Parallel()
	begins := timespan.NewDate(2027, time.March, 22) // clocks go forward on the 28th
	camp := catalog.Service{
		ID: uuid.UUID{1}, Active: true, DurationMinutes: 7 * timespan.MinutesPerDay,
		Classes: []catalog.ClassSession{{ID: uuid.UUID{3}, Date: &begins, Time: 12 * 60, Capacity: 5}},
	}
	offer, q := newAlwaysOpenOffer(t, "Europe/Berlin", nil, camp)
	q.From, q.To = begins, begins
	slots := Find(offer, q, booking.Occupied{}).AppendSlots(nil, begins)
	if len(slots) != 1 || slots[0].End != 13*60 {
		t.Fatalf("the camp is offered as %+v, want its end at 13:00", slots)
	}
	for from, want := range map[timespan.TimeOfDay]int{12*60 + 59: 0, 13 * 60: 1} {
		offer.Blocks = []catalog.Block{{
			From: timespan.LocalDateTime{Date: begins + 7, Time: from},
			To:   timespan.LocalDateTime{Date: begins + 7, Time: 14 * 60},
		}}
		if n := len(Find(offer, q, booking.Occupied{}).AppendSlots(nil, begins)); n != want {
			t.Errorf("blocked from %s on the last day, the camp is offered %d times, want %d", from, n, want)
		}
	}
}
