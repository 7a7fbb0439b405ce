package letter

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/values/postal"
)

// lettersFolder is a folder for all letters, so that a person can read them: go test ./internal/letter
// -run TestRenderWritesSameTextAndHTML -letters /tmp/letters.
var lettersFolder = flag.String("letters", "", "write every letter of the tests to this folder")

func loadLisbon(t rapid.TB) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Lisbon")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// newHarbor returns the business of the letters in these tests.
func newHarbor(t rapid.TB) Business {
	return Business{
		Name: "Harbor Hair & Spa", Language: "en", Zone: loadLisbon(t), ReplyTo: "hello@harbor.example",
		From: "bookings@slotmesh.example", Accent: "#0b6e4f", Phone: "+351 21 000 0000",
		Place: &Place{
			Name:           Note{Text: "Studio at the harbour", Translations: map[string]string{"pt": "Estúdio do porto"}},
			Address:        postal.Address{Street: "Rua do Cais 1", PostalCode: "1100-001", City: "Lisboa", Country: "PT"},
			Geo:            &Geo{Lat: 38.71, Lon: -9.13},
			DirectionsHTML: Note{Text: "<p>Second door &amp; first floor.</p>"}, Phone: "+351 21 000 0000",
		},
		Imprint: Note{Text: "https://harbor.example/imprint"}, Privacy: Note{Text: "https://harbor.example/privacy"},
	}
}

// newHaircutFacts returns the facts of a booking, with all parts that any kind shows.
func newHaircutFacts(t rapid.TB) Facts {
	start := time.Date(2026, 12, 4, 14, 5, 0, 0, loadLisbon(t))
	formerTime := When{Start: start.AddDate(0, 0, -1), End: start.AddDate(0, 0, -1).Add(45 * time.Minute)}
	refund := Money{"1240.00", "EUR"}
	return Facts{
		Business: newHarbor(t), Customer: Person{"Ada Lovelace", "ada@mail.example", "+44 20 7946 0000"},
		Subject: Subject{
			Kind: BookingSubject, ID: "0193a1b2-0000-7000-8000-000000000001", Sequence: 2,
			Items: []string{"Haircut, long hair", "Sauna"}, Staff: "Anna",
			Quantity: 2, When: When{Start: start, End: start.Add(45 * time.Minute)}, Total: Money{"1240.00", "EUR"},
		},
		FormerTime: &formerTime, Refund: &refund, Payment: Payment{Amount: Money{"1240.00", "EUR"},
			Due: start.AddDate(0, 0, -2)},
		Webhook:       Webhook{URL: "https://harbor.example/hooks?a=1&b=2"},
		Link:          "https://book.example/m/3q2-7wAAAAAAAAAAAAAAAA",
		CalendarLink:  "https://book.example/m/3q2-7wAAAAAAAAAAAAAAAA/calendar.ics",
		CanReschedule: true, CanCancel: true,
		Note: Note{Text: "Please bring a towel.\nThe door is on the left.",
			Translations: map[string]string{"pt": "Traga uma toalha."}},
		Stamp: start.AddDate(0, 0, -7), Now: start.AddDate(0, 0, -1),
	}
}

// newFacts returns facts for a kind of message.
func newFacts(t rapid.TB, kind Kind) Facts {
	f := newHaircutFacts(t)
	switch kind {
	case Ticket, TicketRescheduled, TicketWithdrawn, TicketCancelled:
		f.Subject.Kind, f.Subject.Items, f.Subject.Tier, f.Subject.Staff = TicketSubject, []string{"New Year Gala"},
			"VIP", ""
		f.Subject.Tickets = []string{"VIP", "VIP"}
	case Reservation, ReservationWithdrawn, ReservationDue, ReservationCancelled:
		f.Subject.Kind, f.Subject.Items, f.Subject.Staff = ReservationSubject, []string{"Kayak"}, ""
		day := time.Date(2026, 12, 4, 0, 0, 0, 0, loadLisbon(t))
		f.Subject.When = When{Start: day, End: day.AddDate(0, 0, 3), IsAllDay: true}
	case BookingReceived:
		f.Subject.IsPending = true
	default: // the facts of a booking
	}
	if kind != BookingRescheduled && kind != TicketRescheduled {
		f.FormerTime = nil
	}
	return f
}

type sample struct {
	kind  Kind
	facts Facts
}

// newSamples returns facts for every kind of message and every notice, by a name.
func newSamples(t rapid.TB) map[string]sample {
	list := map[string]sample{}
	for kind := range layouts {
		list[string(kind)] = sample{kind, newFacts(t, kind)}
	}
	for _, kind := range []Kind{BookingCancelled, TicketCancelled, ReservationCancelled} {
		f := newFacts(t, kind)
		f.Notice = NoticeCancelled
		list["owner_"+string(kind)] = sample{OwnerNotice, f}
	}
	for name, change := range map[string]func(*Facts){
		"owner_created":         func(f *Facts) { f.Notice = NoticeCreated },
		"owner_created_pending": func(f *Facts) { f.Notice, f.Subject.IsPending = NoticeCreated, true },
		"owner_refund_failed":   func(f *Facts) { f.Notice = NoticeRefundFailed },
		"owner_disputed":        func(f *Facts) { f.Notice = NoticeDisputed },
		"owner_webhook_failing": func(f *Facts) { f.Notice = NoticeWebhookDisabled },
		"owner_webhook_gone":    func(f *Facts) { f.Notice, f.Webhook.IsGone = NoticeWebhookDisabled, true },
	} {
		f := newFacts(t, BookingConfirmed)
		change(&f)
		list[name] = sample{OwnerNotice, f}
	}
	for name, kind := range map[string]Kind{"owner_ticket": Ticket, "owner_reservation": Reservation} {
		f := newFacts(t, kind)
		f.Notice = NoticeCreated
		list[name] = sample{OwnerNotice, f}
	}
	rescheduled := newFacts(t, BookingRescheduled)
	rescheduled.Notice = NoticeRescheduled
	list["owner_moved"] = sample{OwnerNotice, rescheduled}
	for name, s := range list {
		if s.kind == OwnerNotice {
			s.facts.Link = "https://owner.example/business/harbor-studio/bookings"
			s.facts.DeclineLink = s.facts.Link + "/cancel"
			list[name] = s
		}
	}
	withoutRefund := newFacts(t, BookingCancelled)
	withoutRefund.Refund = &Money{"0.00", "EUR"}
	list["booking_cancelled_without_refund"] = sample{BookingCancelled, withoutRefund}
	return list
}

func mustRender(t rapid.TB, kind Kind, locale string, f Facts) Letter {
	t.Helper()
	l, err := Render(kind, locale, f)
	if err != nil {
		t.Fatalf("%s in %s: %v", kind, locale, err)
	}
	return l
}

func TestRenderWritesSameTextAndHTML(t *testing.T) {
	t.Parallel()
	for name, c := range newSamples(t) {
		for _, code := range loadLanguages(t) {
			l := mustRender(t, c.kind, code, c.facts)
			if diff := cmp.Diff(strings.Fields(l.Text), strings.Fields(visibleText(t, l.HTML))); diff != "" {
				t.Errorf("%s in %s (-text +html):\n%s", name, code, diff)
			}
			if strings.Contains(l.Text, "<no value>") || strings.Contains(l.Text, "{{") || l.Language != code {
				t.Errorf("%s in %s:\n%s", name, code, l.Text)
			}
			writeFiles(t, name, code, l)
		}
	}
}

func writeFiles(t *testing.T, name, code string, l Letter) {
	if *lettersFolder == "" {
		return
	}
	for extension, content := range map[string]string{".html": l.HTML, ".txt": "Subject: " + l.Subject + "\n\n" +
		l.Text,
		".ics": string(l.Calendar)} {
		if err := os.WriteFile(filepath.Join(*lettersFolder, code+"-"+name+extension), []byte(content),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func loadLanguages(t rapid.TB) []string {
	t.Helper()
	catalog, err := texts()
	if err != nil {
		t.Fatal(err)
	}
	return catalog.Languages()
}

func hasAttribute(n *html.Node, key, value string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key && a.Val == value })
}

// visibleText returns the text that an HTML document shows, with blocks on separate lines. The address of a web link
// follows its text, as in the plain text.
func visibleText(t rapid.TB, document string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.DataAtom == atom.Head || n.Type == html.CommentNode || hasAttribute(n, "aria-hidden", "true"):
			return
		case n.Type == html.ElementNode && n.DataAtom != atom.Span:
			b.WriteByte('\n')
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
		for _, a := range n.Attr {
			switch {
			case a.Key != "href" || !strings.HasPrefix(a.Val, "http"):
			case hasAttribute(n, "class", "button"), hasAttribute(n, "class", "button ink second"):
				b.WriteString(":\n" + a.Val)
			default:
				b.WriteString(": " + a.Val)
			}
		}
	}
	walk(root)
	return b.String()
}

// BenchmarkRender renders a message with text, HTML and an invitation.
func BenchmarkRender(b *testing.B) {
	f := newFacts(b, BookingRescheduled)
	b.ReportAllocs()
	for b.Loop() {
		mustRender(b, BookingRescheduled, "de", f)
	}
}

// Dates and times have the form of the region in the customer's locale. If the locale has no region,
// the country of the business decides.
func TestWordsUseRegionOfCustomer(t *testing.T) {
	t.Parallel()
	moment := time.Date(2027, 3, 1, 14, 5, 0, 0, time.UTC)
	for locales, want := range map[[2]string][]string{
		{"en", ""}:      {"Monday, March 1, 2027", "2:05\u202fpm"},
		{"en", "GB"}:    {"Monday, 1 March 2027", "14:05"},
		{"en", "US"}:    {"Monday, March 1, 2027", "2:05\u202fpm"},
		{"en-US", "GB"}: {"Monday, March 1, 2027", "2:05\u202fpm"},
		{"en-GB", ""}:   {"Monday, 1 March 2027", "14:05"},
		{"xx", "GB"}:    {"Montag, 1. März 2027", "14:05"},
	} {
		locale, business := locales[0], locales[1]
		w, err := findWords(locale, "de", business)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, []string{w.Date(moment), w.Clock(moment)}); diff != "" {
			t.Errorf("%s of %q (-want +got):\n%s", locale, business, diff)
		}
	}
}
