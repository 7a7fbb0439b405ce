package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
	"github.com/slotmesh/slotmesh/services/rental/migrations"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var (
	today = timespan.NewDate(2027, time.June, 10)
	now   = time.Date(2027, time.June, 10, 9, 0, 0, 0, time.UTC)
)

func open(t testing.TB) (*store.Store, *pgxpool.Pool) {
	t.Helper()
	pool := testkit.Postgres(t, "rental", migrations.FS)
	return store.New(pool), pool
}

// alwaysFits is a check that permits every reservation.
func alwaysFits(map[uuid.UUID][]occupancy.Reservation) bool { return true }

// newUnitCheck returns a check that permits a reservation if `quantity` of the given units are free on the dates.
func newUnitCheck(units, quantity int, dates occupancy.Dates) func(map[uuid.UUID][]occupancy.Reservation) bool {
	return func(occupying map[uuid.UUID][]occupancy.Reservation) bool {
		c, fits := occupancy.NewCalendar(time.UTC, now, dates), true
		for _, of := range occupying {
			fits = fits && c.CountFree(c.Span(), occupancy.Stock{Quantity: units, InService: units}, of) >= quantity
		}
		return fits && quantity <= units
	}
}

func dates(from, to timespan.Date) occupancy.Dates { return occupancy.Dates{From: from, To: to} }

func newReservation(businessID, rentalID uuid.UUID, quantity int, d occupancy.Dates) store.NewReservation {
	return store.NewReservation{
		BusinessID: businessID, ID: uuid.New(), RentalID: rentalID, RentalName: "Kayak", Quantity: quantity,
		Dates: d, CustomerName: "Zoë", OfferVersion: 3, Now: now,
	}
}

// setHours returns a reservation with the given times in UTC.
func setHours(r store.NewReservation, start, end timespan.TimeOfDay) store.NewReservation {
	r.Hours = &store.Hours{Start: start, End: end, Span: timespan.Span{
		Start: timespan.Instant(r.Dates.From, start, time.UTC), End: timespan.Instant(r.Dates.To, end, time.UTC),
	}}
	return r
}

func mustReserve(t testing.TB, s *store.Store, r store.NewReservation) store.Reservation {
	t.Helper()
	written, err := s.Reserve(actor.AsSystem(context.Background()), r, alwaysFits)
	if err != nil {
		t.Fatal(err)
	}
	return written
}
