// Package state is the life of a booking (semantics.md §3, lifecycle.md §4). It is pure.
//
//	                ┌──────────► cancelled ◄──────────┐
//	                │ cancel                   cancel │
//	POST /book ► pending ──── confirm ────► confirmed ┤
//	                                          ▲       ├─ complete ► completed ─┐
//	                                          │       └─ no-show ──► no_show ──┤
//	                                          └─────────── reopen ─────────────┘
package state

import (
	"slices"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// State is the status of a booking.
type State string

// The states. A booking begins as [Pending]; [Cancelled] is final. [Completed] and [NoShow] can be taken back for a time.
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
	Reopen     Move = "reopen"
)

// Transition is what one move does: From any of these states To that one, recorded as an event of type Event. FreesTime
// says that the booking no longer occupies anything afterwards. Days limits the days on which the move is allowed.
type Transition struct {
	From      []State
	To        State
	Event     event.Type
	FreesTime bool
	Days      Days
}

// Days are the days on which a move is allowed, counted from the day of the booking.
type Days int

// The days.
const (
	AnyDay       Days = iota
	FromItsDay        // from the start of the booking's day
	UntilNextDay      // until the end of the day after the booking's
)

// Include reports whether today is one of the days for a booking of a date.
func (d Days) Include(date, today timespan.Date) bool {
	switch d {
	case FromItsDay:
		return booking.CanFinish(date, today)
	case UntilNextDay:
		return booking.CanReopen(date, today)
	default: // any day
	}
	return true
}

var transitions = map[Move]Transition{
	Confirm:    {From: []State{Pending}, To: Confirmed, Event: event.BookingConfirmed},
	Complete:   {From: []State{Confirmed}, To: Completed, Event: event.BookingCompleted, Days: FromItsDay},
	MarkNoShow: {From: []State{Confirmed}, To: NoShow, Event: event.BookingNoShow, Days: FromItsDay},
	Reopen:     {From: []State{Completed, NoShow}, To: Confirmed, Event: event.BookingReopened, Days: UntilNextDay},
	Cancel:     {From: []State{Pending, Confirmed}, To: Cancelled, Event: event.BookingCancelled, FreesTime: true},
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
