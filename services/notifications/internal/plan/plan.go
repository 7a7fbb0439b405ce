// Package plan says which messages an event leads to, and when those are due that no event brings (lifecycle.md §2, "Messages").
// It is pure: what it decides by is given.
package plan

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
)

// EndpointDisabled is told in the service itself: a webhook endpoint was disabled, as its every delivery failed (lifecycle.md §2).
const EndpointDisabled event.Type = "webhook.disabled"

// Subject is what a message is about, as far as the rules ask: a booking, an order of tickets or a reservation after a change.
type Subject struct {
	Withdrawn bool       `json:"withdrawn"` // the business no longer offers it as it was sold
	Status    string     `json:"status"`
	Email     string     `json:"customer_email"` // "": nobody to write to
	Locale    string     `json:"locale"`         // "": the business's default language
	Sequence  int        `json:"sequence"`       // of its newest event
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	StartsAt  time.Time  `json:"starts_at"` // of a booking
	Timezone  string     `json:"timezone"`  // in which it was sold; "": the business's
	EndsAt    time.Time  `json:"ends_at"`
	StaffID   *uuid.UUID `json:"staff_id"`
	From      *Place     `json:"from"`   // of a booking that the event reschedules
	Notify    *bool      `json:"notify"` // false: the business chose not to notify the customer of the event
	Payment   *Payment   `json:"payment"`
	// Of a reservation: business time; without a time the whole of the date.
	EndDate *timespan.Date `json:"end_date"`
	EndTime *string        `json:"end_time"`
}

// Payment is what is paid online of the subject, as far as the rules ask.
type Payment struct {
	Status string     `json:"status"`
	DueAt  *time.Time `json:"due_at"`
}

// Read reads the subject of an event, or of an answer of the service that owns it.
func Read(data []byte) (Subject, error) {
	var s Subject
	if err := json.Unmarshal(data, &s); err != nil {
		return Subject{}, fmt.Errorf("the subject of a message: %w", err)
	}
	if s.UpdatedAt.IsZero() { // of tickets it is not known
		s.UpdatedAt = s.CreatedAt
	}
	return s, nil
}

// Told are the types of events that lead to a message, or to a time when one is due.
func Told(t event.Type) bool {
	_, customer := toCustomers[t]
	return customer || toOwners[t] || Begins(t)
}

// Statuses of a reservation that the rules ask for.
const (
	reserved = "reserved"
	pickedUp = "picked_up"
	returned = "returned"
)

// toCustomers has what a customer is sent at an event, by the status of the subject after it.
var toCustomers = map[event.Type]map[string]letter.Kind{
	event.BookingCreated:       {booking.StatusPending: letter.BookingReceived, booking.StatusConfirmed: letter.BookingConfirmed},
	event.BookingConfirmed:     {booking.StatusConfirmed: letter.BookingConfirmed},
	event.BookingRescheduled:   {booking.StatusPending: letter.BookingMoved, booking.StatusConfirmed: letter.BookingMoved},
	event.BookingWithdrawn:     {booking.StatusPending: letter.BookingWithdrawn, booking.StatusConfirmed: letter.BookingWithdrawn},
	event.BookingRestored:      {booking.StatusPending: letter.BookingReceived, booking.StatusConfirmed: letter.BookingConfirmed},
	event.BookingCancelled:     {booking.StatusCancelled: letter.BookingCancelled},
	event.PaymentFailed:        {booking.StatusPending: letter.PaymentFailed},
	event.PaymentRefunded:      inAny(letter.Refunded, booking.StatusPending, booking.StatusConfirmed, booking.StatusCancelled, booking.StatusCompleted, booking.StatusNoShow, booking.StatusSold, reserved, pickedUp, returned),
	event.TicketSold:           {booking.StatusSold: letter.Ticket},
	event.TicketRescheduled:    {booking.StatusSold: letter.TicketMoved},
	event.TicketWithdrawn:      {booking.StatusSold: letter.TicketWithdrawn},
	event.TicketCancelled:      {booking.StatusCancelled: letter.TicketCancelled},
	event.ReservationCreated:   {reserved: letter.Reservation},
	event.ReservationConfirmed: {reserved: letter.Reservation},
	event.ReservationWithdrawn: {booking.StatusPending: letter.ReservationWithdrawn, reserved: letter.ReservationWithdrawn},
	event.ReservationRestored:  {reserved: letter.Reservation},
	event.ReservationCancelled: {booking.StatusCancelled: letter.ReservationCancelled},
}

func inAny(kind letter.Kind, statuses ...string) map[string]letter.Kind {
	kinds := make(map[string]letter.Kind, len(statuses))
	for _, status := range statuses {
		kinds[status] = kind
	}
	return kinds
}

// toOwners are the events that owners are told of where a customer has made the change, by an agent or by hand.
var toOwners = map[event.Type]bool{
	event.BookingCreated: true, event.BookingRescheduled: true, event.BookingCancelled: true,
	event.TicketSold: true, event.TicketCancelled: true, event.ReservationCreated: true, event.ReservationConfirmed: true, event.ReservationCancelled: true,
	EndpointDisabled: true, event.PaymentRefundFailed: true, event.PaymentDisputed: true,
}

// always are the events that owners are told of whoever made the change.
var always = map[event.Type]bool{EndpointDisabled: true, event.PaymentRefundFailed: true, event.PaymentDisputed: true}

// Draft is a message that is to be written. Reminders and the like have an event of their own, made of what they are about and of when.
type Draft struct {
	Kind      letter.Kind
	EventID   uuid.UUID
	Recipient string
}

// Of returns the messages that an event leads to: at most one for the customer, and one for each address of the owner.
func Of(e event.Event, s Subject, ownerEmails []string) []Draft {
	var drafts []Draft
	if kind, ok := toCustomers[e.Type][s.Status]; ok && s.Email != "" {
		drafts = append(drafts, Draft{Kind: kind, EventID: e.ID, Recipient: s.Email})
	}
	if toOwners[e.Type] && !waits(e, s) && (byCustomer(e) || always[e.Type]) {
		for _, address := range ownerEmails {
			drafts = append(drafts, Draft{Kind: letter.OwnerNotice, EventID: e.ID, Recipient: address})
		}
	}
	return drafts
}

// waits says whether owners are told of a reservation once it is paid, and not yet.
func waits(e event.Event, s Subject) bool {
	return e.Type == event.ReservationCreated && s.Status == booking.StatusPending
}

// ByBusiness reports whether the business itself has caused an event, or is notified of it whoever has. Customers can
// cause any number of all other events.
func ByBusiness(e event.Event) bool { return e.Actor.Kind == actor.Owner || always[e.Type] }

// byCustomer says whether a customer has made a change, also by paying: that is told by the provider, or found out by the system.
func byCustomer(e event.Event) bool {
	switch e.Actor.Kind {
	case actor.APIKey, actor.Page, actor.Customer:
		return true
	default: // of the others, payments of customers count, below
	}
	return (e.Type == event.TicketSold || e.Type == event.ReservationConfirmed) && e.Actor.Kind != actor.Owner
}
