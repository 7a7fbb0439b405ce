package letter

import (
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/ical"
)

// buildInvitation returns an iCalendar object for the customer, and the method of that object (REQUEST, CANCEL or
// PUBLISH). The object has the ID and the sequence number of the booking, ticket order or reservation. With them, the
// customer's calendar program applies later changes to the same calendar entry.
func buildInvitation(kind Kind, w *words, f *Facts) ([]byte, string, error) {
	method, status := ical.Request, ical.Confirmed
	switch kind {
	case BookingReceived, BookingConfirmed, BookingRescheduled, Ticket, TicketRescheduled, Reservation:
		if f.Subject.IsPending {
			status = ical.Tentative
		}
	case BookingCancelled, TicketCancelled, ReservationCancelled:
		method, status = ical.Cancel, ical.Cancelled
	default:
		return nil, "", nil
	}
	e := buildEvent(w, f, status)
	switch {
	case f.Business.ReplyTo != "":
		e.Organizer.Email = f.Business.ReplyTo
	case f.Business.From != "":
		e.Organizer.Email = f.Business.From
	default:
		method = ical.Publish // an organizer would need an address, and the business has none
	}
	b, err := ical.Calendar{Method: method, Events: []ical.Event{e}}.Write()
	return b, string(method), err
}

func buildEvent(w *words, f *Facts, status ical.Status) ical.Event {
	s := &f.Subject
	var items []string
	for _, item := range s.Items {
		items = append(items, clean(item, maxName))
	}
	start, end := s.When.Start.In(f.Business.Zone), s.When.End
	if !end.IsZero() {
		end = end.In(f.Business.Zone)
	}
	var description []string
	if s.Kind == TicketSubject {
		description = append(description, w.formatQuantity(s))
	}
	description = append(description, clean(s.Staff, maxName), checkLink(f.Link))
	name := clean(f.Business.Name, maxName)
	return ical.Event{
		UID: s.ID, Sequence: s.Sequence, Stamp: f.Stamp, Start: start, End: end, AllDay: s.When.IsAllDay,
		Status:  status,
		Summary: strings.Join(items, ", "),
		Description: strings.Join(slices.DeleteFunc(description, func(line string) bool {
			return line == ""
		}), "\n"),
		Location: name, URL: f.Link,
		Organizer: &ical.Person{Name: name}, Attendee: &ical.Person{Name: filterName(f.Customer.Name),
			Email: f.Customer.Email},
	}
}
