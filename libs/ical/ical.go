// Package ical writes iCalendar (RFC 5545): the invitation that stands in a message, its update and its cancellation
// (RFC 5546), and the calendar of many events that a program subscribes to. It is thin over golang-ical: it bounds and
// cleans what it is given, so that no text can break out of its property, and knows what calendars need in order to follow.
//
// Times are written in UTC. A calendar shows them in the zone of whoever looks, and no rule of a zone has to travel along.
package ical

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	ics "github.com/arran4/golang-ical"

	"github.com/slotmesh/slotmesh/libs/email"
)

// Method says what a calendar does with the events (RFC 5546).
type Method string

// The methods.
const (
	Publish Method = "PUBLISH" // shows them; nobody is invited
	Request Method = "REQUEST" // puts the one event in the calendar, or replaces the one of the same UID and a lower sequence
	Cancel  Method = "CANCEL"  // takes the one event out
)

// MediaType is the media type of what [Calendar.Write] returns, without its method.
const MediaType = "text/calendar; charset=utf-8"

// Bounds of what is written. Longer texts are cut, and more events than [MaxEvents] are refused.
const (
	MaxEvents = 50_000
	maxShort  = 250  // characters of a name, a summary, a location
	maxLong   = 4000 // characters of a description
)

// Calendar is one iCalendar object.
type Calendar struct {
	Method Method
	Name   string // what a program that subscribes calls it; may be empty
	// Refresh is how often such a program should look again; 0 where it should not.
	Refresh time.Duration
	Events  []Event
}

// Event is one appointment. An event of the same UID and a higher Sequence replaces an earlier one wherever that was kept.
type Event struct {
	UID      string
	Sequence int
	Stamp    time.Time // when this state of it was made
	Start    time.Time
	End      time.Time // exclusive, after Start; zero where it is not known
	// AllDay makes dates of Start and End, as they stand in their zone: End is the day after the last.
	AllDay      bool
	Status      Status
	Summary     string
	Description string
	Location    string
	URL         string  // http or https, else it is left out
	Organizer   *Person // who invites; [Request] and [Cancel] need one
	Attendee    *Person // who is invited, and has accepted by booking
}

// Person is who invites or is invited.
type Person struct {
	Name  string // may be empty
	Email string
}

// Status is how certain an event is.
type Status string

// The statuses of an event.
const (
	Confirmed Status = "CONFIRMED"
	Tentative Status = "TENTATIVE"
	Cancelled Status = "CANCELLED"
)

// Write returns the calendar in bytes. It is an error when there are more than [MaxEvents] events, when a request or a
// cancellation holds other than one event with an organizer, or when an event lacks its UID or does not end after its start.
func (c Calendar) Write() ([]byte, error) {
	if len(c.Events) > MaxEvents {
		return nil, fmt.Errorf("a calendar of %d events; at most %d fit", len(c.Events), MaxEvents)
	}
	if c.Method != Publish && len(c.Events) != 1 {
		return nil, fmt.Errorf("%s of %d events; it takes one", c.Method, len(c.Events))
	}
	cal := ics.NewCalendarFor("Slotmesh")
	cal.SetCalscale("GREGORIAN")
	cal.SetMethod(ics.Method(c.Method))
	if name := text(c.Name, maxShort); name != "" {
		cal.SetName(name)
		cal.SetXWRCalName(name)
	}
	if c.Refresh > 0 {
		every := fmt.Sprintf("PT%dM", max(1, int(c.Refresh.Minutes())))
		cal.SetRefreshInterval(every)
		cal.SetXPublishedTTL(every)
	}
	for i := range c.Events {
		if err := add(cal, c.Method, &c.Events[i]); err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	var b strings.Builder
	if err := cal.SerializeTo(&b, ics.WithNewLine("\r\n")); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

func add(cal *ics.Calendar, method Method, e *Event) error {
	uid := text(e.UID, maxShort)
	switch {
	case uid == "":
		return errors.New("it has no UID")
	case e.Sequence < 0:
		return fmt.Errorf("its sequence is %d", e.Sequence)
	case !e.End.IsZero() && !e.End.After(e.Start):
		return errors.New("it does not end after its start")
	}
	v := cal.AddEvent(uid)
	v.SetSequence(e.Sequence)
	v.SetDtStampTime(e.Stamp)
	v.SetModifiedAt(e.Stamp)
	setTimes(v, e)
	v.SetStatus(ics.ObjectStatus(e.Status))
	set(v, ics.ComponentPropertySummary, text(e.Summary, maxShort))
	set(v, ics.ComponentPropertyDescription, text(e.Description, maxLong))
	set(v, ics.ComponentPropertyLocation, text(e.Location, maxShort))
	set(v, ics.ComponentPropertyUrl, address(e.URL))
	if method == Publish {
		return nil
	}
	return invite(v, e)
}

func setTimes(v *ics.VEvent, e *Event) {
	start, end := v.SetStartAt, v.SetEndAt
	if e.AllDay {
		start, end = v.SetAllDayStartAt, v.SetAllDayEndAt
	}
	start(e.Start)
	if !e.End.IsZero() {
		end(e.End)
	}
}

func set(v *ics.VEvent, property ics.ComponentProperty, value string) {
	if value != "" {
		v.SetProperty(property, value)
	}
}

// invite names who invites whom. Calendars take an update only from who invited.
func invite(v *ics.VEvent, e *Event) error {
	organizer, ok := mailto(e.Organizer)
	if !ok {
		return errors.New("it has no organizer with an e-mail address")
	}
	v.SetOrganizer(organizer, name(e.Organizer)...)
	if attendee, ok := mailto(e.Attendee); ok {
		v.AddAttendee(attendee, append(name(e.Attendee), ics.CalendarUserTypeIndividual, ics.ParticipationRoleReqParticipant,
			ics.ParticipationStatusAccepted, ics.WithRSVP(false))...)
	}
	return nil
}

func mailto(p *Person) (string, bool) {
	if p == nil || !email.Valid(p.Email) {
		return "", false
	}
	return "mailto:" + inURI.Replace(p.Email), true
}

// inURI writes what means something else in a URI (RFC 6068).
var inURI = strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23", "&", "%26")

// name is the CN of a person. golang-ical escapes in parameters as only texts are escaped, and does not quote them, so
// what would need either is replaced.
func name(p *Person) []ics.PropertyParameter {
	cn := strings.TrimSpace(strings.Map(func(r rune) rune {
		switch r {
		case '"', '\'':
			return '’'
		case ',', ';', ':', '\\', '^', '\n', '\t':
			return ' '
		}
		return r
	}, text(p.Name, maxShort)))
	if cn == "" {
		return nil
	}
	return []ics.PropertyParameter{ics.WithCN(cn)}
}

// text is valid UTF-8 of at most most characters, without controls but for ends of lines.
func text(s string, most int) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r', r == '\u0085', r == '\u2028', r == '\u2029':
			return '\n'
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, s))
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most-1])) + "…"
}

// address is a web address as it may stand in a property, or empty: ASCII without spaces and controls (RFC 3986 §2), which net/url leaves as
// they are in a query.
func address(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	var plain strings.Builder
	for _, b := range []byte(u.String()) {
		if b > ' ' && b < unicode.MaxASCII {
			plain.WriteByte(b)
		} else {
			fmt.Fprintf(&plain, "%%%02X", b)
		}
	}
	return plain.String()
}
