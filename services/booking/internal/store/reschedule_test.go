package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// newReschedule returns the reschedule of the booking `b` to the time and members of `to`. The argument `sequence` is
// the sequence number that `b` has before the reschedule.
func newReschedule(b, to store.NewBooking, sequence int) store.Reschedule {
	return store.Reschedule{
		BusinessID: b.BusinessID, ID: b.ID, Sequence: sequence, Now: now,
		StartsAt: to.StartsAt, EndsAt: to.EndsAt, LocalStart: to.LocalStart, LocalEnd: to.LocalEnd,
		Services: to.Services,
		StaffID:  to.StaffID, StaffName: to.StaffName, SessionID: to.SessionID, Capacity: to.Capacity,
		PartySize: b.PartySize, Parts: to.Parts,
	}
}

func mustReschedule(t *testing.T, s *store.Store, r store.Reschedule) store.Booking {
	t.Helper()
	b, err := s.Reschedule(actor.With(t.Context(), actor.Actor{Kind: actor.Owner}), r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRescheduleOverlapsOwnTime(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, anna, ben := uuid.New(), uuid.New(), uuid.New()
	before := newBooking(business, newPart(anna, 0, 0, 60), newPart(ben, 0, 60, 90))
	mustBook(t, s, before)
	later := newBooking(business, newPart(anna, 0, 15, 75), newPart(ben, 0, 75, 105))
	got := mustReschedule(t, s, newReschedule(before, later, 1))
	if !got.StartsAt.Equal(later.StartsAt) || got.Sequence != 2 || got.ID != before.ID || got.Status != state.Pending ||
		got.Total != before.Total {
		t.Errorf("the rescheduled booking is %+v", got)
	}
	checkWhole(t, pool, 2)
	mustBook(t, s, newBooking(business, newPart(anna, 0, 0, 15), newPart(ben, 0, 60, 75))) // this time is free again
	expectTaken(t, s, "what it holds now", newBooking(business, newPart(ben, 0, 104, 110)))
	again := mustReschedule(t, s, newReschedule(before, newBooking(business, newPart(anna, 0, 600, 660)), 2))
	if again.Sequence != 3 {
		t.Errorf("the sequence is %d after two reschedules", again.Sequence)
	}
	if diff := cmp.Diff([]string{
		"1 booking.created booking system pending", "2 booking.rescheduled booking owner pending",
		"3 booking.rescheduled booking owner pending",
	}, readEvents(t, pool, before.ID)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM events WHERE subject_id = $1 AND sequence = 2
		AND (data->'from'->>'starts_at')::timestamptz = $2 AND (data->>'starts_at')::timestamptz = $3`,
		before.ID, before.StartsAt, later.StartsAt); n != 1 {
		t.Error("the event does not contain the former time")
	}
	checkRecorded(t, pool)
}

// TestRescheduleKeepsEventOrder writes two reschedules in the opposite order of their times. This happens
// because a change reads the clock before it waits for the lock of the booking. The event of the later write must not
// have an earlier time than the event before it.
func TestRescheduleKeepsEventOrder(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, anna := uuid.New(), uuid.New()
	b := newBooking(business, newPart(anna, 0, 0, 60))
	mustBook(t, s, b)
	second, first := newReschedule(b, newBooking(business, newPart(anna, 0, 60, 120)), 1),
		newReschedule(b, newBooking(business, newPart(anna, 0, 120, 180)), 2)
	second.Now, first.Now = now.Add(2*time.Second), now.Add(time.Second)
	mustReschedule(t, s, second)
	mustReschedule(t, s, first)
	if n := mustCount(t, pool,
		`SELECT count(*) FROM events AS e JOIN events AS before ON before.subject_id = e.subject_id AND before.sequence = e.sequence - 1
		WHERE e.subject_id = $1 AND e.at < before.at`, b.ID); n != 0 {
		t.Errorf("%d events have an earlier time than the ones before them", n)
	}
}

func TestRescheduleRecordsMissingNotification(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, anna := uuid.New(), uuid.New()
	b := newBooking(business, newPart(anna, 0, 0, 60))
	mustBook(t, s, b)
	for i, by := range []actor.Kind{actor.Owner, actor.Customer} {
		ctx := actor.Silently(actor.With(t.Context(), actor.Actor{Kind: by}))
		if _, err := s.Reschedule(ctx, newReschedule(b, newBooking(business, newPart(anna, 0, 60*(i+1), 60*(i+2))),
			i+1)); err != nil {
			t.Fatal(err)
		}
	}
	if n := mustCount(t, pool,
		`SELECT count(*) FROM events WHERE subject_id = $1 AND data->'notify' = 'false' AND actor_kind = 'owner'`,
		b.ID); n != 1 {
		t.Error("the event of the business does not say it")
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM events WHERE subject_id = $1 AND data ? 'notify'`, b.ID); n != 1 {
		t.Error("the event of a customer says it")
	}
}

func TestRefusedRescheduleChangesNothing(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business, anna, ben := uuid.New(), uuid.New(), uuid.New()
	b := newBooking(business, newPart(anna, 0, 0, 60))
	mustBook(t, s, b, newBooking(business, newPart(ben, 0, 130, 160)))
	before := snapshotOf(t, pool)
	for name, c := range map[string]struct {
		to       store.NewBooking
		sequence int
		want     error
	}{
		"one of two parts is taken": {newBooking(business, newPart(anna, 0, 60, 120), newPart(ben, 0, 120, 150)), 1,
			store.ErrOccupied},
		"decided before it changed": {newBooking(business, newPart(anna, 0, 60, 120)), 0, store.ErrChanged},
	} {
		if _, err := s.Reschedule(testkit.AsSystem(t), newReschedule(b, c.to, c.sequence)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	stranger := newReschedule(b, newBooking(business, newPart(anna, 0, 60, 120)), 1)
	stranger.BusinessID = uuid.New()
	if _, err := s.Reschedule(testkit.AsSystem(t), stranger); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a reschedule of another business's booking: %v", err)
	}
	if diff := cmp.Diff(before, snapshotOf(t, pool)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// snapshotOf returns every row that a reschedule can change, each as JSON.
func snapshotOf(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	rows, err := pool.Query(actor.AsSystem(context.Background()), `
		SELECT to_jsonb(b)::text FROM bookings b UNION ALL SELECT to_jsonb(o)::text FROM occupied_time o UNION ALL
		SELECT to_jsonb(c)::text FROM class_sessions c UNION ALL SELECT to_jsonb(s)::text FROM class_seats s UNION ALL
		SELECT to_jsonb(e)::text FROM events e ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestRescheduleUpdatesBothSessions(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	monday := newSession(4)
	tuesday := monday
	tuesday.at = 24 * 60
	party := monday.seats(3)
	mustBook(t, s, party, tuesday.seats(2))
	if _, err := s.Reschedule(testkit.AsSystem(t), newReschedule(party, tuesday.seats(3), 1)); !errors.Is(err,
		store.ErrOccupied) {
		t.Errorf("three to two seats: %v", err)
	}
	checkSeats(t, pool)
	wednesday := monday
	wednesday.at = 48 * 60
	mustReschedule(t, s, newReschedule(party, wednesday.seats(3), 1)) // this session had no guest before
	checkSeats(t, pool)
	mustBook(t, s, monday.seats(4))
	back := newReschedule(party, wednesday.seats(3), 2) // to the same time, with another teacher
	back.Parts = []availability.Part{newPart(uuid.New(), 0, 48*60, 49*60)}
	mustReschedule(t, s, back)
	checkSeats(t, pool)
	checkWhole(t, pool, 1)
	cancel(t, s, party)
	checkSeats(t, pool)
	checkRecorded(t, pool)
}

// model is the model with which the property test compares the tables: the bookings and their time (lifecycle.md
// §3).
type model struct {
	bookings []*modelBooking
}

type modelBooking struct {
	store.NewBooking
	isLive   bool
	sequence int
}

// canBook reports whether the booking `self` could be at the time and members of `to`. No other live booking may occupy
// that time, except guests of the same class; a session must have enough free seats.
func (c *model) canBook(self *modelBooking, to store.NewBooking) bool {
	seats := 0
	for _, other := range c.bookings {
		if other == self || !other.isLive {
			continue
		}
		if to.SessionID != nil && other.SessionID != nil {
			if *other.SessionID == *to.SessionID && other.StartsAt.Equal(to.StartsAt) {
				seats += other.PartySize
			}
			continue // several guests of classes may occupy the same time
		}
		for _, p := range to.Parts {
			for _, q := range other.Parts {
				if p.Resource == q.Resource && p.Occupies.Overlaps(q.Occupies) {
					return false
				}
			}
		}
	}
	return to.SessionID == nil || seats+to.PartySize <= to.Capacity
}

// drawBooking returns a random appointment with one to three parts. With `ofClass`, it returns a booking of `party`
// seats in one of the sessions instead.
func drawBooking(t *rapid.T, business uuid.UUID, members, sessions []uuid.UUID, party int,
	ofClass bool) store.NewBooking {
	if ofClass {
		i := rapid.IntRange(0, len(sessions)-1).Draw(t, "session")
		c := classSession{business: business, id: sessions[i], teacher: members[i],
			at: 30 * rapid.IntRange(0, 2).Draw(t, "day"), capacity: 3}
		return c.seats(party)
	}
	var parts []availability.Part
	at := 15 * rapid.IntRange(0, 12).Draw(t, "start")
	for range rapid.IntRange(1, 3).Draw(t, "parts") {
		end := at + 15*rapid.IntRange(1, 3).Draw(t, "length")
		parts = append(parts, newPart(rapid.SampledFrom(members).Draw(t, "member"),
			rapid.IntRange(0, 1).Draw(t, "lane"),
			at, end))
		at = end
	}
	b := newBooking(business, parts...)
	b.PartySize = party
	return b
}

// TestOccupiedTimeMatchesModel makes random bookings, reschedules and cancellations. Each
// succeeds or fails as the calendar predicts. Occupied time, seats and counters are always those of the live bookings.
func TestOccupiedTimeMatchesModel(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	done := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		business := uuid.New()
		members, sessions := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}, []uuid.UUID{uuid.New(), uuid.New()}
		var c model
		expect := func(what string, err error, fits bool) {
			if fits != (err == nil) || err != nil && !errors.Is(err, store.ErrOccupied) {
				rt.Fatalf("%s: %v, and it fits: %v", what, err, fits)
			}
			done[fmt.Sprintf("%s %v", what, fits)]++
		}
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			step := rapid.SampledFrom([]string{"book", "book", "move", "move", "move", "cancel"}).Draw(rt, "step")
			if step == "book" || len(c.bookings) == 0 {
				b := &modelBooking{NewBooking: drawBooking(rt, business, members, sessions,
					rapid.IntRange(1, 2).Draw(rt, "party"),
					rapid.Bool().Draw(rt, "class")), sequence: 1}
				b.isLive = c.canBook(b, b.NewBooking)
				expect("book", s.Book(testkit.AsSystem(t), b.NewBooking), b.isLive)
				if b.isLive {
					c.bookings = append(c.bookings, b)
				}
				continue
			}
			b := rapid.SampledFrom(c.bookings).Draw(rt, "booking")
			if !b.isLive {
				continue
			}
			if step == "cancel" {
				cancel(t, s, b.NewBooking)
				b.isLive = false
				continue
			}
			to := drawBooking(rt, business, members, sessions, b.PartySize, b.SessionID != nil)
			fits := c.canBook(b, to)
			_, err := s.Reschedule(testkit.AsSystem(t), newReschedule(b.NewBooking, to, b.sequence))
			expect("move", err, fits)
			if fits {
				to.ID = b.ID
				b.NewBooking, b.sequence = to, b.sequence+1
			}
		}
		if diff := cmp.Diff(c.occupied(), readOccupied(t, pool, business)); diff != "" {
			rt.Fatalf("(-calendar +tables):\n%s", diff)
		}
	})
	checkSeats(t, pool)
	checkRecorded(t, pool)
	for _, what := range []string{"book true", "book false", "move true", "move false"} {
		if done[what] == 0 {
			t.Errorf("%s never happened: the comparison means less", what)
		}
	}
}

// occupied returns the occupied time of the live bookings, one string for each part.
func (c *model) occupied() []string {
	lines := []string{}
	for _, b := range c.bookings {
		for _, p := range b.Parts {
			if b.isLive {
				lines = append(lines, fmt.Sprint(b.ID, p.Resource.ID, p.Resource.CapacityUnit, p.Occupies.Start,
					p.Occupies.End))
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func readOccupied(t testing.TB, pool *pgxpool.Pool, business uuid.UUID) []string {
	t.Helper()
	rows, err := pool.Query(actor.AsSystem(context.Background()), `
		SELECT booking_id, resource_id, lane, extract(epoch FROM lower(during))::bigint, extract(epoch FROM upper(during))::bigint
		FROM occupied_time WHERE business_id = $1`, business)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var (
			id, resource uuid.UUID
			unit         int
			from, to     int64
		)
		err := row.Scan(&id, &resource, &unit, &from, &to)
		return fmt.Sprint(id, resource, unit, from, to), err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

// clientGroup reschedules bookings from many clients at once. The function `where` returns a booking with the new time
// and members of `b`.
type clientGroup struct {
	clients, tries int
	bookings       []store.NewBooking
	choose         func(b store.NewBooking, r *rand.Rand) store.NewBooking
	// other is called instead of a reschedule in one of four tries; with nil, the clients only reschedule.
	other func(ctx context.Context, s *store.Store, b store.NewBooking, r *rand.Rand) error
}

// run returns how many operations succeeded and how many were refused. Any other error fails the test, unless `lost`
// reports that it is an error of a lost connection.
func (c clientGroup) run(t *testing.T, s *store.Store, lost func(error) bool) (int, int) {
	t.Helper()
	ctx, stop := context.WithTimeout(actor.AsSystem(context.Background()), 2*time.Minute)
	defer stop()
	var (
		wg              sync.WaitGroup
		mu              sync.Mutex
		count, refusals int
	)
	for client := range c.clients {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(client), 7))
			for range c.tries {
				b := c.bookings[r.IntN(len(c.bookings))]
				err := c.try(ctx, s, b, r)
				mu.Lock()
				switch {
				case err == nil:
					count++
				case errors.Is(err, store.ErrOccupied), errors.Is(err, errOver):
					refusals++
				case !lost(err):
					t.Errorf("a reschedule ends with %v", err)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return count, refusals
}

func (c clientGroup) try(ctx context.Context, s *store.Store, b store.NewBooking, r *rand.Rand) error {
	if c.other != nil && r.IntN(4) == 0 {
		return c.other(ctx, s, b, r)
	}
	for to := c.choose(b, r); ; {
		current, err := s.Booking(ctx, b.BusinessID, b.ID)
		if err != nil {
			return err
		}
		if !slices.Contains(state.UpcomingStates(), current.Status) {
			return errOver
		}
		if _, err = s.Reschedule(ctx, newReschedule(b, to, current.Sequence)); !errors.Is(err, store.ErrChanged) {
			return err
		}
	}
}

// errOver reports that the booking is already cancelled.
var errOver = errors.New("the booking is cancelled")

func cancelOnce(ctx context.Context, s *store.Store, b store.NewBooking) error {
	transition, _ := state.FindTransition(state.Cancel)
	_, err := s.ApplyTransition(ctx, b.BusinessID, b.ID, transition, now)
	var notAllowed *store.NotAllowedError
	if errors.As(err, &notAllowed) {
		return errOver
	}
	return err
}

func isNeverLost(error) bool { return false }

// checkLive fails the test unless each live booking has exactly `parts` rows of occupied time, of which the first
// begins with the booking. A cancelled booking must have none.
func checkLive(t *testing.T, pool *pgxpool.Pool, parts int) {
	t.Helper()
	if n := mustCount(t, pool, `
		SELECT count(*) FROM bookings b
		WHERE (SELECT count(*) FROM occupied_time o WHERE o.business_id = b.business_id AND o.booking_id = b.id)
		      <> CASE WHEN b.status = 'cancelled' THEN 0 ELSE $1 END
		   OR b.status <> 'cancelled' AND b.starts_at <> (SELECT min(lower(during)) FROM occupied_time o WHERE o.business_id = b.business_id AND o.booking_id = b.id)`,
		parts); n != 0 {
		t.Errorf("%d bookings do not hold exactly their %d parts", n, parts)
	}
}

// newClientGroup returns 24 packages of two members each, on a calendar with room for twice as many. Each package may
// be rescheduled to any time and pair of members, even one that another package occupies.
func newClientGroup(business uuid.UUID) clientGroup {
	members := []uuid.UUID{uuid.New(), uuid.New(), uuid.New(), uuid.New()}
	place := func(first, second, at int) store.NewBooking {
		return newBooking(business, newPart(members[first], 0, at, at+30), newPart(members[second], 0, at+30, at+60))
	}
	c := clientGroup{clients: 64, tries: 12, choose: func(_ store.NewBooking, r *rand.Rand) store.NewBooking {
		first := r.IntN(len(members))
		return place(first, (first+1+r.IntN(len(members)-1))%len(members), 15*r.IntN(48))
	}}
	for i := range 24 {
		pair := i % 2 * 2
		c.bookings = append(c.bookings, place(pair, pair+1, 60*(i/2)))
	}
	return c
}

func TestConcurrentReschedulesConflict(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business := uuid.New()
	c := newClientGroup(business)
	mustBook(t, s, c.bookings...)
	count, refusals := c.run(t, s, isNeverLost)
	t.Logf("%d reschedules succeeded, %d were refused", count, refusals)
	if count == 0 || refusals == 0 {
		t.Error("no two clients conflicted")
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM bookings WHERE status = 'pending'`); n != len(c.bookings) {
		t.Errorf("%d bookings are left of %d", n, len(c.bookings))
	}
	if n := mustCount(t, pool, `SELECT sum(sequence - 1) FROM bookings`); n != count {
		t.Errorf("%d reschedules succeeded, but the bookings count %d", count, n)
	}
	checkLive(t, pool, 2)
	checkNeverTwice(t, pool)
	checkRecorded(t, pool)
}

// TestRescheduleNeverDeadlocks reschedules from many clients while others book and cancel in
// between. Some bookings are first bookings of a customer, whose index takes the last lock of a write.
func TestRescheduleNeverDeadlocks(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	c := newClientGroup(uuid.New())
	c.other = func(ctx context.Context, s *store.Store, b store.NewBooking, r *rand.Rand) error {
		if r.IntN(8) == 0 {
			return cancelOnce(ctx, s, b)
		}
		another := c.choose(b, r)
		another.FirstBooking = r.IntN(2) == 0
		return s.Book(ctx, another)
	}
	mustBook(t, s, c.bookings...)
	count, refusals := c.run(t, s, isNeverLost)
	t.Logf("%d made, %d refused", count, refusals)
	checkLive(t, pool, 2)
	checkNeverTwice(t, pool)
	checkRecorded(t, pool)
}

func TestConcurrentReschedulesKeepSeatCounters(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	first := newSession(8)
	sessions := []classSession{first, first, newSession(8), newSession(8)}
	sessions[1].at = 120
	for i := range sessions {
		sessions[i].business = first.business
	}
	c := clientGroup{clients: 64, tries: 12, choose: func(b store.NewBooking, r *rand.Rand) store.NewBooking {
		return sessions[r.IntN(len(sessions))].seats(b.PartySize)
	}}
	c.other = func(ctx context.Context, s *store.Store, b store.NewBooking, r *rand.Rand) error {
		if r.IntN(8) == 0 {
			return cancelOnce(ctx, s, b)
		}
		another := c.choose(b, r)
		another.FirstBooking = r.IntN(2) == 0
		return s.Book(ctx, another)
	}
	for i := range 12 {
		c.bookings = append(c.bookings, sessions[i%4].seats(1+i%2))
	}
	mustBook(t, s, c.bookings...)
	count, refusals := c.run(t, s, isNeverLost)
	t.Logf("%d made, %d refused", count, refusals)
	checkSeats(t, pool)
	checkLive(t, pool, 1)
	checkRecorded(t, pool)
}

// TestRescheduleIsAtomicAfterConnectionLoss ends connections of the clients at random while they reschedule
// bookings. Each reschedule is written as a whole or not at all, and the answers that clients got are true.
func TestRescheduleIsAtomicAfterConnectionLoss(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	c := newClientGroup(uuid.New())
	mustBook(t, s, c.bookings...)
	cfg := pool.Config()
	cfg.ConnConfig.RuntimeParams["application_name"] = "victim " + testkit.Unique()
	victims, err := pgxpool.NewWithConfig(testkit.AsSystem(t), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer victims.Close()
	var killed atomic.Int64
	c.other = func(ctx context.Context, _ *store.Store, _ store.NewBooking, _ *rand.Rand) error {
		tag, err := pool.Exec(ctx, `
			SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE application_name = $1 AND state <> 'idle' ORDER BY random() LIMIT 1`, cfg.ConnConfig.RuntimeParams["application_name"])
		killed.Add(tag.RowsAffected())
		return errors.Join(err, errOver)
	}
	unknown := 0
	count, refusals := c.run(t, store.New(victims), func(err error) bool {
		if fault.Is(err, fault.OutcomeUnknown) {
			unknown++
		}
		const deadlock = "40P01"
		return postgres.Code(err) != deadlock
	})
	t.Logf("%d reschedules succeeded, %d were refused, %d have an unknown outcome, %d connections were killed", count,
		refusals, unknown,
		killed.Load())
	if killed.Load() == 0 || count == 0 {
		t.Error("no connection was killed or no booking was rescheduled")
	}
	if n := mustCount(t, pool, `SELECT sum(sequence - 1) FROM bookings`); n < count || n > count+unknown {
		t.Errorf("%d reschedules succeeded and %d may have succeeded, but the bookings count %d", count, unknown, n)
	}
	if n := mustCount(t, pool, `SELECT count(*) FROM bookings`); n != len(c.bookings) {
		t.Errorf("%d bookings are left of %d", n, len(c.bookings))
	}
	checkLive(t, pool, 2)
	checkNeverTwice(t, pool)
	checkRecorded(t, pool)
}
