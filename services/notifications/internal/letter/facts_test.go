package letter

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRenderWritesWholeReschedule(t *testing.T) {
	t.Parallel()
	l := mustRender(t, BookingRescheduled, "en", newFacts(t, BookingRescheduled))
	want := `Harbor Hair & Spa

Booking moved

Fri, Dec 4, 2:05 pm · Haircut, long hair + Sauna with Anna

Hi Ada,

Moved to Fri, Dec 4, 2:05 pm.

When
  Friday, December 4, 2026
  2:05 pm – 2:50 pm (Lisbon)
  Add to calendar: https://book.example/m/3q2-7wAAAAAAAAAAAAAAAA/calendar.ics

Previously
  Thursday, December 3, 2026
  2:05 pm – 2:50 pm (Lisbon)

Where
  Studio at the harbour
  Rua do Cais 1, 1100-001 Lisboa, Portugal
  Second door & first floor.
  Directions: https://www.openstreetmap.org/directions?to=38.71%2C-9.13
  +351 21 000 0000

Service
  Haircut, long hair
  Sauna

With
  Anna

Number of people
  2

Total
  €1,240.00

Please note
Please bring a towel.
The door is on the left.

Manage booking:
https://book.example/m/3q2-7wAAAAAAAAAAAAAAAA

Any questions? Just reply to this message.

Harbor Hair & Spa
Rua do Cais 1, 1100-001 Lisboa, Portugal
+351 21 000 0000
hello@harbor.example
Imprint: https://harbor.example/imprint
Privacy: https://harbor.example/privacy
You’re getting this email because a booking was made with this address.
`
	if diff := cmp.Diff(want, replaceSpaces(l.Text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if want, got := "Haircut, long hair + Sauna with Anna · Fri, Dec 4, 2:05 pm · Booking moved", replaceSpaces(
		l.Subject); got != want {
		t.Errorf("the subject is %q, want %q", got, want)
	}
}

// replaceSpaces replaces non-breaking spaces with ordinary spaces.
func replaceSpaces(s string) string {
	return strings.NewReplacer("\u00a0", " ", "\u202f", " ").Replace(s)
}

// TestRenderShowsPartsOfEachKind looks for parts that only some kinds of messages contain.
func TestRenderShowsPartsOfEachKind(t *testing.T) {
	t.Parallel()
	for part, kinds := range map[string]string{
		"Total\n":                       "booking_received booking_confirmed booking_moved ticket reservation owner_created owner_created_pending owner_ticket owner_reservation",
		"Refund\n":                      "booking_cancelled ticket_cancelled reservation_cancelled refunded owner_booking_cancelled owner_ticket_cancelled owner_reservation_cancelled",
		"goes back the way you paid":    "booking_cancelled ticket_cancelled reservation_cancelled",
		"isn’t refundable":              "booking_cancelled_without_refund",
		"https://book.example/m/":       "booking_received booking_confirmed booking_moved booking_withdrawn booking_cancelled booking_cancelled_without_refund reminder payment_due payment_failed refunded ticket ticket_moved ticket_withdrawn ticket_cancelled reservation reservation_withdrawn reservation_due reservation_cancelled",
		"https://owner.example/":        "owner_created owner_created_pending owner_ticket owner_reservation owner_moved owner_booking_cancelled owner_ticket_cancelled owner_reservation_cancelled owner_refund_failed owner_disputed owner_webhook_failing owner_webhook_gone",
		"Please bring a towel.":         "booking_received booking_confirmed booking_moved booking_withdrawn booking_cancelled booking_cancelled_without_refund reminder payment_due payment_failed refunded ticket ticket_moved ticket_withdrawn ticket_cancelled reservation reservation_withdrawn reservation_due reservation_cancelled",
		"Hi Ada,":                       "booking_received booking_confirmed booking_moved booking_withdrawn booking_cancelled booking_cancelled_without_refund reminder payment_due payment_failed refunded ticket ticket_moved ticket_withdrawn ticket_cancelled reservation reservation_withdrawn reservation_due reservation_cancelled",
		"Amount due\n":                  "payment_due payment_failed owner_created owner_created_pending owner_ticket owner_reservation",
		"Pay by\n":                      "payment_due payment_failed owner_created owner_created_pending owner_ticket owner_reservation",
		"Pay now:\n":                    "payment_due payment_failed",
		"Previously\n":                  "booking_moved ticket_moved owner_moved",
		"Return by\n":                   "reservation_due",
		"ada@mail.example":              "owner_created owner_created_pending owner_ticket owner_reservation owner_moved owner_booking_cancelled owner_ticket_cancelled owner_reservation_cancelled owner_refund_failed owner_disputed",
		"Waiting for your confirmation": "owner_created_pending",
		"Endpoint\n":                    "owner_webhook_failing owner_webhook_gone",
		"VIP · ":                        "ticket",
		"2 × VIP":                       "ticket ticket_moved ticket_withdrawn ticket_cancelled owner_ticket owner_ticket_cancelled",
	} {
		var got []string
		for name, s := range newSamples(t) {
			if strings.Contains(mustRender(t, s.kind, "en", s.facts).Text, part) {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(newSet(strings.Fields(kinds)), newSet(got)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", part, diff)
		}
	}
}

// A request to pay names what is paid for: a booking, tickets or a reservation, and nothing else.
func TestRenderNamesSubjectOfPayment(t *testing.T) {
	t.Parallel()
	kinds := map[string]Kind{"payment_due": PaymentDue, "payment_due_ticket": Ticket,
		"payment_due_reservation": Reservation}
	for _, code := range loadLanguages(t) {
		for sentence := range kinds {
			for other, kind := range kinds {
				text := mustRender(t, PaymentDue, code, newFacts(t, kind)).Text
				if phrase := readSentences(t, code)[sentence][""]; strings.Contains(text,
					phrase) != (sentence == other) {
					t.Errorf("%s: the request to pay names %s:\n%s", code, other, text)
				}
			}
		}
	}
	for kind, phrase := range map[Kind]string{PaymentDue: "keep your booking", Ticket: "keep your tickets",
		Reservation: "keep your reservation"} {
		if text := mustRender(t, PaymentDue, "en", newFacts(t, kind)).Text; !strings.Contains(text, phrase) {
			t.Errorf("no %q in\n%s", phrase, text)
		}
	}
}

func newSet(list []string) map[string]bool {
	m := map[string]bool{}
	for _, s := range list {
		m[s] = true
	}
	return m
}

func TestFormatTimeUsesZoneOfBusiness(t *testing.T) {
	t.Parallel()
	loadZone := func(name string) *time.Location {
		l, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	lisbon, newYork, kolkata := loadZone("Europe/Lisbon"), loadZone("America/New_York"), loadZone("Asia/Kolkata")
	parseTime := func(text string) time.Time {
		moment, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return moment
	}
	startOfDay := func(d int) time.Time { return time.Date(2026, 7, d, 0, 0, 0, 0, newYork) }
	for name, c := range map[string]struct {
		when When
		zone *time.Location
		want string
	}{
		"on one day": {When{Start: parseTime("2026-12-04T14:05:00Z"), End: parseTime("2026-12-04T14:50:00Z")}, kolkata,
			"Freitag, 4. Dezember 2026|19:35 – 20:20 Uhr (Kolkata)"},
		"over midnight": {When{Start: parseTime("2026-12-31T23:30:00Z"), End: parseTime("2027-01-01T00:30:00Z")},
			lisbon,
			"Donnerstag, 31. Dezember 2026, 23:30 Uhr –|Freitag, 1. Januar 2027, 00:30 Uhr (Lisbon)"},
		"a moment": {When{Start: parseTime("2026-12-04T14:05:00Z")}, newYork,
			"Freitag, 4. Dezember 2026|09:05 Uhr (New York)"},
		"in summer": {When{Start: parseTime("2026-07-04T14:05:00Z")}, lisbon,
			"Samstag, 4. Juli 2026|15:05 Uhr (Lisbon)"},
		"one whole day": {When{Start: startOfDay(4), End: startOfDay(5), IsAllDay: true}, newYork,
			"Samstag, 4. Juli 2026"},
		"three whole days": {When{Start: startOfDay(4), End: startOfDay(7), IsAllDay: true}, newYork,
			"Samstag, 4. Juli 2026 –|Montag, 6. Juli 2026"},
		"a day without end": {When{Start: startOfDay(4), IsAllDay: true}, newYork, "Samstag, 4. Juli 2026"},
	} {
		if got := replaceSpaces(strings.Join(mustFindWords(t, "de").formatTime(c.when, c.zone), "|")); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestRenderShowsReturnTime(t *testing.T) {
	t.Parallel()
	l := mustRender(t, ReservationDue, "de", newFacts(t, ReservationDue))
	if !strings.HasSuffix(l.Subject, "· So., 6.12.") || !strings.Contains(l.Text,
		"Rückgabe bis\n  Sonntag, 6. Dezember 2026\n") {
		t.Errorf("%s\n%s", l.Subject, l.Text)
	}
	f := newFacts(t, ReservationDue)
	f.Subject.When = newHaircutFacts(t).Subject.When
	if l := mustRender(t, ReservationDue, "de", f); !strings.HasSuffix(l.Subject, "Fr., 4.12., 14:50\u00a0Uhr") {
		t.Errorf("%s", l.Subject)
	}
}

func TestFormatAmountUsesCurrency(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language, amount, currency, want string
	}{
		{"en", "40.00", "EUR", "€40.00"}, {"de", "1240.50", "EUR", "1.240,50 €"}, {"en", "1500", "JPY", "¥1,500"},
		{"en", "1.500", "KWD", "KWD 1.500"},
		{"en", "40.00", "RSD", "RSD 40.00"}, {"en", "12.00", "ABC", "12.00 ABC"}, {"en", "", "EUR", ""},
		{"en", "<b>", "EUR", "<b> EUR"},
	} {
		if got := replaceSpaces(mustFindWords(t, c.language).formatAmount(Money{c.amount, c.currency})); got != c.want {
			t.Errorf("%s %s in %s: %q, want %q", c.amount, c.currency, c.language, got, c.want)
		}
	}
}

func TestRenderTranslatesNote(t *testing.T) {
	t.Parallel()
	for locale, want := range map[string]string{"pt": "Traga uma toalha.", "pt-BR": "Traga uma toalha.",
		"de": "Please bring a towel.", "": "Please bring a towel."} {
		if l := mustRender(t, Reminder, locale, newFacts(t, Reminder)); !strings.Contains(l.Text, want) {
			t.Errorf("%q: %q is not in\n%s", locale, want, l.Text)
		}
	}
	f := newFacts(t, Reminder)
	f.Note = Note{Text: " \r\n "}
	if l := mustRender(t, Reminder, "en", f); strings.Contains(l.Text, "Please note") {
		t.Errorf("an empty note has a title:\n%s", l.Text)
	}
	f.Note = Note{Text: strings.Repeat("x\n", 1000)}
	if l := mustRender(t, Reminder, "en", f); strings.Count(l.Text, "x\n") != maxNoteLines {
		t.Errorf("a note has %d lines", strings.Count(l.Text, "x\n"))
	}
}

func TestRenderRejectsMissingFacts(t *testing.T) {
	t.Parallel()
	for fact, change := range map[string]func(*Facts){
		"no time zone":  func(f *Facts) { f.Business.Zone = nil },
		"no name":       func(f *Facts) { f.Subject.Items = nil },
		"no time":       func(f *Facts) { f.Subject.When = When{} },
		"no known kind": func(f *Facts) { f.Subject.Kind = "x" },
	} {
		f := newFacts(t, BookingConfirmed)
		change(&f)
		if l, err := Render(BookingConfirmed, "en", f); err == nil || !strings.Contains(err.Error(), fact) {
			t.Errorf("%s: %v, %q", fact, err, l.Subject)
		}
	}
	for _, kind := range []Kind{"x", OwnerNotice} {
		if l, err := Render(kind, "en", newFacts(t, BookingConfirmed)); err == nil {
			t.Errorf("%s: %q", kind, l.Subject)
		}
	}
}

// A person can book with the address of another person and an advertisement as the name. The message
// must not contain such a name.
func TestRenderDropsAdvertisingName(t *testing.T) {
	t.Parallel()
	for name, isGreeted := range map[string]bool{
		"Ada Lovelace": true, "Jean-Luc d'Arc": true, "J. R. R. Tolkien": true, "Nuñez, José": true, "山田太郎": true,
		"محمد":                        true,
		"Win at https://evil.example": false, "evil.example": false, "www.evil.example": false, "write to a@b": false,
		strings.Repeat("free money ", 10): false, "": false,
	} {
		f := newFacts(t, BookingConfirmed)
		f.Customer.Name = name
		l := mustRender(t, BookingConfirmed, "en", f)
		if got := strings.Contains(l.Text, "Hi "); got != isGreeted {
			t.Errorf("%q: called %v, want %v", name, got, isGreeted)
		}
		if !isGreeted && name != "" && strings.Contains(l.Text+l.HTML+string(l.Calendar), name) {
			t.Errorf("%q is in the message", name)
		}
	}
}

// A message contains the name of the business in the language of the message.
func TestRenderTranslatesNameOfBusiness(t *testing.T) {
	t.Parallel()
	f := newFacts(t, BookingConfirmed)
	f.Business.Names = map[string]string{"pt": "Cabelos do Porto", "de": " "}
	f.Business.Place, f.Business.Phone = nil, ""
	for locale, want := range map[string]string{"pt-BR": "Cabelos do Porto", "de": "Harbor Hair & Spa",
		"en": "Harbor Hair & Spa", "": "Harbor Hair & Spa"} {
		l := mustRender(t, BookingConfirmed, locale, f)
		if l.From != want || !strings.HasPrefix(l.Text, want+"\n") || !strings.Contains(l.Text,
			"\n"+want+"\nhello@harbor.example\n") ||
			!strings.Contains(strings.ReplaceAll(string(l.Calendar), "\r\n ", ""), "LOCATION:"+want+"\r\n") {
			t.Errorf("in %q the sender is %q:\n%s\n%s", locale, l.From, l.Text, l.Calendar)
		}
	}
}
