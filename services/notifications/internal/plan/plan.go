// Package plan decides which messages an event requires (lifecycle.md §2, "Messages"). Some messages, such as
// reminders, do not follow an event; the package decides when these messages are due. The functions of the package are
// pure: the result depends only on the arguments.
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

// EndpointDisabled is the type of an internal event that reports a disabled webhook endpoint (lifecycle.md §2). No feed
// contains such an event.
const EndpointDisabled event.Type = "webhook.disabled"

// Subject is the part of a booking, ticket order or reservation that this package needs, in the state after a change.
type Subject struct {
	IsWithdrawn bool       `json:"withdrawn"` // the business no longer offers this service, event or rental
	Status      string     `json:"status"`
	Email       string     `json:"customer_email"` // the customer's address; "" if there is none
	Locale      string     `json:"locale"`         // the customer's language; "" for the business's default language
	Sequence    int        `json:"sequence"`       // sequence number of the subject's newest event
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
	StartsAt    time.Time  `json:"starts_at"` // only for a booking
	Timezone    string     `json:"timezone"`  // time zone of the sale; "" for the business's zone
	EndsAt      time.Time  `json:"ends_at"`
	StaffID     *uuid.UUID `json:"staff_id"`
	FormerPlace *Place     `json:"from"` // only for a rescheduled or relocated booking
	Location    *Location  `json:"location"`
	Address     *struct{}  `json:"customer_address"` // not nil if the booking takes place at the customer's address
	Notify      *bool      `json:"notify"`           // false: the business chose not to notify the customer of the event
	Payment     *Payment   `json:"payment"`
	Reason      string     `json:"cancel_reason"` // why the business cancelled, in its own words; may be empty
	// EndDate and EndTime are the end of a reservation in the business's time zone. If EndTime is nil, the reservation
	// ends at the end of EndDate.
	EndDate *timespan.Date `json:"end_date"`
	EndTime *string        `json:"end_time"`
}

// Payment is the part of the subject's online payment that this package needs.
type Payment struct {
	Status string     `json:"status"`
	DueAt  *time.Time `json:"due_at"`
}

// ParseSubject parses a subject. The argument `data` is an event's data, or a response of the service that stores the
// subject.
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

// LeadsToMessages reports whether events of type `t` require a message, at once or at a later time.
func LeadsToMessages(t event.Type) bool {
	_, customer := customerKinds[t]
	return customer || ownerEvents[t] || ChangesTimes(t)
}

// The statuses of a reservation that this package uses.
const (
	reserved = "reserved"
	pickedUp = "picked_up"
	returned = "returned"
)

// customerKinds contains the kind of message that the customer gets, by the event's type and the subject's status after
// the event.
var customerKinds = map[event.Type]map[string]letter.Kind{
	event.BookingCreated: {booking.StatusPending: letter.BookingReceived,
		booking.StatusConfirmed: letter.BookingConfirmed},
	event.BookingConfirmed: {booking.StatusConfirmed: letter.BookingConfirmed},
	event.BookingRescheduled: {booking.StatusPending: letter.BookingRescheduled,
		booking.StatusConfirmed: letter.BookingRescheduled},
	event.BookingRelocated: {booking.StatusPending: letter.BookingRescheduled,
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

// ownerEvents lists the types of events about which owners get a notice. For types that are not in alwaysNotified,
// owners get the notice only if a customer made the change, directly or through an agent.
var ownerEvents = map[event.Type]bool{
	event.BookingCreated: true, event.BookingRescheduled: true, event.BookingCancelled: true,
	event.TicketSold: true, event.TicketCancelled: true, event.ReservationCreated: true,
	event.ReservationConfirmed: true, event.ReservationCancelled: true,
	EndpointDisabled: true, event.PaymentRefundFailed: true, event.PaymentDisputed: true,
}

// alwaysNotified lists the types of events about which owners always get a notice, whichever actor caused the event.
var alwaysNotified = map[event.Type]bool{EndpointDisabled: true, event.PaymentRefundFailed: true,
	event.PaymentDisputed: true}

// Draft is a message to be written. EventID is the ID of the event. For a message that follows no event, such as a
// reminder, EventID is derived from the subject, the kind and the due time.
type Draft struct {
	Kind      letter.Kind
	EventID   uuid.UUID
	Recipient string
}

// NewDrafts returns the drafts for the event `e`: at most one to the customer, and, if owners get a notice of the
// event, one to each address in `ownerEmails`.
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

// awaitsPayment reports whether the given event is a new reservation that is not paid yet. Owners get no notice of a
// reservation before the payment.
func awaitsPayment(e event.Event, s Subject) bool {
	return e.Type == event.ReservationCreated && s.Status == booking.StatusPending
}

// IsByBusiness returns true if the business caused the event, or if the event's type is in alwaysNotified. All other
// events can be caused by customers, in any number.
func IsByBusiness(e event.Event) bool { return e.Actor.Kind == actor.Owner || alwaysNotified[e.Type] }

// isByCustomer reports whether a customer made the change that the given event reports. A payment is also a change by
// the customer, although the payment provider or the system reports it.
func isByCustomer(e event.Event) bool {
	switch e.Actor.Kind {
	case actor.APIKey, actor.Page, actor.Customer:
		return true
	default: // for other actors, only payments are changes by a customer
	}
	return (e.Type == event.TicketSold || e.Type == event.ReservationConfirmed) && e.Actor.Kind != actor.Owner
}
