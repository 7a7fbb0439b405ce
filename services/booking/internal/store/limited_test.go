package store_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// TestLimitedActorUsesOnlyOwnLocations calls each method that reads or changes a booking for an owner, for bookings at
// the actor's location, at another location and without a location.
func TestLimitedActorUsesOnlyOwnLocations(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	noRefund := func(store.Booking) (refund.Part, error) { return refund.Part{}, nil }
	for name, c := range map[string]struct {
		at        *store.Location
		permitted []uuid.UUID
		visible   bool
	}{
		"own location":             {harbour, []uuid.UUID{harbour.ID}, true},
		"one of two":               {station, []uuid.UUID{harbour.ID, station.ID}, true},
		"other location":           {station, []uuid.UUID{harbour.ID}, false},
		"no location":              {nil, []uuid.UUID{harbour.ID}, false},
		"no location, permitted":   {nil, []uuid.UUID{harbour.ID, uuid.Nil}, true},
		"no permitted location":    {harbour, []uuid.UUID{}, false},
		"without limit":            {station, nil, true},
		"without limit or a place": {nil, nil, true},
	} {
		limited := actor.LimitTo(testkit.AsSystem(t), c.permitted)
		for method, call := range map[string]func(context.Context, store.NewBooking) error{
			"Booking": func(ctx context.Context, b store.NewBooking) error {
				_, err := s.Booking(ctx, business, b.ID)
				return err
			},
			"Bookings": func(ctx context.Context, b store.NewBooking) error {
				list, _, err := s.Bookings(ctx, business, booking.Filter{StaffID: b.StaffID}, request.Page{Limit: 10})
				if err == nil && len(list) == 0 {
					return store.ErrNotFound
				}
				return err
			},
			"ApplyTransition": func(ctx context.Context, b store.NewBooking) error {
				_, err := s.ApplyTransition(ctx, business, b.ID, transitionOf(state.Confirm), now)
				return err
			},
			"Cancel": func(ctx context.Context, b store.NewBooking) error {
				_, err := s.Cancel(ctx, business, b.ID, now, noRefund)
				return err
			},
			"Refund": func(ctx context.Context, b store.NewBooking) error {
				_, err := s.Refund(ctx, business, b.ID, now, noRefund)
				return err
			},
			"Reschedule": func(ctx context.Context, b store.NewBooking) error {
				_, err := s.Reschedule(ctx, newRelocation(b, harbour))
				if c.permitted != nil && !actor.MayUse(ctx, harbour.ID) && fault.Is(err, fault.LocationNotFound) {
					return store.ErrNotFound
				}
				return err
			},
		} {
			b := newBookingAt(business, c.at, 0, uuid.New(), 0, 30, 0)
			b.StaffID = &b.Parts[0].Resource.ID
			if err := s.Book(testkit.AsSystem(t), b); err != nil {
				t.Fatal(err)
			}
			if err := call(limited, b); c.visible && err != nil || !c.visible && !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s: %s: %v", name, method, err)
			}
			stored, err := s.Booking(testkit.AsSystem(t), business, b.ID)
			if err != nil || !c.visible && (stored.Sequence != 1 || stored.Status != state.Pending) {
				t.Errorf("%s: %s has changed the booking: %s, %v", name, method, stored.Status, err)
			}
		}
	}
}

// TestLimitedActorBooksOnlyAtOwnLocations shows that a limited actor neither books at another location nor reschedules a
// booking to it.
func TestLimitedActorBooksOnlyAtOwnLocations(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	limited := actor.LimitTo(testkit.AsSystem(t), []uuid.UUID{harbour.ID})
	for _, at := range []*store.Location{station, nil} {
		b := newBookingAt(uuid.New(), at, 0, uuid.New(), 0, 30, 0)
		if err := s.Book(limited, b); !fault.Is(err, fault.LocationNotFound) {
			t.Errorf("a booking at %+v: %v", at, err)
		}
		if _, err := s.Booking(testkit.AsSystem(t), b.BusinessID, b.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the booking at %+v is stored: %v", at, err)
		}
	}
	b := newBookingAt(uuid.New(), harbour, 0, uuid.New(), 0, 30, 0)
	if err := s.Book(limited, b); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reschedule(limited, newRelocation(b, station)); !fault.Is(err, fault.LocationNotFound) {
		t.Errorf("a relocation to another location: %v", err)
	}
}
