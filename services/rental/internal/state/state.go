// Package state is the life of a rental reservation (semantics.md §4). It is pure.
//
//	            ┌─────────────── cancel ──────────────┐
//	created ► pending ── its payment ──► reserved ── cancel ──► cancelled
//	                                       └── pickup ──► picked_up ── return ──► returned
//
// A reservation begins as pending where it is paid online, else as reserved.
package state

import "slices"

// State is the status of a reservation.
type State string

// The states. [Pending] waits for its payment, and holds its units; [Returned] and [Cancelled] are final and hold none.
const (
	Pending   State = "pending"
	Reserved  State = "reserved"
	PickedUp  State = "picked_up"
	Returned  State = "returned"
	Cancelled State = "cancelled"
)

// Move is what the owner does to a reservation.
type Move string

// The moves.
const (
	Pickup Move = "pickup"
	Return Move = "return"
	Cancel Move = "cancel"
)

// Transition is what one move does.
type Transition struct {
	From []State
	To   State
}

// Allows reports whether a reservation of this status can be moved so.
func (t Transition) Allows(s State) bool { return slices.Contains(t.From, s) }

var transitions = map[Move]Transition{
	Pickup: {From: []State{Reserved}, To: PickedUp},
	Return: {From: []State{PickedUp}, To: Returned},
	Cancel: {From: []State{Pending, Reserved}, To: Cancelled},
}

// Of returns what a move does, and whether there is such a move.
func Of(m Move) (Transition, bool) {
	t, ok := transitions[m]
	return t, ok
}
