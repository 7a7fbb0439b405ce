package store_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// TestTransitionFollowsDayOfBooking checks the rule of days with random zones, starts and times. A booking can become
// completed or no-show from the start of its day on. It can be reopened until the end of the next day. The days are
// those of the time zone in which the booking was sold.
func TestTransitionFollowsDayOfBooking(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	r := rand.New(rand.NewPCG(27, 3))
	zones := []string{"Europe/Lisbon", "America/Los_Angeles", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Asia/Kolkata",
		"Africa/Cairo"}
	refusals := 0
	for range 150 {
		zone := zones[r.IntN(len(zones))]
		loc, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		// The start lies between March and November, so that it can lie on either side of a clock change.
		b := localTime(newBooking(uuid.New(), newPart(uuid.New(), 0, r.IntN(300*24*60)-90*24*60, 300*24*60)), loc)
		b.Status = state.Confirmed
		clock := loc
		if b.Timezone = zone; r.IntN(4) == 0 { // only the UTC offset at the sale is known
			_, offset := b.StartsAt.In(loc).Zone()
			b.Timezone, clock = "", time.FixedZone("", offset)
		}
		mustBook(t, s, b)
		at := b.StartsAt.Add(time.Duration(r.IntN(6*24*60)-3*24*60) * time.Minute)
		day := func(t time.Time) string { return t.In(clock).Format(time.DateOnly) }
		next := b.StartsAt.In(clock).AddDate(0, 0, 1).Format(time.DateOnly)

		finish, _ := state.FindTransition([]state.TransitionName{state.Complete, state.MarkNoShow}[r.IntN(2)])
		var wrongDay *store.WrongDayError
		_, err = s.ApplyTransition(testkit.AsSystem(t), b.BusinessID, b.ID, finish, at)
		if isAllowed := day(at) >= day(b.StartsAt); isAllowed != (err == nil) || !isAllowed && !errors.As(err, &wrongDay) {
			t.Fatalf("%s at %s for a booking of %s (%s): %v", finish.To, at, b.StartsAt, zone, err)
		}
		if err != nil {
			refusals++
			if _, err := s.ApplyTransition(testkit.AsSystem(t), b.BusinessID, b.ID, finish, b.StartsAt); err != nil {
				t.Fatal(err)
			}
		}
		reopen, _ := state.FindTransition(state.Reopen)
		updated, err := s.ApplyTransition(testkit.AsSystem(t), b.BusinessID, b.ID, reopen, at)
		if isAllowed := day(at) <= next; isAllowed != (err == nil) || !isAllowed && !errors.As(err, &wrongDay) {
			t.Fatalf("reopen at %s for a booking of %s (%s): %v", at, b.StartsAt, zone, err)
		}
		if err != nil {
			refusals++
			continue
		}
		if updated.Status != state.Confirmed {
			t.Fatalf("reopened, the booking is %s", updated.Status)
		}
	}
	if refusals < 20 {
		t.Errorf("the generated cases hold only %d refusals", refusals)
	}
	checkWhole(t, pool, 1)
}

// TestReopenUndoesFinish shows that a reopened booking is confirmed again and occupies its time again. The event log
// has an event for the reopening.
func TestReopenUndoesFinish(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	for _, move := range []state.TransitionName{state.Complete, state.MarkNoShow} {
		b := newBooking(uuid.New(), newPart(uuid.New(), 0, 0, 45))
		b.Status = state.Confirmed
		mustBook(t, s, b)
		before, err := s.Booking(testkit.AsSystem(t), b.BusinessID, b.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []state.TransitionName{move, state.Reopen} {
			if _, err := s.ApplyTransition(testkit.AsSystem(t), b.BusinessID, b.ID, transitionOf(m), noon); err != nil {
				t.Fatal(err)
			}
		}
		after, err := s.Booking(testkit.AsSystem(t), b.BusinessID, b.ID)
		if err != nil || after.Status != state.Confirmed || after.Sequence != before.Sequence+2 {
			t.Errorf("after %s and reopen: %+v, %v", move, after, err)
		}
		for i, kind := range []event.Type{event.BookingCreated, transitionOf(move).Event, event.BookingReopened} {
			if mustCount(t, pool, `SELECT count(*) FROM events WHERE subject_id = $1 AND sequence = $2 AND type = $3`, b.ID,
				i+1, kind) != 1 {
				t.Errorf("after %s and reopen, event %d is not a %s", move, i+1, kind)
			}
		}
		second := newBooking(b.BusinessID, b.Parts...)
		if err := s.Book(testkit.AsSystem(t), second); !errors.Is(err, store.ErrOccupied) {
			t.Errorf("its time is sold twice: %v", err)
		}
	}
}
