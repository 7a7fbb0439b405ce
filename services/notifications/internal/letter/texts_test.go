package letter

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

// languageScripts maps the 36 languages of semantics.md §4 to their scripts.
var languageScripts = map[string]*unicode.RangeTable{}

func init() {
	japanese := rangetable.Merge(unicode.Han, unicode.Hiragana, unicode.Katakana)
	for table, codes := range map[*unicode.RangeTable]string{
		unicode.Latin:    "en de fr es it pt nl pl cs sk hu ro hr sl et lv lt fi sv da nb is tr vi id",
		unicode.Cyrillic: "bg sr uk ru", unicode.Greek: "el", unicode.Arabic: "ar", unicode.Hebrew: "he",
		unicode.Han: "zh", japanese: "ja", unicode.Hangul: "ko", unicode.Thai: "th",
	} {
		for code := range strings.FieldsSeq(codes) {
			languageScripts[code] = table
		}
	}
}

// readSentences reads the text file of a language. The result maps the id of each sentence to its
// plural forms. A sentence without a count has the single form "".
func readSentences(t *testing.T, code string) map[string]map[string]string {
	t.Helper()
	text, err := files.ReadFile("texts/" + code + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	list := map[string]map[string]string{}
	for id, value := range raw {
		var plain string
		var forms map[string]string
		if json.Unmarshal(value, &plain) == nil {
			forms = map[string]string{"": plain}
		} else if err := json.Unmarshal(value, &forms); err != nil {
			t.Fatalf("%s: %s: %v", code, id, err)
		}
		list[id] = forms
	}
	return list
}

func TestTextsExistFor36Languages(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(sortKeys(languageScripts), loadLanguages(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func sortKeys[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

var placeholderPattern = regexp.MustCompile(`\{\{\.\w+\}\}`)

func findPlaceholders(s string) []string {
	found := placeholderPattern.FindAllString(s, -1)
	slices.Sort(found)
	return found
}

func TestTextsHaveAllSentences(t *testing.T) {
	t.Parallel()
	english := readSentences(t, "en")
	for code, script := range languageScripts {
		got := readSentences(t, code)
		if diff := cmp.Diff(sortKeys(english), sortKeys(got)); diff != "" {
			t.Errorf("%s (-en +%s):\n%s", code, code, diff)
		}
		inScript := 0
		for id, forms := range got {
			for form, s := range forms {
				want := findPlaceholders(english[id][""] + english[id]["other"])
				// such a number may be written as a word
				isSmallNumber := form == "zero" || form == "one" || form == "two"
				if diff := cmp.Diff(want, findPlaceholders(s)); diff != "" &&
					(!isSmallNumber || len(findPlaceholders(s)) > 0) {
					t.Errorf("%s: %s %s has other placeholders:\n%s", code, id, form, diff)
				}
				plain := placeholderPattern.ReplaceAllString(s, "")
				if !norm.NFC.IsNormalString(s) || strings.TrimSpace(s) != s || s == "" || strings.ContainsAny(plain,
					"{}<>#") || strings.Contains(s, "  ") ||
					strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.C, r) }) {
					t.Errorf("%s: %s %s is not clean: %q", code, id, form, s)
				}
				if strings.ContainsFunc(plain, func(r rune) bool { return unicode.Is(script, r) }) {
					inScript++
				} else if id != "subject" && id != "greeting" && id != "what_with" && code != "el" {
					t.Errorf("%s: %s is not in the language's script: %q", code, id, s)
				}
			}
		}
		if inScript < len(english)-4 {
			t.Errorf("%s: %d of %d sentences are in the language's script", code, inScript, len(english))
		}
	}
}

// TestTextsAreTranslated finds sentences that were copied from another language. Short texts may be
// equal in two languages.
func TestTextsAreTranslated(t *testing.T) {
	t.Parallel()
	languageOf := map[string]string{}
	for code := range languageScripts {
		for id, forms := range readSentences(t, code) {
			for _, s := range forms {
				if len(strings.Fields(s)) < 5 || id == "subject" {
					continue
				}
				if other := languageOf[s]; other != "" && other != code {
					t.Errorf("%s: %s is the sentence of %s: %q", code, id, other, s)
				}
				languageOf[s] = code
			}
		}
	}
}

func TestTextsHaveAllPluralForms(t *testing.T) {
	t.Parallel()
	for code := range languageScripts {
		w := mustFindWords(t, code)
		for _, n := range append([]int{1_000_000, 2_000_000}, rangeTo(200)...) {
			s := w.Count("ticket", n)
			if w.Fault() != nil {
				t.Fatalf("%s: %d: %v", code, n, w.Fault())
			}
			if n > 2 && !strings.Contains(s, w.Number(n)) {
				t.Errorf("%s: %d is not in %q", code, n, s)
			}
		}
	}
}

func rangeTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func mustFindWords(t testing.TB, code string) *words {
	t.Helper()
	w, err := findWords(code, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// The language of a letter matches the locale (semantics.md §6), otherwise the business's language,
// otherwise English.
func TestRenderMatchesLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ asked, fallback, want string }{
		{"de", "fr", "de"}, {"pt-BR", "fr", "pt"}, {"DE-at", "fr", "de"}, {"", "fr", "fr"}, {"tlh", "fr", "fr"},
		{"", "", "en"}, {"tlh", "xx", "en"},
		{"no", "", "nb"}, {"zh-Hant-TW", "", "zh"}, {"\r\n", "ja", "ja"},
	} {
		f := newHaircutFacts(t)
		f.Business.Language = c.fallback
		if got := mustRender(t, BookingConfirmed, c.asked, f).Language; got != c.want {
			t.Errorf("%q, else %q: got %s, want %s", c.asked, c.fallback, got, c.want)
		}
	}
}
