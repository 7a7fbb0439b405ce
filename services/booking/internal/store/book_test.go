package store_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// runConcurrently writes all bookings at the same moment and returns how many were written. Any error except
// store.ErrOccupied fails the test.
func runConcurrently(t *testing.T, s *store.Store, bookings []store.NewBooking) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(actor.AsSystem(context.Background()), testkit.MaxWait)
	defer cancel()
	var (
		wg    sync.WaitGroup
		start = make(chan struct{})
		errs  = make([]error, len(bookings))
	)
	for i, b := range bookings {
		wg.Go(func() {
			<-start
			errs[i] = s.Book(ctx, b)
		})
	}
	close(start)
	wg.Wait()
	written := 0
	for _, err := range errs {
		switch {
		case err == nil:
			written++
		case !errors.Is(err, store.ErrOccupied):
			t.Errorf("a lost race must be ErrOccupied, not %v", err)
		}
	}
	return written
}

func repeatBooking(n int, make func(int) store.NewBooking) []store.NewBooking {
	list := []store.NewBooking{}
	for i := range n {
		list = append(list, make(i))
	}
	return list
}

func TestConcurrentBookSellsSlotOnce(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, anna := uuid.New(), uuid.New()
	written := runConcurrently(t, s, repeatBooking(200, func(int) store.NewBooking {
		return newBooking(business, newPart(anna, 0, 0, 45))
	}))
	if written != 1 {
		t.Errorf("%d bookings were written, want 1", written)
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM bookings`); n != 1 {
		t.Errorf("the table has %d bookings, want 1", n)
	}
	checkWhole(t, pool, 1)
}

func TestBookRejectsOverlap(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, anna := uuid.New(), uuid.New()
	// Any two of these bookings overlap, because all of them include minutes 95 to 100.
	written := runConcurrently(t, s, repeatBooking(100, func(i int) store.NewBooking {
		return newBooking(business, newPart(anna, 0, i%96, 100+i))
	}))
	if written != 1 {
		t.Errorf("%d overlapping bookings were written, want 1", written)
	}
	checkNeverTwice(t, pool)
}

func TestBookAcceptsAdjacentBookings(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, anna := uuid.New(), uuid.New()
	written := runConcurrently(t, s, repeatBooking(50, func(i int) store.NewBooking {
		return newBooking(business, newPart(anna, 0, i*10, i*10+10))
	}))
	if written != 50 {
		t.Errorf("%d of 50 bookings that only touch were written", written)
	}
	checkWhole(t, pool, 1)
}

func TestResourcesDoNotConflict(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business, anna := uuid.New(), uuid.New()
	for name, b := range map[string]store.NewBooking{
		"a booking":            newBooking(business, newPart(anna, 0, 0, 45)),
		"of another business":  newBooking(uuid.New(), newPart(anna, 0, 0, 45)),
		"of another resource":  newBooking(business, newPart(uuid.New(), 0, 0, 45)),
		"of another lane":      newBooking(business, newPart(anna, 1, 0, 45)),
		"of yet another lane":  newBooking(business, newPart(anna, 2, 0, 45)),
		"at another time":      newBooking(business, newPart(anna, 0, 45, 90)),
		"long before the rest": newBooking(business, newPart(anna, 0, -90, 0)),
	} {
		if err := s.Book(testkit.AsSystem(t), b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBookStoresAllPartsOrNone books one to three members at once, in random order of the parts, at a
// few times. No booking occupies only some of its members, and no deadlock occurs.
func TestBookStoresAllPartsOrNone(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business := uuid.New()
	staff := []uuid.UUID{uuid.New(), uuid.New(), uuid.New(), uuid.New()}
	const seed = 7
	random := rand.New(rand.NewPCG(seed, seed))
	bookings := repeatBooking(300, func(int) store.NewBooking {
		from := random.IntN(4) * 10
		var parts []availability.Part
		for _, i := range random.Perm(len(staff))[:1+random.IntN(3)] {
			parts = append(parts, newPart(staff[i], 0, from, from+15))
		}
		return newBooking(business, parts...)
	})
	written := runConcurrently(t, s, bookings)
	if n := mustCount(t, pool, `SELECT count(*) FROM bookings`); n != written || n == 0 {
		t.Errorf("%d bookings are there, %d were reported written (seed %d)", n, written, seed)
	}
	checkNeverTwice(t, pool)
	want := map[uuid.UUID]int{}
	for _, b := range bookings {
		want[b.ID] = len(b.Parts)
	}
	rows, err := pool.Query(testkit.AsSystem(t), `
		SELECT b.id, count(o.*) FROM bookings b LEFT JOIN occupied_time o ON o.booking_id = b.id GROUP BY b.id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			id uuid.UUID
			n  int
		)
		if err := rows.Scan(&id, &n); err != nil {
			t.Fatal(err)
		}
		if n != want[id] {
			t.Errorf("booking %s occupies %d of its %d parts (seed %d)", id, n, want[id], seed)
		}
	}
	if n := mustCount(t, pool,
		`SELECT count(*) FROM occupied_time o WHERE NOT EXISTS (SELECT FROM bookings b WHERE b.id = o.booking_id)`); n != 0 {
		t.Errorf("%d rows hold time for no booking", n)
	}
}

func TestOccupiedPartRefusesBooking(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, anna, ben := uuid.New(), uuid.New(), uuid.New()
	if err := s.Book(testkit.AsSystem(t), newBooking(business, newPart(ben, 0, 0, 30))); err != nil {
		t.Fatal(err)
	}
	err := s.Book(testkit.AsSystem(t), newBooking(business, newPart(anna, 0, 0, 30), newPart(ben, 0, 15, 45)))
	if !errors.Is(err, store.ErrOccupied) {
		t.Errorf("got %v, want ErrOccupied", err)
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM occupied_time`); n != 1 {
		t.Errorf("%d rows are occupied, want the first booking's alone", n)
	}
}

func TestOnlyCancelFreesTime(t *testing.T) {
	t.Parallel()
	for _, move := range []state.TransitionName{state.Confirm, state.Cancel} {
		t.Run(string(move), func(t *testing.T) {
			t.Parallel()
			s, pool := open(t)
			business, anna := uuid.New(), uuid.New()
			first := newBooking(business, newPart(anna, 0, 0, 45))
			if err := s.Book(testkit.AsSystem(t), first); err != nil {
				t.Fatal(err)
			}
			transition, _ := state.FindTransition(move)
			updated, err := s.ApplyTransition(testkit.AsSystem(t), business, first.ID, transition, now.Add(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			if updated.Status != transition.To || !updated.UpdatedAt.Equal(now.Add(time.Hour)) ||
				!updated.CreatedAt.Equal(now) {
				t.Errorf("status %s, created at %s, changed at %s", updated.Status, updated.CreatedAt, updated.UpdatedAt)
			}
			err = s.Book(testkit.AsSystem(t), newBooking(business, newPart(anna, 0, 30, 60)))
			if freed := err == nil; freed != (move == state.Cancel) {
				t.Errorf("after %s the time can be booked again: %t (%v)", move, freed, err)
			}
			checkNeverTwice(t, pool)
		})
	}
}

func TestConcurrentTransitionsApplyOnce(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business := uuid.New()
	b := newBooking(business, newPart(uuid.New(), 0, 0, 45))
	if err := s.Book(testkit.AsSystem(t), b); err != nil {
		t.Fatal(err)
	}
	cancel, _ := state.FindTransition(state.Cancel)
	var (
		wg   sync.WaitGroup
		errs = make([]error, 20)
	)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = s.ApplyTransition(actor.AsSystem(context.Background()), business, b.ID, cancel, now)
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		var notAllowed *store.NotAllowedError
		switch {
		case err == nil:
			won++
		case !errors.As(err, &notAllowed) || notAllowed.Status != state.Cancelled:
			t.Errorf("got %v, want an error with the status cancelled", err)
		}
	}
	if won != 1 {
		t.Errorf("%d cancelled the same booking", won)
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM occupied_time`); n != 0 {
		t.Errorf("%d rows are still occupied", n)
	}
}

func TestTransitionStaysInBusiness(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	b := newBooking(uuid.New(), newPart(uuid.New(), 0, 0, 45))
	if err := s.Book(testkit.AsSystem(t), b); err != nil {
		t.Fatal(err)
	}
	cancel, _ := state.FindTransition(state.Cancel)
	if _, err := s.ApplyTransition(testkit.AsSystem(t), uuid.New(), b.ID, cancel, now); !errors.Is(err,
		store.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM occupied_time`); n != 1 {
		t.Errorf("%d rows are occupied, want 1", n)
	}
}

func TestOneBookingIsFirst(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business := uuid.New()
	written := runConcurrently(t, s, repeatBooking(40, func(i int) store.NewBooking {
		b := newBooking(business, newPart(uuid.New(), 0, 0, 45))
		b.FirstBooking = true
		b.Customer.Email = []string{"zoe@example.com", "ZOE@Example.com"}[i%2]
		return b
	}))
	if written != 1 {
		t.Errorf("%d bookings were the first of one customer", written)
	}
	checkWhole(t, pool, 1)
	if n := mustCount(t, pool, `SELECT count(*) FROM occupied_time`); n != 1 {
		t.Errorf("%d rows are occupied, want 1", n)
	}
}

func TestFirstBookingIgnoresCancelled(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	first := func() bool {
		t.Helper()
		snapshot, err := s.Snapshot(testkit.AsSystem(t), business, noon, noon.Add(time.Hour),
			store.SnapshotRequest{FirstBookingOf: "zoe@EXAMPLE.com"})
		if err != nil {
			t.Fatal(err)
		}
		return snapshot.IsFirst
	}
	if !first() {
		t.Error("a customer without bookings has no first one")
	}
	b := newBooking(business, newPart(uuid.New(), 0, 0, 45))
	b.FirstBooking = true
	other := newBooking(uuid.New(), newPart(uuid.New(), 0, 0, 45)) // the same customer at another business
	for _, b := range []store.NewBooking{b, other} {
		if err := s.Book(testkit.AsSystem(t), b); err != nil {
			t.Fatal(err)
		}
	}
	if first() {
		t.Error("a customer with a booking may have another first one")
	}
	cancel, _ := state.FindTransition(state.Cancel)
	if _, err := s.ApplyTransition(testkit.AsSystem(t), business, b.ID, cancel, now); err != nil {
		t.Fatal(err)
	}
	if !first() {
		t.Error("a cancelled booking counts")
	}
	second := newBooking(business, newPart(uuid.New(), 0, 0, 45))
	second.FirstBooking = true
	if err := s.Book(testkit.AsSystem(t), second); err != nil {
		t.Errorf("after the first was cancelled: %v", err)
	}
}

func TestOccupiedReturnsSortedWindow(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	anna := uuid.MustParse("11111111-1111-4111-8111-111111111111")
	sauna := uuid.MustParse("22222222-2222-4222-8222-222222222222")
	parts := []availability.Part{
		newPart(sauna, 2, 0, 60), newPart(anna, 0, 60, 90), newPart(anna, 0, -30, 10), newPart(sauna, 1, 50, 70),
		newPart(anna, 0, 10, 40),
		newPart(anna, 0, -60, -30), // ends before the window begins
		newPart(anna, 0, 90, 100),  // begins as the window ends
	}
	for _, p := range parts {
		if err := s.Book(testkit.AsSystem(t), newBooking(business, p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Book(testkit.AsSystem(t), newBooking(uuid.New(), newPart(anna, 0, 0, 60))); err != nil {
		t.Fatal(err)
	}
	got, err := s.Occupied(testkit.AsSystem(t), business, noon, noon.Add(90*time.Minute), false)
	if err != nil {
		t.Fatal(err)
	}
	at := func(minutes ...int) []int64 {
		edges := []int64{}
		for _, m := range minutes {
			edges = append(edges, noon.Unix()+int64(m)*60)
		}
		return edges
	}
	want := booking.Occupied{Busy: []booking.Busy{
		{Resource: booking.Resource{ID: anna}, Edges: at(-30, 10, 10, 40, 60, 90)},
		{Resource: booking.Resource{ID: sauna, CapacityUnit: 1}, Edges: at(50, 70)},
		{Resource: booking.Resource{ID: sauna, CapacityUnit: 2}, Edges: at(0, 60)},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("occupied time (-want +got):\n%s", diff)
	}
	snapshot, err := s.Snapshot(testkit.AsSystem(t), business, noon, noon.Add(90*time.Minute), store.SnapshotRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, snapshot.Occupied); diff != "" {
		t.Errorf("the snapshot differs (-want +got):\n%s", diff)
	}
}

func TestOccupiedReadsOnlyIndex(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	for range 20 {
		if err := s.Book(testkit.AsSystem(t), newBooking(uuid.New(), newPart(uuid.New(), 0, 0, 45))); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := pool.Begin(testkit.AsSystem(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(actor.AsSystem(context.Background())) }()
	if _, err := tx.Exec(testkit.AsSystem(t),
		`SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off`); err != nil {
		t.Fatal(err)
	}
	for _, days := range []int{1, 62} {
		var plan string
		to := noon.AddDate(0, 0, days)
		err = tx.QueryRow(testkit.AsSystem(t), `EXPLAIN (FORMAT JSON) `+store.OccupiedSQL(noon, to), uuid.New(), noon,
			to).Scan(&plan)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(plan, "Scan\"") != 1 || !strings.Contains(plan, `"Index Only Scan"`) || !strings.Contains(plan,
			`"never_twice"`) {
			t.Errorf("a window of %d days is read by\n%s", days, plan)
		}
	}
}

func TestBookingsArePagedByLocalStart(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	lisbon, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Fatal(err)
	}
	phone := "+351 1"
	var want []uuid.UUID
	for i := range 7 {
		b := newBooking(business, newPart(uuid.New(), 0, i/2*60, i/2*60+45)) // two bookings at each start
		b = localTime(b, lisbon)
		b.Customer.Phone, b.FormData = &phone, map[string]any{"note": "x"}
		if err := s.Book(testkit.AsSystem(t), b); err != nil {
			t.Fatal(err)
		}
		want = append(want, b.ID)
	}
	var (
		got  []store.Booking
		next string
	)
	for {
		list, after, err := s.Bookings(testkit.AsSystem(t), business, booking.Filter{},
			request.Page{Limit: 2, Cursor: next})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, list...)
		if next = after; next == "" {
			break
		}
	}
	ids := make([]uuid.UUID, len(got))
	for i, b := range got {
		ids[i] = b.ID
		if i > 0 && got[i-1].LocalStart.After(b.LocalStart) {
			t.Errorf("%s comes before %s", got[i-1].LocalStart, b.LocalStart)
		}
	}
	byText := func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }
	slices.SortFunc(ids, byText)
	slices.SortFunc(want, byText)
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("pages skip or repeat (-want +got):\n%s", diff)
	}
	first := got[0]
	start, end := time.Date(2027, 6, 1, 17, 30, 0, 0, time.UTC), time.Date(2027, 6, 1, 18, 15, 0, 0, time.UTC)
	if first.LocalStart != start || first.LocalEnd != end || first.Total != 4000 || first.Currency != euro ||
		!first.StartsAt.Equal(noon) || first.Services[0].Price != 4000 || *first.Customer.Phone != phone ||
		string(first.FormData) != `{"note": "x"}` || first.Status != state.Pending || first.Customer.Name != "Zoë" {
		t.Errorf("the first is %+v", first)
	}
}
