// Package state defines the statuses and transitions of a rental reservation (semantics.md §4). It is pure.
//
//	            ┌─────────────── cancel ──────────────┐
//	created ► pending ── its payment ──► reserved ── cancel ──► cancelled
//	                                       └── pickup ──► picked_up ── return ──► returned
//
// A reservation that is paid online begins as pending, any other reservation begins as reserved.
package state

import "slices"

// State is the status of a reservation.
type State string

// The statuses of a reservation. A [Pending] reservation waits for its payment and occupies its
// units. [Returned] and [Cancelled] are final, and a reservation with one of them occupies no units.
const (
	Pending   State = "pending"
	Reserved  State = "reserved"
	PickedUp  State = "picked_up"
	Returned  State = "returned"
	Cancelled State = "cancelled"
)

// TransitionName is the name of an action of the owner that changes the status of a reservation.
type TransitionName string

// The transitions that an owner can make.
const (
	Pickup TransitionName = "pickup"
	Return TransitionName = "return"
	Cancel TransitionName = "cancel"
)

// Transition is the change of status that a [TransitionName] makes: from one of the statuses From to the status To.
type Transition struct {
	From []State
	To   State
}

// Allows reports whether the transition is allowed from the status `s`.
func (t Transition) Allows(s State) bool { return slices.Contains(t.From, s) }

var transitions = map[TransitionName]Transition{
	Pickup: {From: []State{Reserved}, To: PickedUp},
	Return: {From: []State{PickedUp}, To: Returned},
	Cancel: {From: []State{Pending, Reserved}, To: Cancelled},
}

// FindTransition returns the transition with the name `m`. The
// second result is false if `m` is not the name of a transition.
func FindTransition(m TransitionName) (Transition, bool) {
	t, ok := transitions[m]
	return t, ok
}
