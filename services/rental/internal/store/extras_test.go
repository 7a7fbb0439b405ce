package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/state"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
)

// withExtra returns a reservation with units of another rental.
func withExtra(r store.NewReservation, rental uuid.UUID, quantity int, byDay bool) store.NewReservation {
	r.Extras = append(r.Extras, store.Extra{RentalID: rental, Name: "Vest", Quantity: quantity, ByDay: byDay})
	return r
}

func TestExtrasOccupyUnitsLikeReservation(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business, kayak, vest, paddle := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	d := dates(today+1, today+1)
	hours := timespan.Span{Start: timespan.Instant(today+1, 10*60, time.UTC),
		End: timespan.Instant(today+1, 12*60, time.UTC)}
	reservation := mustReserve(t, s,
		withExtra(withExtra(setHours(newReservation(business, kayak, 1, d), 10*60, 12*60), vest,
			2, true), paddle, 3, false))
	mustReserve(t, s, newReservation(business, vest, 4, d))
	expect := func(when string, on occupancy.Dates, vests, paddles []occupancy.Reservation) {
		t.Helper()
		got, err := s.FindOccupying(testkit.AsSystem(t), business, []uuid.UUID{vest, paddle}, on)
		if err != nil {
			t.Fatal(err)
		}
		sorted := cmpopts.SortSlices(func(a, b occupancy.Reservation) bool { return a.Units < b.Units })
		if diff := cmp.Diff(map[uuid.UUID][]occupancy.Reservation{vest: vests, paddle: paddles}, got, sorted,
			cmpopts.EquateEmpty(), cmpopts.IgnoreMapEntries(
				func(_ uuid.UUID, held []occupancy.Reservation) bool { return len(held) == 0 })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	alone := occupancy.Reservation{Units: 4, Dates: d}
	expect("reserved", d, []occupancy.Reservation{{Units: 2, Dates: d}, alone},
		[]occupancy.Reservation{{Units: 3, Dates: d, Span: hours}})
	expect("later", dates(today+9, today+9), nil, nil)
	applyTransition(t, s, business, reservation.ID, state.Pickup)
	out := []occupancy.Reservation{{Units: 3, Dates: d, Span: hours, IsOut: true}}
	expect("out", d, []occupancy.Reservation{{Units: 2, Dates: d, IsOut: true}, alone}, out)
	expect("out for long", dates(today+9, today+9), []occupancy.Reservation{{Units: 2, Dates: d, IsOut: true}}, out)
	applyTransition(t, s, business, reservation.ID, state.Return)
	expect("back", d, []occupancy.Reservation{alone}, nil)
	cancelled := mustReserve(t, s, withExtra(newReservation(business, kayak, 1, d), vest, 1, true))
	applyTransition(t, s, business, cancelled.ID, state.Cancel)
	expect("cancelled", d, []occupancy.Reservation{alone}, nil)
}

// TestConcurrentReserveGetsBothRentalsOrNone makes 64 reservations of two rentals at the same time, and
// expects 7, the number of units of each. The requests name the rentals in different orders. Locks in these orders
// would cause deadlocks.
func TestConcurrentReserveGetsBothRentalsOrNone(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, kayak, vest, d := uuid.New(), uuid.New(), uuid.New(), dates(today+1, today+2)
	written := runConcurrently(t, 64, func(i int) error {
		rental, extra := kayak, vest
		if i%2 == 0 {
			rental, extra = vest, kayak
		}
		_, err := s.Reserve(actor.AsSystem(context.Background()), withExtra(newReservation(business, rental, 1, d),
			extra, 1, true), newUnitCheck(7, 1, d))
		return err
	})
	if written != 7 {
		t.Errorf("%d of 64 got one of 7 kayaks with one of 7 vests", written)
	}
	var kayaks, vests int
	err := pool.QueryRow(testkit.AsSystem(t),
		`SELECT count(*) FILTER (WHERE rental_id = $1), count(*) FILTER (WHERE rental_id = $2) FROM
		(SELECT rental_id FROM reservations UNION ALL SELECT rental_id FROM extra_units) AS held`, kayak, vest).Scan(&kayaks, &vests)
	if err != nil || kayaks != 7 || vests != 7 {
		t.Errorf("%d kayaks and %d vests are occupied, %v", kayaks, vests, err)
	}
}
