package letter

import (
	"bytes"
	"testing"

	ics "github.com/arran4/golang-ical"
)

func TestInvitationMatchesSubject(t *testing.T) {
	t.Parallel()
	for name, s := range newSamples(t) {
		want := map[Kind]string{
			BookingReceived: "REQUEST TENTATIVE", BookingConfirmed: "REQUEST CONFIRMED",
			BookingRescheduled: "REQUEST CONFIRMED", Ticket: "REQUEST CONFIRMED",
			TicketRescheduled: "REQUEST CONFIRMED",
			Reservation:       "REQUEST CONFIRMED", BookingCancelled: "CANCEL CANCELLED",
			TicketCancelled:      "CANCEL CANCELLED",
			ReservationCancelled: "CANCEL CANCELLED",
		}[s.kind]
		l := mustRender(t, s.kind, "en", s.facts)
		if want == "" {
			if l.Calendar != nil || l.Method != "" {
				t.Errorf("%s has the calendar entry %s, want none", name, l.Calendar)
			}
			continue
		}
		e := parseCalendar(t, l)
		if got := l.Method + " " + propertyValue(e, ics.ComponentPropertyStatus); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		for property, want := range map[ics.ComponentProperty]string{
			ics.ComponentPropertyUniqueId: s.facts.Subject.ID, ics.ComponentPropertySequence: "2",
			ics.ComponentPropertyUrl:       s.facts.Link,
			ics.ComponentPropertyOrganizer: "mailto:hello@harbor.example",
			ics.ComponentPropertyAttendee:  "mailto:ada@mail.example",
		} {
			if got := propertyValue(e, property); got != want {
				t.Errorf("%s: %s is %q, want %q", name, property, got, want)
			}
		}
	}
}

func parseCalendar(t *testing.T, l Letter) *ics.VEvent {
	t.Helper()
	c, err := ics.ParseCalendar(bytes.NewReader(l.Calendar))
	if err != nil {
		t.Fatal(err)
	}
	if method := c.CalendarProperties; len(c.Events()) != 1 || l.Method == "" {
		t.Fatalf("%d events, %v", len(c.Events()), method)
	}
	return c.Events()[0]
}

func propertyValue(e *ics.VEvent, property ics.ComponentProperty) string {
	if p := e.GetProperty(property); p != nil {
		return p.Value
	}
	return ""
}

func TestInvitationWritesWholeDaysAsDates(t *testing.T) {
	t.Parallel()
	e := parseCalendar(t, mustRender(t, Reservation, "en", newFacts(t, Reservation)))
	if start, end := propertyValue(e, ics.ComponentPropertyDtStart),
		propertyValue(e, ics.ComponentPropertyDtEnd); start != "20261204" || end != "20261207" {
		t.Errorf("from %s to %s", start, end)
	}
}

func TestInvitationUsesSenderWithoutReplyTo(t *testing.T) {
	t.Parallel()
	f := newFacts(t, BookingConfirmed)
	f.Business.ReplyTo = ""
	l := mustRender(t, BookingConfirmed, "en", f)
	if got := propertyValue(parseCalendar(t, l),
		ics.ComponentPropertyOrganizer); got != "mailto:bookings@slotmesh.example" ||
		l.Method != "REQUEST" {
		t.Errorf("%s by %s", l.Method, got)
	}
	f.Business.From = ""
	l = mustRender(t, BookingConfirmed, "en", f)
	if got := propertyValue(parseCalendar(t, l), ics.ComponentPropertyOrganizer); got != "" || l.Method != "PUBLISH" {
		t.Errorf("%s by %s", l.Method, got)
	}
}
