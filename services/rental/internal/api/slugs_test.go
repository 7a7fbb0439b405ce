package api_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	customers "github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// handOver removes the business and publishes another business with its slug. Rental's cache still has the offer of the
// removed business. It returns the ids of the removed and the new business, and a reservation of the removed one.
func (s service) handOver(t *testing.T) (uuid.UUID, uuid.UUID, *rental.Reservation) {
	t.Helper()
	n := newRequest(bike, 1, "2027-06-11", "2027-06-11")
	n.CustomerEmail = new("zoe@example.com")
	held, err := s.client.Reserve(t.Context(), "harbor", n)
	if err != nil {
		t.Fatal(err)
	}
	before, now := s.offer.ID, uuid.New()
	old := s.offer
	s.edit(func(o *catalog.Snapshot) { o.ID, o.Version = now, o.Version+1 })
	s.change(func(p *fakePeers) { p.staleOffer = old })
	return before, now, held
}

func TestReusedSlugHidesFormerBusiness(t *testing.T) {
	t.Parallel()
	s := start(t)
	before, now, other := s.handOver(t)
	ctx, client := t.Context(), s.client.ForBusiness(now)
	if list, err := client.Reservations(ctx, "harbor", rental.Filter{}, request.Page{}); err != nil ||
		len(list.Reservations) != 0 {
		t.Errorf("the reservations: %+v, %v", list, err)
	}
	if list, err := client.Customers(ctx, "harbor", customers.Search{Limit: 10}); err != nil || len(list) != 0 {
		t.Errorf("the customers: %+v, %v", list, err)
	}
	if held, err := client.CustomerData(ctx, "harbor", "zoe@example.com"); err != nil || len(held.Reservations) != 0 {
		t.Errorf("an export: %+v, %v", held, err)
	}
	if erased, err := client.EraseCustomer(ctx, "harbor",
		customers.Erase{Email: "zoe@example.com", Force: true}); err != nil || erased.Reservations != 0 {
		t.Errorf("an erasure: %+v, %v", erased, err)
	}
	q := report.Query{From: timespan.NewDate(2027, 6, 1), To: timespan.NewDate(2027, 6, 30), By: report.Day}
	if revenue, err := client.RevenueReport(ctx, "harbor", q); err != nil || len(revenue.Rows) != 0 {
		t.Errorf("the revenue: %+v, %v", revenue, err)
	}
	for what, ask := range map[string]func() error{
		"read":         func() error { _, err := client.Reservation(ctx, "harbor", other.ID); return err },
		"cancellation": func() error { _, err := client.Cancellation(ctx, "harbor", other.ID); return err },
		"cancel": func() error {
			_, err := client.Cancel(ctx, "harbor", other.ID, booking.Cancel{})
			return err
		},
		"refund": func() error {
			_, err := client.Refund(ctx, "harbor", other.ID, booking.NewRefund{})
			return err
		},
		"move": func() error {
			_, err := client.Transition(ctx, "harbor", other.ID, rental.TransitionPickup)
			return err
		},
	} {
		if err := ask(); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	left, err := s.client.ForBusiness(before).Reservation(ctx, "harbor", other.ID)
	if err != nil || left.Status != rental.StatusReserved || left.CustomerEmail == nil {
		t.Errorf("the reservation of the former business is %+v, %v", left, err)
	}
}

func TestMovedSlugIsNotFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	before, now, other := s.handOver(t)
	s.change(func(p *fakePeers) { p.offerErr = errors.New("away") })
	if _, err := s.client.ForBusiness(now).Reservations(t.Context(), "harbor", rental.Filter{},
		request.Page{}); err == nil {
		t.Error("reservations are listed although the owner of the slug is unknown")
	}
	s.change(func(p *fakePeers) { p.staleOffer, p.offerErr = nil, nil })
	if _, err := s.client.ForBusiness(before).Reservation(t.Context(), "harbor", other.ID); !fault.Is(err,
		fault.BusinessNotFound) {
		t.Errorf("the business that was removed: %v", err)
	}
	// A request without the id of a business uses only the slug.
	if list, err := s.client.Reservations(t.Context(), "harbor", rental.Filter{}, request.Page{}); err != nil ||
		len(list.Reservations) != 0 {
		t.Errorf("reservations found by the slug only: %+v, %v", list, err)
	}
	if got := fetch(t, s.base+"/internal/businesses/harbor/reservations", http.Header{}, "business_id",
		"7"); got.status != http.StatusBadRequest {
		t.Errorf("an invalid id: %d %s", got.status, got.body)
	}
}
