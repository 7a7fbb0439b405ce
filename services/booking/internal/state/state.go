// Package state is the life of a booking (semantics.md §3). It is pure.
//
//	                ┌──────────► cancelled ◄──────────┐
//	                │ cancel                   cancel │
//	POST /book ► pending ──── confirm ────► confirmed ┤
//	                                                  ├─ complete ► completed
//	                                                  └─ no-show ─► no_show
package state

import "slices"

// State is the status of a booking.
type State string

// The states. A booking begins as [Pending]; [Completed], [NoShow] and [Cancelled] are final.
const (
	Pending   State = "pending"
	Confirmed State = "confirmed"
	Completed State = "completed"
	NoShow    State = "no_show"
	Cancelled State = "cancelled"
)

// Move is what the owner does to a booking.
type Move string

// The moves.
const (
	Confirm    Move = "confirm"
	Cancel     Move = "cancel"
	Complete   Move = "complete"
	MarkNoShow Move = "no-show"
)

// Transition is what one move does: From any of these states To that one. FreesTime says that the booking no longer
// occupies anything afterwards.
type Transition struct {
	From      []State
	To        State
	FreesTime bool
}

var transitions = map[Move]Transition{
	Confirm:    {From: []State{Pending}, To: Confirmed},
	Complete:   {From: []State{Confirmed}, To: Completed},
	MarkNoShow: {From: []State{Confirmed}, To: NoShow},
	Cancel:     {From: []State{Pending, Confirmed}, To: Cancelled, FreesTime: true},
}

// Of returns what a move does, and whether there is such a move.
func Of(m Move) (Transition, bool) {
	t, ok := transitions[m]
	return t, ok
}

// Allows reports whether the transition starts from s.
func (t Transition) Allows(s State) bool { return slices.Contains(t.From, s) }

// Ahead are the states in which a customer is still expected.
func Ahead() []State { return []State{Pending, Confirmed} }
