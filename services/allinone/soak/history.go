package soak

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// linear is a step of a history: something is taken from a resource, given back, or refused because there is not enough.
type linear struct {
	kind  int
	takes [3]int
	caps  [3]int
}

const (
	taking = iota
	giving
	refusing
)

// stock is the model of everything that is sold: up to three counters with a capacity each. A time that one booking can
// have is a counter up to 1.
var stock = porcupine.Model{
	Init: func() any { return [3]int{} },
	Step: func(state, input, _ any) (bool, any) {
		taken, in := state.([3]int), input.(linear)
		fits := true
		next := taken
		for i := range next {
			if in.kind == giving {
				next[i] -= in.takes[i]
			} else {
				next[i] += in.takes[i]
			}
			fits = fits && next[i] <= in.caps[i]
		}
		switch in.kind {
		case refusing:
			return !fits, taken
		case giving:
			return true, next
		}
		return fits, next
	},
	DescribeOperation: func(input, _ any) string { return fmt.Sprintf("%+v", input) },
}

// linearizable judges each resource's history, and returns how many there are and which hold no order that explains them.
// An attempt without an answer has happened where its row is there, at any time from its beginning on.
func (w *workload) linearizable(rows map[string][]row) (int, []string) {
	histories := map[string][]porcupine.Operation{}
	for _, op := range w.done {
		if op.resource == "" {
			continue
		}
		histories[op.resource] = append(histories[op.resource], op.history(rows[op.tag])...)
	}
	var broken []string
	for resource, history := range histories {
		for i := range history {
			history[i].ClientId = i // each operation stands for itself
		}
		if porcupine.CheckOperationsTimeout(stock, history, time.Minute) == porcupine.Illegal {
			broken = append(broken, fmt.Sprintf("the history of %s has no order that explains it: %s", resource, describe(history)))
		}
	}
	slices.Sort(broken)
	return len(histories), broken
}

func describe(history []porcupine.Operation) string {
	slices.SortFunc(history, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	text := ""
	for _, h := range history {
		in := h.Input.(linear)
		text += fmt.Sprintf("\n      %s %v %.3f-%.3fs", []string{"take", "give back", "refused"}[in.kind], in.takes, float64(h.Call)/1e9, float64(h.Return)/1e9)
	}
	return text
}

// history is what an operation did to its resource.
func (op *operation) history(rows []row) []porcupine.Operation {
	var all []porcupine.Operation
	add := func(kind int, begin, end int64) {
		all = append(all, porcupine.Operation{Input: linear{kind, op.takes, op.caps}, Call: begin, Return: end})
	}
	begin, end := int64(math.MaxInt64), int64(math.MaxInt64)
	var no *attempt // the first refusal; under a key, later ones may only repeat it
	for _, a := range op.attempts {
		switch {
		case a.verdict == made:
			begin, end = min(begin, int64(a.begin)), min(end, int64(a.end))
		case a.verdict == unknown:
			begin = min(begin, int64(a.begin))
		case a.status == http.StatusConflict && a.code != "idempotency_in_progress" && (no == nil || a.end < no.end):
			no = a
		}
	}
	if no != nil {
		add(refusing, int64(no.begin), int64(no.end))
	}
	if len(rows) == 0 || begin == math.MaxInt64 {
		return all
	}
	add(taking, begin, end)
	if !rows[0].Live {
		given, by := int64(math.MaxInt64), int64(math.MaxInt64)
		for _, a := range op.cancels {
			given = min(given, int64(a.begin))
			if a.verdict == made {
				by = min(by, int64(a.end))
			}
		}
		add(giving, given, by)
	}
	return all
}
