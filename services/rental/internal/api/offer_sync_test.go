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

// TestWithdrawnRentalIsFullyRefundable shows that a reservation becomes withdrawn if its rental or extra is no
// longer offered. It can then be cancelled with a full refund. If the rental is offered again, the reservation is
// restored.
func TestWithdrawnRentalIsFullyRefundable(t *testing.T) {
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
			reservation := s.mustReserve(t, uuid.NewString(), newTwoHourReservation())
			s.payments.pay(reservation.ID)
			s.step(t)
			token := strings.TrimPrefix(reservation.ManageURL, "https://book.example.org/m/")
			sold := createdEvent + " payment.succeeded reservation.confirmed"
			offered := s.offer
			as := func(withdrawn bool, events string) {
				t.Helper()
				followers := usecase.NewOfferSync(s.Store, s.fakePeers, s.fakePeers, s.clock, telemetry.Discard())
				followers.RecordChange("harbor")
				for range 2 {
					if err := followers.RunOnce(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				s.expectState(t, reservation.ID, "reserved", "paid", 1, events)
				view, err := s.client.CustomerView(t.Context(), token)
				if err != nil || view.Reservation.Withdrawn != withdrawn ||
					view.Reservation.Cancellation.Allowed != withdrawn ||
					withdrawn && view.Reservation.Cancellation.Refund.Percent != 100 {
					t.Errorf("withdrawn is to be %t: %+v, %v", withdrawn, view, err)
				}
			}
			as(false, sold)
			s.edit(withdraw)
			as(true, sold+" reservation.withdrawn")
			s.change(func(p *fakePeers) { p.offer = offered })
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

// TestSweepReadsUncachedOffer shows that a sweep does not withdraw a reservation because of an older cached offer.
func TestSweepReadsUncachedOffer(t *testing.T) {
	t.Parallel()
	s := startOnlinePayment(t)
	reservation := s.mustReserve(t, uuid.NewString(), newTwoHourReservation())
	old := *s.offer
	old.Rentals = nil
	s.change(func(p *fakePeers) { p.staleOffer = &old })
	if err := usecase.NewOfferSync(s.Store, s.fakePeers, s.fakePeers, s.clock,
		telemetry.Discard()).RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.client.Reservation(t.Context(), "harbor", reservation.ID); err != nil || got.Withdrawn {
		t.Errorf("got %+v, %v", got, err)
	}
}
