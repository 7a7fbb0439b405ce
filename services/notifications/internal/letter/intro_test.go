package letter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

func TestLetterFillsPlaceholdersOfManifest(t *testing.T) {
	t.Parallel()
	f := newFacts(t, BookingConfirmed)
	values := mustFindWords(t, "en").fillPlaceholders(&f)
	if diff := cmp.Diff(manifest.IntroPlaceholders(), sortKeys(values),
		cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Errorf("placeholders of the manifest, and of letters (-want +got):\n%s", diff)
	}
}

func TestIntroReplacesOrPrecedesSentences(t *testing.T) {
	t.Parallel()
	intro := Note{Text: "Dear {customer_name}, {staff} expects you for {service}.\nAt {business}: {date}, {time}.",
		Translations: map[string]string{"pt": "{staff} espera por si."}}
	want := "\nDear Ada, Anna expects you for Haircut, long hair + Sauna.\n\n" +
		"At Harbor Hair & Spa: Friday, December 4, 2026, 2:05 pm.\n"
	f := newFacts(t, BookingConfirmed)
	f.Intro = intro
	text := replaceSpaces(mustRender(t, BookingConfirmed, "en", f).Text)
	if !strings.Contains(text, want) || strings.Contains(text, "is confirmed.") {
		t.Errorf("no %q in\n%s", want, text)
	}
	if text := mustRender(t, BookingConfirmed, "pt-BR", f).Text; !strings.Contains(text, "\nAnna espera por si.\n") {
		t.Errorf("the translation is not in\n%s", text)
	}
	if text := mustRender(t, PaymentDue, "en", f).Text; !strings.Contains(text, "Dear Ada,") ||
		!strings.Contains(text, "Please pay online") {
		t.Errorf("a sentence is missing in\n%s", text)
	}
}

// Without a value for a placeholder, the letter has the platform's sentences. In one case, the name of the customer is
// an advertisement. In another case, it contains a placeholder.
func TestIntroNeedsValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, staff, want string }{
		{"evil.example", "Anna", "is confirmed."}, {"Ada", "", "is confirmed."}, {"{staff}", "Anna", "\n{staff} and Anna\n"},
	} {
		f := newFacts(t, BookingConfirmed)
		f.Intro = Note{Text: "{customer_name} and {staff}"}
		f.Customer.Name, f.Subject.Staff = c.name, c.staff
		if text := mustRender(t, BookingConfirmed, "en", f).Text; !strings.Contains(text, c.want) {
			t.Errorf("%q, %q: no %q in\n%s", c.name, c.staff, c.want, text)
		}
	}
}

// TestIntroThatGreetsReplacesGreeting shows that a customer is greeted once: the letter's own greeting is missing if the
// first line of the owner's words has the name, and only then.
func TestIntroThatGreetsReplacesGreeting(t *testing.T) {
	t.Parallel()
	for intro, want := range map[string]int{
		"Dear {customer_name},\nsee you.": 0, "See you, {customer_name}!": 0, "We look forward to your visit.": 1,
		"See you.\nBest wishes, {customer_name}": 1, "Dear {customer_name}, {staff} expects you.": 1, "": 1,
	} {
		for _, kind := range []Kind{BookingConfirmed, PaymentDue} {
			f := newFacts(t, kind)
			f.Intro, f.Subject.Staff = Note{Text: intro}, "" // without a member, an intro with {staff} is left out
			l := mustRender(t, kind, "en", f)
			if n := strings.Count(l.Text, "Hi Ada,"); n != want || strings.Count(l.HTML, "Hi Ada,") != want {
				t.Errorf("%s, %q: %d greetings, want %d:\n%s", kind, intro, n, want, l.Text)
			}
		}
	}
}

// TestIntroFillsFurtherPlaceholders shows the place, the price, the reference and the link. A business without a place
// is the place itself.
func TestIntroFillsFurtherPlaceholders(t *testing.T) {
	t.Parallel()
	f := newFacts(t, BookingConfirmed)
	f.Intro = Note{Text: "{location} | {price} | {reference} | {manage_link}"}
	want := "Studio at the harbour | €1,240.00 | 0193-A1B2 | https://book.example/m/3q2-7wAAAAAAAAAAAAAAAA"
	if text := mustRender(t, BookingConfirmed, "en", f).Text; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	f.Business.Place = nil
	if text := mustRender(t, BookingConfirmed, "en", f).Text; !strings.Contains(text, "\nHarbor Hair & Spa | €") {
		t.Error(text)
	}
	f.Link = "javascript:alert(1)"
	if text := mustRender(t, BookingConfirmed, "en", f).Text; strings.Contains(text, "|") {
		t.Errorf("an invalid link is shown:\n%s", text)
	}
}
