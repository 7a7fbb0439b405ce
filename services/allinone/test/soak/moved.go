package soak

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
)

// change is an event of a booking, a ticket order or a reservation: the kind of change, the actor who
// made it, and the state after it.
type change struct {
	SubjectID uuid.UUID
	Sequence  int
	Type      event.Type
	By        actor.Kind
	At        time.Time // by the replica's clock
	Start     string    // local, in the format of row
	StartsAt  time.Time
	StaffID   *uuid.UUID
	From      *string // of a reschedule: the previous start
	Refund    *int64  // amount to refund since then; nil: none
}

// changes returns the events of each booking, order of tickets and reservation, in their order.
func (t *tables) changes(ctx context.Context) (map[uuid.UUID][]change, error) {
	found, err := t.conn.Query(ctx, `
		SELECT subject_id, sequence, type, actor_kind, at, coalesce(to_char((data ->> 'local_start')::timestamp, 'YYYY-MM-DD HH24:MI:SS'), ''),
		       coalesce((data ->> 'starts_at')::timestamptz, (data ->> 'start_date')::timestamp AT TIME ZONE 'UTC'), (data ->> 'staff_id')::uuid,
		       to_char((data -> 'from' ->> 'local_start')::timestamp, 'YYYY-MM-DD HH24:MI:SS'), (data -> 'payment' ->> 'refund_amount')::bigint
		FROM (SELECT subject_id, sequence, type, actor_kind, at, data FROM booking.events WHERE subject_kind IN ('booking', 'ticket')
		      UNION ALL SELECT subject_id, sequence, type, actor_kind, at, data FROM rental.events WHERE subject_kind = 'reservation') AS events ORDER BY subject_id, sequence`)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(found, pgx.RowToStructByPos[change])
	bySubject := map[uuid.UUID][]change{}
	for _, c := range all {
		bySubject[c.SubjectID] = append(bySubject[c.SubjectID], c)
	}
	return bySubject, err
}

// may reports whether the task may have taken effect.
func (t *task) may() bool {
	return slices.ContainsFunc(t.attempts, func(a *attempt) bool { return a.verdict != refused })
}

// did returns an attempt that was answered as successful, or nil.
func (t *task) did() *attempt {
	if i := slices.IndexFunc(t.attempts, func(a *attempt) bool { return a.verdict == made }); i >= 0 {
		return t.attempts[i]
	}
	return nil
}

// behind returns the reschedules that may have caused the event.
func (op *operation) behind(c change) []*move {
	var found []*move
	for _, m := range op.moves {
		if m.may() && m.by == c.By && m.to.start() == c.Start &&
			(m.to.staff == nil || c.StaffID != nil && *m.to.staff == *c.StaffID) {
			found = append(found, m)
		}
	}
	return found
}

// when returns the earliest and the latest possible time of the event c, which one of the reschedules in moves
// caused. The event is not earlier than the first of their attempts. It is not later than any answer that
// shows the booking in the state of c or in a later one; without such an answer, the latest time is unlimited.
func when(c change, moves []*move) (time.Duration, time.Duration) {
	begin, end := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for _, m := range moves {
		for _, a := range m.attempts {
			if a.verdict != refused {
				begin = min(begin, a.begin)
			}
			if a.verdict == made && a.answer.Sequence >= c.Sequence {
				end = min(end, a.end)
			}
		}
	}
	return begin, end
}

// moved checks the reschedules of each booking. Each reschedule event must begin at the start of the event before it,
// must be caused by a request, and must be allowed by the offer. The number of events must not exceed the number of
// requests that may have succeeded. The answers must show states that the events contain.
func (j *judgement) moved(op *operation) {
	for _, r := range j.rows[op.tag] {
		changes := j.changes[r.ID]
		done := 0
		for i, c := range changes {
			if c.Type != event.BookingRescheduled {
				continue
			}
			done++
			if c.From == nil || i == 0 || *c.From != changes[i-1].Start {
				j.wrong(op, "the event of a move says that it was from %v, and it was at %v", value(c.From),
					changes[:i])
			}
			moves := op.behind(c)
			if len(moves) == 0 {
				j.wrong(op, "it was moved to %s by %s, and nobody has, or it was refused", c.Start, c.By)
			}
			j.movable(op, c, moves)
		}
		if possible := len(slices.DeleteFunc(slices.Clone(op.moves),
			func(m *move) bool { return !m.may() })); done > possible {
			j.wrong(op, "it was moved %d times, and %d may have been", done, possible)
		}
	}
	for _, m := range op.moves {
		j.toldOfMove(op, m)
	}
}

func value(text *string) string {
	if text == nil {
		return "nowhere"
	}
	return *text
}

// toldOfMove checks each successful answer of a reschedule. An event must have put the booking at the
// requested start, and the answer must show the booking as one of the events left it.
func (j *judgement) toldOfMove(op *operation, m *move) {
	for _, a := range m.attempts {
		if a.verdict != made {
			continue
		}
		id, _ := uuid.Parse(a.id) // an invalid id has no changes
		changes := j.changes[id]
		told := slices.IndexFunc(changes, func(c change) bool { return c.Sequence == a.answer.Sequence })
		been := slices.IndexFunc(changes, func(c change) bool {
			return c.Sequence <= a.answer.Sequence && c.Start == m.to.start()
		})
		switch {
		case told < 0:
			j.wrong(op, "what was answered as moved has no event %d", a.answer.Sequence)
		case changes[told].Start != a.answer.start() || !a.answer.by(changes[told].StaffID):
			j.wrong(op, "an answer says that it was at %s with %v, and it was at %s with %v", a.answer.start(),
				value(a.answer.StaffID), changes[told].Start, changes[told].StaffID)
		case been < 0:
			j.wrong(op, "what was answered as moved to %s never was there", m.to.start())
		}
	}
}

// movable checks the new start of a rescheduled booking. A version of the offer that was the newest
// one at some time of the request must allow this start.
func (j *judgement) movable(op *operation, c change, moves []*move) {
	begin, end := when(c, moves)
	oldest, newest := int64(0), int64(math.MaxInt64)
	for _, p := range j.versions {
		switch {
		case p.business != op.business || p.version == 0:
		case p.attempt.verdict == made && p.attempt.end < begin:
			oldest = max(oldest, p.version)
		case p.attempt.begin > end:
			newest = min(newest, p.version-1)
		}
	}
	why := "there was none"
	for version := range j.w.editions[op.business.slug] {
		if version < oldest || version > newest {
			continue
		}
		why = j.w.forbidden(op.business, row{Version: version, Start: c.Start, StaffID: c.StaffID})
		if why == "" {
			return
		}
	}
	j.wrong(op, "no version of the offer from %d to %d allows the move to %s: %s", oldest, newest, c.Start, why)
}

// owed returns the possible refunds of a payment (lifecycle.md
// §4): one for each task that may have cancelled the booking.
func (op *operation) owed(p payment, changes []change) []int64 {
	paid := slices.IndexFunc(changes, func(c change) bool { return c.Type == event.PaymentSucceeded })
	off := slices.IndexFunc(changes, func(c change) bool { return strings.HasSuffix(string(c.Type), ".cancelled") })
	switch {
	case paid < 0 || off < 0:
		return []int64{0}
	case off < paid: // a payment after the cancellation is refunded in full
		return []int64{p.Amount}
	}
	byPolicy := policyRefund(p.Amount, changes[off].At, changes[off].StartsAt)
	for i, c := range changes[:off] { // a reschedule by the customer limits the refund
		if i > 0 && c.Type == event.BookingRescheduled && c.By == actor.Customer {
			byPolicy = min(byPolicy, policyRefund(p.Amount, c.At, changes[i-1].StartsAt))
		}
	}
	var amounts []int64
	for _, c := range op.cancels {
		if c.by != changes[off].By || !c.may() {
			continue
		}
		amount := map[any]int64{nil: byPolicy, "policy": byPolicy, "full": p.Amount, "none": 0, 12.5: 1250}[c.refund]
		if a := c.did(); a != nil {
			if told := a.answer.Payment; told != nil && told.Refund != nil &&
				int64(math.Round(told.Refund.Amount*100)) != amount {
				return nil // the answer named another amount
			}
			return []int64{amount}
		}
		amounts = append(amounts, amount)
	}
	return amounts
}

// refunds checks that the answers, events, tables and the provider agree on the refund, and that it is a correct one.
func (j *judgement) refunds(op *operation, p payment) {
	changes := j.changes[p.SubjectID]
	owed := op.owed(p, changes)
	if !slices.Contains(owed, p.Refunded) {
		j.wrong(op, "%d of %d were refunded, and %v is owed: %v", p.Refunded, p.Amount, owed, op.cancels)
	}
	if len(changes) == 0 {
		return
	}
	if last := changes[len(changes)-1].Refund; last == nil && p.Refunded != 0 || last != nil && *last != p.Refunded {
		j.wrong(op, "%d were refunded, and its last event tells of another refund: %+v", p.Refunded,
			changes[len(changes)-1])
	}
}
