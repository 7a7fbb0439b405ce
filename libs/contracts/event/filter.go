package event

import (
	"net/url"
	"time"

	"github.com/google/uuid"
)

// Types returns all types of events that webhooks send.
func Types() []Type {
	return []Type{
		BookingCreated, BookingConfirmed, BookingRescheduled, BookingRelocated, BookingWithdrawn, BookingRestored,
		BookingCancelled, BookingCompleted, BookingNoShow, BookingReopened,
		PaymentSucceeded, PaymentFailed, PaymentExpired, PaymentRefunded, PaymentRefundFailed, PaymentDisputed,
		TicketCreated, TicketSold, TicketRescheduled, TicketWithdrawn, TicketCancelled,
		ReservationCreated, ReservationConfirmed, ReservationWithdrawn, ReservationRestored,
		ReservationPickedUp, ReservationReturned, ReservationCancelled,
		BusinessPublished, BusinessRemoved, CustomerErased, KeyCreated, KeyRevoked,
	}
}

// AuditTypes returns all types of events that only the audit log shows.
func AuditTypes() []Type {
	return []Type{
		MemberInvited, MemberJoined, MemberChanged, MemberRemoved, MemberPasswordChanged, MemberPasswordRemoved,
		MemberPasskeyAdded, MemberPasskeyRemoved,
		TokenCreated, TokenRevoked, CustomerChanged,
	}
}

// Filter selects events of a business. A field with its zero value selects all events.
type Filter struct {
	Kind     SubjectKind
	Subject  uuid.UUID
	Type     Type
	From, To time.Time // From is included, To is excluded
}

// Values returns the filter as query parameters, which package eventclient reads.
func (f Filter) Values() url.Values {
	query := url.Values{}
	if f.Kind != "" {
		query.Set("subject", string(f.Kind))
	}
	if f.Subject != uuid.Nil {
		query.Set("subject", f.Subject.String())
	}
	if f.Type != "" {
		query.Set("type", string(f.Type))
	}
	if !f.From.IsZero() {
		query.Set("from", f.From.UTC().Format(time.RFC3339Nano))
	}
	if !f.To.IsZero() {
		query.Set("to", f.To.UTC().Format(time.RFC3339Nano))
	}
	return query
}
