package state_test

import (
	"testing"

	"github.com/slotmesh/slotmesh/services/booking/internal/state"
)

// TestTransitionsFollowSpecification compares all transitions with semantics.md §3 and lifecycle.md §4. A pending
// booking can be confirmed. A confirmed one can become completed or no_show, and can then be reopened. A pending or
// confirmed one can be cancelled. No other transition is allowed.
func TestTransitionsFollowSpecification(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]string{
		"pending":   {"confirm": "confirmed", "cancel": "cancelled"},
		"confirmed": {"complete": "completed", "no-show": "no_show", "cancel": "cancelled"},
		"completed": {"reopen": "confirmed"},
		"no_show":   {"reopen": "confirmed"},
		"cancelled": {},
	}
	for from, moves := range want {
		for _, move := range []string{"confirm", "cancel", "complete", "no-show", "reopen"} {
			transition, ok := state.FindTransition(state.TransitionName(move))
			if !ok {
				t.Fatalf("the transition %s does not exist", move)
			}
			to, allowed := moves[move]
			if got := transition.Allows(state.State(from)); got != allowed {
				t.Errorf("%s from %s: allowed is %t, want %t", move, from, got, allowed)
			}
			if allowed && string(transition.To) != to {
				t.Errorf("%s from %s leads to %s, want %s", move, from, transition.To, to)
			}
			if transition.FreesTime != (move == "cancel") {
				t.Errorf("%s frees time: %t", move, transition.FreesTime)
			}
		}
	}
}

func TestFindTransitionRejectsUnknownNames(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "Confirm", "delete", "pending"} {
		if _, ok := state.FindTransition(state.TransitionName(word)); ok {
			t.Errorf("%q is a transition", word)
		}
	}
}
