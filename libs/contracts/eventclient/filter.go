package eventclient

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// Filter is a filter in a request.
type Filter struct{ event.Filter }

// ReadQuery reads the filter as [ReadFilter] does.
func (f *Filter) ReadQuery(q request.Query) error {
	filter, err := ReadFilter(q)
	f.Filter = filter
	return err
}

// ReadFilter reads a filter from the query parameters subject, type, from and to. The
// parameter `subject` is a kind or an id; `from` and `to` are instants or dates. Dates
// are in UTC, and events on the date `to` are included. Faults: invalid_parameter.
func ReadFilter(q request.Query) (event.Filter, error) {
	var f event.Filter
	if err := readSubject(q, &f); err != nil {
		return event.Filter{}, err
	}
	typ, err := q.Text("type")
	if err != nil {
		return event.Filter{}, err
	}
	if f.Type = event.Type(typ); typ != "" && !slices.Contains(event.Types(), f.Type) &&
		!slices.Contains(event.AuditTypes(), f.Type) {
		return event.Filter{}, request.Invalid("type: %s is no type of event; write one such as %s.",
			request.Quote(typ), event.BookingCreated)
	}
	if f.From, err = readInstant(q, "from", 0); err != nil {
		return event.Filter{}, err
	}
	f.To, err = readInstant(q, "to", 24*time.Hour)
	return f, err
}

func readSubject(q request.Query, f *event.Filter) error {
	text, err := q.Text("subject")
	switch kind := event.SubjectKind(text); {
	case err != nil || text == "":
		return err
	case slices.Contains([]event.SubjectKind{event.Booking, event.Ticket, event.Reservation, event.Key, event.Business,
		event.Customer, event.Member, event.Token}, kind):
		f.Kind = kind
	case f.Subject.UnmarshalText([]byte(text)) != nil || len(text) != len(uuid.Nil.String()):
		return request.Invalid("subject: %s is none; write its id, or booking, ticket, reservation, key, business, "+
			"customer, member or token.", request.Quote(text))
	}
	return nil
}

// readInstant reads an instant from a query parameter. For a date,
// readInstant returns the start of the date plus the argument `after`.
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
		return time.Time{}, request.Invalid("%s: %s is no date and no instant; write one such as 2026-11-21 or "+
			"2026-11-21T09:00:00Z.", name, request.Quote(text))
	}
	return at, nil
}
