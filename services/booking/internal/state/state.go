// Package state defines the statuses of a booking and the transitions between them (semantics.md
// §3, lifecycle.md §4). It is pure.
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

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// State is the status of a booking.
type State string

// The states. A booking begins as [Pending], or as [Confirmed] if it needs neither confirmation nor
// payment. [Cancelled] is final. [Completed] and [NoShow] can be reopened until the end of the next day.
const (
	Pending   State = "pending"
	Confirmed State = "confirmed"
	Completed State = "completed"
	NoShow    State = "no_show"
	Cancelled State = "cancelled"
)

// Move is the name of a transition that the owner makes.
type Move string

// The transitions.
const (
	Confirm    Move = "confirm"
	Cancel     Move = "cancel"
	Complete   Move = "complete"
	MarkNoShow Move = "no-show"
	Reopen     Move = "reopen"
)

// Transition is the effect of a [Move]. It changes the status of a booking from one of the
// statuses From to the status To, and records an event of type Event. If FreesTime is true,
// the booking then occupies no time. Days limits the days on which the transition is allowed.
type Transition struct {
	From      []State
	To        State
	Event     event.Type
	FreesTime bool
	Days      Days
}

// Days are the days on which a transition is allowed, relative to the day of the booking.
type Days int

// The values of Days.
const (
	AnyDay       Days = iota
	FromItsDay        // from the start of the booking's day
	UntilNextDay      // until the end of the day after the booking's
)

// Include reports whether a transition of a booking on the given date is allowed on the date today.
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

// Of returns the transition with the name m. The second result is false if there is no such transition.
func Of(m Move) (Transition, bool) {
	t, ok := transitions[m]
	return t, ok
}

// Allows reports whether the transition can start from s.
func (t Transition) Allows(s State) bool { return slices.Contains(t.From, s) }

// Ahead returns the statuses of bookings whose customer is still expected.
func Ahead() []State { return []State{Pending, Confirmed} }
