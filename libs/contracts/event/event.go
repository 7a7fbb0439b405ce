// Package event holds the types of events. A service records one event for each change of a subject, such as
// a booking or an offer (lifecycle.md §1). Other services read the events as a feed. The package does no I/O.
package event

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
)

// Event describes one change of one subject.
type Event struct {
	ID         uuid.UUID   `json:"id"` // a UUIDv7
	Type       Type        `json:"type"`
	BusinessID uuid.UUID   `json:"business_id"`
	Subject    Subject     `json:"subject"`
	At         time.Time   `json:"at"` // time of the change according to the clock of the service
	Actor      actor.Actor `json:"actor"`
	Sequence   int         `json:"sequence"` // number of the event among the events of its subject, from 1
	// Data is the subject after the change, as the admin API shows it. For a rescheduled
	// booking or event, Data also contains the old time as "from" and the new time as "to".
	Data json.RawMessage `json:"data"`
}

// Subject identifies the booking, order or other object that was changed.
type Subject struct {
	Kind SubjectKind `json:"kind"`
	ID   uuid.UUID   `json:"id"`
}

// SubjectKind is the kind of a [Subject].
type SubjectKind string

// The kinds of subjects. The subject of an event about a payment is the
// booking, order or reservation. The data of the event contains the payment.
const (
	Booking     SubjectKind = "booking"
	Ticket      SubjectKind = "ticket"
	Reservation SubjectKind = "reservation"
	Key         SubjectKind = "key"
	Business    SubjectKind = "business"
	Customer    SubjectKind = "customer" // change of a customer's record, or anonymization; ID is the id of the change
	Member      SubjectKind = "member"   // member of the team; ID is the id of the person
	Token       SubjectKind = "token"    // API token for the admin API
)

// Type is the kind of change.
type Type string

// The types of events that webhooks send.
const (
	BookingCreated     Type = "booking.created"
	BookingConfirmed   Type = "booking.confirmed"
	BookingRescheduled Type = "booking.rescheduled"
	BookingRelocated   Type = "booking.relocated" // the business changed the location of the booking
	BookingCancelled   Type = "booking.cancelled"
	BookingWithdrawn   Type = "booking.withdrawn" // the business withdrew the class session of the booking
	BookingRestored    Type = "booking.restored"  // the withdrawn class session takes place after all
	BookingCompleted   Type = "booking.completed"
	BookingNoShow      Type = "booking.no_show"
	BookingReopened    Type = "booking.reopened" // the status completed or no-show was reverted
	PaymentSucceeded   Type = "payment.succeeded"
	PaymentFailed      Type = "payment.failed"
	PaymentExpired     Type = "payment.expired"
	PaymentRefunded    Type = "payment.refunded"
	// PaymentRefundFailed means that the provider refused a refund. The
	// provider may have reported the same refund as successful before.
	PaymentRefundFailed Type = "payment.refund_failed"
	// PaymentDisputed means that the customer has disputed the
	// payment at the customer's bank, or that the dispute has ended.
	PaymentDisputed      Type = "payment.disputed"
	TicketCreated        Type = "ticket.created" // the order waits for its payment
	TicketSold           Type = "ticket.sold"
	TicketRescheduled    Type = "ticket.rescheduled" // the event of the order was rescheduled
	TicketWithdrawn      Type = "ticket.withdrawn"   // the business no longer offers the event of the order
	TicketCancelled      Type = "ticket.cancelled"
	ReservationCreated   Type = "reservation.created"
	ReservationConfirmed Type = "reservation.confirmed" // the reservation was paid
	ReservationWithdrawn Type = "reservation.withdrawn" // the business no longer offers the rental
	ReservationRestored  Type = "reservation.restored"  // the business offers the rental again
	ReservationPickedUp  Type = "reservation.picked_up"
	ReservationReturned  Type = "reservation.returned"
	ReservationCancelled Type = "reservation.cancelled"
	BusinessPublished    Type = "business.published"
	BusinessRemoved      Type = "business.removed"
	CustomerErased       Type = "customer.erased"
	KeyCreated           Type = "key.created"
	KeyRevoked           Type = "key.revoked"
)

// The types of events about the team of a business, and about records of customers. The audit log shows them; webhooks
// do not send them.
const (
	// CustomerChanged means that the owner's side wrote about customers. The data names the kind of the change and the
	// number of customers.
	CustomerChanged       Type = "customer.changed"
	MemberInvited         Type = "member.invited"
	MemberJoined          Type = "member.joined" // the person proved that they are the invited person
	MemberChanged         Type = "member.changed"
	MemberRemoved         Type = "member.removed"
	MemberPasswordChanged Type = "member.password_changed"
	MemberPasswordRemoved Type = "member.password_removed"
	MemberPasskeyAdded    Type = "member.passkey_added"
	MemberPasskeyRemoved  Type = "member.passkey_removed"
	TokenCreated          Type = "token.created"
	TokenRevoked          Type = "token.revoked"
)

// List is one page of the audit log of a business, newest first. NextCursor is "" on the last page.
type List struct {
	Events     []Event `json:"events"`
	NextCursor string  `json:"next_cursor,omitempty"`
}

// Page is one page of an event feed. Next is the cursor from which the next page starts. Next is set even if Events
// is empty. A reader must store Next in the same transaction in which it stores the effects of the events.
type Page struct {
	Events []Event `json:"events"`
	Next   string  `json:"next"`
}
