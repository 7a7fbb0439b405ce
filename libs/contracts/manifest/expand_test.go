package manifest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// bomb is a source whose tree is far larger than the source, because of aliases, merge keys or many values.
type bomb struct {
	name, src string
	want      string // the first problem, or the problem that explains why the source was not read
}

const (
	tooManyValues = "the manifest holds more than 1000000 values up to here, those that aliases and merge keys repeat included; repeat less"
	tooManyBytes  = "the manifest holds more than 8388608 bytes up to here, those that aliases and merge keys repeat included; repeat less"
)

func newBombs() []bomb {
	r := strings.Repeat
	text := "x: &x " + r("y", 100_000) + "\nstaff:\n"
	var members strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&members, "- {key: m%d, name: A, description_html: *x}\n", i)
	}
	object := "x: &x {" + fields(900) + "}\n"
	bare := strings.Replace(minimal, "staff: ", "s: ", 1)
	return []bomb{
		{"a text that many aliases repeat", bare + text + members.String(), "line 94: " + tooManyBytes},
		{"a list that many aliases repeat", minimal + "rentals: [&r {key: k, name: K, units: &u [" +
			r("{key: u},", 900) + "]}" + r(", *r", 9000) + "]\n", "line 9: " + tooManyValues},
		{"a merge key with a long list", minimal + object + "services: [{<<: [" + r("*x,", 40_000) + "]}]\n",
			"line 10: " + tooManyValues},
		{"many merge keys in one object", minimal + object + "services: [{" + r("<<: *x,", 17_000) + "}]\n",
			"line 10: " + tooManyValues},
		{"a list for merge keys that many objects use", minimal + object + "y: &y [" + r("*x,", 500) +
			"]\nservices: [" + r("{<<: *y},", 5000) + "]\n", "line 11: " + tooManyValues},
		{"merges that double at each step", minimal + "a0: &a0 {a: 1}\n" + newDoublingSource(40),
			"line 26: " + tooManyValues},
		{"merges of nothing", minimal + "e: &e {}\ny: &y [" + r("*e,", 1000) + "]\nservices: [" + r("{<<: *y},", 5000) +
			"]\n", "line 11: " + tooManyValues},
		{"lists in lists", minimal + "x: " + r("[", 100) + r("]", 100) + "\n",
			"line 9: the manifest nests deeper than 32 levels here; check the indentation and brackets"},
		{"lists in lists by aliases", minimal + newNestedSource(40),
			"line 40: the manifest nests deeper than 32 levels here; check the indentation and brackets"},
		{"many small values", minimal + "x: [" + r("~,", 1_000_001) + "]\n",
			"line 1: the manifest has 1000021 commas, colons, dashes and opening brackets that can part values; write at most 1000000"},
		{"many small values in JSON", `{"x":[` + r("1,", 1_000_000) + `1]}`,
			"line 1: the JSON cannot be read (it holds more than 1000000 values); check the commas, quotes and brackets near this line"},
		{"lists in lists in JSON", `{"x":` + r("[", 1_000_000),
			"line 1: the JSON cannot be read (it nests deeper than 32 levels); check the commas, quotes and brackets near this line"},
		{"a field many times in JSON", `{` + r(`"slug":"a",`, 2000) + `"slug":"a"}`,
			`line 1: has 2001 fields; write at most 1000`},
		{"a long number in JSON", `{"cooling_off_hours":` + r("9", 1_000_000) + `}`,
			"line 1: cooling_off_hours: is the number " + r("9", maxNumberLength) +
				"…; write a whole number from 0 to 8760"},
		{"a great exponent in JSON", `{"services":[{"price":1e999999999}]}`,
			"line 1: services[0].price: is the number 1e999999999; write a plain decimal number of at least 0"},
	}
}

// newDoublingSource returns n objects, each of which merges the previous one twice.
func newDoublingSource(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d: &a%d {<<: [*a%d, *a%d]}\n", i+1, i+1, i, i)
	}
	return b.String()
}

// newNestedSource returns n lists, each of which contains the previous one.
func newNestedSource(n int) string {
	b := strings.Builder{}
	b.WriteString("a0: &a0 []\n")
	for i := range n {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d]\n", i+1, i+1, i)
	}
	return b.String()
}

// TestParseRejectsExpandingSource shows that the work for a source is bounded by its size. Parse rejects a source that
// needs more work before it does the work.
func TestParseRejectsExpandingSource(t *testing.T) {
	t.Parallel()
	for _, b := range newBombs() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			m, problems := Parse([]byte(b.src))
			if m != nil {
				t.Fatal("the source was accepted")
			}
			if diff := cmp.Diff(b.want, problems[0].String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMergeKeysRequireObjects(t *testing.T) {
	t.Parallel()
	for add, want := range map[string]string{
		"x: {<<: 1}\n":                  "line 9: the merge key << names the number 1; name an object or a list of objects",
		"x:\n  <<: [{}, a]\n":           `line 10: the merge key << names the text "a"; name an object or a list of objects`,
		"x: &x {a: 1}\ny: {<<: [*x, ]}": "line 9: x: is no field here; ",
		"x: &x\n  a: {b: *x}\n":         "line 10: the alias *x stands within what it names; write the value out",
		"x: &x\n  a: 1\n  <<: *x\n":     "line 11: the alias *x stands within what it names; write the value out",
	} {
		if got := parseProblems(minimal + add); !strings.HasPrefix(got[0], want) {
			t.Errorf("%q: %s", add, got[0])
		}
	}
}

// TestMergeKeepsMergedObject merges one object into three others, and expects that Parse does not change that object.
func TestMergeKeepsMergedObject(t *testing.T) {
	t.Parallel()
	m := mustParse(t, []byte(minimal+`
services:
- &base {key: a, name: A, duration_minutes: 30}
- {key: b, price: 5, <<: *base}
- {<<: *base, key: c, <<: {price: 7, name: C}}
- {<<: *base, key: d}
`))
	var got []string
	for _, s := range m.Services {
		got = append(got, fmt.Sprintf("%s %s %d %s", s.Key, s.Name, s.DurationMinutes, s.Price))
	}
	if diff := cmp.Diff([]string{"a A 30 0", "b A 30 5", "c A 30 7", "d A 30 0"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestHintSearchIsBounded shows that only the first unknown keys get a hint. For a hint, the key is compared with all
// listed keys, which may be thousands.
func TestHintSearchIsBounded(t *testing.T) {
	t.Parallel()
	var members, named strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&members, "{key: member-%d, name: A}, ", i)
		fmt.Fprintf(&named, "membr-%d, ", i)
	}
	problems := parseProblems(strings.Replace(minimal, "staff: [", "staff: ["+members.String(), 1) +
		"services: [{key: a, name: A, duration_minutes: 5, staff: [" + named.String() + "]}]\n")
	hints := 0
	for _, p := range problems {
		if strings.Contains(p, "did you mean") {
			hints++
		}
	}
	if hints != 6 {
		t.Errorf("%d of %d problems have a hint", hints, len(problems))
	}
}

func TestParseStopsOnRequest(t *testing.T) {
	t.Parallel()
	yaml := newLargeSource()
	json := []byte(`{"x":[` + strings.Repeat(`"a text of some length",`, 100_000) + `1]}`)
	for name, src := range map[string][]byte{"YAML": yaml, "JSON": json} {
		asked := 0
		m, problems, err := ParseUntil(src, 0, func() bool { asked++; return asked > 3 })
		if m != nil || problems != nil || !errors.Is(err, ErrStopped) {
			t.Errorf("%s: %v, %v", name, problems, err)
		}
		if asked != 4 {
			t.Errorf("%s: asked %d times", name, asked)
		}
	}
	if _, problems, err := ParseUntil([]byte(minimal), 0, func() bool { return false }); problems != nil || err != nil {
		t.Errorf("not stopped: %v, %v", problems, err)
	}
}
