package api_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// fakeSessions is a fake of the booking service's sessions. The secret of a session is "secret of " and the address.
type fakeSessions struct{}

func (fakeSessions) Customer(_ context.Context, _ uuid.UUID, secret string) (*booking.SessionCustomer, error) {
	const prefix = "secret of "
	if len(secret) <= len(prefix) {
		return nil, link.NewNotFoundFault()
	}
	return &booking.SessionCustomer{Email: secret[len(prefix):]}, nil
}

// listReservations returns the ids of a page of the reservations of a customer, and the page.
func (s service) listReservations(t *testing.T, req booking.CustomerSalesRequest) ([]uuid.UUID,
	[]rental.OwnReservation) {
	t.Helper()
	if req.Limit == 0 {
		req.Limit = booking.MaxSales
	}
	found, err := s.client.OwnReservations(t.Context(), "harbor", s.offer.ID, req)
	if err != nil {
		t.Fatal(err)
	}
	ids := []uuid.UUID{}
	for _, r := range found {
		ids = append(ids, r.Position.ID)
	}
	return ids, found
}

// TestReservationsOfSessionAreThoseOfItsCustomer shows that the page of a session has the reservations of its address,
// upcoming and past, page by page. Reservations for whole dates are ordered by their midnight in the zone of the sale.
func TestReservationsOfSessionAreThoseOfItsCustomer(t *testing.T) {
	t.Parallel()
	s := start(t)
	reserve := func(id, from, to string, times ...string) *rental.Reservation {
		t.Helper()
		request := newRequest(id, 1, from, to, times...)
		request.CustomerEmail = new("Zoe@example.com")
		reservation, err := s.client.Reserve(t.Context(), "harbor", request)
		if err != nil {
			t.Fatal(err)
		}
		return reservation
	}
	later := reserve(kayak, "2027-06-12", "2027-06-12", "10:00", "12:00")
	days := reserve(bike, "2027-06-12", "2027-06-13")
	cancelled := reserve(kayak, "2027-06-11", "2027-06-11", "10:00", "12:00")
	if _, err := s.client.Cancel(t.Context(), "harbor", cancelled.ID, booking.Cancel{}); err != nil {
		t.Fatal(err)
	}
	const zoe = "secret of zoe@example.com"
	ids, page := s.listReservations(t, booking.CustomerSalesRequest{Secret: zoe})
	if diff := cmp.Diff([]uuid.UUID{days.ID, later.ID}, ids); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	midnight := time.Date(2027, 6, 11, 23, 0, 0, 0, time.UTC) // in Lisbon
	if !page[0].Position.StartsAt.Equal(midnight) || page[0].Token == "" ||
		"https://book.example.org/m/"+page[1].Token != later.ManageURL || page[1].Reservation.Quantity != 1 {
		t.Errorf("%+v", page)
	}
	first, one := s.listReservations(t, booking.CustomerSalesRequest{Secret: zoe, Limit: 1})
	rest, _ := s.listReservations(t, booking.CustomerSalesRequest{Secret: zoe, After: &one[0].Position})
	if diff := cmp.Diff(ids, append(first, rest...)); diff != "" {
		t.Errorf("in two pages (-want +got):\n%s", diff)
	}
	past, _ := s.listReservations(t, booking.CustomerSalesRequest{Secret: zoe, IsPast: true})
	if diff := cmp.Diff([]uuid.UUID{cancelled.ID}, past); diff != "" {
		t.Errorf("past (-want +got):\n%s", diff)
	}
	s.clock.Advance(time.Date(2027, 6, 13, 23, 0, 0, 0, time.UTC).Add(link.Lifetime + time.Second).Sub(s.clock.Now()))
	past, page = s.listReservations(t, booking.CustomerSalesRequest{Secret: zoe, IsPast: true})
	if diff := cmp.Diff([]uuid.UUID{later.ID, days.ID, cancelled.ID}, past); diff != "" || page[0].Token != "" {
		t.Errorf("when their links have expired: %s%+v", diff, page[0])
	}
	if others, _ := s.listReservations(t, booking.CustomerSalesRequest{Secret: "secret of bo@example.com"}); len(
		others) != 0 {
		t.Errorf("another customer sees %v", others)
	}
	if _, err := s.client.OwnReservations(t.Context(), "harbor", s.offer.ID,
		booking.CustomerSalesRequest{Limit: 1}); !fault.Is(err, fault.NotFound) {
		t.Errorf("without a session: %v", err)
	}
	if _, err := s.client.OwnReservations(t.Context(), "harbor", uuid.New(),
		booking.CustomerSalesRequest{Secret: zoe, Limit: 1}); !fault.Is(err, fault.BusinessNotFound) {
		t.Errorf("at another business: %v", err)
	}
	for email, want := range map[string]bool{"ZOE@example.com": true, "bo@example.com": false} {
		if isKnown, err := s.client.KnowsCustomer(t.Context(), "harbor", email); err != nil || isKnown != want {
			t.Errorf("%s is known: %t, %v", email, isKnown, err)
		}
	}
}
