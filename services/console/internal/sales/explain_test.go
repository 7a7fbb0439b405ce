package sales

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// TestListConflictsFindsOccupyingBookings shows that a booking in each status except cancelled occupies its
// time (semantics.md §3) and is named as the conflict.
func TestListConflictsFindsOccupyingBookings(t *testing.T) {
	t.Parallel()
	offer := &catalog.Snapshot{Timezone: "UTC", Currency: "EUR"}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	anna := uuid.New()
	start := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	at := func(hour int) *timespan.LocalDateTime {
		return &timespan.LocalDateTime{Date: timespan.NewDate(2027, 3, 1), Time: timespan.TimeOfDay(hour * 60)}
	}
	for status, want := range map[string]int{
		booking.StatusPending: 1, booking.StatusConfirmed: 1, booking.StatusCompleted: 1, booking.StatusNoShow: 1,
		booking.StatusCancelled: 0,
	} {
		b := booking.Booking{
			Status:   status,
			StaffID:  &anna,
			StartsAt: start,
			EndsAt:   start.Add(time.Hour),
			Services: []booking.BookedService{{ID: uuid.New()}},
		}
		w := &StartExplanation{business: offer, nearby: peers.Part[booking.Booking]{List: []booking.Booking{b}}}
		reason := availability.Reason{Rule: availability.RuleBooking, StaffID: &anna, From: at(9), To: at(10)}
		if got := w.ListConflicts(reason); len(got) != want {
			t.Errorf("%s: %d bookings conflict, want %d", status, len(got), want)
		}
	}
}
