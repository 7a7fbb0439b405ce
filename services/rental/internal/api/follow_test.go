package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
)

// TestARentalThatIsNoLongerOfferedGivesAllBack shows that a reservation becomes withdrawn if its rental or extra is no
// longer offered. It can then be cancelled with a full refund. If the rental is offered again, the reservation is
// restored.
func TestARentalThatIsNoLongerOfferedGivesAllBack(t *testing.T) {
	t.Parallel()
	inactive := func(id string) func(*catalog.Snapshot) {
		return func(o *catalog.Snapshot) {
			for i := range o.Rentals {
				o.Rentals[i].Active = o.Rentals[i].Active && o.Rentals[i].ID.String() != id
			}
		}
	}
	for name, withdraw := range map[string]func(*catalog.Snapshot){
		"inactive":       inactive(kayak),
		"extra inactive": inactive(bike),
		"disabled":       func(o *catalog.Snapshot) { o.Modules.Rentals = false },
		"removed":        func(o *catalog.Snapshot) { o.Rentals = nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startOnlinePayment(t)
			s.edit(func(o *catalog.Snapshot) { o.SelfService.CancelUntilHours = nil })
			made := s.mustReserve(t, uuid.NewString(), twoHours())
			s.bank.pay(made.ID)
			s.step(t)
			token := strings.TrimPrefix(made.ManageURL, "https://book.example.org/m/")
			sold := created + " payment.succeeded reservation.confirmed"
			offered := s.offer
			as := func(withdrawn bool, told string) {
				t.Helper()
				followers := usecase.NewFollowers(s.Store, s.peers, s.peers, s.clock, telemetry.Discard())
				followers.Changed("harbor")
				for range 2 {
					if err := followers.Once(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				s.expect(t, made.ID, "reserved", "paid", 1, told)
				shown, err := s.client.Managed(t.Context(), token)
				if err != nil || shown.Reservation.Withdrawn != withdrawn ||
					shown.Reservation.Cancellation.Allowed != withdrawn ||
					withdrawn && shown.Reservation.Cancellation.Refund.Percent != 100 {
					t.Errorf("withdrawn is to be %t: %+v, %v", withdrawn, shown, err)
				}
			}
			as(false, sold)
			s.edit(withdraw)
			as(true, sold+" reservation.withdrawn")
			s.change(func(p *peers) { p.offer = offered })
			as(false, sold+" reservation.withdrawn reservation.restored")
			s.edit(withdraw)
			as(true, sold+" reservation.withdrawn reservation.restored reservation.withdrawn")
			all := json.Number("26.00")
			if _, err := s.client.CancelByLink(t.Context(), token, booking.CancelByLink{Refund: &all}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestASweepReadsTheNewestOffer shows that a sweep does not withdraw a reservation because of an older cached offer.
func TestASweepReadsTheNewestOffer(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	made := s.mustReserve(t, uuid.NewString(), twoHours())
	old := *s.offer
	old.Rentals = nil
	s.change(func(p *peers) { p.remembered = &old })
	if err := usecase.NewFollowers(s.Store, s.peers, s.peers, s.clock,
		telemetry.Discard()).Once(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.client.Reservation(t.Context(), "harbor", made.ID); err != nil || got.Withdrawn {
		t.Errorf("got %+v, %v", got, err)
	}
}
