package api_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// conflicts requests the conflicts of a changed offer, and returns the reason for each affected reservation by its id.
// The reason begins with "already: " if the reservation is also affected by the published offer.
func (s *service) conflicts(t *testing.T, change func(*catalog.Snapshot)) map[uuid.UUID]string {
	t.Helper()
	wanted := newOffer()
	wanted.ID = s.offer.ID
	change(wanted)
	answer, err := s.client.FindConflicts(t.Context(), "harbor",
		rental.ConflictsRequest{OfferVersion: 3, Offer: *wanted})
	if err != nil {
		t.Fatal(err)
	}
	why := map[uuid.UUID]string{}
	for _, o := range answer.Conflicts {
		if why[o.Reservation.ID] = o.Reason.Message; o.Already {
			why[o.Reservation.ID] = "already: " + o.Reason.Message
		}
	}
	return why
}

func TestConflictsNameAffectedReservations(t *testing.T) {
	t.Parallel()
	s := start(t)
	first := s.reserve(t, bike, 4, "2027-06-11", "2027-06-13").ID
	second := s.reserve(t, bike, 3, "2027-06-13", "2027-06-14").ID
	alone := s.reserve(t, bike, 5, "2027-06-20", "2027-06-20").ID
	erasedID := s.reserve(t, single, 1, "2027-06-11", "2027-06-11").ID
	cancelled := s.reserve(t, single, 1, "2027-06-12", "2027-06-12").ID
	if _, err := s.client.Cancel(t.Context(), "harbor", cancelled, booking.Cancel{}); err != nil {
		t.Fatal(err)
	}
	late := s.reserve(t, kayak, 1, "2027-06-10", "2027-06-10").ID
	if _, err := s.client.Transition(t.Context(), "harbor", late, rental.TransitionPickup); err != nil {
		t.Fatal(err)
	}
	s.clock.Set(time.Date(2027, time.June, 11, 8, 30, 0, 0, time.UTC)) // the kayak is overdue
	if got := s.conflicts(t, func(*catalog.Snapshot) {}); len(got) > 0 {
		t.Errorf("nothing is changed: %v", got)
	}
	got := s.conflicts(t, func(o *catalog.Snapshot) {
		o.Rentals[0].Quantity = new(6)
		o.Rentals[1].Active = false
		o.Rentals = o.Rentals[:len(o.Rentals)-1]
		if err := o.Prepare(); err != nil {
			t.Fatal(err)
		}
	})
	want := map[uuid.UUID]string{
		first: "Thing: 7 are booked, and 6 are offered.", second: "Thing: 7 are booked, and 6 are offered.",
		erasedID: "Thing is no longer in the offer.", late: "Thing is not active.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outside (-want +got):\n%s", diff)
	}
	away := timespan.NewDate(2027, time.June, 20)
	got = s.conflicts(t, func(o *catalog.Snapshot) {
		for i := range 6 {
			o.Rentals[0].Units[i].Maintenance = []catalog.Maintenance{{From: away, To: away}}
		}
	})
	if diff := cmp.Diff(map[uuid.UUID]string{alone: "Thing: 5 are booked, and 4 are offered."}, got); diff != "" {
		t.Errorf("under maintenance (-want +got):\n%s", diff)
	}
	if _, err := s.client.FindConflicts(t.Context(), "elsewhere",
		rental.ConflictsRequest{OfferVersion: 1, Offer: *newOffer()}); !fault.Is(err, fault.BusinessNotFound) {
		t.Errorf("of an unknown business: %v", err)
	}
}
