package soak

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
)

// historyStep is a step in the history of a resource. The step takes capacity, gives capacity back, or is a refusal
// because too little capacity is free.
type historyStep struct {
	kind  int
	takes [3]int
	caps  [3]int
}

const (
	stepTake = iota
	stepGiveBack
	stepRefuse
)

// resourceModel is porcupine's model of a resource. A resource has up to three counters, each with a capacity. If only
// one booking can have a certain start, that start is a counter with capacity 1.
var resourceModel = porcupine.Model{
	Init: func() any { return [3]int{} },
	Step: func(state, input, _ any) (bool, any) {
		taken, in := state.([3]int), input.(historyStep)
		fits := true
		next := taken
		for i := range next {
			if in.kind == stepGiveBack {
				next[i] -= in.takes[i]
			} else {
				next[i] += in.takes[i]
			}
			fits = fits && next[i] <= in.caps[i]
		}
		switch in.kind {
		case stepRefuse:
			return !fits, taken
		case stepGiveBack:
			return true, next
		}
		return fits, next
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
}

// checkHistories checks the history of each resource: an order must exist in which the operations, one after the other,
// give the answers that the clients received. checkHistories returns the number of checked histories, and a text for
// each resource for which no such order exists. If an attempt has no answer but its row exists, the attempt may have
// been executed at any time after it began.
func (w *workload) checkHistories(rows map[string][]row, changes map[uuid.UUID][]change) (int, []string) {
	histories := map[string][]porcupine.Operation{}
	for _, op := range w.operations {
		if op.resource == "" {
			continue
		}
		op.addHistory(rows[op.tag], changes, func(resource string, step porcupine.Operation) {
			histories[resource] = append(histories[resource], step)
		})
	}
	var broken []string
	for resource, history := range histories {
		for i := range history {
			history[i].ClientId = i // so that each operation has its own client
		}
		if porcupine.CheckOperationsTimeout(resourceModel, history, time.Minute) == porcupine.Illegal {
			broken = append(broken, fmt.Sprintf("the history of %s has no order that explains it: %s", resource,
				formatHistory(history)))
		}
	}
	slices.Sort(broken)
	return len(histories), broken
}

func formatHistory(history []porcupine.Operation) string {
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	text := ""
	for _, h := range history {
		in := h.Input.(historyStep)
		text += fmt.Sprintf("\n      %s %v %.3f-%.3fs", []string{"take", "give back", "refused"}[in.kind], in.takes,
			float64(h.Call)/1e9, float64(h.Return)/1e9)
	}
	return text
}

// addHistory calls the argument `step` for each step of an operation. The steps concern the operation's resource and
// the resources to which its booking was rescheduled.
func (op *operation) addHistory(rows []row, changes map[uuid.UUID][]change,
	step func(resource string, step porcupine.Operation)) {
	at := op.resource
	add := func(kind int, begin, end time.Duration) {
		step(at, porcupine.Operation{Input: historyStep{kind, op.takes, op.caps}, Call: int64(begin),
			Return: int64(end)})
	}
	if no := op.findRefusal("idempotency_in_progress"); no != nil {
		add(stepRefuse, no.begin, no.end)
	}
	for _, m := range op.reschedules {
		at = m.target.resource
		if no := m.findRefusal("idempotency_in_progress", "conflict"); no != nil { // conflict: the booking is cancelled
			add(stepRefuse, no.begin, no.end)
		}
	}
	at = op.resource
	begin, end := op.findSpan()
	if len(rows) == 0 || begin == noTime {
		return
	}
	add(stepTake, begin, end)
	for _, c := range changes[rows[0].ID] {
		causes := op.findCauses(c)
		if c.Type != event.BookingRescheduled || len(causes) == 0 {
			continue
		}
		begin, end := findEventTime(c, causes)
		add(stepGiveBack, begin, end)
		at = causes[0].target.resource
		add(stepTake, begin, end)
	}
	if !rows[0].IsLive {
		given, by := noTime, noTime
		for _, c := range op.cancellations {
			begin, end := c.findSpan()
			given, by = min(given, begin), min(by, end)
		}
		add(stepGiveBack, given, by)
	}
}

const noTime = time.Duration(math.MaxInt64)

// findSpan returns the earliest and the latest time at which the task may have had an effect.
func (t *task) findSpan() (time.Duration, time.Duration) {
	begin, end := noTime, noTime
	for _, a := range t.attempts {
		if a.outcome != refused {
			begin = min(begin, a.begin)
		}
		if a.outcome == succeeded {
			end = min(end, a.end)
		}
	}
	return begin, end
}

// findRefusal returns the first attempt of `t` that was refused because capacity was missing, or nil. Later attempts
// with the same Idempotency-Key can only repeat this answer. findRefusal ignores refusals with the given codes, because
// they have other reasons.
func (t *task) findRefusal(codes ...string) *attempt {
	var no *attempt
	for _, a := range t.attempts {
		if a.status == http.StatusConflict && !slices.Contains(codes, a.code) && (no == nil || a.end < no.end) {
			no = a
		}
	}
	return no
}
