// Package state is the life of a rental reservation (semantics.md §4). It is pure.
//
//	           ┌── cancel ──► cancelled
//	created ► reserved ── pickup ──► picked_up ── return ──► returned
package state

// State is the status of a reservation.
type State string

// The states. A reservation begins as [Reserved]; [Returned] and [Cancelled] are final and hold no units.
const (
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
type Transition struct{ From, To State }

var transitions = map[Move]Transition{
	Pickup: {From: Reserved, To: PickedUp},
	Return: {From: PickedUp, To: Returned},
	Cancel: {From: Reserved, To: Cancelled},
}

// Of returns what a move does, and whether there is such a move.
func Of(m Move) (Transition, bool) {
	t, ok := transitions[m]
	return t, ok
}
