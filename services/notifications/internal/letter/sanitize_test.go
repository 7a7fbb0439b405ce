package letter

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/values/color"
)

// FuzzRenderSanitizesInput puts any text into any fact. The subject stays one line. Text and HTML have the same words.
// The HTML has only elements and attributes of the layout. Direction marks are closed in the line that opens them.
func FuzzRenderSanitizesInput(f *testing.F) {
	for _, s := range []string{
		"Ada", "a\r\nBcc: b@c.example", "</title><script>alert(1)</script>", "\u202egnp.exe", "\u2067\u2066x",
		"\x00\xff", "{{.Name}}", "  ", `"><img src=x onerror=y>`,
		"javascript:alert(1)", "https://x.example/\r\n", "עברית", "日本語", strings.Repeat("e\u0301", 5000), "&lt;b&gt;",
		"A@", "a&b?c@d.example", "<!--", "a\u2028b\u0085c", "\u200f\ufeff",
	} {
		for i := range 10 {
			f.Add(s, uint8(i))
		}
	}
	f.Fuzz(func(t *testing.T, typed string, which uint8) { checkSanitized(t, typed, int(which)) })
}

func TestRenderSanitizesInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		checkSanitized(r, rapid.String().Draw(r, "typed"), rapid.IntRange(0, 9).Draw(r, "which"))
	})
}

// checkSanitized puts a text into a fact of several messages, and checks the rendered messages.
// Together, these messages show every fact.
func checkSanitized(t rapid.TB, input string, field int) {
	for _, code := range []string{"en", "ar"} {
		messages := newSamples(t)
		for _, name := range []string{"booking_moved", "ticket", "owner_created", "owner_webhook_gone"} {
			s := messages[name]
			l, err := Render(s.kind, code, setFact(s.facts, input, field))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if fault := findDefect(t, l); fault != "" {
				t.Fatalf("%s in %s, typed %q into %d: %s", name, code, input, field%10, fault)
			}
		}
	}
}

// setFact puts a text into one of the facts that people type. The argument field selects the fact.
func setFact(f Facts, input string, field int) Facts {
	switch field % 10 {
	case 0:
		f.Customer.Name, f.Intro = input, Note{Text: "{customer_name} {service}"}
	case 1:
		f.Customer.Email, f.Customer.Phone = input, input
	case 2:
		f.Subject.Items = []string{input, input}
	case 3:
		f.Subject.Staff, f.Subject.Tier, f.Subject.Tickets = input, input, []string{input, input}
	case 4:
		f.Note = Note{Text: input, Translations: map[string]string{"ar": input, input: input}}
		f.Intro = f.Note
	case 5:
		f.Business.Name, f.Business.Accent = input, input
	case 6:
		f.Link, f.Webhook.URL = input, input
	case 8:
		place := *f.Business.Place
		place.Name, place.DirectionsHTML, place.Phone = Note{Text: input}, Note{Text: input}, input
		place.Address.Street, place.Address.Country = input, input
		f.Business.Place, f.Business.Phone = &place, input
	case 9:
		f.Business.Imprint, f.Business.Privacy, f.Business.Policy = Note{Text: input}, Note{Text: input}, Note{Text: input}
		f.CalendarLink, f.DeclineLink = input, input
	case 7:
		f.Subject.ID = "x" + input
		f.Subject.Total = Money{input, input}
	}
	return f
}

// findDefect describes the first defect of a letter, or returns "" if there is none.
func findDefect(t rapid.TB, l Letter) string {
	t.Helper()
	if strings.ContainsFunc(l.Subject, unicode.IsControl) || l.Subject == "" || len(l.Subject) > 2000 {
		return fmt.Sprintf("the subject is %q", l.Subject)
	}
	for line := range strings.SplitSeq(l.Subject+"\n"+l.Text, "\n") {
		if opened := strings.Count(line, "\u2066") + strings.Count(line, "\u2068"); opened != strings.Count(line,
			"\u2069") {
			return fmt.Sprintf("a direction mark is not closed in %q", line)
		}
		if strings.ContainsFunc(line, func(r rune) bool {
			return unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r == '\u2067' || r == '\u2028' ||
				r == '\u2029' || r == '\ufeff'
		}) {
			return fmt.Sprintf("a control character is in %q", line)
		}
	}
	if diff := cmp.Diff(strings.Fields(l.Text), strings.Fields(visibleText(t, l.HTML))); diff != "" {
		return "text and HTML differ:\n" + diff
	}
	return findForeignMarkup(t, l.HTML)
}

var (
	elements   = strings.Fields("html head meta title style body table tbody tr td h1 p div span br strong a img")
	attributes = strings.Fields("lang dir charset name content class style role width cellpadding cellspacing border align valign href height aria-hidden src alt")
)

// linkPattern matches the addresses that a letter may link to: web pages, telephone numbers and mail addresses.
var linkPattern = regexp.MustCompile(`^(https?://\S+|tel:[+\d*#;,=a-z-]+|mailto:[^\s@?&]+@[^\s@?&]+)$`)

// picturePattern matches the sources of the pictures in a letter, which are parts of the mail.
var picturePattern = regexp.MustCompile(`^cid:ticket-\d+@slotmesh$`)

// findForeignMarkup describes the first element, attribute or URL that the layout does not contain, or
// returns "".
func findForeignMarkup(t rapid.TB, document string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.CommentNode || n.Type == html.ElementNode && !slices.Contains(elements, n.Data) {
			return "an element of its own: " + n.Data
		}
		for _, a := range n.Attr {
			if !slices.Contains(attributes, a.Key) || n.DataAtom != atom.A && a.Key == "href" ||
				n.DataAtom != atom.Img && a.Key == "src" {
				return "an attribute of its own: " + a.Key
			}
			if a.Key == "href" && !linkPattern.MatchString(a.Val) || a.Key == "src" && !picturePattern.MatchString(a.Val) ||
				strings.Contains(a.Val, "ZgotmplZ") {
				return "a value of its own: " + a.Key + "=" + a.Val
			}
		}
	}
	return ""
}

// The text on the accent colour has a contrast of at least 4.5, as WCAG 2 requires.
func TestAccentHasReadableContrast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		colour := rapid.StringMatching(`#[0-9a-fA-F]{6}`).Draw(t, "colour")
		a := newAccent(colour)
		foreground, foregroundErr := color.Parse(a.On)
		background, err := color.Parse(colour)
		if foregroundErr != nil || err != nil {
			t.Fatal(foregroundErr, err)
		}
		if contrast := color.Contrast(foreground, background); a.Colour != colour || contrast < 4.5 {
			t.Fatalf("%s on %s: %.2f", a.On, a.Colour, contrast)
		}
	})
	for _, colour := range []string{"", "red", "#fff", "#0b6e4f;}", "#0b6e4g", "\n#0b6e4f", "#0b6e4f\n"} {
		if a := newAccent(colour); a.Colour != "#1f4fd8" {
			t.Errorf("%q has the accent colour %s, want the default", colour, a.Colour)
		}
	}
}

func TestRenderIsolatesOppositeDirection(t *testing.T) {
	t.Parallel()
	const latin, hebrew = "Anna 2", "אנה 2"
	for _, c := range []struct{ code, typed, want string }{
		{"en", latin, latin}, {"en", hebrew, "\u2068" + hebrew + "\u2069"}, {"he", hebrew, hebrew},
		{"he", latin, "\u2068" + latin + "\u2069"}, {"ja", "アンナ", "アンナ"},
	} {
		f := newFacts(t, BookingConfirmed)
		f.Subject.Staff, f.Subject.Items = c.typed, []string{c.typed}
		l := mustRender(t, BookingConfirmed, c.code, f)
		if !strings.Contains(l.Text, "\n  "+c.want+"\n") || !strings.Contains(l.Subject, c.want) {
			t.Errorf("%s: %q is not in %q\n%q", c.code, c.want, l.Subject, l.Text)
		}
	}
	f := newFacts(t, BookingConfirmed)
	f.Notice = NoticeCreated
	if l := mustRender(t, OwnerNotice, "ar", f); !strings.Contains(l.Text, "\u2066+44 20 7946 0000\u2069") ||
		!strings.Contains(l.Text, "\u2066Lisbon\u2069") {
		t.Errorf("a number or a zone is not read from left to right:\n%q", l.Text)
	}
}
