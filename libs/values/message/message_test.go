package message_test

import (
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"github.com/slotmesh/slotmesh/libs/values/message"
)

var ids = []message.ID{
	message.RentalNotFound, message.NotEnoughUnits, message.NothingAvailable, message.DateInPast,
	message.BeyondAdvanceLimit,
	message.TooShort, message.TooLong, message.Closed,
}

// counts are counts for which the plural rules of languages differ.
var counts = []int{0, 1, 2, 3, 5, 11, 21, 100}

// cldr maps the 36 languages of semantics.md §4 to the plural categories of their cardinal numbers, and to the category
// of each number in counts. It was written by hand from CLDR's table of plural rules.
var cldr = map[string]struct {
	script     *unicode.RangeTable
	categories string
	of         string // categories of 0, 1, 2, 3, 5, 11, 21, 100
}{
	"en": {unicode.Latin, "one other", "other one other other other other other other"},
	"de": {unicode.Latin, "one other", "other one other other other other other other"},
	"nl": {unicode.Latin, "one other", "other one other other other other other other"},
	"sv": {unicode.Latin, "one other", "other one other other other other other other"},
	"da": {unicode.Latin, "one other", "other one other other other other other other"},
	"nb": {unicode.Latin, "one other", "other one other other other other other other"},
	"fi": {unicode.Latin, "one other", "other one other other other other other other"},
	"et": {unicode.Latin, "one other", "other one other other other other other other"},
	"hu": {unicode.Latin, "one other", "other one other other other other other other"},
	"tr": {unicode.Latin, "one other", "other one other other other other other other"},
	"bg": {unicode.Cyrillic, "one other", "other one other other other other other other"},
	"el": {unicode.Greek, "one other", "other one other other other other other other"},
	"es": {unicode.Latin, "many one other", "other one other other other other other other"},
	"it": {unicode.Latin, "many one other", "other one other other other other other other"},
	"fr": {unicode.Latin, "many one other", "one one other other other other other other"},
	"pt": {unicode.Latin, "many one other", "one one other other other other other other"},
	"is": {unicode.Latin, "one other", "other one other other other other one other"},
	"hr": {unicode.Latin, "few one other", "other one few few other other one other"},
	"sr": {unicode.Cyrillic, "few one other", "other one few few other other one other"},
	"ro": {unicode.Latin, "few one other", "few one few few few few other other"},
	"cs": {unicode.Latin, "few many one other", "other one few few other other other other"},
	"sk": {unicode.Latin, "few many one other", "other one few few other other other other"},
	"pl": {unicode.Latin, "few many one other", "many one few few many many many many"},
	"ru": {unicode.Cyrillic, "few many one other", "many one few few many many one many"},
	"uk": {unicode.Cyrillic, "few many one other", "many one few few many many one many"},
	"lt": {unicode.Latin, "few many one other", "other one few few few other one other"},
	"lv": {unicode.Latin, "one other zero", "zero one other other other zero one zero"},
	"sl": {unicode.Latin, "few one other two", "other one two few other other other other"},
	"he": {unicode.Hebrew, "one other two", "other one two other other other other other"},
	"ar": {unicode.Arabic, "few many one other two zero", "zero one two few few many many other"},
	"vi": {unicode.Latin, "one other", "one one other other other other other other"},
	"ja": {unicode.Han, "other", "other other other other other other other other"},
	"zh": {unicode.Han, "other", "other other other other other other other other"},
	"ko": {unicode.Hangul, "other", "other other other other other other other other"},
	"th": {unicode.Thai, "other", "other other other other other other other other"},
	"id": {unicode.Latin, "other", "other other other other other other other other"},
}

func load(t testing.TB) *message.Catalog {
	t.Helper()
	c, err := message.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func sayCount(t *testing.T, c *message.Catalog, code string, id message.ID, count int) string {
	t.Helper()
	speak := c.Say
	if id == message.NotEnoughUnits {
		speak = func(code string, id message.ID) (string, error) { return c.SayCount(code, id, count) }
	}
	s, err := speak(code, id)
	if err != nil {
		t.Errorf("%s in %s for %d: %v", id, code, count, err)
	}
	return s
}

// sentenceData is the file of a language: sentences without a count, and the forms of the sentence with a count.
type sentenceData struct {
	plain map[message.ID]string
	forms map[string]string
}

func readData(t *testing.T, code string) sentenceData {
	t.Helper()
	text, err := os.ReadFile("sentences/" + code + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var raw map[message.ID]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	if len(raw) != len(ids) {
		t.Errorf("%s: has %d sentences, want %d", code, len(raw), len(ids))
	}
	d := sentenceData{plain: map[message.ID]string{}}
	for id, value := range raw {
		var into any = &d.forms
		var s string
		if id != message.NotEnoughUnits {
			into = &s
		}
		if err := json.Unmarshal(value, into); err != nil {
			t.Errorf("%s: %s: %v", code, id, err)
		}
		if id != message.NotEnoughUnits {
			d.plain[id] = s
		}
	}
	return d
}

func TestCatalogHas36Languages(t *testing.T) {
	t.Parallel()
	codes := strings.Fields("en de fr es it pt nl pl cs sk hu ro bg el hr sl sr et lv lt fi sv da nb is uk ru tr ar he ja ko zh vi th id")
	slices.Sort(codes)
	if diff := cmp.Diff(codes, load(t).Languages()); diff != "" {
		t.Errorf("languages (-want +got):\n%s", diff)
	}
	if len(codes) != len(cldr) {
		t.Errorf("the table of this test has %d languages, want %d", len(cldr), len(codes))
	}
}

func TestSentencesHaveAllPluralForms(t *testing.T) {
	t.Parallel()
	for code, want := range cldr {
		var got []string
		for category := range readData(t, code).forms {
			got = append(got, category)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want.categories {
			t.Errorf("%s: has forms %q, CLDR has %q", code, got, want.categories)
		}
	}
}

func TestSayCountUsesPluralForm(t *testing.T) {
	t.Parallel()
	c := load(t)
	for code, want := range cldr {
		d := readData(t, code)
		for i, category := range strings.Fields(want.of) {
			count := counts[i]
			form := strings.ReplaceAll(d.forms[category], "{{.Count}}", digits(code, count))
			if got := sayCount(t, c, code, message.NotEnoughUnits, count); got != form {
				t.Errorf("%s for %d: %q, want the form of %q: %q", code, count, got, category, form)
			}
			for id, sentence := range d.plain {
				if got := sayCount(t, c, code, id, count); got != sentence {
					t.Errorf("%s in %s for %d: %q, want %q", id, code, count, got, sentence)
				}
			}
		}
	}
}

// digits returns a number as text; only Arabic uses other digits than ASCII.
func digits(code string, n int) string {
	s := ""
	for _, r := range map[bool]string{true: "٠١٢٣٤٥٦٧٨٩", false: "0123456789"}[code == "ar"] {
		s += string(r)
	}
	set := []rune(s)
	written := string(set[n%10])
	for n /= 10; n > 0; n /= 10 {
		written = string(set[n%10]) + written
	}
	return written
}

// TestPluralTableAgreesWithCLDR compares the table with golang.org/x/text. Its tables are older: CLDR has since removed
// "many" from Hebrew and added "one" to Vietnamese.
func TestPluralTableAgreesWithCLDR(t *testing.T) {
	t.Parallel()
	names := map[plural.Form]string{
		plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many",
		plural.Other: "other",
	}
	for code, want := range cldr {
		for i, category := range strings.Fields(want.of) {
			form := names[plural.Cardinal.MatchPlural(language.Make(code), counts[i], 0, 0, 0, 0)]
			since := code == "he" && form == "many" || code == "vi" && category == "one"
			if form != category && !since {
				t.Errorf("%s: %d is %q here and %q there", code, counts[i], category, form)
			}
		}
	}
}

func TestSentencesAreCompleteAndInOwnScript(t *testing.T) {
	t.Parallel()
	c := load(t)
	seen := map[string]string{}
	for code, want := range cldr {
		for _, id := range ids {
			s := sayCount(t, c, code, id, 5)
			if !norm.NFC.IsNormalString(s) || strings.TrimSpace(s) != s || strings.ContainsAny(s, "{}<>#") {
				t.Errorf("%s in %s is not clean: %q", id, code, s)
			}
			if !strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(want.script, r) }) {
				t.Errorf("%s in %s is not in its script: %q", id, code, s)
			}
			if other, twice := seen[s]; twice {
				t.Errorf("%s in %s is the sentence of %s: %q", id, code, other, s)
			}
			seen[s] = string(id) + " in " + code
		}
	}
}

// TestSentencesContainNoDirectionMarks rejects direction marks and other invisible characters, which break combined
// texts. It also rejects letters of another script that look alike.
func TestSentencesContainNoDirectionMarks(t *testing.T) {
	t.Parallel()
	c := load(t)
	for code, want := range cldr {
		foreign := unicode.Latin
		if want.script == unicode.Latin {
			foreign = unicode.Cyrillic
		}
		for _, id := range ids {
			for _, count := range counts {
				for _, r := range sayCount(t, c, code, id, count) {
					if unicode.Is(unicode.C, r) || unicode.Is(foreign, r) {
						t.Errorf("%s in %s has %U", id, code, r)
					}
				}
			}
		}
	}
}

func TestRentalNotFoundMatchesInterface(t *testing.T) {
	t.Parallel()
	if got := sayCount(t, load(t), "en", message.RentalNotFound, 0); got != "Rental not found" {
		t.Errorf("got %q", got)
	}
}

func TestChooseReturnsFirstAvailableLanguage(t *testing.T) {
	t.Parallel()
	c := load(t)
	for _, ask := range []struct {
		wanted []string
		want   string
	}{
		{nil, "en"},
		{[]string{"de", "fr"}, "de"},
		{[]string{"", "fr"}, "fr"},
		{[]string{"xx", "!", "sw", "pl"}, "pl"},
		{[]string{"pt-BR"}, "pt"},
		{[]string{"ZH-tw"}, "zh"},
		{[]string{"no"}, "nb"},
		{[]string{"iw"}, "he"},
		{[]string{"tlh", "sw"}, "en"},
		{[]string{strings.Repeat("x", 10_000), "it"}, "it"},
	} {
		if got := c.Choose(ask.wanted...); got != ask.want {
			t.Errorf("%.40q: %s, want %s", ask.wanted, got, ask.want)
		}
	}
}

func TestMissingSentenceIsError(t *testing.T) {
	t.Parallel()
	c := load(t)
	if s, err := c.Say("xx", message.DateInPast); err == nil {
		t.Errorf("an unknown language says %q", s)
	}
	if s, err := c.SayCount("xx", message.NotEnoughUnits, 1); err == nil {
		t.Errorf("an unknown language counts %q", s)
	}
	if s, err := c.Say("en", "unheard_of"); err == nil {
		t.Errorf("an unknown sentence says %q", s)
	}
}

// A sentence with a single form is the same for every count, in every language, also in those that have several forms.
func TestSingleFormAppliesToEveryCount(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for code := range cldr {
		files["texts/"+code+
			".json"] = &fstest.MapFile{Data: []byte(`{"plain": "{{.Count}} in all", "counted": {"other": "{{.Count}} of them"}, "lacking": {"one": "one", "few": "few"}}`)}
	}
	c, err := message.Read(files, "texts")
	if err != nil {
		t.Fatal(err)
	}
	for code := range cldr {
		for _, count := range counts {
			data := map[string]string{"Count": strconv.Itoa(count)}
			for id, want := range map[message.ID]string{"plain": data["Count"] + " in all",
				"counted": data["Count"] + " of them"} {
				if s, err := c.FillCount(code, id, count, data); err != nil || s != want {
					t.Errorf("%s %s of %d: %q, %v", code, id, count, s, err)
				}
			}
		}
	}
	if s, err := c.FillCount("en", "lacking", 2, nil); err == nil {
		t.Errorf("FillCount used a plural form that is missing: %q", s)
	}
}
