package usecase

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/sale"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// writeFree calls `write` with the first assignment of an evaluation. If another request has occupied the time of the
// assignment in the meantime, writeFree continues with the assignments that are still free. Errors: those of `write`;
// [sale.ErrChanged] if no assignment is left.
func writeFree[T any](ctx context.Context, b *Booker, e evaluation,
	write func(availability.Assignment) (T, error)) (T, error) {
	for {
		written, err := write(e.assignments[0])
		if !errors.Is(err, store.ErrOccupied) {
			return written, err
		}
		if e.assignments, err = b.freeAssignments(ctx, e); err == nil && len(e.assignments) == 0 {
			err = sale.ErrChanged
		}
		if err != nil {
			return written, err
		}
	}
}

// freeAssignments returns the assignments of an evaluation that are still free.
// It is called if the write of the first assignment returned [store.ErrOccupied].
//
// If the time of the first assignment is free, freeAssignments returns no assignment.
// The write then failed for another reason: the booking has the price of a first
// booking, but another request has made the customer's first booking in the meantime.
func (b *Booker) freeAssignments(ctx context.Context, e evaluation) ([]availability.Assignment, error) {
	b.lostRaces.Add(ctx, 1)
	from, to := e.window()
	now, err := b.Bookings.Snapshot(ctx, e.offer.ID, from, to, store.SnapshotRequest{Seats: e.isClass(), Except: e.except})
	if err != nil {
		return nil, NewUnverifiedFault(err)
	}
	busy := indexBusy(now.Occupied)
	conflicts := func(c availability.Assignment) bool { return busy.conflicts(c, e.request.PartySize) }
	if !conflicts(e.assignments[0]) {
		return nil, nil
	}
	free := slices.DeleteFunc(e.assignments, conflicts)
	spread(free)
	return free, nil
}

// spread shuffles assignments that differ only in their capacity units. Without spread, all requests
// that lost a race would try the same next unit, and all of them except one would lose again.
func spread(assignments []availability.Assignment) {
	for from := 0; from < len(assignments); {
		to := from + 1
		for to < len(assignments) && sameStaff(assignments[from], assignments[to]) {
			to++
		}
		group := assignments[from:to]
		rand.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
		from = to
	}
}

func sameStaff(a, b availability.Assignment) bool {
	if a.StaffID == nil || b.StaffID == nil {
		return a.StaffID == b.StaffID
	}
	return *a.StaffID == *b.StaffID
}

// busyTime contains the occupied time of each resource, and the number of seats taken in
// each class session. The field `alone` contains the time of appointments. The field
// `shared` contains the time of classes: the bookings of one class may overlap each other.
type busyTime struct {
	alone, shared map[booking.Resource][]timespan.Span
	seats         map[booking.Occurrence]int
}

func indexBusy(o booking.Occupied) busyTime {
	t := busyTime{
		alone: make(map[booking.Resource][]timespan.Span, len(o.Busy)), shared: map[booking.Resource][]timespan.Span{},
		seats: o.SeatsByOccurrence(),
	}
	for _, b := range o.Busy {
		if b.Class {
			t.shared[b.Resource] = b.Spans()
		} else {
			t.alone[b.Resource] = b.Spans()
		}
	}
	return t
}

// conflicts reports whether an assignment is no longer possible for a party of the given size. It is not
// possible if one of its parts overlaps occupied time, or if its class session has too few free seats.
func (t busyTime) conflicts(c availability.Assignment, party int) bool {
	if c.Session != nil && t.seats[booking.Occurrence{SessionID: c.Session.ID, StartsAt: c.During.Start}]+
		party > c.Session.Capacity {
		return true
	}
	return slices.ContainsFunc(c.Parts, func(p availability.Part) bool {
		return slices.ContainsFunc(t.alone[p.Resource], p.Occupies.Overlaps) ||
			c.Session == nil && slices.ContainsFunc(t.shared[p.Resource], p.Occupies.Overlaps)
	})
}
