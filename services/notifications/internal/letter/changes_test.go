package letter

import (
	"strings"
	"testing"
	"time"
)

func bookedFacts() Facts {
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

func textOf(t *testing.T, kind Kind, f Facts) string {
	t.Helper()
	l, err := Render(kind, "en", f)
	if err != nil {
		t.Fatal(err)
	}
	return l.Text
}

func TestRenderOffersOnlyWhatTheCustomerMayDo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind         SubjectKind
		move, cancel bool
		want         string
	}{
		{BookingSubject, true, true, "View, move or cancel"}, {BookingSubject, true, false, "View or move"},
		{BookingSubject, false, true, "View or cancel"}, {BookingSubject, false, false, "View details"},
		{ReservationSubject, true, true, "View or cancel"}, {ReservationSubject, true, false, "View details"},
	} {
		f := bookedFacts()
		f.Subject.Kind, f.CanMove, f.CanCancel = c.kind, c.move, c.cancel
		kind := BookingConfirmed
		if c.kind == ReservationSubject {
			kind = Reservation
		}
		if text := textOf(t, kind, f); !strings.Contains(text, "\n"+c.want+"\n") {
			t.Errorf("%+v: want the button %q in\n%s", c, c.want, text)
		}
	}
}

func TestRenderSaysThatThePersonChanged(t *testing.T) {
	t.Parallel()
	f := bookedFacts()
	f.WasStaff = "Anna"
	text := textOf(t, BookingMoved, f)
	for _, want := range []string{"Booking changed", "with someone else", "With\n  Ben\n", "Previously\n  Anna\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "new time") {
		t.Errorf("it tells of a new time:\n%s", text)
	}
}

func TestRenderShowsTheDepositAsPaid(t *testing.T) {
	t.Parallel()
	f := bookedFacts()
	f.Subject.Paid, f.Subject.Rest = Money{"10.00", "EUR"}, Money{"30.00", "EUR"}
	text := textOf(t, BookingConfirmed, f)
	for _, want := range []string{"Paid\n  €10.00\n", "To pay on site\n  €30.00\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
}

func TestRenderCountsTicketsOfAllTiers(t *testing.T) {
	t.Parallel()
	f := bookedFacts()
	f.Subject.Kind, f.Subject.Tier, f.Subject.Count = TicketSubject, "2 × Adult, 1 × Child", 3
	if text := textOf(t, Ticket, f); !strings.Contains(text, "Here are your 3 tickets.") {
		t.Errorf("it says\n%s", text)
	}
}

func TestRenderTellsTheOwnerTheAnswers(t *testing.T) {
	t.Parallel()
	f := bookedFacts()
	f.Notice = NoticeCreated
	f.Answers = []Answer{
		{Label: Note{Text: "Level", Translations: map[string]string{"en": "Your level"}}, Text: "Beginner"},
		{Label: Note{Text: "Photos"}, Yes: true},
		{Label: Note{Text: "Wishes"}, Text: "a\nb"},
	}
	text := textOf(t, OwnerNotice, f)
	for _, want := range []string{"Your level\n  Beginner\n", "Photos\n  Yes\n", "Wishes\n  a\n  b\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in\n%s", want, text)
		}
	}
	if text := textOf(t, BookingConfirmed, f); strings.Contains(text, "Beginner") {
		t.Errorf("the customer reads\n%s", text)
	}
}
