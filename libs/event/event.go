// Package event is what services tell of changes: one event for each change of a booking, a ticket order, a reservation, an API
// key or an offer (lifecycle.md §1). It holds values only. Who owns the state records its events and serves them as a feed.
package event

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/actor"
)

// Event is one change, as it was made.
type Event struct {
	ID         uuid.UUID   `json:"id"` // a UUIDv7
	Type       Type        `json:"type"`
	BusinessID uuid.UUID   `json:"business_id"`
	Subject    Subject     `json:"subject"`
	At         time.Time   `json:"at"` // by the clock of the service
	Actor      actor.Actor `json:"actor"`
	Sequence   int         `json:"sequence"` // counts per subject, from 1
	// Data is the subject after the change, as the admin API shows it; of a booking that moved also from and to.
	Data json.RawMessage `json:"data"`
}

// Subject is what changed.
type Subject struct {
	Kind SubjectKind `json:"kind"`
	ID   uuid.UUID   `json:"id"`
}

// SubjectKind is the kind of a [Subject].
type SubjectKind string

// The kinds of subjects. A payment is told of as what it is of, whose data holds it.
const (
	Booking     SubjectKind = "booking"
	Ticket      SubjectKind = "ticket"
	Reservation SubjectKind = "reservation"
	Key         SubjectKind = "key"
	Business    SubjectKind = "business"
	Customer    SubjectKind = "customer" // an erasing of one: the id is the erasing's
	Member      SubjectKind = "member"   // of the team: the id is the person's
	Token       SubjectKind = "token"    // of the admin API
)

// Type is what happened.
type Type string

// The types of events.
const (
	BookingCreated       Type = "booking.created"
	BookingConfirmed     Type = "booking.confirmed"
	BookingRescheduled   Type = "booking.rescheduled"
	BookingCancelled     Type = "booking.cancelled"
	BookingWithdrawn     Type = "booking.withdrawn" // the business withdrew its class session
	BookingRestored      Type = "booking.restored"  // its class session takes place after all
	BookingCompleted     Type = "booking.completed"
	BookingNoShow        Type = "booking.no_show"
	BookingReopened      Type = "booking.reopened" // completed or no-show was taken back
	PaymentSucceeded     Type = "payment.succeeded"
	PaymentFailed        Type = "payment.failed"
	PaymentExpired       Type = "payment.expired"
	PaymentRefunded      Type = "payment.refunded"
	PaymentRefundFailed  Type = "payment.refund_failed" // the provider refused it, also after it was reported as made
	PaymentDisputed      Type = "payment.disputed"      // the customer disputes it at their bank, or that has ended
	TicketCreated        Type = "ticket.created"        // it waits for its payment
	TicketSold           Type = "ticket.sold"
	TicketRescheduled    Type = "ticket.rescheduled" // its event is at another time
	TicketWithdrawn      Type = "ticket.withdrawn"   // its event is no longer offered
	TicketCancelled      Type = "ticket.cancelled"
	ReservationCreated   Type = "reservation.created"
	ReservationConfirmed Type = "reservation.confirmed" // it is paid
	ReservationWithdrawn Type = "reservation.withdrawn" // what is rented is no longer offered
	ReservationRestored  Type = "reservation.restored"  // what is rented is offered again
	ReservationPickedUp  Type = "reservation.picked_up"
	ReservationReturned  Type = "reservation.returned"
	ReservationCancelled Type = "reservation.cancelled"
	BusinessPublished    Type = "business.published"
	BusinessRemoved      Type = "business.removed"
	CustomerErased       Type = "customer.erased"
	KeyCreated           Type = "key.created"
	KeyRevoked           Type = "key.revoked"
)

// The types of events of the team, which who looks after it reads in the audit log. Nobody is told of them by webhooks.
const (
	MemberInvited         Type = "member.invited"
	MemberJoined          Type = "member.joined" // it is known that they are who was invited
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

// Page is a part of a feed. Next is the cursor after it, also where Events is empty; a reader keeps it together with what it made
// of the events.
type Page struct {
	Events []Event `json:"events"`
	Next   string  `json:"next"`
}
