// Package state defines the statuses of a booking and the transitions between them
// (semantics.md §3, lifecycle.md §4). The package is pure: it does no input or output.
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

// The statuses of a booking. A new booking is [Pending], or [Confirmed] if it needs
// neither confirmation nor payment. [Cancelled] is final. A booking that is
// [Completed] or [NoShow] can be reopened until the end of the day after the booking.
const (
	Pending   State = "pending"
	Confirmed State = "confirmed"
	Completed State = "completed"
	NoShow    State = "no_show"
	Cancelled State = "cancelled"
)

// TransitionName is the name of a transition of a booking.
type TransitionName string

// The names of the transitions.
const (
	Confirm    TransitionName = "confirm"
	Cancel     TransitionName = "cancel"
	Complete   TransitionName = "complete"
	MarkNoShow TransitionName = "no-show"
	Reopen     TransitionName = "reopen"
)

// Transition describes a change of a booking's status. The change is allowed from each of
// the statuses From, on the days that Days defines. It leads to the status To and records an
// event of type Event. If FreesTime is true, the booking occupies no time after the change.
type Transition struct {
	From      []State
	To        State
	Event     event.Type
	FreesTime bool
	Days      Days
}

// Days defines the days on which a transition is allowed, relative to the day of the booking.
type Days int

// The values of [Days].
const (
	AnyDay       Days = iota
	FromItsDay        // the transition is allowed from the start of the booking's day
	UntilNextDay      // the transition is allowed until the end of the day after the booking
)

// Include reports whether a transition is allowed on the date in the
// argument `today`. The argument `date` is the date of the booking.
func (d Days) Include(date, today timespan.Date) bool {
	switch d {
	case FromItsDay:
		return booking.CanFinish(date, today)
	case UntilNextDay:
		return booking.CanReopen(date, today)
	default: // AnyDay
	}
	return true
}

var transitions = map[TransitionName]Transition{
	Confirm:    {From: []State{Pending}, To: Confirmed, Event: event.BookingConfirmed},
	Complete:   {From: []State{Confirmed}, To: Completed, Event: event.BookingCompleted, Days: FromItsDay},
	MarkNoShow: {From: []State{Confirmed}, To: NoShow, Event: event.BookingNoShow, Days: FromItsDay},
	Reopen:     {From: []State{Completed, NoShow}, To: Confirmed, Event: event.BookingReopened, Days: UntilNextDay},
	Cancel:     {From: []State{Pending, Confirmed}, To: Cancelled, Event: event.BookingCancelled, FreesTime: true},
}

// FindTransition returns the transition with the name `m`. The
// second result is false if `m` is not the name of a transition.
func FindTransition(m TransitionName) (Transition, bool) {
	t, ok := transitions[m]
	return t, ok
}

// Allows reports whether the transition is allowed for a booking with the status `s`.
func (t Transition) Allows(s State) bool { return slices.Contains(t.From, s) }

// UpcomingStates returns the statuses in which the business still expects the customer.
func UpcomingStates() []State { return []State{Pending, Confirmed} }
