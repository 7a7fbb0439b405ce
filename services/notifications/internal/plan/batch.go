package plan

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
)

// Change is an event and the state of its subject after the event.
type Change struct {
	Event   event.Event
	Subject Subject
}

// Place is the time and the staff member of a booking before a reschedule of the booking.
type Place struct {
	StartsAt  time.Time  `json:"starts_at"`
	EndsAt    time.Time  `json:"ends_at"`
	StaffID   *uuid.UUID `json:"staff_id"`
	StaffName *string    `json:"staff_name"`
	Location  *Location  `json:"location"` // nil if the booking has none
}

// Location is the location of a booking.
type Location struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// MustWait reports whether the messages about the given change are delayed. Messages about a change by the business are
// delayed, because the business can undo the change. Messages about a new booking that must still be paid online are
// also delayed: if the customer pays at once, the customer gets only one message.
func MustWait(c Change) bool {
	if _, hasMessage := customerKinds[c.Event.Type][c.Subject.Status]; !hasMessage ||
		c.Event.Type == event.PaymentRefunded {
		return false
	}
	if c.Event.Actor.Kind == actor.Owner {
		return true
	}
	waitsForPayment := c.Subject.Status == booking.StatusPending && c.Subject.Payment != nil &&
		c.Subject.Payment.Status == booking.PaymentOpen
	return c.Event.Type == event.BookingCreated && waitsForPayment
}

// replaceableKinds lists the kinds of messages to customers that state the current state of a subject. A message of one
// of these kinds replaces older messages of these kinds about the same subject that have not been sent yet.
var replaceableKinds = []letter.Kind{
	letter.BookingReceived, letter.BookingConfirmed, letter.BookingRescheduled, letter.BookingWithdrawn,
	letter.BookingCancelled, letter.PaymentFailed,
	letter.Ticket, letter.TicketRescheduled, letter.TicketWithdrawn, letter.TicketCancelled, letter.Reservation,
	letter.ReservationWithdrawn, letter.ReservationCancelled,
}

// ReplaceableKinds returns the kinds of messages that a newer message about the same subject replaces.
func ReplaceableKinds() []string {
	kinds := make([]string, len(replaceableKinds))
	for i, kind := range replaceableKinds {
		kinds[i] = string(kind)
	}
	return kinds
}

// DraftBatch returns the drafts of the messages about several changes of one subject, one list for each change. Owners
// get a notice of each change by a customer. The customer gets one message with the final state. The customer gets no
// message if nothing has changed for the customer, or if the business chose not to notify the customer.
//
// The returned place is the booking's time and staff member before the first reschedule, or nil if no change is a
// reschedule.
func DraftBatch(changes []Change, ownerEmails []string) ([][]Draft, *Place) {
	var before *Place
	drafts := make([][]Draft, len(changes))
	last, lastKind := -1, letter.Kind("")
	kinds := map[letter.Kind]bool{}
	for i, c := range changes {
		drafts[i] = NewDrafts(c.Event, c.Subject, ownerEmails)
		if before == nil {
			before = c.Subject.FormerPlace
		}
		if at := findStateDraft(drafts[i]); at >= 0 {
			last, lastKind = i, drafts[i][at].Kind
			kinds[lastKind] = true
		}
	}
	for i := range drafts[:last+1] {
		drafts[i] = slices.DeleteFunc(drafts[i], func(d Draft) bool {
			return slices.Contains(replaceableKinds, d.Kind) && (i < last || !mustNotify(changes, last, before))
		})
	}
	if last >= 0 && lastKind == letter.BookingRescheduled {
		mergeReschedule(drafts[last], kinds)
	}
	return drafts, before
}

// findStateDraft returns the index of the draft that states the subject's current state, or -1 if there is none.
func findStateDraft(drafts []Draft) int {
	return slices.IndexFunc(drafts, func(d Draft) bool { return slices.Contains(replaceableKinds, d.Kind) })
}

// mergeReschedule handles a booking that is created and rescheduled in the same batch. The customer has not received a
// message about the booking yet, so the draft about the reschedule becomes the message about the booking.
func mergeReschedule(drafts []Draft, kinds map[letter.Kind]bool) {
	at := findStateDraft(drafts)
	switch {
	case at < 0:
	case kinds[letter.BookingConfirmed]:
		drafts[at].Kind = letter.BookingConfirmed
	case kinds[letter.BookingReceived]:
		drafts[at].Kind = letter.BookingReceived
	}
}

// mustNotify reports whether the customer gets a message about the state after the change with the index `last`.
func mustNotify(changes []Change, last int, before *Place) bool {
	final := changes[last]
	if final.Subject.Notify != nil && !*final.Subject.Notify {
		return false
	}
	isNew := changes[0].Event.Type == event.BookingCreated || changes[0].Event.Type == event.TicketSold ||
		changes[0].Event.Type == event.ReservationCreated
	if isNew {
		// The customer gets no message if the business created the booking and cancelled it again before the customer
		// got a message.
		return final.Subject.Status != booking.StatusCancelled || changes[0].Event.Actor.Kind != actor.Owner
	}
	isOnlyRescheduled := !slices.ContainsFunc(changes[:last+1], func(c Change) bool {
		_, hasMessage := customerKinds[c.Event.Type][c.Subject.Status]
		return hasMessage && c.Event.Type != event.BookingRescheduled && c.Event.Type != event.BookingRelocated &&
			c.Event.Type != event.PaymentRefunded
	})
	return !isOnlyRescheduled || before == nil || !before.isPlaceOf(final.Subject) ||
		slices.ContainsFunc(changes[:last+1], Change.isNewAddress) && final.Subject.Address != nil ||
		slices.ContainsFunc(changes[:last+1], Change.ReplacesAddress)
}

// isNewAddress reports whether the change is a relocation to an address of the customer. The address may be new, even if
// the booking was at the same location before. The events contain no former address, so the change counts even if it
// undoes an earlier one.
func (c Change) isNewAddress() bool {
	return c.Event.Type == event.BookingRelocated && c.Subject.Address != nil
}

// ReplacesAddress reports whether the change is a new address of the place of the booking. The location is the same, and
// the name of the former location is the former address. A booking without a location is at the only place of the
// business.
func (c Change) ReplacesAddress() bool {
	if c.Event.Type != event.BookingRelocated || c.Subject.Address != nil || c.Subject.FormerPlace == nil {
		return false
	}
	was, is := c.Subject.FormerPlace.Location, c.Subject.Location
	return was != nil && (is == nil || was.ID == is.ID)
}

// isPlaceOf reports whether the booking `s` has the time, the staff member and the location of `p`.
func (p *Place) isPlaceOf(s Subject) bool {
	hasSameStaff := (p.StaffID == nil) == (s.StaffID == nil) && (p.StaffID == nil || *p.StaffID == *s.StaffID)
	return p.StartsAt.Equal(s.StartsAt) && p.EndsAt.Equal(s.EndsAt) && hasSameStaff && p.isAt(s.Location)
}

// isAt reports whether `p` has the given location. Nil stands for a booking without a location.
func (p *Place) isAt(l *Location) bool {
	return p.Location == nil && l == nil || p.Location != nil && l != nil && p.Location.ID == l.ID
}
