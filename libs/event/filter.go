package event

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/request"
)

// Types are all types of events that webhooks tell of.
func Types() []Type {
	return []Type{
		BookingCreated, BookingConfirmed, BookingRescheduled, BookingCancelled, BookingCompleted, BookingNoShow,
		PaymentSucceeded, PaymentFailed, PaymentExpired, PaymentRefunded, TicketCreated, TicketSold, TicketCancelled,
		ReservationCreated, ReservationConfirmed, ReservationPickedUp, ReservationReturned, ReservationCancelled,
		BusinessPublished, BusinessRemoved, CustomerErased, KeyCreated, KeyRevoked,
	}
}

// TeamTypes are all types of events of the team.
func TeamTypes() []Type {
	return []Type{
		MemberInvited, MemberJoined, MemberChanged, MemberRemoved, MemberPasswordChanged, MemberPasswordRemoved, MemberPasskeyAdded, MemberPasskeyRemoved,
		TokenCreated, TokenRevoked,
	}
}

// Filter chooses events of a business; a zero field leaves everything in.
type Filter struct {
	Kind     SubjectKind
	Subject  uuid.UUID
	Type     Type
	From, To time.Time // from From on, before To
}

// ReadFilter reads a filter from the parameters subject, a kind or an id; type; from and to, each an instant or a date. A date is one of
// UTC, and the date to is included. Faults: invalid_parameter.
func ReadFilter(q request.Query) (Filter, error) {
	var f Filter
	if err := readSubject(q, &f); err != nil {
		return Filter{}, err
	}
	typ, err := q.Text("type")
	if err != nil {
		return Filter{}, err
	}
	if f.Type = Type(typ); typ != "" && !slices.Contains(Types(), f.Type) && !slices.Contains(TeamTypes(), f.Type) {
		return Filter{}, request.Invalid("type: %s is no type of event; write one such as %s.", request.Quoted(typ), BookingCreated)
	}
	if f.From, err = readInstant(q, "from", 0); err != nil {
		return Filter{}, err
	}
	f.To, err = readInstant(q, "to", 24*time.Hour)
	return f, err
}

func readSubject(q request.Query, f *Filter) error {
	text, err := q.Text("subject")
	switch kind := SubjectKind(text); {
	case err != nil || text == "":
		return err
	case slices.Contains([]SubjectKind{Booking, Ticket, Reservation, Key, Business, Customer, Member, Token}, kind):
		f.Kind = kind
	case f.Subject.UnmarshalText([]byte(text)) != nil || len(text) != len(uuid.Nil.String()):
		return request.Invalid("subject: %s is none; write its id, or booking, ticket, reservation, key, business, customer, member or token.", request.Quoted(text))
	}
	return nil
}

// readInstant reads an instant; from a date it is as much after the date's beginning.
func readInstant(q request.Query, name string, after time.Duration) (time.Time, error) {
	text, err := q.Text(name)
	if err != nil || text == "" {
		return time.Time{}, err
	}
	if date, err := time.Parse(time.DateOnly, text); err == nil {
		return date.Add(after), nil
	}
	at, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	if err != nil {
		return time.Time{}, request.Invalid("%s: %s is no date and no instant; write one such as 2026-11-21 or 2026-11-21T09:00:00Z.", name, request.Quoted(text))
	}
	return at, nil
}

// Values are the parameters that [ReadFilter] reads.
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
