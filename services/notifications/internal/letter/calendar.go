package letter

import (
	"cmp"
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/ical"
)

// buildInvitation returns an iCalendar object for the customer, and the method of that object (REQUEST, CANCEL or
// PUBLISH). The object has the ID and the sequence number of the booking, ticket order or reservation. The customer's
// calendar program uses the ID to find the entry when a later change arrives, and the number to ignore older changes.
func buildInvitation(kind Kind, w *words, f *Facts) ([]byte, string, error) {
	method, status := ical.Request, ical.Confirmed
	switch {
	case isInvitation(kind):
		if f.Subject.IsPending {
			status = ical.Tentative
		}
	case kind == BookingCancelled, kind == TicketCancelled, kind == ReservationCancelled:
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
		method = ical.Publish // an organizer would need an e-mail address, and there is none
	}
	b, err := ical.Calendar{Method: method, Events: []ical.Event{e}}.Write()
	return b, string(method), err
}

// isInvitation reports whether messages of the given kind have a calendar entry that adds or changes an appointment.
func isInvitation(kind Kind) bool {
	switch kind {
	case BookingReceived, BookingConfirmed, BookingRescheduled, Ticket, TicketRescheduled, Reservation:
		return true
	default:
		return false
	}
}

// hasCalendarEntry reports whether messages of the given kind offer to add the appointment to the customer's calendar.
func hasCalendarEntry(kind Kind) bool { return isInvitation(kind) || kind == Reminder }

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
	location, geo := locate(w, f.findPlace(), name)
	return ical.Event{
		UID: s.ID, Sequence: s.Sequence, Stamp: f.Stamp, Start: start, End: end, AllDay: s.When.IsAllDay,
		Status:  status,
		Summary: strings.Join(items, ", "),
		Description: strings.Join(slices.DeleteFunc(description, func(line string) bool {
			return line == ""
		}), "\n"),
		Location: location, Geo: geo, Conference: findConference(f), URL: f.Link,
		Organizer: &ical.Person{Name: name}, Attendee: &ical.Person{Name: filterName(f.Customer.Name),
			Email: f.Customer.Email},
	}
}

// findConference returns the link to the online meeting of the subject, or "" if there is none.
func findConference(f *Facts) string {
	if place := f.findPlace(); place != nil {
		return checkLink(place.Link)
	}
	return ""
}

// locate returns the location and the position of a calendar entry. The location is the address of the place on one
// line or, without an address, the link to the online meeting. For a telephone call, the location is the number that
// the customer calls. If there is none of them, the location is the name of the place. If the name is also
// missing, or if `place` is nil, the location is the argument `business`.
func locate(w *words, place *Place, business string) (string, *ical.Geo) {
	if place == nil {
		return business, nil
	}
	var geo *ical.Geo
	if g := place.Geo; g != nil {
		geo = &ical.Geo{Lat: g.Lat, Lon: g.Lon}
	}
	name := clean(w.translate(place.Name.Text, place.Name.Translations), maxName)
	number := ""
	if place.IsCall {
		number = clean(place.Phone, maxName)
	}
	return cmp.Or(clean(w.joinAddress(place), maxAddress), checkLink(place.Link), number, name, business), geo
}
