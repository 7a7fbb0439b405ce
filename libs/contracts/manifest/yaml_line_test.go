package manifest

import (
	"strings"
	"testing"
)

// TestYAMLErrorsNameLine parses sources with one mistake each, on the line that ends with the mark.
func TestYAMLErrorsNameLine(t *testing.T) {
	t.Parallel()
	const mark = " #!"
	for name, c := range map[string]struct{ source, says string }{
		"tab":           {"hours:\n\tmon: [\"09:00-17:00\"] #!\n", "a tab indents it"},
		"tab in a list": {"services:\n  - key: cut\n\tname: Cut #!\n", "a tab indents it"},
		"open double quote": {"currency: \"EUR #!\ntimezone: Europe/Lisbon\nservices: []\n",
			"a quote that opens here is not closed"},
		"open single quote": {"currency: 'EUR #!\ntimezone: Europe/Lisbon\n",
			"a quote that opens here is not closed"},
		"too deep": {"services:\n  - key: cut\n    name: Cut\n      price: 4 #!\n",
			"mapping values are not allowed"},
		"too shallow": {"services:\n  - key: cut\n    name: Cut\n   price: 4 #!\n    order: 1\n",
			"check the indentation"},
		"deeper than its list": {"staff:\n- key: a\n   name: b #!\n- key: c\n", "check the indentation"},
		"indented field":       {"currency: EUR\n timezone: Europe/Lisbon #!\nname: A\n", "check the indentation"},
		"open list": {"languages: [en, pt #!\ntimezone: Europe/Lisbon\n",
			"a bracket that opens here is not closed"},
		"open object": {"staff:\n  - {key: a, name: b #!\n  - {key: c}\n",
			"a bracket that opens here is not closed"},
		"colon in text":      {"name: a: b #!\ncurrency: EUR\n", "mapping values are not allowed"},
		"reserved character": {"name: @home #!\n", "cannot start any token"},
		"star":               {"name: *home #!\n", "there is no anchor &home"},
		"missing colon":      {"currency EUR #!\ntimezone: Europe/Lisbon\n", "could not find expected ':'"},
	} {
		source := "apiVersion: slotmesh/v1\nkind: Business\nslug: a\n" + c.source
		want := 1 + strings.Count(source[:strings.Index(source, mark)], "\n")
		// Inside an open quote the mark would not be a comment, so the test removes it before parsing.
		_, problems := Parse([]byte(strings.Replace(source, mark, "", 1)))
		if len(problems) != 1 || problems[0].Line != want || !strings.Contains(problems[0].Message, c.says) {
			t.Errorf("%s: %v, want line %d", name, problems, want)
		}
	}
}
