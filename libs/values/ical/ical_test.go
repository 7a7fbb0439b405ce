package ical_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	ics "github.com/arran4/golang-ical"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/ical"
)

const icalPackage = "ical.js@2.2.1"

var start = time.Date(2026, 12, 4, 14, 5, 0, 0, time.UTC)

func newEvent() ical.Event {
	return ical.Event{
		UID: "0193a1b2-0000-7000-8000-000000000001", Sequence: 1, Stamp: start.AddDate(0, 0, -7), Start: start,
		End:    start.Add(45 * time.Minute),
		Status: ical.Confirmed, Summary: "Haircut; long, with Ana",
		Description: "First line\r\nhttps://book.example/m/abc", Location: "Cais 1, Lisboa",
		URL:       "https://book.example/m/abc",
		Organizer: &ical.Person{Name: `O'Neil, "Sons"; Co: \`, Email: "hello@harbor.example"},
		Attendee:  &ical.Person{Name: "Ada Lovelace", Email: "ada@mail.example"},
	}
}

func writeCalendar(t *testing.T, c ical.Calendar) []byte {
	t.Helper()
	b, err := c.Write()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// reader is a calendar program for Node. For each UID it keeps the event with the highest sequence (RFC 5546).
const reader = `
const ICAL = require("ical.js");
const kept = {};
for (const text of JSON.parse(require("fs").readFileSync(0))) {
	const calendar = new ICAL.Component(ICAL.parse(text));
	for (const component of calendar.getAllSubcomponents("vevent")) {
		const e = new ICAL.Event(component), organizer = component.getFirstProperty("organizer");
		if (kept[e.uid] && kept[e.uid].sequence >= e.sequence) continue;
		kept[e.uid] = {
			method: calendar.getFirstPropertyValue("method"), uid: e.uid, sequence: e.sequence, status: component.getFirstPropertyValue("status"),
			start: e.startDate.isDate ? e.startDate.toString() : e.startDate.toJSDate().toISOString(),
			end: e.endDate.isDate ? e.endDate.toString() : e.endDate.toJSDate().toISOString(),
			summary: e.summary || "", description: e.description || "", location: e.location || "",
			url: component.getFirstPropertyValue("url") || "",
			organizer: organizer ? organizer.getFirstValue() : "", organizer_name: organizer ? organizer.getParameter("cn") || "" : "",
			attendees: e.attendees.map(a => a.getFirstValue() + " " + a.getParameter("partstat")).join(),
		};
	}
}
console.log(JSON.stringify(Object.values(kept)));`

type entry struct {
	Method, UID   string
	Sequence      int
	Status        string
	Start, End    string
	Summary       string
	Description   string
	Location, URL string
	Organizer     string
	OrganizerName string `json:"organizer_name"`
	Attendees     string
}

// readWith returns the events of a calendar after it has received these objects in order.
func readWith(t *testing.T, programs testkit.NodePrograms, objects ...[]byte) []entry {
	t.Helper()
	var list []string
	for _, o := range objects {
		list = append(list, string(o))
	}
	input, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	run := programs.Script(t, reader, input)
	if run.Exit != 0 {
		t.Fatalf("ical.js: %s", run.Stderr)
	}
	var got []entry
	if err := json.Unmarshal([]byte(run.Stdout), &got); err != nil {
		t.Fatalf("%v in %s", err, run.Stdout)
	}
	return got
}

func TestCalendarFollowsRescheduleAndCancellation(t *testing.T) {
	t.Parallel()
	programs := testkit.InstallNode(t, icalPackage)
	first := newEvent()
	moved := first
	moved.Sequence, moved.Start, moved.End = 3, first.Start.Add(24*time.Hour), first.End.Add(24*time.Hour)
	cancelled := moved
	cancelled.Sequence, cancelled.Status = 4, ical.Cancelled
	booked := writeCalendar(t, ical.Calendar{Method: ical.Request, Events: []ical.Event{first}})
	update := writeCalendar(t, ical.Calendar{Method: ical.Request, Events: []ical.Event{moved}})
	end := writeCalendar(t, ical.Calendar{Method: ical.Cancel, Events: []ical.Event{cancelled}})

	want := entry{
		Method: "REQUEST", UID: first.UID, Sequence: 1, Status: "CONFIRMED", Start: "2026-12-04T14:05:00.000Z",
		End:     "2026-12-04T14:50:00.000Z",
		Summary: first.Summary, Description: "First line\nhttps://book.example/m/abc", Location: first.Location,
		URL:       first.URL,
		Organizer: "mailto:hello@harbor.example", OrganizerName: "O’Neil  ’Sons’  Co",
		Attendees: "mailto:ada@mail.example ACCEPTED",
	}
	if diff := cmp.Diff([]entry{want}, readWith(t, programs, booked)); diff != "" {
		t.Errorf("booked:\n%s", diff)
	}
	want.Sequence, want.Start, want.End = 3, "2026-12-05T14:05:00.000Z", "2026-12-05T14:50:00.000Z"
	for what, order := range map[string][][]byte{"in order": {booked, update}, "the move overtook": {update, booked}} {
		if diff := cmp.Diff([]entry{want}, readWith(t, programs, order...)); diff != "" {
			t.Errorf("rescheduled, %s:\n%s", what, diff)
		}
	}
	want.Method, want.Sequence, want.Status = "CANCEL", 4, "CANCELLED"
	if diff := cmp.Diff([]entry{want}, readWith(t, programs, booked, update, end)); diff != "" {
		t.Errorf("cancelled:\n%s", diff)
	}
}

func TestAllDayEventEndsOnNextDay(t *testing.T) {
	t.Parallel()
	programs := testkit.InstallNode(t, icalPackage)
	zone := time.FixedZone("", 13*60*60)
	kayak := ical.Event{
		UID: "kayak", Start: time.Date(2026, 12, 4, 0, 0, 0, 0, zone), End: time.Date(2026, 12, 7, 0, 0, 0, 0, zone),
		AllDay: true, Status: ical.Confirmed,
	}
	got := readWith(t, programs,
		writeCalendar(t, ical.Calendar{Method: ical.Publish, Name: "Rentals", Refresh: time.Hour,
			Events: []ical.Event{kayak}}))
	want := []entry{{Method: "PUBLISH", UID: "kayak", Status: "CONFIRMED", Start: "2026-12-04", End: "2026-12-07"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWriteFormatsAddressAsURI(t *testing.T) {
	t.Parallel()
	e := newEvent()
	e.Organizer.Email = "50%?cc=x#&'y@b.example"
	text := string(writeCalendar(t, ical.Calendar{Method: ical.Request, Events: []ical.Event{e}}))
	if want := ":mailto:50%25%3Fcc=x%23%26'y@b.example\r\n"; !strings.Contains(unfoldLines([]byte(text)), want) {
		t.Errorf("%q is not in:\n%s", want, text)
	}
}

func TestFeedContainsNoPersons(t *testing.T) {
	t.Parallel()
	text := string(writeCalendar(t, ical.Calendar{Method: ical.Publish, Name: "Ana", Refresh: 90 * time.Minute,
		Events: []ical.Event{newEvent(), newEvent()}}))
	for _, want := range []string{"X-WR-CALNAME:Ana\r\n", "REFRESH-INTERVAL;VALUE=DURATION:PT90M\r\n",
		"X-PUBLISHED-TTL:PT90M\r\n", "METHOD:PUBLISH\r\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "ORGANIZER") || strings.Contains(text, "ATTENDEE") || strings.Contains(text, "ada@") {
		t.Errorf("a person is named:\n%s", text)
	}
}

func TestWriteRejectsInvalidCalendar(t *testing.T) {
	t.Parallel()
	change := func(f func(*ical.Event)) []ical.Event { e := newEvent(); f(&e); return []ical.Event{e} }
	for what, c := range map[string]ical.Calendar{
		"a request of two":       {Method: ical.Request, Events: []ical.Event{newEvent(), newEvent()}},
		"a cancellation of none": {Method: ical.Cancel},
		"no UID":                 {Method: ical.Publish, Events: change(func(e *ical.Event) { e.UID = "\x00 " })},
		"no end":                 {Method: ical.Publish, Events: change(func(e *ical.Event) { e.End = e.Start })},
		"a sequence below zero":  {Method: ical.Publish, Events: change(func(e *ical.Event) { e.Sequence = -1 })},
		"a request of nobody":    {Method: ical.Request, Events: change(func(e *ical.Event) { e.Organizer = nil })},
		"an organizer of two lines": {Method: ical.Request, Events: change(func(e *ical.Event) {
			e.Organizer.Email = "a@b.example\r\nX:y"
		})},
		"an organizer of two words": {Method: ical.Request, Events: change(func(e *ical.Event) {
			e.Organizer.Email = `"a b"@b.example`
		})},
		"too many": {Method: ical.Publish, Events: make([]ical.Event, ical.MaxEvents+1)},
	} {
		if b, err := c.Write(); err == nil {
			t.Errorf("%s: written as\n%s", what, b)
		}
	}
}

// anyText generates texts in which characters with a meaning in the format are frequent.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.Map(rapid.SliceOf(rapid.SampledFrom([]string{
			"\r", "\n", "\r\n", "\n ", "\\", "\\n", ",", ";", ":", `"`, "'", "^", "\t", " ", "\u2028", "\u0085",
			"END:VEVENT", "BEGIN:VALARM", "é", "日本", "\u202e", "a",
		})), func(s []string) string { return strings.Join(s, "") }),
	)
}

func anyEvent() *rapid.Generator[ical.Event] {
	return rapid.Custom(func(t *rapid.T) ical.Event {
		e := newEvent()
		e.UID = "u" + anyText().Draw(t, "uid")
		e.Summary, e.Description, e.Location = anyText().Draw(t, "summary"), anyText().Draw(t, "description"),
			anyText().Draw(t, "location")
		e.URL = rapid.OneOf(anyText(), rapid.Map(anyText(), func(s string) string {
			return "https://x.example/" + s
		})).Draw(t, "url")
		e.Organizer = &ical.Person{Name: anyText().Draw(t, "organizer"), Email: "hello@harbor.example"}
		e.Attendee = &ical.Person{Name: anyText().Draw(t, "attendee"),
			Email: rapid.OneOf(anyText(), rapid.Just("ada@mail.example")).Draw(t, "email")}
		return e
	})
}

func TestTextStaysInProperty(t *testing.T) {
	t.Parallel()
	names := writeCalendar(t, ical.Calendar{Method: ical.Request, Events: []ical.Event{newEvent()}})
	allowed := map[string]bool{}
	for line := range strings.SplitSeq(unfoldLines(names), "\r\n") {
		allowed[parseName(line)] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvent().Draw(t, "event")
		b, err := ical.Calendar{Method: ical.Request, Events: []ical.Event{e}}.Write()
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(b) {
			t.Fatal("no UTF-8")
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(string(b), "\r\n"), "\r\n") {
			if len(line) > 75 || strings.ContainsFunc(line,
				func(r rune) bool { return unicode.IsControl(r) && r != '\t' }) {
				t.Fatalf("a line is longer than 75 bytes or has controls: %q", line)
			}
		}
		seen := map[string]int{}
		for line := range strings.SplitSeq(unfoldLines(b), "\r\n") {
			if name := parseName(line); !allowed[name] {
				t.Fatalf("an unexpected property %q: %q", name, line)
			}
			seen[parseName(line)]++
		}
		for name, n := range seen {
			if n > 1 && name != "BEGIN" && name != "END" || n > 2 {
				t.Fatalf("%s occurs %d times", name, n)
			}
		}
		if _, err := ics.ParseCalendar(bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
	})
}

// Characters of an address that are not ASCII are percent-encoded (RFC 3986 §2.1).
func TestWriteFormatsAddressInASCII(t *testing.T) {
	t.Parallel()
	for from, want := range map[string]string{
		"https://x.example/b/7?lang=ar&t=a%20b": "https://x.example/b/7?lang=ar&t=a%20b",
		"https://x.example/é?q=é":               "https://x.example/%C3%A9?q=%C3%A9",
		"https://x.example/?\u0080 \u2028":      "https://x.example/?%C2%80%20%E2%80%A8",
	} {
		e := newEvent()
		e.URL = from
		if got := unfoldLines(writeCalendar(t,
			ical.Calendar{Method: ical.Publish, Events: []ical.Event{e}})); !strings.Contains(got,
			"\r\nURL:"+want+"\r\n") {
			t.Errorf("%q is written as %s, want %s", from, got, want)
		}
	}
}

func unfoldLines(b []byte) string { return strings.ReplaceAll(string(b), "\r\n ", "") }

func parseName(line string) string {
	name, _, _ := strings.Cut(line, ":")
	name, _, _ = strings.Cut(name, ";")
	return name
}

// TestICalJSReadsTexts checks that ical.js reads generated texts back.
func TestICalJSReadsTexts(t *testing.T) {
	t.Parallel()
	programs := testkit.InstallNode(t, icalPackage)
	events := make([]ical.Event, 500)
	for i := range events {
		events[i] = anyEvent().Example(i)
		events[i].UID = fmt.Sprint(i)
	}
	got := readWith(t, programs, writeCalendar(t, ical.Calendar{Method: ical.Publish, Events: events}))
	if len(got) != len(events) {
		t.Fatalf("%d events were read of %d", len(got), len(events))
	}
	for i, g := range got {
		for _, text := range []struct{ wrote, read string }{
			{events[i].Summary, g.Summary}, {events[i].Description, g.Description}, {events[i].Location, g.Location},
		} {
			if diff := cmp.Diff(normalizeText(text.wrote), text.read); diff != "" && !strings.HasSuffix(text.read,
				"…") {
				t.Errorf("event %d, wrote %q:\n%s", i, text.wrote, diff)
			}
		}
	}
}

// normalizeText returns the text that a calendar may show: line ends are one character, and other control characters
// are removed.
func normalizeText(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	for _, end := range []string{"\r", "\u0085", "\u2028", "\u2029"} {
		s = strings.ReplaceAll(s, end, "\n")
	}
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

func TestWriteShortensLongTexts(t *testing.T) {
	t.Parallel()
	e := newEvent()
	e.Summary, e.Description = strings.Repeat("日", 1000), strings.Repeat("x", 1<<20)
	if b := writeCalendar(t, ical.Calendar{Method: ical.Publish, Events: []ical.Event{e}}); len(b) > 8000 {
		t.Errorf("%d bytes", len(b))
	}
}
