package store_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// classSession is one occurrence of a class that lasts an hour. It starts `at` minutes after noon and has `capacity`
// seats. A session whose `teacher` is uuid.Nil has no teacher.
type classSession struct {
	business, id, teacher uuid.UUID
	at, capacity          int
}

func newSession(capacity int) classSession {
	return classSession{business: uuid.New(), id: uuid.New(), teacher: uuid.New(), capacity: capacity}
}

// seats returns a booking of `party` seats in the session.
func (c classSession) seats(party int) store.NewBooking {
	b := newBooking(c.business, newPart(c.teacher, 0, c.at, c.at+60))
	b.PartySize, b.SessionID, b.Capacity = party, &c.id, c.capacity
	if c.teacher == uuid.Nil {
		b.Parts, b.StaffID, b.StaffName = nil, nil, nil
	}
	return b
}

// readTaken returns the counter of sold seats of the session, or 0 if no seat was ever sold.
func (c classSession) readTaken(t *testing.T, pool *pgxpool.Pool) int {
	t.Helper()
	return mustCount(t, pool,
		`SELECT coalesce(sum(taken), 0) FROM class_sessions WHERE business_id = $1 AND session_id = $2`, c.business,
		c.id)
}

// checkSeats fails the test unless each counter is the sum of the seats of live bookings. Each live booking of a class
// must have one row in class_seats, and no other booking may have one.
func checkSeats(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	if n := mustCount(t, pool, `
		SELECT count(*) FROM class_sessions s
		WHERE taken <> (SELECT coalesce(sum(party_size), 0) FROM bookings b
		                WHERE b.business_id = s.business_id AND b.class_schedule_id = s.session_id AND b.starts_at = s.starts_at
		                  AND b.status <> 'cancelled')`); n != 0 {
		t.Errorf("%d counters differ from the parties that are booked", n)
	}
	if n := mustCount(t, pool, `
		SELECT count(*) FROM bookings b FULL JOIN class_seats c ON c.business_id = b.business_id AND c.booking_id = b.id
		WHERE (b.class_schedule_id IS NOT NULL AND b.status <> 'cancelled') IS DISTINCT FROM (c.booking_id IS NOT NULL)
		   OR c.booking_id IS NOT NULL AND (c.seats, c.session_id, c.starts_at) <> (b.party_size, b.class_schedule_id, b.starts_at)`); n != 0 {
		t.Errorf("%d bookings and their seats do not match", n)
	}
}

func cancel(t *testing.T, s *store.Store, b store.NewBooking) {
	t.Helper()
	transition, _ := state.FindTransition(state.Cancel)
	if _, err := s.ApplyTransition(testkit.AsSystem(t), b.BusinessID, b.ID, transition, now); err != nil {
		t.Fatal(err)
	}
}

func mustBook(t testing.TB, s *store.Store, bookings ...store.NewBooking) {
	t.Helper()
	for _, b := range bookings {
		if err := s.Book(testkit.AsSystem(t), b); err != nil {
			t.Fatal(err)
		}
	}
}

func expectTaken(t *testing.T, s *store.Store, what string, b store.NewBooking) {
	t.Helper()
	if err := s.Book(testkit.AsSystem(t), b); !errors.Is(err, store.ErrOccupied) {
		t.Errorf("%s: got %v, want ErrOccupied", what, err)
	}
}

func TestConcurrentPartiesFillSession(t *testing.T) {
	t.Parallel()
	for name, teacher := range map[string]uuid.UUID{"given by a teacher": uuid.New(), "given by nobody": uuid.Nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t)
			class := newSession(10)
			class.teacher = teacher
			parties := repeatBooking(50, func(i int) store.NewBooking { return class.seats(1 + i%3) })
			runConcurrently(t, s, parties)
			bookings := class.readTaken(t, pool)
			if bookings > 10 {
				t.Errorf("%d sit on 10 seats", bookings)
			}
			for _, b := range parties {
				count := mustCount(t, pool, `SELECT count(*) FROM bookings WHERE id = $1`, b.ID)
				if count == 0 && bookings+b.PartySize <= 10 {
					t.Errorf("%d sit on 10 seats, and a party of %d was refused", bookings, b.PartySize)
				}
			}
			checkSeats(t, pool)
			checkWhole(t, pool, len(parties[0].Parts))
		})
	}
}

func TestPartyMustFitSession(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	class := newSession(3)
	expectTaken(t, s, "four on three seats", class.seats(4))
	mustBook(t, s, class.seats(3))
	expectTaken(t, s, "one more", class.seats(1))
	other := class
	other.at = 24 * 60 // the same session on another day
	mustBook(t, s, other.seats(3))
	checkSeats(t, pool)
	if n := mustCount(t, pool, `SELECT count(*) FROM class_sessions`); n != 2 {
		t.Errorf("there are %d counters, want one for each day", n)
	}
}

func TestCancelReleasesSeatsOnce(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	class := newSession(5)
	three, two := class.seats(3), class.seats(2)
	mustBook(t, s, three, two)
	cancel(t, s, three)
	if got := class.readTaken(t, pool); got != 2 {
		t.Errorf("%d seats are booked after three of five were released", got)
	}
	transition, _ := state.FindTransition(state.Cancel)
	var notAllowed *store.NotAllowedError
	if _, err := s.ApplyTransition(testkit.AsSystem(t), three.BusinessID, three.ID, transition, now); !errors.As(err,
		&notAllowed) {
		t.Errorf("cancelled twice: %v", err)
	}
	mustBook(t, s, class.seats(3))
	expectTaken(t, s, "one more", class.seats(1))
	for _, move := range []state.TransitionName{state.Confirm, state.Complete} {
		transition, _ := state.FindTransition(move)
		if _, err := s.ApplyTransition(testkit.AsSystem(t), two.BusinessID, two.ID, transition, noon); err != nil {
			t.Fatal(err)
		}
		if got := class.readTaken(t, pool); got != 5 {
			t.Errorf("after %s %d seats are taken, want 5", move, got)
		}
	}
	checkSeats(t, pool)
}

func TestFailedPaymentReleasesSeats(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(*store.Store, store.NewBooking) error{
		"at the provider": func(s *store.Store, b store.NewBooking) error {
			return s.AbandonPayment(actor.AsSystem(context.Background()),
				store.AbandonRequest{BusinessID: b.BusinessID, ID: b.ID, IsNotCreated: true}, now)
		},
		"with the process": func(s *store.Store, _ store.NewBooking) error {
			_, err := s.CancelUnopened(actor.AsSystem(context.Background()), now.Add(time.Hour))
			return err
		},
		"by time": func(s *store.Store, b store.NewBooking) error {
			return s.MarkCancelled(actor.AsSystem(context.Background()), b.BusinessID, b.ID, now)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t)
			class := newSession(3)
			b := class.seats(2)
			b.Payment = &store.NewPayment{Provider: "stripe", Account: "acct_1", Amount: 4000,
				DueAt: now.Add(time.Minute)}
			mustBook(t, s, b)
			expectTaken(t, s, "two on the last seat", class.seats(2))
			if err := fail(s, b); err != nil {
				t.Fatal(err)
			}
			if got := class.readTaken(t, pool); got != 0 {
				t.Errorf("%d seats are still occupied", got)
			}
			checkSeats(t, pool)
			mustBook(t, s, class.seats(3))
		})
	}
}

// TestRefusedBookingTakesNoSeat shows that a booking takes no seat if it is refused for a reason other than its seats.
// The reasons are a second first booking, a lost idempotency lock, and a busy teacher.
func TestRefusedBookingTakesNoSeat(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	class := newSession(10)
	first := newBooking(class.business, newPart(uuid.New(), 0, 0, 45))
	first.FirstBooking = true
	mustBook(t, s, first)
	second := class.seats(2)
	second.FirstBooking = true
	expectTaken(t, s, "a second first booking of a customer", second)

	key := newKey()
	key.Business = class.business
	lost := mustAcquire(t, s, key, bodyHash, now)
	mustAcquire(t, s, key, bodyHash, now.Add(deadline)) // another request has the lock now
	late := class.seats(2)
	late.Lock = lost
	if err := s.Book(testkit.AsSystem(t), late); !errors.Is(err, store.ErrLockLost) {
		t.Errorf("got %v, want ErrLockLost", err)
	}

	busy := newBooking(class.business, newPart(class.teacher, 0, 59, 90))
	mustBook(t, s, busy)
	expectTaken(t, s, "a class while its teacher has an appointment", class.seats(2))
	if n := mustCount(t, pool, `SELECT count(*) FROM class_sessions`) +
		mustCount(t, pool, `SELECT count(*) FROM class_seats`); n != 0 {
		t.Errorf("%d rows of seats are left by bookings that were refused", n)
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM occupied_time`); n != 2 {
		t.Errorf("%d times are occupied, want those of the two appointments", n)
	}
}

// TestTeacherIsOccupiedOnce books appointments of a teacher and seats in the teacher's class at the same moment. For
// each time, either the class has guests or the teacher has an appointment, never both.
func TestTeacherIsOccupiedOnce(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	const rounds = 10
	class := newSession(100)
	var all []store.NewBooking
	for i := range rounds {
		class.at = i * 120
		for j := range 8 {
			all = append(all, class.seats(1+j%2),
				newBooking(class.business, newPart(class.teacher, 0, class.at+30, class.at+75)))
		}
	}
	runConcurrently(t, s, all)
	both := mustCount(t, pool, `
		SELECT count(*) FROM bookings a JOIN bookings b ON a.business_id = b.business_id AND a.staff_id = b.staff_id
		WHERE a.class_schedule_id IS NULL AND a.id <> b.id AND a.starts_at < b.ends_at AND b.starts_at < a.ends_at`)
	if both != 0 {
		t.Errorf("%d times a teacher is in two places", both)
	}
	if n := mustCount(t, pool, `SELECT count(DISTINCT date_trunc('hour', starts_at)) FROM bookings`); n != rounds {
		t.Errorf("of %d times, %d were sold", rounds, n)
	}
	checkSeats(t, pool)
	checkWhole(t, pool, 1)
}

func TestOverlappingSessionsOfTeacherBothSell(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	a := newSession(5)
	b := a
	b.id, b.at = uuid.New(), 30
	if written := runConcurrently(t, s,
		repeatBooking(10, func(i int) store.NewBooking { return []classSession{a, b}[i%2].seats(1) })); written != 10 {
		t.Errorf("%d of 10 seats in two rooms were sold", written)
	}
	checkSeats(t, pool)
}

func TestLoweredCapacityKeepsSoldSeats(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	class := newSession(10)
	five, three := class.seats(5), class.seats(3)
	mustBook(t, s, five, three)
	class.capacity = 4
	expectTaken(t, s, "a seat where eight of four are taken", class.seats(1))
	if got := class.readTaken(t, pool); got != 8 {
		t.Errorf("%d seats are taken, want the eight that were sold", got)
	}
	cancel(t, s, five)
	mustBook(t, s, class.seats(1))
	expectTaken(t, s, "a fifth of four", class.seats(1))
	checkSeats(t, pool)
}

// TestConcurrentSeatChangesKeepCounter books and cancels in one session from several clients at the same
// time. Half of the clients make first bookings of a customer. Transactions then lock the counter and the index of
// first bookings in every order, and must not deadlock.
func TestConcurrentSeatChangesKeepCounter(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	class := newSession(4)
	transition, _ := state.FindTransition(state.Cancel)
	ctx, stop := context.WithTimeout(actor.AsSystem(context.Background()), testkit.MaxWait)
	defer stop()
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for range 30 {
				b := class.seats(1 + worker%3)
				b.FirstBooking = worker%2 == 0
				err := s.Book(ctx, b)
				if errors.Is(err, store.ErrOccupied) {
					continue
				}
				if err == nil {
					_, err = s.ApplyTransition(ctx, b.BusinessID, b.ID, transition, now)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	checkSeats(t, pool)
	if got := class.readTaken(t, pool); got != 0 {
		t.Errorf("%d seats are taken after all parties left", got)
	}
}

func TestSnapshotReadsSeatsAndTeacherTime(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	class := newSession(10)
	later, gone, appointed := class, class, uuid.New()
	later.at, gone.at = 120, 60
	left := gone.seats(1)
	mustBook(t, s, class.seats(2), class.seats(3), later.seats(1), left,
		newBooking(class.business, newPart(appointed, 0, 0, 30)),
		classSession{business: uuid.New(), id: class.id, teacher: class.teacher, capacity: 9}.seats(7))
	cancel(t, s, left)
	read := func(seats bool) booking.Occupied {
		t.Helper()
		got, err := s.Occupied(testkit.AsSystem(t), class.business, noon, noon.Add(2*time.Hour), seats)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := read(true)
	if diff := cmp.Diff([]booking.SeatsTaken{{SessionID: class.id, StartsAt: noon.Unix(), Taken: 5}},
		got.Seats); diff != "" {
		t.Errorf("seats (-want +got):\n%s", diff)
	}
	byWhom := map[uuid.UUID]booking.Busy{}
	for _, busy := range got.Busy {
		byWhom[busy.ID] = busy
	}
	hour := []int64{noon.Unix(), noon.Unix() + 3600}
	if b := byWhom[class.teacher]; !b.Class || cmp.Diff(hour, b.Edges) != "" {
		t.Errorf("the teacher's time is %+v, want the hour of the class, once and as a class's", b)
	}
	if b := byWhom[appointed]; b.Class || len(b.Edges) != 2 || len(got.Busy) != 2 {
		t.Errorf("the appointment's time is %+v of %d", b, len(got.Busy))
	}
	if plain := read(false); plain.Seats != nil || cmp.Diff(got.Busy, plain.Busy) != "" {
		t.Errorf("the occupied time without seats is %+v", plain)
	}
}

// TestPackageIsNeverHalfBooked books packages of two members while fifty other bookings compete for each
// member alone. It continues day after day until packages have both won and lost. No package is booked in part.
func TestPackageIsNeverHalfBooked(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, anna, ben := uuid.New(), uuid.New(), uuid.New()
	var won, lost, days int
	for ; days < 20 && (won == 0 || lost == 0); days++ {
		runConcurrently(t, s, packagesAndSingles(business, anna, ben, days*24*60))
		packed := mustCount(t, pool, `SELECT count(*) FROM bookings WHERE jsonb_array_length(services) = 2`) - won
		won, lost = won+packed, lost+packageTimes-packed
	}
	if won == 0 || lost == 0 {
		t.Errorf("on %d days, packages got the time %d times and lost it %d times: the test covers only one case", days,
			won, lost)
	}
	halves := mustCount(t, pool, `
		SELECT count(*) FROM bookings b
		WHERE (SELECT count(*) FROM occupied_time o WHERE o.business_id = b.business_id AND o.booking_id = b.id) <> jsonb_array_length(b.services)`)
	if halves != 0 {
		t.Errorf("%d bookings do not occupy exactly the sold seats", halves)
	}
	if n := mustCount(t, pool,
		`SELECT count(*) FROM occupied_time WHERE NOT EXISTS (SELECT FROM bookings WHERE id = booking_id)`); n != 0 {
		t.Errorf("%d times are occupied for no booking", n)
	}
	checkNeverTwice(t, pool)
}

// packageTimes is the number of times for which packages are booked. Packages at different times do not overlap, so one
// package would succeed at each time without the single bookings.
const packageTimes = 5

// packagesAndSingles returns twenty packages and fifty single bookings of the two members, in random order. The first
// starts `from` minutes after noon.
func packagesAndSingles(business, anna, ben uuid.UUID, from int) []store.NewBooking {
	all := repeatBooking(50, func(i int) store.NewBooking {
		at := from + i/2%packageTimes*30
		return newBooking(business, newPart([]uuid.UUID{anna, ben}[i%2], 0, at, at+30))
	})
	for i := range 20 {
		at := from + i%packageTimes*30
		parts := []availability.Part{newPart(anna, 0, at, at+30), newPart(ben, 0, at+30, at+60)}
		b := newBooking(business, parts[i%2], parts[1-i%2])
		b.Services = append(b.Services, b.Services[0])
		all = append(all, b)
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// TestConcurrentConfirmAndCancelReleaseSeat confirms and cancels each booking at the same moment. In the end no
// seat and no time is occupied.
func TestConcurrentConfirmAndCancelReleaseSeat(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	class := newSession(100)
	confirming, _ := state.FindTransition(state.Confirm)
	cancelling, _ := state.FindTransition(state.Cancel)
	ctx, stop := context.WithTimeout(actor.AsSystem(context.Background()), testkit.MaxWait)
	defer stop()
	var wg sync.WaitGroup
	for _, b := range repeatBooking(40, func(int) store.NewBooking { return class.seats(2) }) {
		mustBook(t, s, b)
		wg.Go(func() {
			var notAllowed *store.NotAllowedError
			if _, err := s.ApplyTransition(ctx, b.BusinessID, b.ID, confirming, now); err != nil &&
				!errors.As(err, &notAllowed) {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if _, err := s.ApplyTransition(ctx, b.BusinessID, b.ID, cancelling, now); err != nil {
				t.Errorf("neither pending nor confirmed: %v", err)
			}
		})
	}
	wg.Wait()
	checkSeats(t, pool)
	if n := class.readTaken(t, pool) + mustCount(t, pool, `SELECT count(*) FROM occupied_time`); n != 0 {
		t.Errorf("%d seats and times are still occupied", n)
	}
}
