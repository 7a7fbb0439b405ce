package slot

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// TestAgendaFreeTimeMatchesBookableMinutes compares the free time with the starts of a service that takes one minute
// and starts on any minute.
func TestAgendaFreeTimeMatchesBookableMinutes(t *testing.T) {
	t.Parallel()
	free := 0
	for seed := uint64(1); seed <= 400 && !t.Failed(); seed++ {
		b := newBusiness(seed)
		offer := b.drawOffer()
		occupied := b.drawOccupied(offer)
		from, to := b.base-1, b.base+2
		a := NewAgenda(offer, from, to, occupied)
		within := AgendaReach(offer, from, to)
		for _, m := range a.Members {
			service := catalog.Service{ID: uuid.New(), Active: true, DurationMinutes: 1, SlotIntervalMinutes: 1,
				StaffIDs: []uuid.UUID{m.StaffID}}
			q := Question{
				Services: []*catalog.Service{&service}, From: from - 1, To: to, IsOverride: true,
				Now: time.Unix(within.Start, 0).AddDate(0, 0, -5),
			}
			found := Find(offer, q, occupied)
			isListed := map[int64]bool{}
			for d := from - 1; d <= to; d++ {
				for _, s := range found.AppendSlots(nil, d) {
					isListed[s.Start] = true
				}
			}
			for at := within.Start; at < within.End; at += minute {
				wall := time.Unix(at, 0).In(offer.Location())
				date, shown := timespan.DateOf(wall, offer.Location()), timespan.TimeOfDay(wall.Hour()*60+wall.Minute())
				if timespan.Instant(date, shown, offer.Location()) != at {
					continue // the clock shows it for the second time
				}
				if isFree := sumOverlap(m.Free,
					timespan.Span{Start: at, End: at + minute}) == minute; isFree != isListed[at] {
					t.Fatalf("seed %d: %s is free at %s %s: %t, listed: %t", seed, m.StaffID, date, shown, isFree,
						isListed[at])
				} else if isFree {
					free++
				}
			}
		}
	}
	if free == 0 {
		t.Error("no member is free, so the comparison proves nothing")
	}
}

// TestAgendaShowsOvernightClass has a class from 23:30 to 01:00 with a buffer. It reads the agenda of the session's
// date and of the next date.
func TestAgendaShowsOvernightClass(t *testing.T) {
	t.Parallel()
	wednesday, anna, class, session := time.Wednesday, uuid.UUID{1}, uuid.UUID{2}, uuid.UUID{3}
	offer, _ := newAlwaysOpenOffer(t, "UTC", []catalog.Staff{{ID: anna, Active: true}}, catalog.Service{
		ID: class, Active: true, DurationMinutes: 90, BufferAfterMinutes: 15,
		Classes: []catalog.ClassSession{{ID: session, Weekday: &wednesday, Time: 23*60 + 30, Capacity: 5,
			StaffID: &anna}},
	})
	day := timespan.NewDate(2027, time.March, 3)
	start := timespan.Instant(day, 23*60+30, time.UTC)
	midnight := timespan.Instant(day+1, 0, time.UTC)
	taken := booking.Occupied{Seats: []booking.SeatsTaken{{SessionID: session, StartsAt: start, Taken: 2}}}
	got := NewAgenda(offer, day, day, taken)
	want := []availability.ClassSession{{ID: session, ServiceID: class, Date: day,
		During: timespan.Span{Start: start, End: start + 90*minute}, Taken: 2}}
	if diff := cmp.Diff(want, got.Sessions); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]timespan.Span{{Start: start, End: midnight}}, got.Members[0].Teaching); diff != "" {
		t.Errorf("on its date (-want +got):\n%s", diff)
	}
	after := NewAgenda(offer, day+1, day+1, booking.Occupied{})
	if diff := cmp.Diff([]timespan.Span{{Start: midnight, End: start + 105*minute}},
		after.Members[0].Teaching); diff != "" {
		t.Errorf("on the date after it (-want +got):\n%s", diff)
	}
	offer.Overrides = []catalog.DayOverride{{Date: day}}
	if off := NewAgenda(offer, day, day, booking.Occupied{}); len(off.Sessions) != 1 || !off.Sessions[0].Off ||
		len(off.Members[0].Teaching) != 0 {
		t.Errorf("on a closed date: %+v", off)
	}
}
