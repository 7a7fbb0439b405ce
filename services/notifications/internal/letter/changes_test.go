package letter

import (
	"strings"
	"testing"
	"time"
)

func newBookingFacts() Facts {
	start := time.Date(2027, time.March, 3, 9, 0, 0, 0, time.UTC)
	return Facts{
		Business: Business{Name: "Harbor Studio", Language: "en", Zone: time.UTC},
		Customer: Person{Name: "Ada", Email: "ada@example.com"}, Link: "https://book.example/m/token",
		Subject: Subject{
			Kind: BookingSubject, ID: "b", Items: []string{"Haircut"}, Staff: "Ben",
			When:  When{Start: start, End: start.Add(time.Hour)},
			Total: Money{"40.00", "EUR"},
		},
	}
}

func renderEnglishText(t *testing.T, kind Kind, f Facts) string {
	t.Helper()
	l, err := Render(kind, "en", f)
	if err != nil {
		t.Fatal(err)
	}
	return l.Text
}

func TestRenderOffersAllowedActions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind         SubjectKind
		move, cancel bool
		want         string
	}{
		{BookingSubject, true, true, "Manage booking"}, {BookingSubject, true, false, "Manage booking"},
		{BookingSubject, false, true, "Manage booking"}, {BookingSubject, false, false, "View details"},
		{ReservationSubject, true, true, "Manage reservation"}, {ReservationSubject, true, false, "View details"},
	} {
		f := newBookingFacts()
		f.Subject.Kind, f.CanReschedule, f.CanCancel = c.kind, c.move, c.cancel
		kind := BookingConfirmed
		if c.kind == ReservationSubject {
			kind = Reservation
		}
		if text := renderEnglishText(t, kind, f); !strings.Contains(text, "\n"+c.want+":\n") {
			t.Errorf("%+v: want the button %q in\n%s", c, c.want, text)
		}
	}
}

func TestRenderNamesFormerStaff(t *testing.T) {
	t.Parallel()
	f := newBookingFacts()
	f.FormerStaff = "Anna"
	text := renderEnglishText(t, BookingRescheduled, f)
	for _, want := range []string{"Booking changed", "with someone else", "With\n  Ben\n", "Previously\n  Anna\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "new time") {
		t.Errorf("the message mentions a new time:\n%s", text)
	}
}

func TestRenderShowsDeposit(t *testing.T) {
	t.Parallel()
	f := newBookingFacts()
	f.Subject.Paid, f.Subject.Rest = Money{"10.00", "EUR"}, Money{"30.00", "EUR"}
	text := renderEnglishText(t, BookingConfirmed, f)
	for _, want := range []string{"Paid\n  €10.00\n", "Due on arrival\n  €30.00\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}

func TestRenderCountsTickets(t *testing.T) {
	t.Parallel()
	f := newBookingFacts()
	f.Subject.Kind, f.Subject.Tier, f.Subject.Count = TicketSubject, "2 × Adult, 1 × Child", 3
	if text := renderEnglishText(t, Ticket, f); !strings.Contains(text, "Here are your 3 tickets.") {
		t.Errorf("got\n%s", text)
	}
}

func TestRenderShowsAnswersToOwner(t *testing.T) {
	t.Parallel()
	f := newBookingFacts()
	f.Notice = NoticeCreated
	f.Answers = []Answer{
		{Label: Note{Text: "Level", Translations: map[string]string{"en": "Your level"}}, Text: "Beginner"},
		{Label: Note{Text: "Photos"}, IsYes: true},
		{Label: Note{Text: "Wishes"}, Text: "a\nb"},
	}
	text := renderEnglishText(t, OwnerNotice, f)
	for _, want := range []string{"Your level\n  Beginner\n", "Photos\n  Yes\n", "Wishes\n  a\n  b\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if text := renderEnglishText(t, BookingConfirmed, f); strings.Contains(text, "Beginner") {
		t.Errorf("the customer reads\n%s", text)
	}
}
