package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

const day = 24 * 60 // minutes

// checkHeldOnce fails the test unless the time of each live booking is in exactly one of the tables occupied_time and
// past_occupied_time. A cancelled booking must have no time in either table.
//
// The seat counters must equal the rows of class_seats, and each of these rows must match a live booking. The job
// deletes the rows when it moves the time of a booking.
func checkHeldOnce(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	if n := mustCount(t, pool, `
		SELECT count(*) FROM bookings b
		JOIN LATERAL (SELECT count(*) AS n, min(lower(during)) AS start FROM occupied_time o WHERE o.business_id = b.business_id AND o.booking_id = b.id) AS now ON true
		JOIN LATERAL (SELECT count(*) AS n, min(lower(during)) AS start FROM past_occupied_time o WHERE o.business_id = b.business_id AND o.booking_id = b.id) AS past ON true
		WHERE CASE WHEN b.status = 'cancelled' THEN now.n + past.n > 0
		           ELSE b.staff_id IS NOT NULL AND ((now.n > 0) = (past.n > 0) OR coalesce(now.start, past.start) > b.starts_at) END`); n != 0 {
		t.Errorf("%d bookings do not hold their time in one table, or hold it after they were cancelled", n)
	}
	if n := mustCount(t, pool, `
		SELECT count(*) FROM class_sessions s FULL JOIN
		    (SELECT business_id, starts_at, session_id, sum(seats) AS seats FROM class_seats GROUP BY 1, 2, 3) AS c USING (business_id, starts_at, session_id)
		WHERE coalesce(s.taken, -1) <> coalesce(c.seats, 0)`); n != 0 {
		t.Errorf("%d counters are not the seats of their sessions", n)
	}
	if n := mustCount(t, pool, `
		SELECT count(*) FROM class_seats c LEFT JOIN bookings b ON b.business_id = c.business_id AND b.id = c.booking_id AND b.status <> 'cancelled'
		WHERE (c.seats, c.session_id, c.starts_at) IS DISTINCT FROM (b.party_size, b.class_schedule_id, b.starts_at)`); n != 0 {
		t.Errorf("%d rows of seats are not of a live booking", n)
	}
}

// lines returns the rows of the table `table` that belong to the business, one string for each row, sorted.
func lines(t testing.TB, pool *pgxpool.Pool, table string, business uuid.UUID) []string {
	t.Helper()
	rows, err := pool.Query(actor.AsSystem(context.Background()), `
		SELECT booking_id || ' ' || resource_id || ' ' || lane || ' ' || extract(epoch FROM lower(during))::bigint || ' ' || extract(epoch FROM upper(during))::bigint
		FROM `+table+` WHERE business_id = $1`, business)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	all := []string{}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}

func linesOf(b store.NewBooking) []string {
	var all []string
	for _, p := range b.Parts {
		all = append(all, fmt.Sprint(b.ID, " ", p.Resource.ID, " ", p.Resource.CapacityUnit, " ", p.Occupies.Start, " ",
			p.Occupies.End))
	}
	return all
}

// isArchivable reports whether the booking and all time that it occupies, buffers included, had ended by `cutoff`
// (lifecycle.md §6).
func isArchivable(b store.NewBooking, cutoff time.Time) bool {
	return !b.EndsAt.After(cutoff) && !slices.ContainsFunc(b.Parts, func(p availability.Part) bool {
		return p.Occupies.End > cutoff.Unix()
	})
}

// pastBooking draws an appointment with one part, an appointment with two parts, or seats in a class with or without a
// teacher. The argument `i` keeps the times of different bookings apart.
func pastBooking(rt *rapid.T, business uuid.UUID, i int) store.NewBooking {
	at := rapid.IntRange(0, 20).Draw(rt, "hours")*60 + i*30*day/10
	switch rapid.IntRange(0, 3).Draw(rt, "kind") {
	case 0:
		return newBooking(business, newPart(uuid.New(), 0, at, at+rapid.IntRange(30, 3*day).Draw(rt, "minutes")))
	case 1:
		b := newBooking(business, newPart(uuid.New(), 0, at, at+30),
			newPart(uuid.New(), 0, at+30, at+30+rapid.IntRange(1, 2*day).Draw(rt, "behind")))
		b.IsPackage = true
		return b
	default:
		c := newSession(10)
		c.business, c.at = business, at
		if rapid.Bool().Draw(rt, "without a teacher") {
			c.teacher = uuid.Nil
			b := newBooking(business, newPart(uuid.New(), 0, at, at+60))
			b.PartySize, b.SessionID, b.Capacity, b.Parts, b.StaffID, b.StaffName = 2, &c.id, 10, nil, nil, nil
			return b
		}
		return c.seats(rapid.IntRange(1, 10).Draw(rt, "party"))
	}
}

// TestArchiveMovesOnlyEndedTime shows that the job moves exactly the time of bookings that ended
// long enough ago, for random bookings, cancellations and times of the job. All other time stays in occupied_time.
// Later cancellations and reschedules leave no row behind.
func TestArchiveMovesOnlyEndedTime(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	rapid.Check(t, func(rt *rapid.T) {
		business := uuid.New()
		bookings := map[uuid.UUID]store.NewBooking{}
		sequence := map[uuid.UUID]int{}
		var ids []uuid.UUID
		for i := range rapid.IntRange(1, 10).Draw(rt, "bookings") {
			b := pastBooking(rt, business, i)
			mustBook(t, s, b)
			bookings[b.ID], sequence[b.ID] = b, 1
			ids = append(ids, b.ID)
		}
		past := map[uuid.UUID]bool{}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			id := rapid.SampledFrom(ids).Draw(rt, "booking")
			b, live := bookings[id]
			switch step := rapid.SampledFrom([]string{"job", "cancel", "move"}).Draw(rt, "step"); {
			case step == "job":
				runJob(t, s, pool, noon.Add(time.Duration(rapid.IntRange(-1, 32*day).Draw(rt, "minute"))*time.Minute),
					business, bookings, past)
			case !live:
			case step == "cancel":
				cancel(t, s, b)
				delete(bookings, id)
				delete(past, id)
			default:
				to := newBooking(business, newPart(uuid.New(), 0, 100*day, 100*day+60))
				if b.SessionID != nil {
					session := uuid.New()
					to.PartySize, to.SessionID, to.Capacity = b.PartySize, &session, 10
				}
				mustReschedule(t, s, newReschedule(b, to, sequence[id]))
				to.ID = id
				bookings[id], sequence[id] = to, sequence[id]+1
				delete(past, id)
			}
			expectPast(t, rt, pool, business, bookings, past)
		}
	})
	checkHeldOnce(t, pool)
	checkRecorded(t, pool)
}

// expectPast fails the test unless the rows of each booking are in the table where they belong. The bookings in `past`
// belong in past_occupied_time, the others in occupied_time. Only the seats of the others are counted.
func expectPast(t *testing.T, rt *rapid.T, pool *pgxpool.Pool, business uuid.UUID,
	bookings map[uuid.UUID]store.NewBooking, past map[uuid.UUID]bool) {
	now, gone := []string{}, []string{}
	for id, b := range bookings {
		if past[id] {
			gone = append(gone, linesOf(b)...)
		} else {
			now = append(now, linesOf(b)...)
		}
	}
	slices.Sort(now)
	slices.Sort(gone)
	if diff := cmp.Diff(now, lines(t, pool, "occupied_time", business)); diff != "" {
		rt.Fatalf("occupied time (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(gone, lines(t, pool, "past_occupied_time", business)); diff != "" {
		rt.Fatalf("past occupied time (-want +got):\n%s", diff)
	}
	seats := 0
	for id, b := range bookings {
		if b.SessionID != nil && !past[id] {
			seats += b.PartySize
		}
	}
	if n := mustCount(t, pool, `SELECT coalesce(sum(taken), 0) FROM class_sessions WHERE business_id = $1`,
		business); n != seats {
		rt.Fatalf("%d seats are counted, want %d", n, seats)
	}
}

// runJob moves the time of all bookings that had ended by `cutoff`, and checks how many the job reports. It adds their
// ids to `past`, which holds the ids of the bookings that earlier runs moved.
func runJob(t *testing.T, s *store.Store, pool *pgxpool.Pool, cutoff time.Time, business uuid.UUID,
	bookings map[uuid.UUID]store.NewBooking, past map[uuid.UUID]bool) {
	t.Helper()
	due := 0
	for id, b := range bookings {
		if !past[id] && isArchivable(b, cutoff) {
			past[id] = true
			due++
		}
	}
	ids, err := s.BusinessesToArchive(actor.AsSystem(context.Background()), uuid.Nil, cutoff, 100_000)
	if err != nil || due > 0 && !slices.Contains(ids, business) {
		t.Fatalf("the list of %d businesses (%v) does not contain the business, although %d of its bookings are due",
			len(ids), err, due)
	}
	if n, err := s.ArchiveOccupied(actor.AsSystem(context.Background()), business, cutoff); err != nil ||
		int(n) != due {
		t.Fatalf("%d bookings are archived, %v, want %d", n, err, due)
	}
	if n := mustCount(t, pool,
		`SELECT count(*) FROM class_sessions WHERE business_id = $1 AND starts_at <= $2 AND taken = 0`, business,
		cutoff); n != 0 {
		t.Errorf("%d empty sessions of the past stay", n)
	}
}

// TestArchiveSkipsLockedBookings shows that the job skips a booking whose row another transaction has locked,
// and moves the others. The next run moves the skipped booking.
func TestArchiveSkipsLockedBookings(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business := uuid.New()
	held, free := newBooking(business, newPart(uuid.New(), 0, 0, 45)),
		newBooking(business, newPart(uuid.New(), 0, 0, 45))
	mustBook(t, s, held, free)
	tx, err := pool.Begin(testkit.AsSystem(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(testkit.AsSystem(t), `SELECT FROM bookings WHERE id = $1 FOR UPDATE`, held.ID); err != nil {
		t.Fatal(err)
	}
	cutoff := noon.AddDate(0, 0, 1)
	if n, err := s.ArchiveOccupied(testkit.AsSystem(t), business, cutoff); err != nil || n != 1 {
		t.Errorf("%d bookings are archived while another one is locked, %v; want 1", n, err)
	}
	if err := tx.Rollback(testkit.AsSystem(t)); err != nil {
		t.Fatal(err)
	}
	if n, err := s.ArchiveOccupied(testkit.AsSystem(t), business, cutoff); err != nil || n != 1 {
		t.Errorf("%d are archived once it is free, %v", n, err)
	}
}

// TestArchivedBookingKeepsMembers shows that a snapshot for rescheduling names the members of a booking both
// before and after the job has moved its time.
func TestArchivedBookingKeepsMembers(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	b := newBooking(business, newPart(uuid.New(), 0, 0, 45), newPart(uuid.New(), 0, 45, 60))
	mustBook(t, s, b)
	read := func() []uuid.UUID {
		now, err := s.Snapshot(testkit.AsSystem(t), business, noon, noon.Add(time.Hour),
			store.SnapshotRequest{Except: b.ID})
		if err != nil {
			t.Fatal(err)
		}
		return now.OwnResources
	}
	before := read()
	if n, err := s.ArchiveOccupied(testkit.AsSystem(t), business, noon.AddDate(0, 0, 1)); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if diff := cmp.Diff(before, read()); diff != "" || len(before) != 2 {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// TestFeedOmitsArchivedBookings shows that the calendar of one member leaves out all bookings whose time the
// job has moved. The calendar could show such a booking only in part.
func TestFeedOmitsArchivedBookings(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business, anna := uuid.New(), uuid.New()
	b := newBooking(business, newPart(anna, 0, 0, 45), newPart(uuid.New(), 0, 45, 60))
	b.EndsAt = noon.Add(time.Hour)
	mustBook(t, s, b)
	feed, first := store.Feed{BusinessID: business, StaffID: &anna}, timespan.DateOf(noon, time.UTC)
	for _, c := range []struct{ after, want int }{{-1, 1}, {0, 0}} {
		at := b.EndsAt.Add(store.ArchiveAge).Add(time.Duration(c.after) * time.Minute)
		if _, err := s.ArchiveOccupied(testkit.AsSystem(t), business, at.Add(-store.ArchiveAge)); err != nil {
			t.Fatal(err)
		}
		entries, err := s.FeedEntries(testkit.AsSystem(t), feed, first, first+100, at, 10)
		if err != nil || len(entries) != c.want {
			t.Errorf("%d minutes after it is due, %d entries, %v, want %d", c.after, len(entries), err, c.want)
		}
	}
}

// TestArchiveRunsBesideClients runs the job repeatedly while 64 clients cancel and reschedule
// bookings. Half of the bookings ended long ago, and every reschedule goes to a time ahead. No deadlock occurs. In the
// end, each live booking has its time in exactly one table, and a cancelled one has no time.
func TestArchiveRunsBesideClients(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]clientGroup{"appointments": pastAppointments(), "classes": pastClasses()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, pool := open(t)
			mustBook(t, s, c.bookings...)
			c.clients, c.tries = 64, 10
			c.other = cancelRarely
			stop := make(chan struct{})
			var (
				job  sync.WaitGroup
				past int64
			)
			job.Go(func() {
				// The time of the job advances in small steps, so that each run finds a few more bookings.
				for cutoff := noon.Add(time.Hour); ; cutoff = cutoff.Add(15 * time.Minute) {
					n, err := s.ArchiveOccupied(actor.AsSystem(context.Background()), c.bookings[0].BusinessID,
						earlier(cutoff, noon.Add(day/2*time.Minute)))
					past += n
					if err != nil {
						t.Errorf("the job ends with %v", err)
					}
					select {
					case <-stop:
						return
					default:
					}
				}
			})
			count, refusals := c.run(t, s, isNeverLost)
			close(stop)
			job.Wait()
			t.Logf("%d reschedules and cancellations succeeded, %d were refused; the job archived time of %d bookings",
				count, refusals,
				past)
			if count == 0 || past == 0 {
				t.Error("nothing was made, or nothing is past: the test means less")
			}
			checkHeldOnce(t, pool)
			checkRecorded(t, pool)
		})
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// cancelRarely cancels the booking in one of eight calls, so that the clients reschedule most bookings.
func cancelRarely(ctx context.Context, s *store.Store, b store.NewBooking, r *rand.Rand) error {
	if r.IntN(8) != 0 {
		return errOver
	}
	transition, _ := state.FindTransition(state.Cancel)
	_, err := s.ApplyTransition(ctx, b.BusinessID, b.ID, transition, now)
	var notAllowed *store.NotAllowedError
	if errors.As(err, &notAllowed) {
		return errOver
	}
	return err
}

// pastAppointments returns 400 packages of two members, and places ahead to which the clients reschedule them. About
// half of the packages start in the first half day.
func pastAppointments() clientGroup {
	business := uuid.New()
	first, second := uuid.New(), uuid.New()
	at := func(minute int) store.NewBooking {
		return newBooking(business, newPart(first, 0, minute, minute+2), newPart(second, 0, minute+2, minute+3))
	}
	var c clientGroup
	for i := range 400 {
		c.bookings = append(c.bookings, at(i*3))
	}
	c.choose = func(_ store.NewBooking, r *rand.Rand) store.NewBooking { return at(day + r.IntN(2*day)) }
	return c
}

// pastClasses returns 200 bookings of one seat in 20 sessions, and sessions ahead to which the clients reschedule them.
// About half of the sessions are in the first half day.
func pastClasses() clientGroup {
	class := newSession(20)
	at := func(n int) store.NewBooking {
		c := class
		c.at = n * 60
		return c.seats(1)
	}
	var c clientGroup
	for i := range 200 {
		c.bookings = append(c.bookings, at(i/10))
	}
	c.choose = func(_ store.NewBooking, r *rand.Rand) store.NewBooking { return at(24 + r.IntN(20)) }
	return c
}
