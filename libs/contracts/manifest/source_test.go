package manifest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJSONParsesLikeYAML(t *testing.T) {
	t.Parallel()
	src := "\ufeff \n{\t\"apiVersion\": \"slotmesh\\/v1\",\n\t\"kind\": \"Business\", \"slug\": \"shop\",\n\t\"name\": \"Caf\\u00e9 \\ud83d\\ude00\\t\\\"x\\\"\"" +
		",\n\t\"currency\": \"EUR\", \"timezone\": \"Europe/Lisbon\", \"default_language\": \"en\", \"id\": null,\n\t\"prise\": 1, \"services\": [{\"key\": \"a\",\n\"duration_minutes\": \"x\"}]}"
	want := []string{
		`line 4: name: contains a line break or control character; write one line of plain text`,
		`line 6: prise: is no field here; the fields are ` + strings.Join(plans[manifestType].names, ", "),
		`line 6: services[0].name: is missing; write text of at most 200 characters`,
		`line 7: services[0].duration_minutes: is the text "x"; write a whole number from 1 to 10080`,
	}
	if diff := cmp.Diff(want, parseProblems(src)); diff != "" {
		t.Error(diff)
	}
	m := mustParse(t, []byte(strings.NewReplacer(`\t`, "", `"prise": 1, `, "", `"key": "a"`, `"key": "a", "name": "A"`,
		`"x"}`, "5}").Replace(src)))
	if m.Name != "Café 😀\"x\"" || m.Services[0].DurationMinutes != 5 {
		t.Errorf("got %q and %d minutes", m.Name, m.Services[0].DurationMinutes)
	}
}

func TestPathsHaveLinesInJSON(t *testing.T) {
	t.Parallel()
	_, problems := Parse([]byte("{\n\"a\": 1,\n\"a\": 2,\n\"slug\": \"x\", \"slug\": \"y\"\n}"))
	var got []string
	for _, p := range problems[len(problems)-3:] {
		got = append(got, fmt.Sprintf("%d %s", p.Line, p.Path))
	}
	if diff := cmp.Diff([]string{"2 a", "3 a", "4 slug"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseResolvesAliasesAndMergeKeys(t *testing.T) {
	t.Parallel()
	m := mustParse(t, []byte(minimal+`
hours: {mon: &day ["09:00-12:00"], tue: *day}
services:
- &base {key: a, name: A, duration_minutes: 30, price: 10}
- {<<: *base, key: b, price: 20}
- &third {<<: [{key: c, name: C}, *base], duration_minutes: 45}
- {key: d, <<: *third}
`))
	if diff := cmp.Diff(m.Hours.Mon, m.Hours.Tue); diff != "" || len(m.Hours.Mon) != 1 {
		t.Error(diff)
	}
	var got []string
	for _, s := range m.Services {
		got = append(got, fmt.Sprintf("%s %s %d %s", s.Key, s.Name, s.DurationMinutes, s.Price))
	}
	if diff := cmp.Diff([]string{"a A 30 10", "b A 30 20", "c C 45 10", "d C 45 10"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseRejectsCycles(t *testing.T) {
	t.Parallel()
	for _, add := range []string{
		"services: &a [*a]\n",
		"services: [&a {key: a, name: A, duration_minutes: 30, translations: *a}]\n",
		"services: [&a {key: a, name: A, duration_minutes: 30, <<: *a, x: 1}]\n",
		"blocks: [{from: 2026-12-01T12:00, to: 2026-12-01T13:00, staff: &s [*s]}]\n",
	} {
		if got := parseProblems(minimal + add); len(got) == 0 {
			t.Errorf("%s was accepted", add)
		}
	}
}

func fields(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "f%d: 1, ", i)
	}
	return b.String()
}

func TestProblemListIsBounded(t *testing.T) {
	t.Parallel()
	src := minimal + "services:\n" + strings.Repeat("- {}\n", 1000)
	_, problems := Parse([]byte(src))
	if len(problems) != MaxProblems+1 {
		t.Fatalf("got %d problems, want %d", len(problems), MaxProblems+1)
	}
	// Each of the services lacks three fields.
	want := Problem{Line: problems[MaxProblems-1].Line, Message: "and 2800 more problems; correct these first"}
	if diff := cmp.Diff(want, problems[MaxProblems]); diff != "" {
		t.Error(diff)
	}
}

func TestAmbiguousYAMLScalarsStayText(t *testing.T) {
	t.Parallel()
	m := mustParse(t, []byte(strings.Replace(minimal, "name: Shop", "name: 2027-03-01", 1)+
		"services: [{key: no, name: yes, duration_minutes: 30, category: 12:30}]\n"))
	if m.Name != "2027-03-01" || m.Services[0].Key != "no" || m.Services[0].Name != "yes" ||
		m.Services[0].Category != "12:30" {
		t.Errorf("got %q, %+v", m.Name, m.Services[0])
	}
}

func TestPricesKeepDecimals(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{"40.00": "40.00", "40": "40", "4e1": "40", "0.50": "0.50",
		"1.5e1": "15"} {
		d, err := parseDecimal(written)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(d); err != nil || string(got) != want {
			t.Errorf("%s became %s (%v), want %s", written, got, err, want)
		}
	}
}
