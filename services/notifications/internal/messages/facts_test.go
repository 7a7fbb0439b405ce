package messages

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/sale/refund"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
)

// mustCollectFacts are those of an order of tickets of a business in Berlin whose colour is green.
func mustCollectFacts(t *testing.T, ticket booking.Ticket) (time.Time, string) {
	t.Helper()
	offer := &catalog.Snapshot{Name: "Club", Currency: "EUR", Timezone: "Europe/Berlin",
		Page: catalog.Page{Accent: "#0b6e4f"}}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(ticket)
	if err != nil {
		t.Fatal(err)
	}
	f, err := new(Messages).collectFacts(offer,
		event.Event{Type: event.TicketSold, Subject: event.Subject{Kind: event.Ticket, ID: uuid.New()}, Data: data}, "")
	if err != nil {
		t.Fatal(err)
	}
	return f.Subject.When.Start, f.Business.Accent
}

// TestCollectFactsUsesLocalStartOfEvent as semantics.md §1 reads a time that the clock shows twice, or not at all.
func TestCollectFactsUsesLocalStartOfEvent(t *testing.T) {
	t.Parallel()
	for at, want := range map[[2]string]string{
		{"2027-10-31", "02:30:00"}: "2027-10-31T00:30:00Z", // twice: the first
		{"2027-03-28", "02:30:00"}: "2027-03-28T01:00:00Z", // skipped: right after the gap
		{"2027-07-01", "20:00:00"}: "2027-07-01T18:00:00Z",
	} {
		start, _ := mustCollectFacts(t, booking.Ticket{Date: at[0], StartTime: at[1], EventName: "Night"})
		if got := start.UTC().Format(time.RFC3339); got != want {
			t.Errorf("%s %s is %s, want %s", at[0], at[1], got, want)
		}
	}
}

func TestCollectFactsKeepsAccent(t *testing.T) {
	t.Parallel()
	if _, accent := mustCollectFacts(t, booking.Ticket{Date: "2027-07-01", StartTime: "20:00:00",
		EventName: "Night"}); accent != "#0b6e4f" {
		t.Errorf("the accent is %q", accent)
	}
}

// TestCollectFactsTranslatesNames although the sale keeps those of the default language.
func TestCollectFactsTranslatesNames(t *testing.T) {
	t.Parallel()
	pt := func(name string) map[string]string { return map[string]string{"pt": name} }
	cut, long, anna, gala, seat, kayak, vest := uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New(),
		uuid.New()
	offer := &catalog.Snapshot{
		Name: "Salon", Currency: "EUR", Timezone: "Europe/Lisbon", DefaultLanguage: "en",
		Languages: []string{"en", "pt"},
		Services: []catalog.Service{{ID: cut, Name: "Cut", NameTranslations: pt("Corte"),
			Variants: []catalog.Variant{{ID: long, Name: "Long", NameTranslations: pt("Longo")}}}},
		Staff: []catalog.Staff{{ID: anna, Name: "Anna", NameTranslations: pt("Ana")}},
		Events: []catalog.Event{{ID: gala, Name: "Gala", NameTranslations: pt("Baile"),
			Tiers: []catalog.Tier{{ID: seat, Name: "Seat", NameTranslations: pt("Lugar")}}}},
		Rentals: []catalog.Rental{{ID: kayak, Name: "Kayak", NameTranslations: pt("Caiaque")},
			{ID: vest, Name: "Vest", NameTranslations: pt("Colete")}},
	}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	member, day := "Anna", timespan.NewDate(2027, time.July, 1)
	for _, c := range []struct {
		kind   event.SubjectKind
		sale   any
		en, pt []string // the items, the member and the tier
	}{
		{event.Booking, booking.Booking{
			Locale: "pt", StaffID: &anna, StaffName: &member,
			Services: []booking.BookedService{{ID: cut, Name: "Cut", VariantID: long, VariantName: "Long"}},
		}, []string{"Cut, Long", "Anna", ""}, []string{"Corte, Longo", "Ana", ""}},
		{event.Ticket, booking.Ticket{Locale: "pt", EventID: gala, EventName: "Gala", TierID: seat, TierName: "Seat",
			Date: "2027-07-01", StartTime: "15:00:00"}, []string{"Gala", "", "Seat"}, []string{"Baile", "", "Lugar"}},
		{event.Reservation, rental.Reservation{
			Locale: "pt", RentalID: kayak, RentalName: "Kayak", StartDate: day, EndDate: day,
			Extras: []rental.Extra{{RentalID: vest, RentalName: "Vest", Quantity: 2}},
		}, []string{"Kayak", "2 × Vest", "", ""}, []string{"Caiaque", "2 × Colete", "", ""}},
	} {
		data, err := json.Marshal(c.sale)
		if err != nil {
			t.Fatal(err)
		}
		for language, want := range map[string][]string{"en": c.en, "pt": c.pt} {
			f, err := new(Messages).collectFacts(offer, event.Event{Type: event.BookingCreated,
				Subject: event.Subject{Kind: c.kind, ID: uuid.New()}, Data: data}, language)
			if err != nil {
				t.Fatal(err)
			}
			if got := append(slices.Clone(f.Subject.Items), f.Subject.Staff, f.Subject.Tier); !slices.Equal(got,
				want) || f.Business.Region != "PT" {
				t.Errorf("a %s in %s, of %s: %q, want %q", c.kind, language, f.Business.Region, got, want)
			}
		}
	}
}

// A message shows times in the time zone of the sale, even if the business has changed its time zone.
func TestCollectFactsUsesZoneOfSale(t *testing.T) {
	t.Parallel()
	offer := &catalog.Snapshot{Name: "Club", Currency: "JPY", Timezone: "America/Chicago"}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	startsAt := time.Date(2027, 7, 1, 14, 0, 0, 0, time.UTC)
	date, timeOfDay := timespan.NewDate(2027, time.July, 1), timespan.TimeOfDay(15*60)
	total := json.Number("12.50")
	for kind, sale := range map[event.SubjectKind]any{
		event.Booking: booking.Booking{StartsAt: startsAt, EndsAt: startsAt.Add(time.Hour), Timezone: "Europe/Lisbon",
			Total: total, Currency: "EUR"},
		event.Ticket: booking.Ticket{Date: "2027-07-01", StartTime: "15:00:00", Timezone: "Europe/Lisbon",
			Total: &total, Currency: "EUR"},
		event.Reservation: rental.Reservation{StartDate: date, EndDate: date, StartTime: &timeOfDay,
			EndTime:  &timeOfDay,
			Timezone: "Europe/Lisbon", Total: &total, Currency: "EUR"},
	} {
		data, err := json.Marshal(sale)
		if err != nil {
			t.Fatal(err)
		}
		f, err := new(Messages).collectFacts(offer,
			event.Event{Type: event.BookingCreated, Subject: event.Subject{Kind: kind, ID: uuid.New()}, Data: data}, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Subject.When.Start; f.Business.Zone.String() != "Europe/Lisbon" || !got.Equal(startsAt) ||
			f.Subject.Total.Currency != "EUR" {
			t.Errorf("a %s is at %s in %s, for %+v", kind, got, f.Business.Zone, f.Subject.Total)
		}
	}
}

// A message shows the cancellation policy of the sale (lifecycle.md §4), even if the business has
// changed its policy.
func TestAddPolicyUsesPolicyOfSale(t *testing.T) {
	t.Parallel()
	newRules := func(hours, percent int) []catalog.CancellationRule {
		return []catalog.CancellationRule{{HoursBefore: hours, RefundPercent: percent}}
	}
	soldAt := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	start, formerStart := soldAt.Add(72*time.Hour), soldAt.Add(96*time.Hour)
	cancelHours := 24
	offer := &catalog.Snapshot{Name: "Club", Currency: "EUR", Timezone: "UTC", CancellationPolicy: newRules(48, 100)}
	offer.SelfService.CancelUntilHours = &cancelHours
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	maxPercent, deadline := 30, start.Add(-24*time.Hour)
	newSteps := func(from time.Time, hours, percent int) []refund.Step {
		return []refund.Step{{Until: from.Add(-time.Duration(hours) * time.Hour), Percent: percent}}
	}
	for name, c := range map[string]struct {
		of       sale
		steps    []refund.Step
		deadline time.Time
	}{
		"unpaid":  {sale{}, newSteps(start, 48, 100), deadline},
		"paid":    {sale{payment: newPayment(newRules(10, 50), nil)}, newSteps(start, 10, 50), deadline},
		"lowered": {sale{payment: newPayment(newRules(10, 50), &maxPercent)}, newSteps(start, 10, 30), deadline},
		"moved by the business": {
			sale{payment: newPayment(newRules(48, 100), nil), formerStarts: []time.Time{formerStart}},
			newSteps(formerStart, 48, 100),
			start,
		},
		"withdrawn": {sale{payment: newPayment(newRules(48, 100), nil), isWithdrawn: true}, nil, start},
	} {
		c.of.createdAt = soldAt
		s := letter.Subject{When: letter.When{Start: start}, Total: letter.Money{Amount: "40", Currency: "EUR"}}
		addPolicy(&s, offer, c.of, soldAt)
		if !slices.Equal(s.Policy, c.steps) || !s.Deadline.Equal(c.deadline) {
			t.Errorf("%s: got %v and %v, want %v and %v", name, s.Policy, s.Deadline, c.steps, c.deadline)
		}
	}
}

func newPayment(rules []catalog.CancellationRule, maxPercent *int) *booking.Payment {
	return &booking.Payment{Status: booking.PaymentPaid, Policy: refund.Policy{Rules: rules, MaxPercent: maxPercent}}
}

// A notice links to the owner's page of the subject, in the text and in HTML. Without OwnerURL it has
// no link.
func TestNoticeLinksToOwnerPage(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("0199aaaa-0000-7000-8000-000000000001")
	m := &Messages{Config: Config{OwnerURL: "https://owner.example.com"}}
	offer := &catalog.Snapshot{Slug: "harbor-studio"}
	for kind, want := range map[event.SubjectKind]string{
		event.Booking: "/bookings/" + id.String(), event.Ticket: "/tickets/" + id.String(),
		event.Reservation: "/rentals",
		"webhook":         "/settings/webhooks",
	} {
		want = "https://owner.example.com/business/harbor-studio" + want
		subject := event.Subject{Kind: kind, ID: id}
		if got := m.buildOwnerURL(offer, subject); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
		if got := new(Messages).buildOwnerURL(offer, subject); got != "" {
			t.Errorf("%s without OWNER_URL: %s", kind, got)
		}
		facts := letter.Facts{
			Business: letter.Business{Name: "Harbor", Language: "en", Zone: time.UTC}, Notice: letter.NoticeCreated,
			Customer: letter.Person{Name: "Ada", Email: "ada@example.com"}, Stamp: time.Now(),
			Subject: letter.Subject{
				Kind: letter.BookingSubject, ID: id.String(), Sequence: 1, Items: []string{"Haircut"},
				When: letter.When{Start: time.Now(), End: time.Now().Add(time.Hour)},
			},
			Link: want,
		}
		l, err := letter.Render(letter.OwnerNotice, "", facts)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(l.Text, want) || !strings.Contains(l.HTML, `href="`+want+`"`) {
			t.Errorf("the notice does not link to %s:\n%s", want, l.Text)
		}
	}
}
