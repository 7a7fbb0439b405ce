package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// runConcurrently makes n reservations at the same time and returns how many were stored.
func runConcurrently(t *testing.T, n int, reserve func(i int) error) int {
	t.Helper()
	var (
		wg    sync.WaitGroup
		start = make(chan struct{})
		errs  = make([]error, n)
	)
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = reserve(i)
		})
	}
	close(start)
	wg.Wait()
	written := 0
	for _, err := range errs {
		switch {
		case err == nil:
			written++
		case !errors.Is(err, store.ErrTooFewUnits):
			t.Errorf("a lost race must be ErrTooFewUnits, not %v", err)
		}
	}
	return written
}

func TestConcurrentReserveSharesLastUnits(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, kayak, d := uuid.New(), uuid.New(), dates(today+1, today+3)
	mustReserve(t, s, newReservation(business, kayak, 7, dates(today, today+2)))
	written := runConcurrently(t, 20, func(int) error {
		_, err := s.Reserve(actor.AsSystem(context.Background()), newReservation(business, kayak, 1, d),
			newUnitCheck(10, 1, d))
		return err
	})
	if written != 3 {
		t.Errorf("%d of 20 got one of the last 3 units, want 3", written)
	}
	var units int
	if err := pool.QueryRow(testkit.AsSystem(t), `SELECT sum(quantity) FROM reservations`).Scan(&units); err != nil {
		t.Fatal(err)
	}
	if units != 10 {
		t.Errorf("%d units are promised, want all 10", units)
	}
}

func TestConcurrentReserveOfDifferentRentalsSucceeds(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business, kayak, d := uuid.New(), uuid.New(), dates(today+1, today+1)
	for name, newOne := range map[string]func(i int) store.NewReservation{
		"rentals":    func(int) store.NewReservation { return newReservation(business, uuid.New(), 1, d) },
		"businesses": func(int) store.NewReservation { return newReservation(uuid.New(), kayak, 1, d) },
		"dates": func(i int) store.NewReservation {
			return newReservation(business, kayak, 1, dates(today+timespan.Date(i), today+timespan.Date(i)))
		},
	} {
		written := runConcurrently(t, 20, func(i int) error {
			r := newOne(i)
			_, err := s.Reserve(actor.AsSystem(context.Background()), r, newUnitCheck(1, 1, r.Dates))
			return err
		})
		if written != 20 {
			t.Errorf("different %s: %d of 20 were written", name, written)
		}
	}
}

func TestRefusedReserveWritesNothing(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, kayak, d := uuid.New(), uuid.New(), dates(today, today)
	_, err := s.Reserve(testkit.AsSystem(t), newReservation(business, kayak, 2, d), newUnitCheck(1, 2, d))
	if !errors.Is(err, store.ErrTooFewUnits) {
		t.Errorf("got %v, want ErrTooFewUnits", err)
	}
	mustReserve(t, s, newReservation(business, kayak, 1, d))
	var n int
	if err := pool.QueryRow(testkit.AsSystem(t), `SELECT count(*) FROM reservations`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	if n != 1 {
		t.Errorf("%d reservations are there, want 1", n)
	}
}

func TestFindOccupyingSelectsOverlappingReservations(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business, kayak, vest := uuid.New(), uuid.New(), uuid.New()
	inside := mustReserve(t, s, newReservation(business, kayak, 2, dates(today+1, today+4)))
	hourly := mustReserve(t, s, setHours(newReservation(business, vest, 3, dates(today+2, today+3)), 22*60, 2*60))
	overdue := mustReserve(t, s, newReservation(business, kayak, 1, dates(today-30, today-20)))
	cancelled := mustReserve(t, s, newReservation(business, kayak, 5, dates(today+2, today+2)))
	returned := mustReserve(t, s, newReservation(business, kayak, 6, dates(today+2, today+2)))
	mustReserve(t, s, newReservation(business, kayak, 7, dates(today-30, today-20))) // not picked up
	mustReserve(t, s, newReservation(business, kayak, 8, dates(today+20, today+20)))
	mustReserve(t, s, newReservation(business, uuid.New(), 9, dates(today+2, today+2)))
	mustReserve(t, s, newReservation(uuid.New(), kayak, 9, dates(today+2, today+2)))
	applyTransition(t, s, business, overdue.ID, state.Pickup)
	applyTransition(t, s, business, cancelled.ID, state.Cancel)
	applyTransition(t, s, business, returned.ID, state.Pickup)
	applyTransition(t, s, business, returned.ID, state.Return)

	got, err := s.FindOccupying(testkit.AsSystem(t), business, []uuid.UUID{kayak, vest}, dates(today+2, today+2))
	if err != nil {
		t.Fatal(err)
	}
	want := map[uuid.UUID][]occupancy.Reservation{
		kayak: {
			{Units: inside.Quantity, Dates: dates(today+1, today+4)},
			{Units: overdue.Quantity, Dates: dates(today-30, today-20), IsOut: true},
		},
		vest: {{Units: hourly.Quantity, Dates: dates(today+2, today+3), Span: timespan.Span{
			Start: timespan.Instant(today+2, 22*60, time.UTC), End: timespan.Instant(today+3, 2*60, time.UTC),
		}}},
	}
	byUnits := cmpopts.SortSlices(func(a, b occupancy.Reservation) bool { return a.Units > b.Units })
	if diff := cmp.Diff(want, got, byUnits); diff != "" {
		t.Errorf("occupying reservations (-want +got):\n%s", diff)
	}
}

func applyTransition(t *testing.T, s *store.Store, business, id uuid.UUID, m state.TransitionName) store.Reservation {
	t.Helper()
	transition, ok := state.FindTransition(m)
	if !ok {
		t.Fatalf("the transition %q does not exist", m)
	}
	updated, err := s.ApplyTransition(actor.AsSystem(context.Background()), business, id, transition,
		now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return updated
}

func TestTransitionsFollowStatus(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	allowed := map[string]state.State{
		"pickup": state.PickedUp, "pickup return": state.Returned, "cancel": state.Cancelled,
	}
	ways := map[string][]state.TransitionName{
		"pickup": {state.Pickup}, "pickup return": {state.Pickup, state.Return}, "cancel": {state.Cancel}, "": nil,
	}
	for way, moves := range ways {
		for _, next := range []state.TransitionName{state.Pickup, state.Return, state.Cancel} {
			r := mustReserve(t, s, newReservation(business, uuid.New(), 1, dates(today, today)))
			for _, m := range moves {
				applyTransition(t, s, business, r.ID, m)
			}
			transition, _ := state.FindTransition(next)
			updated, err := s.ApplyTransition(testkit.AsSystem(t), business, r.ID, transition, now)
			var notAllowed *store.NotAllowedError
			switch to, ok := allowed[joinPath(way, string(next))]; {
			case ok && (err != nil || updated.Status != to):
				t.Errorf("%s after %q: %v, %s", next, way, err, updated.Status)
			case !ok && !errors.As(err, &notAllowed):
				t.Errorf("%s after %q: got %v, want a refusal", next, way, err)
			case !ok && way != "" && notAllowed.Status != allowed[way]:
				t.Errorf("%s after %q: refused for status %s, want %s", next, way, notAllowed.Status, allowed[way])
			}
		}
	}
}

func joinPath(way, next string) string {
	if way == "" {
		return next
	}
	return way + " " + next
}

func TestCountAheadIncludesHandedOutReservations(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	reserve := func(business uuid.UUID, from, to timespan.Date, moves ...state.TransitionName) {
		r := mustReserve(t, s, newReservation(business, uuid.New(), 1, dates(from, to)))
		for _, m := range moves {
			applyTransition(t, s, business, r.ID, m)
		}
	}
	reserve(business, today-2, today-1)
	reserve(business, today-2, today)
	reserve(business, today+1, today+2)
	reserve(business, today-2, today-1, state.Pickup)
	reserve(business, today+1, today+2, state.Pickup, state.Return)
	reserve(business, today+1, today+2, state.Cancel)
	reserve(uuid.New(), today+1, today+2)
	for day, want := range map[timespan.Date]int{today - 1: 4, today: 3, today + 1: 2, today + 3: 1} {
		if n, err := s.CountAhead(testkit.AsSystem(t), business, day); err != nil || n != want {
			t.Errorf("on %s, there are %d future reservations, %v; want %d", day, n, err, want)
		}
	}
}

func TestTransitionStaysInBusiness(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	r := mustReserve(t, s, newReservation(uuid.New(), uuid.New(), 1, dates(today, today)))
	pickup, _ := state.FindTransition(state.Pickup)
	if _, err := s.ApplyTransition(testkit.AsSystem(t), uuid.New(), r.ID, pickup, now); !errors.Is(err,
		store.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestReservationsArePagedByStart(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business, kayak := uuid.New(), uuid.New()
	var want []uuid.UUID
	for i := range 7 {
		d := today + timespan.Date(i/3)
		r := newReservation(business, kayak, 1, dates(d, d))
		if i%3 > 0 {
			r = setHours(r, timespan.TimeOfDay(i%3*60), 24*60) // after the reservation of the whole date
		}
		want = append(want, mustReserve(t, s, r).ID)
	}
	mustReserve(t, s, newReservation(uuid.New(), kayak, 1, dates(today, today)))
	var got []uuid.UUID
	for after := ""; ; {
		page, next, err := s.Reservations(t.Context(), business, rental.Filter{}, request.Page{Limit: 2, Cursor: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			got = append(got, r.ID)
		}
		if after = next; after == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages skip, repeat or disorder (-want +got):\n%s", diff)
	}
}

func TestReservationsFilterByDates(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business, kayak := uuid.New(), uuid.New()
	mustReserve(t, s, newReservation(business, kayak, 1, dates(today-5, today-1)))
	r := setHours(newReservation(business, kayak, 2, dates(today-1, today)), 22*60, 2*60)
	written := mustReserve(t, s, r)
	mustReserve(t, s, newReservation(business, kayak, 1, dates(today+1, today+2)))
	day := today
	list, next, err := s.Reservations(t.Context(), business, rental.Filter{From: &day, To: &day},
		request.Page{Limit: 10})
	if err != nil || next != "" {
		t.Fatal(err, next)
	}
	want := []store.Reservation{{
		ID: r.ID, RentalID: kayak, RentalName: "Kayak", Status: state.Reserved, Quantity: 2,
		Dates: dates(today-1, today), Hours: r.Hours, Extras: []store.Extra{}, Units: []store.Unit{},
		CustomerName: "Zoë", FormData: json.RawMessage("{}"), CreatedAt: now, UpdatedAt: now, Sequence: 1,
	}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[0], written); diff != "" {
		t.Errorf("stored reservation (-want +got):\n%s", diff)
	}
}

func TestReservationsRejectForeignCursor(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for _, cursor := range []string{"x", "====", "AAAA", request.Cursor{At: 1 << 62}.String(),
		request.Cursor{At: -1 << 62}.String()} {
		_, _, err := s.Reservations(t.Context(), uuid.New(), rental.Filter{}, request.Page{Limit: 10, Cursor: cursor})
		if !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%q: got %v, want invalid_parameter", cursor, err)
		}
	}
}
