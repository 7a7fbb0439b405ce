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

// change is an event of a booking, a ticket order or a reservation. It contains the kind of change, the actor, and the
// state of the object after the change.
type change struct {
	SubjectID uuid.UUID
	Sequence  int
	Type      event.Type
	By        actor.Kind
	At        time.Time // time of the event, according to the replica's clock
	Start     string    // local start in the format of row.Start
	StartsAt  time.Time
	StaffID   *uuid.UUID
	From      *string // previous start, if the event is a reschedule
	Refund    *int64  // total refund after this change, in cents; nil if there is none
}

// readChanges returns the events of each booking, ticket order and reservation, in order, by the ID of the object.
func (t *tables) readChanges(ctx context.Context) (map[uuid.UUID][]change, error) {
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

// canHaveHadEffect reports whether the task may have had an effect.
func (t *task) canHaveHadEffect() bool {
	return slices.ContainsFunc(t.attempts, func(a *attempt) bool { return a.outcome != refused })
}

// findSuccess returns an attempt with a successful answer, or nil.
func (t *task) findSuccess() *attempt {
	if i := slices.IndexFunc(t.attempts, func(a *attempt) bool { return a.outcome == succeeded }); i >= 0 {
		return t.attempts[i]
	}
	return nil
}

// findCauses returns the reschedules of the operation that may have caused the event `c`.
func (op *operation) findCauses(c change) []*reschedule {
	var found []*reschedule
	for _, m := range op.reschedules {
		if m.canHaveHadEffect() && m.actor == c.By && m.target.formatStart() == c.Start &&
			(m.target.staff == nil || c.StaffID != nil && *m.target.staff == *c.StaffID) {
			found = append(found, m)
		}
	}
	return found
}

// findEventTime returns the earliest and the latest possible time of the event `c`. One of the reschedules in the
// argument `causes` caused this event. The earliest time is the beginning of the first attempt of these reschedules.
// The latest time is the end of the first answer that shows the booking in the state after `c` or in a later state.
// Without such an answer, there is no latest time.
func findEventTime(c change, causes []*reschedule) (time.Duration, time.Duration) {
	begin, end := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for _, m := range causes {
		for _, a := range m.attempts {
			if a.outcome != refused {
				begin = min(begin, a.begin)
			}
			if a.outcome == succeeded && a.answer.Sequence >= c.Sequence {
				end = min(end, a.end)
			}
		}
	}
	return begin, end
}

// checkReschedules checks the reschedules of each booking. Each reschedule event must name the start of the previous
// event as its previous start. A request must have caused the event, and the offer must allow the new start. There must
// not be more events than requests that may have succeeded. The answers must show states that occur in the events.
func (j *checker) checkReschedules(op *operation) {
	for _, r := range j.rows[op.tag] {
		changes := j.changes[r.ID]
		done := 0
		for i, c := range changes {
			if c.Type != event.BookingRescheduled {
				continue
			}
			done++
			if c.From == nil || i == 0 || *c.From != changes[i-1].Start {
				j.addFinding(op, "a reschedule event has the previous start %v, but the events before it are %v",
					formatValue(c.From),
					changes[:i])
			}
			causes := op.findCauses(c)
			if len(causes) == 0 {
				j.addFinding(op, "it was rescheduled to %s by %s without a request that can have succeeded", c.Start,
					c.By)
			}
			j.checkNewStart(op, c, causes)
		}
		if possible := len(slices.DeleteFunc(slices.Clone(op.reschedules),
			func(m *reschedule) bool { return !m.canHaveHadEffect() })); done > possible {
			j.addFinding(op, "it was rescheduled %d times, but only %d requests can have succeeded", done, possible)
		}
	}
	for _, m := range op.reschedules {
		j.checkRescheduleAnswers(op, m)
	}
}

func formatValue(text *string) string {
	if text == nil {
		return "nowhere"
	}
	return *text
}

// checkRescheduleAnswers checks each successful answer to a reschedule. One of the booking's events must contain the
// requested start. The answer must show the state of the booking after one of these events.
func (j *checker) checkRescheduleAnswers(op *operation, m *reschedule) {
	for _, a := range m.attempts {
		if a.outcome != succeeded {
			continue
		}
		id, _ := uuid.Parse(a.id) // for an invalid ID, there are no changes
		changes := j.changes[id]
		told := slices.IndexFunc(changes, func(c change) bool { return c.Sequence == a.answer.Sequence })
		been := slices.IndexFunc(changes, func(c change) bool {
			return c.Sequence <= a.answer.Sequence && c.Start == m.target.formatStart()
		})
		switch {
		case told < 0:
			j.addFinding(op, "a successful reschedule has no event %d", a.answer.Sequence)
		case changes[told].Start != a.answer.formatStart() || !a.answer.isBy(changes[told].StaffID):
			j.addFinding(op, "an answer has the start %s with %v, but its event has %s with %v", a.answer.formatStart(),
				formatValue(a.answer.StaffID), changes[told].Start, changes[told].StaffID)
		case been < 0:
			j.addFinding(op, "a successful reschedule to %s is in no event", m.target.formatStart())
		}
	}
}

// checkNewStart checks that the offer allows the new start of a rescheduled booking. A version that was the newest one
// at some time during the request must allow the start.
func (j *checker) checkNewStart(op *operation, c change, causes []*reschedule) {
	begin, end := findEventTime(c, causes)
	oldest, newest := int64(0), int64(math.MaxInt64)
	for _, p := range j.versions {
		switch {
		case p.business != op.business || p.version == 0:
		case p.attempt.outcome == succeeded && p.attempt.end < begin:
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
		why = j.w.findProhibition(op.business, row{Version: version, Start: c.Start, StaffID: c.StaffID})
		if why == "" {
			return
		}
	}
	j.addFinding(op, "no version of the offer from %d to %d allows the reschedule to %s: %s", oldest, newest, c.Start,
		why)
}

// listPossibleRefunds returns the possible refunds of a payment (lifecycle.md §4). The result contains one amount for
// each task that may have cancelled the object.
func (op *operation) listPossibleRefunds(p payment, changes []change) []int64 {
	paid := slices.IndexFunc(changes, func(c change) bool { return c.Type == event.PaymentSucceeded })
	off := slices.IndexFunc(changes, func(c change) bool { return strings.HasSuffix(string(c.Type), ".cancelled") })
	switch {
	case paid < 0 || off < 0:
		return []int64{0}
	case off < paid: // a payment after the cancellation is refunded in full
		return []int64{p.Amount}
	}
	byPolicy := computePolicyRefund(p.Amount, changes[off].At, changes[off].StartsAt)
	for i, c := range changes[:off] { // a reschedule by the customer can reduce the refund
		if i > 0 && c.Type == event.BookingRescheduled && c.By == actor.Customer {
			byPolicy = min(byPolicy, computePolicyRefund(p.Amount, c.At, changes[i-1].StartsAt))
		}
	}
	var amounts []int64
	for _, c := range op.cancellations {
		if c.actor != changes[off].By || !c.canHaveHadEffect() {
			continue
		}
		amount := map[any]int64{nil: byPolicy, "policy": byPolicy, "full": p.Amount, "none": 0, 12.5: 1250}[c.refund]
		if a := c.findSuccess(); a != nil {
			if answer := a.answer.Payment; answer != nil && answer.Refund != nil &&
				int64(math.Round(answer.Refund.Amount*100)) != amount {
				return nil // no refund is possible, because the answer contained another amount
			}
			return []int64{amount}
		}
		amounts = append(amounts, amount)
	}
	return amounts
}

// checkRefunds checks that the answers, the events, the tables and the provider agree on the refund of a payment.
// checkRefunds also checks that the amount of the refund is possible ([operation.listPossibleRefunds]).
func (j *checker) checkRefunds(op *operation, p payment) {
	changes := j.changes[p.SubjectID]
	owed := op.listPossibleRefunds(p, changes)
	if !slices.Contains(owed, p.Refunded) {
		j.addFinding(op, "%d of %d were refunded, but the possible refunds are %v: %v", p.Refunded, p.Amount, owed,
			op.cancellations)
	}
	if len(changes) == 0 {
		return
	}
	if last := changes[len(changes)-1].Refund; last == nil && p.Refunded != 0 || last != nil && *last != p.Refunded {
		j.addFinding(op, "%d were refunded, but its last event has another refund: %+v", p.Refunded,
			changes[len(changes)-1])
	}
}
