// Package ical writes iCalendar documents (RFC 5545) with golang-ical. The documents are invitations with their
// updates and cancellations (RFC 5546), or calendar feeds with many events. The package limits and cleans all
// texts, so that a text cannot add a property. It sets the properties that calendar programs need to apply updates.
//
// Times are written in UTC. Calendar programs convert them to the
// time zone of the viewer, so the document needs no time zone rules.
package ical

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	ics "github.com/arran4/golang-ical"

	"github.com/slotmesh/slotmesh/libs/values/email"
)

// Method decides how a calendar program handles the events (RFC 5546).
type Method string

// These constants are the methods that this package writes.
const (
	Publish Method = "PUBLISH" // show the events; not an invitation
	Request Method = "REQUEST" // add the event, or replace an event with the same UID and a lower sequence
	Cancel  Method = "CANCEL"  // remove the event
)

// MediaType is the media type of the result of [Calendar.Write], without the parameter `method`.
const MediaType = "text/calendar; charset=utf-8"

// These constants bound a calendar. Longer texts are cut. A calendar with more than [MaxEvents] events is an error.
const (
	MaxEvents = 50_000
	maxShort  = 250  // characters of a name, a summary or a location
	maxLong   = 4000 // characters of a description
)

// Calendar is one iCalendar document: a feed, an invitation or a cancellation.
type Calendar struct {
	Method Method
	Name   string // display name of a feed; may be empty
	// Refresh is the interval at which calendar programs should read
	// the feed again. If it is 0, the document names no interval.
	Refresh time.Duration
	Events  []Event
}

// Event is one appointment. In a calendar program, an event
// replaces an earlier event with the same UID and a lower Sequence.
type Event struct {
	UID      string
	Sequence int
	Stamp    time.Time // time at which this version of the event was created
	Start    time.Time
	End      time.Time // exclusive, must be after Start; zero if the end is unknown
	// AllDay means that Start and End are written as dates, in
	// their own time zones. End is then the day after the last day.
	AllDay      bool
	Status      Status
	Summary     string
	Description string
	Location    string
	Geo         *Geo    // position of Location; nil if it is not known
	Conference  string  // http or https URL of the online meeting; any other URL is omitted
	URL         string  // http or https; any other URL is omitted
	Organizer   *Person // required for [Request] and [Cancel]
	Attendee    *Person // the invited person; shown as accepted, because the person made the booking
}

// Geo is a position in degrees (WGS 84).
type Geo struct{ Lat, Lon float64 }

// Person is the organizer or the attendee of an event.
type Person struct {
	Name  string // may be empty
	Email string
}

// Status is the status of an [Event].
type Status string

// These constants are the possible values of a [Status].
const (
	Confirmed Status = "CONFIRMED"
	Tentative Status = "TENTATIVE"
	Cancelled Status = "CANCELLED"
)

// Write returns the calendar as the bytes of an iCalendar document. It returns an error in these cases:
//
//   - The calendar has more than [MaxEvents] events.
//   - The method is [Request] or [Cancel], and the calendar does not have exactly one event with an organizer.
//   - An event has no UID or a negative sequence, or its end is not after its start.
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
	if name := cleanText(c.Name, maxShort); name != "" {
		cal.SetName(name)
		cal.SetXWRCalName(name)
	}
	if c.Refresh > 0 {
		every := fmt.Sprintf("PT%dM", max(1, int(c.Refresh.Minutes())))
		cal.SetRefreshInterval(every)
		cal.SetXPublishedTTL(every)
	}
	for i := range c.Events {
		if err := addEvent(cal, c.Method, &c.Events[i]); err != nil {
			return nil, fmt.Errorf("event %d: %w", i+1, err)
		}
	}
	var b strings.Builder
	if err := cal.SerializeTo(&b, ics.WithNewLine("\r\n")); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

func addEvent(cal *ics.Calendar, method Method, e *Event) error {
	uid := cleanText(e.UID, maxShort)
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
	setText(v, ics.ComponentPropertySummary, cleanText(e.Summary, maxShort))
	setText(v, ics.ComponentPropertyDescription, cleanText(e.Description, maxLong))
	setText(v, ics.ComponentPropertyLocation, cleanText(e.Location, maxShort))
	setText(v, ics.ComponentPropertyUrl, cleanURL(e.URL))
	if link := cleanURL(e.Conference); link != "" { // RFC 7986 §5.11
		v.SetProperty("CONFERENCE", link, ics.WithValue("URI"), &ics.KeyValues{Key: "FEATURE", Value: []string{"VIDEO"}})
	}
	if e.Geo != nil {
		v.SetProperty(ics.ComponentPropertyGeo, formatDegrees(e.Geo.Lat)+";"+formatDegrees(e.Geo.Lon))
	}
	if method == Publish {
		return nil
	}
	return setPersons(v, e)
}

// formatDegrees writes an angle with at most six decimals, as RFC 5545 §3.8.1.6 recommends.
func formatDegrees(angle float64) string {
	const decimals = 6
	return strconv.FormatFloat(angle, 'f', decimals, 64)
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

func setText(v *ics.VEvent, property ics.ComponentProperty, value string) {
	if value != "" {
		v.SetProperty(property, value)
	}
}

// setPersons sets the organizer and the attendee of an event. Calendar programs
// accept an update only if it has the same organizer as the invitation.
func setPersons(v *ics.VEvent, e *Event) error {
	organizer, ok := mailto(e.Organizer)
	if !ok {
		return errors.New("it has no organizer with an e-mail address")
	}
	v.SetOrganizer(organizer, nameParameter(e.Organizer)...)
	if attendee, ok := mailto(e.Attendee); ok {
		v.AddAttendee(attendee, append(nameParameter(e.Attendee), ics.CalendarUserTypeIndividual,
			ics.ParticipationRoleReqParticipant,
			ics.ParticipationStatusAccepted, ics.WithRSVP(false))...)
	}
	return nil
}

func mailto(p *Person) (string, bool) {
	if p == nil || !email.Valid(p.Email) {
		return "", false
	}
	return "mailto:" + uriEscaper.Replace(p.Email), true
}

// uriEscaper escapes the characters of an e-mail address that have a special meaning in a mailto URI (RFC 6068).
var uriEscaper = strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23", "&", "%26")

// nameParameter returns the parameter CN with the name of a person. It replaces characters that would
// need quotes or escapes, because golang-ical writes these characters incorrectly in parameters.
func nameParameter(p *Person) []ics.PropertyParameter {
	cn := strings.TrimSpace(strings.Map(func(r rune) rune {
		switch r {
		case '"', '\'':
			return '’'
		case ',', ';', ':', '\\', '^', '\n', '\t':
			return ' '
		}
		return r
	}, cleanText(p.Name, maxShort)))
	if cn == "" {
		return nil
	}
	return []ics.PropertyParameter{ics.WithCN(cn)}
}

// cleanText returns `s` as valid UTF-8 without control characters, except line ends and tabs. It cuts the text to
// `limit` characters.
func cleanText(s string, limit int) string {
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
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:limit-1])) + "…"
}

// cleanURL returns a URL as ASCII without spaces and control characters (RFC 3986 §2). It returns "" if the URL is
// invalid. It percent-encodes all bytes that are not ASCII, because net/url does not encode these bytes in the query.
func cleanURL(s string) string {
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
