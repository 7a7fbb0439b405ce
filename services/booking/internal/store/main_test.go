package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/migrations"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// noon is a time three months after now; the tests give times in minutes after noon.
var (
	now  = time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	noon = time.Date(2027, 6, 1, 12, 0, 0, 0, time.UTC)
	euro = money.Currency{Code: "EUR", Digits: 2}
)

func open(t testing.TB) (*store.Store, *pgxpool.Pool) {
	t.Helper()
	pool := testkit.Postgres(t, "booking", migrations.FS)
	return store.New(pool), pool
}

// newPart returns a part that occupies one resource from minute `from` to minute `to` after noon. The argument `unit`
// is the number of the capacity unit.
func newPart(resource uuid.UUID, unit, from, to int) availability.Part {
	return availability.Part{
		Resource: booking.Resource{ID: resource, CapacityUnit: unit},
		Occupies: timespan.Span{Start: noon.Unix() + int64(from)*60, End: noon.Unix() + int64(to)*60},
	}
}

// newBooking returns a booking that occupies `parts`. It starts and ends with the first part.
func newBooking(businessID uuid.UUID, parts ...availability.Part) store.NewBooking {
	name := "Anna"
	staff := parts[0].Resource.ID
	start, end := time.Unix(parts[0].Occupies.Start, 0).UTC(), time.Unix(parts[0].Occupies.End, 0).UTC()
	return store.NewBooking{
		Details: store.Details{
			ID:         uuid.New(),
			Status:     state.Pending,
			StartsAt:   start,
			EndsAt:     end,
			LocalStart: start,
			LocalEnd:   end,
			Services:   []store.SoldService{{ID: uuid.New(), Name: "Haircut", DurationMinutes: 45, Price: 4000}},
			StaffID:    &staff,
			StaffName:  &name,
			PartySize:  1,
			Total:      4000,
			Currency:   euro,
			Source:     "api",
		},
		BusinessID: businessID,
		Customer:   store.Customer{Name: "Zoë", Email: "zoe@example.com"},
		FormData:   map[string]any{},
		Now:        now,
		Parts:      parts,
	}
}

// localTime returns the booking with its local start and end in the time zone `loc`.
func localTime(b store.NewBooking, loc *time.Location) store.NewBooking {
	b.LocalStart, b.LocalEnd = store.WallClock(b.StartsAt, loc), store.WallClock(b.EndsAt, loc)
	return b
}

// mustCount runs a query that returns one number, and returns the number.
func mustCount(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) int {
	t.Helper()
	var n int
	if err := pool.QueryRow(actor.AsSystem(context.Background()), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// checkWhole fails the test unless every booking occupies time in exactly `partsEach` parts.
func checkWhole(t testing.TB, pool *pgxpool.Pool, partsEach int) {
	t.Helper()
	halves := mustCount(t, pool, `
		SELECT count(*) FROM bookings b
		WHERE (SELECT count(*) FROM occupied_time o WHERE o.business_id = b.business_id AND o.booking_id = b.id) <> $1`, partsEach)
	if halves != 0 {
		t.Errorf("%d bookings do not hold exactly their %d parts", halves, partsEach)
	}
}

// checkNeverTwice fails the test if two rows of occupied time overlap. It compares the rows without the database
// constraint.
func checkNeverTwice(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	twice := mustCount(t, pool, `
		SELECT count(*) FROM occupied_time a JOIN occupied_time b USING (business_id, resource_id, lane)
		WHERE (a.booking_id, a.part) < (b.booking_id, b.part)
		  AND lower(a.during) < upper(b.during) AND lower(b.during) < upper(a.during)`)
	if twice != 0 {
		t.Errorf("%d times are sold twice", twice)
	}
}
