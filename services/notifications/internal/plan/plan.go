// Package plan decides which messages an event leads to, and when the messages without an event are
// due (lifecycle.md §2, "Messages"). Its functions are pure: they depend on their arguments alone.
package plan

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
)

// EndpointDisabled is the type of an internal event: a webhook
// endpoint was disabled (lifecycle.md §2). No feed contains it.
const EndpointDisabled event.Type = "webhook.disabled"

// Subject is the part of a booking, ticket order or reservation that the rules need, in its state after a change.
type Subject struct {
	IsWithdrawn bool       `json:"withdrawn"` // the business no longer offers the sold service, event or rental as sold
	Status      string     `json:"status"`
	Email       string     `json:"customer_email"` // "": no address to write to
	Locale      string     `json:"locale"`         // "": the business's default language
	Sequence    int        `json:"sequence"`       // of the subject's newest event
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	StartsAt    time.Time  `json:"starts_at"` // of a booking
	Timezone    string     `json:"timezone"`  // zone of the sale; "": the business's
	EndsAt      time.Time  `json:"ends_at"`
	StaffID     *uuid.UUID `json:"staff_id"`
	FormerPlace *Place     `json:"from"`   // of a booking: its place before the event rescheduled it
	Notify      *bool      `json:"notify"` // false: the business chose not to notify the customer of the event
	Payment     *Payment   `json:"payment"`
	// Of a reservation: its end in business time; without EndTime it ends with the date.
	EndDate *timespan.Date `json:"end_date"`
	EndTime *string        `json:"end_time"`
}

// Payment is the part of the subject's online payment that the rules need.
type Payment struct {
	Status string     `json:"status"`
	DueAt  *time.Time `json:"due_at"`
}

// ParseSubject parses the subject from the data of an event or from a response of the service that owns the subject.
func ParseSubject(data []byte) (Subject, error) {
	var s Subject
	if err := json.Unmarshal(data, &s); err != nil {
		return Subject{}, fmt.Errorf("the subject of a message: %w", err)
	}
	if s.UpdatedAt.IsZero() { // the data of tickets has no updated_at
		s.UpdatedAt = s.CreatedAt
	}
	return s, nil
}

// LeadsToMessages reports whether events of type t lead to a message at once or at a later time.
func LeadsToMessages(t event.Type) bool {
	_, customer := customerKinds[t]
	return customer || ownerEvents[t] || ChangesTimes(t)
}

// The statuses of a reservation that the rules use.
const (
	reserved = "reserved"
	pickedUp = "picked_up"
	returned = "returned"
)

// customerKinds maps the type of an event and the subject's status after it to the message that the customer gets.
var customerKinds = map[event.Type]map[string]letter.Kind{
	event.BookingCreated: {booking.StatusPending: letter.BookingReceived,
		booking.StatusConfirmed: letter.BookingConfirmed},
	event.BookingConfirmed: {booking.StatusConfirmed: letter.BookingConfirmed},
	event.BookingRescheduled: {booking.StatusPending: letter.BookingRescheduled,
		booking.StatusConfirmed: letter.BookingRescheduled},
	event.BookingWithdrawn: {booking.StatusPending: letter.BookingWithdrawn,
		booking.StatusConfirmed: letter.BookingWithdrawn},
	event.BookingRestored: {booking.StatusPending: letter.BookingReceived,
		booking.StatusConfirmed: letter.BookingConfirmed},
	event.BookingCancelled: {booking.StatusCancelled: letter.BookingCancelled},
	event.PaymentFailed:    {booking.StatusPending: letter.PaymentFailed},
	event.PaymentRefunded: mapStatuses(letter.Refunded, booking.StatusPending, booking.StatusConfirmed,
		booking.StatusCancelled, booking.StatusCompleted, booking.StatusNoShow, booking.StatusSold, reserved, pickedUp,
		returned),
	event.TicketSold:           {booking.StatusSold: letter.Ticket},
	event.TicketRescheduled:    {booking.StatusSold: letter.TicketRescheduled},
	event.TicketWithdrawn:      {booking.StatusSold: letter.TicketWithdrawn},
	event.TicketCancelled:      {booking.StatusCancelled: letter.TicketCancelled},
	event.ReservationCreated:   {reserved: letter.Reservation},
	event.ReservationConfirmed: {reserved: letter.Reservation},
	event.ReservationWithdrawn: {booking.StatusPending: letter.ReservationWithdrawn,
		reserved: letter.ReservationWithdrawn},
	event.ReservationRestored:  {reserved: letter.Reservation},
	event.ReservationCancelled: {booking.StatusCancelled: letter.ReservationCancelled},
}

func mapStatuses(kind letter.Kind, statuses ...string) map[string]letter.Kind {
	kinds := make(map[string]letter.Kind, len(statuses))
	for _, status := range statuses {
		kinds[status] = kind
	}
	return kinds
}

// ownerEvents lists the events that owners get a notice of if a customer made the change, by an agent or by hand.
var ownerEvents = map[event.Type]bool{
	event.BookingCreated: true, event.BookingRescheduled: true, event.BookingCancelled: true,
	event.TicketSold: true, event.TicketCancelled: true, event.ReservationCreated: true,
	event.ReservationConfirmed: true, event.ReservationCancelled: true,
	EndpointDisabled: true, event.PaymentRefundFailed: true, event.PaymentDisputed: true,
}

// alwaysNotified lists the events that owners get a notice of regardless of the actor.
var alwaysNotified = map[event.Type]bool{EndpointDisabled: true, event.PaymentRefundFailed: true,
	event.PaymentDisputed: true}

// Draft is a message to be written. A message without an event, such as
// a reminder, has an EventID derived from its subject, kind and time.
type Draft struct {
	Kind      letter.Kind
	EventID   uuid.UUID
	Recipient string
}

// NewDrafts returns the drafts for an event: at most one for the customer, and one for each address of the owner.
func NewDrafts(e event.Event, s Subject, ownerEmails []string) []Draft {
	var drafts []Draft
	if kind, ok := customerKinds[e.Type][s.Status]; ok && s.Email != "" {
		drafts = append(drafts, Draft{Kind: kind, EventID: e.ID, Recipient: s.Email})
	}
	if ownerEvents[e.Type] && !awaitsPayment(e, s) && (isByCustomer(e) || alwaysNotified[e.Type]) {
		for _, address := range ownerEmails {
			drafts = append(drafts, Draft{Kind: letter.OwnerNotice, EventID: e.ID, Recipient: address})
		}
	}
	return drafts
}

// awaitsPayment reports whether the notice to the owners about a reservation must wait until the reservation is paid.
func awaitsPayment(e event.Event, s Subject) bool {
	return e.Type == event.ReservationCreated && s.Status == booking.StatusPending
}

// IsByBusiness reports whether the business caused an event, or whether owners get a notice
// of it regardless of the actor. Customers can cause any number of all other events.
func IsByBusiness(e event.Event) bool { return e.Actor.Kind == actor.Owner || alwaysNotified[e.Type] }

// isByCustomer reports whether a customer made a change. Paying counts
// too, although the provider or the system reports the payment.
func isByCustomer(e event.Event) bool {
	switch e.Actor.Kind {
	case actor.APIKey, actor.Page, actor.Customer:
		return true
	default: // for the other actors, only the payments below count
	}
	return (e.Type == event.TicketSold || e.Type == event.ReservationConfirmed) && e.Actor.Kind != actor.Owner
}
