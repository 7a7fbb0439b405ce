package letter

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"

	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/postal"
)

func TestRenderShowsPlace(t *testing.T) {
	t.Parallel()
	l := mustRender(t, Reminder, "de", newFacts(t, Reminder))
	for _, want := range []string{"Ort\n  Studio at the harbour\n  Rua do Cais 1, 1100-001 Lisboa, Portugal\n",
		"Route: https://www.openstreetmap.org/directions?to=38.71%2C-9.13\n", "  +351 21 000 0000\n"} {
		if !strings.Contains(l.Text, want) {
			t.Errorf("no %q in\n%s", want, l.Text)
		}
	}
	if want := `href="tel:+351210000000"`; !strings.Contains(html.UnescapeString(l.HTML), want) {
		t.Errorf("no %s in\n%s", want, l.HTML)
	}
	f := newFacts(t, Reminder)
	f.Business.Place.Name, f.Business.Place.Geo = Note{Text: f.Business.Name}, nil
	f.Business.Place.Address = postal.Address{City: "Lisboa"}
	text := mustRender(t, Reminder, "en", f).Text
	if !strings.Contains(text, "Where\n  Lisboa\n") || !strings.Contains(text,
		"https://www.openstreetmap.org/search?query=Lisboa\n") {
		t.Errorf("the place without a name of its own:\n%s", text)
	}
	f.Business.Place = nil
	if text := mustRender(t, Reminder, "en", f).Text; strings.Contains(text, "Where") {
		t.Errorf("a business without a place:\n%s", text)
	}
}

// Every message about a subject names the place, for owners without directions.
func TestRenderNamesPlaceInEveryKind(t *testing.T) {
	t.Parallel()
	for name, s := range newSamples(t) {
		text := mustRender(t, s.kind, "en", s.facts).Text
		isAboutWebhook := strings.HasPrefix(name, "owner_webhook")
		if strings.Contains(text, "Where\n") == isAboutWebhook ||
			strings.Contains(text, "Directions: ") != (s.kind != OwnerNotice) {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

func TestInvitationNamesAddress(t *testing.T) {
	t.Parallel()
	f := newFacts(t, BookingConfirmed)
	e := parseCalendar(t, mustRender(t, BookingConfirmed, "en", f))
	if got := propertyValue(e, ics.ComponentPropertyLocation); got != "Rua do Cais 1, 1100-001 Lisboa, Portugal" {
		t.Errorf("the location is %q", got)
	}
	if got := propertyValue(e, ics.ComponentPropertyGeo); got != "38.710000;-9.130000" {
		t.Errorf("the position is %q", got)
	}
	f.Business.Place.Address, f.Business.Place.Geo = postal.Address{}, nil
	e = parseCalendar(t, mustRender(t, BookingConfirmed, "en", f))
	if got := propertyValue(e, ics.ComponentPropertyLocation); got != "Studio at the harbour" {
		t.Errorf("the location of a place without an address is %q", got)
	}
	if e.GetProperty(ics.ComponentPropertyGeo) != nil {
		t.Error("the calendar has a position although it is unknown")
	}
}

// Exchange shows the subject of an invitation as the title of the appointment.
func TestSubjectOfInvitationBeginsWithService(t *testing.T) {
	t.Parallel()
	f := newFacts(t, BookingConfirmed)
	confirmed := mustRender(t, BookingConfirmed, "en", f)
	want := "Haircut, long hair + Sauna with Anna · Fri, Dec 4, 2:05 pm · Booking confirmed"
	if got := replaceSpaces(confirmed.Subject); got != want {
		t.Errorf("the subject is %q, want %q", got, want)
	}
	if got := propertyValue(parseCalendar(t, confirmed), ics.ComponentPropertySummary); got != "Haircut, long hair, Sauna" {
		t.Errorf("the summary of the appointment is %q", got)
	}
	f.Subject.IsPending = true
	if l := mustRender(t, BookingReceived, "en", f); !strings.HasPrefix(l.Subject, "Booking request received: ") {
		t.Errorf("the subject of a request is %q", l.Subject)
	}
}

// No two kinds of messages have the same subject, also if they are about things with equal names. Each message has a
// preview that its subject does not contain.
func TestSubjectNamesKind(t *testing.T) {
	t.Parallel()
	for _, code := range loadLanguages(t) {
		names := map[string]string{}
		for name, s := range newSamples(t) {
			subject := newHaircutFacts(t).Subject
			subject.Kind, subject.IsPending = s.facts.Subject.Kind, s.facts.Subject.IsPending
			s.facts.Subject = subject
			l := mustRender(t, s.kind, code, s.facts)
			preview := previewPattern.FindStringSubmatch(l.HTML)
			if preview == nil || preview[1] == "" || strings.Contains(l.Subject, html.UnescapeString(preview[1])) {
				t.Errorf("%s in %s: the preview is %q", name, code, preview)
			}
			name = strings.TrimSuffix(strings.TrimSuffix(name, "_without_refund"), "_gone")
			name = strings.TrimSuffix(name, "_failing")
			if other := names[l.Subject]; other != "" && other != name {
				t.Errorf("%s: %s and %s have the subject %q", code, other, name, l.Subject)
			}
			names[l.Subject] = name
		}
	}
}

var previewPattern = regexp.MustCompile(`<div aria-hidden="true"[^>]*>([^<]*)</div>`)

func TestRenderShowsPolicyAsDates(t *testing.T) {
	t.Parallel()
	f := newFacts(t, BookingConfirmed)
	start := f.Subject.When.Start
	f.Subject.Policy = []refund.Step{{Until: start.Add(-48 * time.Hour), Percent: 100},
		{Until: start.Add(-24 * time.Hour), Percent: 50}}
	f.Subject.Deadline = start.Add(-24 * time.Hour)
	f.Business.Policy = Note{Text: "Please be on time."}
	for locale, want := range map[string]string{
		"en-GB": "Cancellation\n  Free cancellation until Wed 2 Dec, 14:05. 50% back until Thu 3 Dec, 14:05. " +
			"No refund after that.\n  Please be on time.\n",
		"de": "Stornierung\n  Bis Mi., 2.12., 14:05 Uhr kostenlos stornierbar. Bis Do., 3.12., 14:05 Uhr 50 % Erstattung. " +
			"Danach keine Erstattung.\n  Please be on time.\n",
	} {
		if text := replaceSpaces(mustRender(t, BookingConfirmed, locale, f).Text); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", locale, want, text)
		}
	}
	f.Subject.Deadline = start.Add(-12 * time.Hour)
	if text := replaceSpaces(mustRender(t, BookingConfirmed, "en-GB", f).Text); !strings.Contains(text,
		"You can cancel online until Fri 4 Dec, 02:05.") {
		t.Errorf("the deadline differs from the steps, in\n%s", text)
	}
}

func TestReminderNamesDay(t *testing.T) {
	t.Parallel()
	f := newFacts(t, Reminder)
	for days, want := range map[int]string{0: "See you today at 2:05 pm.", 1: "See you tomorrow at 2:05 pm.",
		2: "We look forward to seeing you."} {
		f.Now = f.Subject.When.Start.AddDate(0, 0, -days)
		if text := replaceSpaces(mustRender(t, Reminder, "en", f).Text); !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("%d days before: no %q in\n%s", days, want, text)
		}
	}
}

func TestNoticeNamesCustomerServiceAndTime(t *testing.T) {
	t.Parallel()
	f := newFacts(t, BookingConfirmed)
	f.Notice, f.Subject.IsPending = NoticeCreated, true
	f.Link, f.DeclineLink = "https://owner.example/b/1", "https://owner.example/b/1/cancel"
	l := mustRender(t, OwnerNotice, "en", f)
	want := "New booking request: Ada Lovelace · Haircut, long hair + Sauna with Anna · Fri, Dec 4, 2:05 pm"
	if replaceSpaces(l.Subject) != want {
		t.Errorf("the subject is %q", l.Subject)
	}
	for _, want := range []string{"\nConfirm:\n" + f.Link + "\n", "\nDecline:\n" + f.DeclineLink + "\n"} {
		if !strings.Contains(l.Text, want) {
			t.Errorf("no %q in\n%s", want, l.Text)
		}
	}
	if document := html.UnescapeString(l.HTML); !strings.Contains(document, `href="mailto:ada@mail.example"`) ||
		!strings.Contains(document, `href="tel:+442079460000"`) {
		t.Errorf("the owner cannot write or call from\n%s", l.HTML)
	}
	f.Subject.IsPending = false
	if text := mustRender(t, OwnerNotice, "en", f).Text; strings.Contains(text, "Decline") ||
		!strings.Contains(text, "New booking\n") {
		t.Errorf("a confirmed booking:\n%s", text)
	}
}

func TestChooseGreetingName(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"en", "Maria Lopes", "Maria"}, {"en", "Jean-Luc d'Arc", "Jean-Luc"}, {"en", "J. R. R. Tolkien", "J. R. R. Tolkien"},
		{"en", "Dr. House", "Dr. House"}, {"en", "Mrs Smith", "Mrs Smith"}, {"en", "Lopes, Maria", "Lopes, Maria"},
		{"en", "山田 太郎", "山田 太郎"}, {"en", "Ada", "Ada"}, {"en", "", ""}, {"de", "Maria Lopes", "Maria Lopes"},
		{"sv", "Maria Lopes", "Maria"},
	} {
		if got := mustFindWords(t, c[0]).chooseGreetingName(c[1]); got != c[2] {
			t.Errorf("%s: %q is greeted as %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestRenderShowsLocationOfBooking(t *testing.T) {
	t.Parallel()
	f := newFacts(t, BookingConfirmed)
	f.Subject.Place = &Place{Name: Note{Text: "Video call"}, Link: "https://meet.example/abc"}
	l := mustRender(t, BookingConfirmed, "en", f)
	if !strings.Contains(l.Text, "Where\n  Video call\n  https://meet.example/abc") {
		t.Errorf("a meeting:\n%s", l.Text)
	}
	e := parseCalendar(t, l)
	if got := propertyValue(e, ics.ComponentPropertyLocation); got != "https://meet.example/abc" {
		t.Errorf("the location of a meeting is %q", got)
	}
	if got := propertyValue(e, "CONFERENCE"); got != "https://meet.example/abc" ||
		!strings.Contains(string(l.Calendar), "CONFERENCE;") || e.GetProperty(ics.ComponentPropertyGeo) != nil {
		t.Errorf("the conference is %q in\n%s", got, l.Calendar)
	}
	f.Subject.Place = &Place{Name: Note{Text: "Video call"}, AwaitsLink: true}
	f.Subject.IsPending = true
	l = mustRender(t, BookingReceived, "en", f)
	if !strings.Contains(l.Text, "Where\n  Video call\n  The link comes with the confirmation.") ||
		strings.Contains(string(l.Calendar), "CONFERENCE") {
		t.Errorf("a pending meeting:\n%s\n%s", l.Text, l.Calendar)
	}
	f.Subject.Place = &Place{Name: Note{Text: "Call us"}, Phone: "+351 21 000 0000", IsCall: true}
	l = mustRender(t, BookingConfirmed, "en", f)
	if got := propertyValue(parseCalendar(t, l), ics.ComponentPropertyLocation); got != "+351 21 000 0000" ||
		!strings.Contains(l.Text, "Call us") {
		t.Errorf("the location of a call is %q\n%s", got, l.Text)
	}
}

func TestRenderDescribesRelocation(t *testing.T) {
	t.Parallel()
	f := newFacts(t, BookingRescheduled)
	f.FormerTime, f.FormerStaff, f.FormerPlace = nil, "", "Harbour"
	f.Subject.Place = &Place{Name: Note{Text: "Station"}, Address: postal.Address{City: "Porto"}}
	l := mustRender(t, BookingRescheduled, "en", f)
	for _, want := range []string{"Booking changed", "Your booking is now at another location. The time stays the same.",
		"Where\n  Station\n  Porto\n", "Previously\n  Harbour\n"} {
		if !strings.Contains(l.Subject+l.Text, want) {
			t.Errorf("no %q in\n%s\n%s", want, l.Subject, l.Text)
		}
	}
	if strings.Contains(l.Text+l.HTML+string(l.Calendar), "Rua do Cais") {
		t.Errorf("the address of another place in\n%s", l.Text)
	}
}

func TestRenderDescribesNewAddress(t *testing.T) {
	t.Parallel()
	f := newFacts(t, BookingRescheduled)
	f.FormerTime, f.FormerStaff, f.FormerPlace = nil, "", ""
	f.Subject.Place = &Place{Name: Note{Text: "At your place"}, IsAtCustomer: true,
		Address: postal.Address{Street: "Filbert Lane 7", City: "Porto", Country: "PT"}}
	l := mustRender(t, BookingRescheduled, "en", f)
	if !strings.Contains(l.Text, "Booking changed") || !strings.Contains(l.Text, "Filbert Lane 7, Porto") ||
		strings.Contains(l.Text, "Moved to") || strings.Contains(l.Text, "Previously") {
		t.Errorf("the mail reads\n%s\n%s", l.Subject, l.Text)
	}
}

func TestRenderShowsAddressOfCustomer(t *testing.T) {
	t.Parallel()
	f := newFacts(t, BookingConfirmed)
	f.Subject.Place = &Place{Name: Note{Text: "At your place"}, IsAtCustomer: true, AddressNote: "left bell",
		Address: postal.Address{Street: "Filbert Lane 7", City: "Porto", Country: "PT"}}
	l := mustRender(t, BookingConfirmed, "en", f)
	if !strings.Contains(l.Text, "Where\n  At your place\n  Filbert Lane 7, Porto, Portugal\n  left bell\n") ||
		strings.Contains(l.Text, "openstreetmap") {
		t.Errorf("the mail reads\n%s", l.Text)
	}
	if got := propertyValue(parseCalendar(t, l), ics.ComponentPropertyLocation); got != "Filbert Lane 7, Porto, Portugal" {
		t.Errorf("the location is %q", got)
	}
	f.Notice = NoticeCreated
	if owner := mustRender(t, OwnerNotice, "en", f); !strings.Contains(owner.Text, "Filbert Lane 7") ||
		!strings.Contains(owner.Text, "left bell") {
		t.Errorf("the owner reads\n%s", owner.Text)
	}
}
