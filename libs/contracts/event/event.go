// Package event holds the types of events. A service records one event for each
// change of a booking, a ticket order, a reservation, an API key or an offer
// (lifecycle.md §1). It serves its events as a feed. The package has values only.
package event

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
)

// Event is one change.
type Event struct {
	ID         uuid.UUID   `json:"id"` // a UUIDv7
	Type       Type        `json:"type"`
	BusinessID uuid.UUID   `json:"business_id"`
	Subject    Subject     `json:"subject"`
	At         time.Time   `json:"at"` // by the clock of the service
	Actor      actor.Actor `json:"actor"`
	Sequence   int         `json:"sequence"` // counts per subject, from 1
	// Data is the subject after the change, in the form of the
	// admin API. For a rescheduled booking it also has from and to.
	Data json.RawMessage `json:"data"`
}

// Subject is what was changed.
type Subject struct {
	Kind SubjectKind `json:"kind"`
	ID   uuid.UUID   `json:"id"`
}

// SubjectKind is the kind of a [Subject].
type SubjectKind string

// The kinds of subjects. An event about a payment has the booking, order
// or reservation as its subject; the event's data contains the payment.
const (
	Booking     SubjectKind = "booking"
	Ticket      SubjectKind = "ticket"
	Reservation SubjectKind = "reservation"
	Key         SubjectKind = "key"
	Business    SubjectKind = "business"
	Customer    SubjectKind = "customer" // an erasure of a customer's data; the id is the erasure's
	Member      SubjectKind = "member"   // of the team; the id is the person's
	Token       SubjectKind = "token"    // of the admin API
)

// Type is the kind of change.
type Type string

// The types of events.
const (
	BookingCreated      Type = "booking.created"
	BookingConfirmed    Type = "booking.confirmed"
	BookingRescheduled  Type = "booking.rescheduled"
	BookingCancelled    Type = "booking.cancelled"
	BookingWithdrawn    Type = "booking.withdrawn" // the business withdrew its class session
	BookingRestored     Type = "booking.restored"  // its class session takes place after all
	BookingCompleted    Type = "booking.completed"
	BookingNoShow       Type = "booking.no_show"
	BookingReopened     Type = "booking.reopened" // completed or no-show was reverted
	PaymentSucceeded    Type = "payment.succeeded"
	PaymentFailed       Type = "payment.failed"
	PaymentExpired      Type = "payment.expired"
	PaymentRefunded     Type = "payment.refunded"
	PaymentRefundFailed Type = "payment.refund_failed" // refused by the provider, also after it was reported as made
	// PaymentDisputed means that the customer disputes the payment at their bank, or that the dispute has ended.
	PaymentDisputed      Type = "payment.disputed"
	TicketCreated        Type = "ticket.created" // it waits for its payment
	TicketSold           Type = "ticket.sold"
	TicketRescheduled    Type = "ticket.rescheduled" // its event is at another time
	TicketWithdrawn      Type = "ticket.withdrawn"   // its event is no longer offered
	TicketCancelled      Type = "ticket.cancelled"
	ReservationCreated   Type = "reservation.created"
	ReservationConfirmed Type = "reservation.confirmed" // it is paid
	ReservationWithdrawn Type = "reservation.withdrawn" // the rental is no longer offered
	ReservationRestored  Type = "reservation.restored"  // the rental is offered again
	ReservationPickedUp  Type = "reservation.picked_up"
	ReservationReturned  Type = "reservation.returned"
	ReservationCancelled Type = "reservation.cancelled"
	BusinessPublished    Type = "business.published"
	BusinessRemoved      Type = "business.removed"
	CustomerErased       Type = "customer.erased"
	KeyCreated           Type = "key.created"
	KeyRevoked           Type = "key.revoked"
)

// The types of events of the team. They are shown in the audit log, and not sent by webhooks.
const (
	MemberInvited         Type = "member.invited"
	MemberJoined          Type = "member.joined" // the person has proved to be the invited one
	MemberChanged         Type = "member.changed"
	MemberRemoved         Type = "member.removed"
	MemberPasswordChanged Type = "member.password_changed"
	MemberPasswordRemoved Type = "member.password_removed"
	MemberPasskeyAdded    Type = "member.passkey_added"
	MemberPasskeyRemoved  Type = "member.passkey_removed"
	TokenCreated          Type = "token.created"
	TokenRevoked          Type = "token.revoked"
)

// List is a page of the audit log of a business, newest first. NextCursor is "" on the last page.
type List struct {
	Events     []Event `json:"events"`
	NextCursor string  `json:"next_cursor,omitempty"`
}

// Page is a part of a feed. Next is the cursor after the page, even if Events is empty.
// A reader must store Next in the same transaction as its effects of the events.
type Page struct {
	Events []Event `json:"events"`
	Next   string  `json:"next"`
}
