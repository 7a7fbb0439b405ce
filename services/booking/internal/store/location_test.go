package store_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

var (
	harbour = &store.Location{ID: uuid.MustParse("00000000-0000-0000-0000-0000000000a1"), Kind: "place", Name: "Harbour"}
	station = &store.Location{ID: uuid.MustParse("00000000-0000-0000-0000-0000000000a2"), Kind: "place", Name: "Station"}
)

// newBookingAt returns a booking of a staff member at a location, from minute `from` to minute `to` after noon. The
// booking has the same buffer before and after. The argument `change` is the time to change the location.
func newBookingAt(business uuid.UUID, at *store.Location, change int, member uuid.UUID, from, to,
	buffer int) store.NewBooking {
	b := newBooking(business, newPart(member, 0, from-buffer, to+buffer))
	b.StartsAt, b.EndsAt = noon.Add(time.Duration(from)*time.Minute), noon.Add(time.Duration(to)*time.Minute)
	b.LocalStart, b.LocalEnd = b.StartsAt, b.EndsAt
	b.Location, b.ChangeMinutes = at, change
	return b
}

// checkOneMemberOnePlace fails the test if two bookings of one member at different locations have less time between
// their services than the time to change the location. It compares the rows without the database constraint.
func checkOneMemberOnePlace(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	if n := mustCount(t, pool, `
		SELECT count(*) FROM occupied_time a JOIN occupied_time b USING (business_id, resource_id, lane, change_minutes)
		WHERE a.booking_id <> b.booking_id AND a.location_id <> b.location_id AND lower(a.stay) <= lower(b.stay)
		  AND upper(a.stay) > lower(b.stay)`); n != 0 {
		t.Errorf("%d pairs of bookings leave a member too little time to change the location", n)
	}
}

func TestConcurrentBookKeepsTimeToChangeLocation(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, seed))
	for range 12 {
		business, anna, change := uuid.New(), uuid.New(), 5*random.IntN(13)
		bookings := make([]store.NewBooking, 2+random.IntN(10))
		for i := range bookings {
			at := []*store.Location{harbour, station}[random.IntN(2)]
			from := 5 * random.IntN(40)
			bookings[i] = newBookingAt(business, at, change, anna, from, from+5+5*random.IntN(9), 5*random.IntN(4))
		}
		written := runConcurrently(t, s, bookings)
		if written == 0 {
			t.Error("none of the bookings was written")
		}
		ctx := testkit.AsSystem(t)
		for _, b := range bookings { // whatever was refused conflicts with a booking that was written
			stored := mustCount(t, pool, `SELECT count(*) FROM bookings WHERE id = $1`, b.ID)
			b.ID = uuid.New()
			if err := s.Book(ctx, b); stored == 0 && !errors.Is(err, store.ErrOccupied) {
				t.Errorf("a refused booking is possible after all: %v", err)
			}
		}
	}
	checkNeverTwice(t, pool)
	checkOneMemberOnePlace(t, pool)
}

func TestLargerOfBuffersAndChangeTimeCounts(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for name, c := range map[string]struct {
		change, buffer, gap int
		sameLocation, fits  bool
	}{
		"less than the change time":        {change: 20, gap: 19},
		"the change time":                  {change: 20, gap: 20, fits: true},
		"another booking at the place":     {change: 20, sameLocation: true, fits: true},
		"less than both buffers":           {change: 20, buffer: 15, gap: 29},
		"both buffers, not the sum":        {change: 20, buffer: 15, gap: 30, fits: true},
		"small buffers, less than change":  {change: 20, buffer: 5, gap: 19},
		"small buffers and change, larger": {change: 20, buffer: 5, gap: 20, fits: true},
		"no time needed":                   {fits: true},
	} {
		for _, isFirst := range []bool{true, false} {
			business, anna, second := uuid.New(), uuid.New(), station
			if c.sameLocation {
				second = harbour
			}
			pair := []store.NewBooking{
				newBookingAt(business, harbour, c.change, anna, 0, 30, c.buffer),
				newBookingAt(business, second, c.change, anna, 30+c.gap, 60+c.gap, c.buffer),
			}
			if !isFirst {
				slices.Reverse(pair)
			}
			if err := s.Book(testkit.AsSystem(t), pair[0]); err != nil {
				t.Fatal(err)
			}
			if err := s.Book(testkit.AsSystem(t), pair[1]); (err == nil) != c.fits || err != nil && !errors.Is(err, store.ErrOccupied) {
				t.Errorf("%s, in order %v: %v", name, isFirst, err)
			}
		}
	}
}

func TestSnapshotReturnsLocations(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business, anna, sauna := uuid.New(), uuid.New(), uuid.New()
	first := newBookingAt(business, harbour, 20, anna, 0, 30, 10)
	first.Parts = append(first.Parts, newPart(sauna, 1, 0, 30))
	for _, b := range []store.NewBooking{
		first, newBookingAt(business, harbour, 20, anna, 60, 90, 0), newBookingAt(business, station, 0, anna, 120, 150, 0),
		newBooking(business, newPart(anna, 0, 200, 230)),
	} {
		if err := s.Book(testkit.AsSystem(t), b); err != nil {
			t.Fatal(err)
		}
	}
	at := func(minutes ...int64) []int64 {
		for i := range minutes {
			minutes[i] = noon.Unix() + 60*minutes[i]
		}
		return minutes
	}
	later := []booking.Busy{
		{Resource: booking.Resource{ID: anna}, Edges: at(200, 230)},
		{Resource: booking.Resource{ID: anna}, LocationID: harbour.ID, ChangeMinutes: 20, Edges: at(60, 90),
			Served: at(60, 90)},
		{Resource: booking.Resource{ID: anna}, LocationID: station.ID, Edges: at(120, 150), Served: at(120, 150)},
	}
	all := append(slices.Clone(later), booking.Busy{Resource: booking.Resource{ID: sauna, CapacityUnit: 1}, Edges: at(0, 30)})
	all[1].Edges, all[1].Served = at(-10, 40, 60, 90), at(0, 30, 60, 90)
	for name, c := range map[string]struct {
		req  store.SnapshotRequest
		want []booking.Busy
	}{
		"all":               {store.SnapshotRequest{Locations: true}, all},
		"without a booking": {store.SnapshotRequest{Locations: true, Except: first.ID}, later},
	} {
		got, err := s.Snapshot(t.Context(), business, noon.Add(-time.Hour), noon.Add(5*time.Hour), c.req)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(c.want, func(a, b booking.Busy) int { return slices.Compare(a.ID[:], b.ID[:]) })
		if diff := cmp.Diff(c.want, got.Occupied.Busy); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	stored, err := s.Booking(t.Context(), business, first.ID)
	if diff := cmp.Diff(harbour, stored.Location); err != nil || diff != "" {
		t.Errorf("%v; the stored location (-want +got):\n%s", err, diff)
	}
}

// newRelocation returns the change of the location of a stored booking to `at`, at the same time.
func newRelocation(b store.NewBooking, at *store.Location) store.Reschedule {
	return store.Reschedule{
		BusinessID: b.BusinessID, ID: b.ID, Sequence: 1, Now: now, StartsAt: b.StartsAt, EndsAt: b.EndsAt,
		LocalStart: b.LocalStart, LocalEnd: b.LocalEnd, Timezone: b.Timezone, Services: b.Services,
		StaffID: b.StaffID, StaffName: b.StaffName, PartySize: 1, Parts: b.Parts,
		Location: at, ChangeMinutes: b.ChangeMinutes, IsRelocation: true,
	}
}

func TestRescheduleRelocates(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, anna := uuid.New(), uuid.New()
	b := newBookingAt(business, harbour, 20, anna, 0, 30, 0)
	other := newBookingAt(business, harbour, 20, anna, 40, 60, 0)
	for _, b := range []store.NewBooking{b, other} {
		if err := s.Book(testkit.AsSystem(t), b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Reschedule(testkit.AsSystem(t), newRelocation(b, station)); !errors.Is(err, store.ErrOccupied) {
		t.Errorf("ten minutes before a booking at another place: %v", err)
	}
	if _, err := pool.Exec(t.Context(), `DELETE FROM occupied_time WHERE booking_id = $1`, other.ID); err != nil {
		t.Fatal(err)
	}
	updated, err := s.Reschedule(testkit.AsSystem(t), newRelocation(b, station))
	if err != nil || updated.Location == nil || *updated.Location != *station || updated.Sequence != 2 {
		t.Fatalf("%+v, %v", updated, err)
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM occupied_time WHERE booking_id = $1 AND location_id = $2`, b.ID,
		station.ID); n != 1 {
		t.Errorf("the booking has %d parts at its new location", n)
	}
	if n := mustCount(t, pool, `
		SELECT count(*) FROM events WHERE subject_id = $1 AND type = 'booking.relocated'
		  AND data->'from'->'location'->>'name' = 'Harbour' AND data->'location'->>'name' = 'Station'`, b.ID); n != 1 {
		t.Errorf("%d events record the relocation", n)
	}
}

// TestConcurrentRelocationsKeepTimeToChangeLocation relocates the bookings of one member at the same moment.
func TestConcurrentRelocationsKeepTimeToChangeLocation(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, anna := uuid.New(), uuid.New()
	bookings := make([]store.NewBooking, 12)
	for i := range bookings {
		bookings[i] = newBookingAt(business, harbour, 20, anna, i*30, i*30+20, 0)
	}
	if written := runConcurrently(t, s, bookings); written != len(bookings) {
		t.Fatalf("%d bookings were written", written)
	}
	ctx, cancel := context.WithTimeout(actor.AsSystem(context.Background()), testkit.MaxWait)
	defer cancel()
	var wg sync.WaitGroup
	for _, b := range bookings {
		wg.Go(func() {
			if _, err := s.Reschedule(ctx, newRelocation(b, station)); err != nil && !errors.Is(err, store.ErrOccupied) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	checkOneMemberOnePlace(t, pool)
	checkWhole(t, pool, 1)
}

// TestBookingsFilterByLocation shows that a filter selects the bookings at its locations, and that the nil UUID selects
// the bookings without a location.
func TestBookingsFilterByLocation(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	ids := map[string]uuid.UUID{}
	for name, at := range map[string]*store.Location{"harbour": harbour, "station": station, "none": nil} {
		b := newBookingAt(business, at, 0, uuid.New(), 0, 45, 0)
		ids[name] = b.ID
		mustBook(t, s, b)
	}
	for _, c := range []struct {
		locations []uuid.UUID
		want      []string
	}{
		{nil, []string{"harbour", "station", "none"}}, {[]uuid.UUID{harbour.ID}, []string{"harbour"}},
		{[]uuid.UUID{station.ID, uuid.Nil}, []string{"station", "none"}}, {[]uuid.UUID{uuid.New()}, nil},
	} {
		list, _, err := s.Bookings(t.Context(), business, booking.Filter{LocationIDs: c.locations}, request.Page{Limit: 10})
		if err != nil || len(list) != len(c.want) {
			t.Errorf("%v: %d bookings, %v, want %v", c.locations, len(list), err, c.want)
		}
		for _, name := range c.want {
			if !slices.ContainsFunc(list, func(b store.Booking) bool { return b.ID == ids[name] }) {
				t.Errorf("%v: the booking at %s is missing", c.locations, name)
			}
		}
	}
}
