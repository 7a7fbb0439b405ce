package markdown

import (
	"strings"
	"testing"
)

func TestLinksReportsMissingFilesAndHeadings(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"docs/a.md":    "# One\n\n## Who calls whom, and why\n\n```\n# not a heading\n```\n\n## One\n",
		"docs/b/c.txt": "",
		"docs/b":       "",
	}
	read := func(name string) (string, bool) {
		text, exists := files[name]
		return text, exists
	}
	for text, want := range map[string]string{
		"[x](../a.md)":                           "",
		"[x](../a.md#who-calls-whom-and-why)":    "",
		"[x](../a.md#one-1)":                     "",
		"[x](../a.md#one-2)":                     "docs/a.md has no heading #one-2",
		"[x](../a.md#not-a-heading)":             "docs/a.md has no heading #not-a-heading",
		"[x](c.txt) [y](.) [z](https://a.b/c)":   "",
		"[x](d.md)":                              "docs/b/d.md does not exist",
		"a\n\n[x\ny](d.md)":                      "docs/b/d.md does not exist",
		"<img src=\"d.png\" width=\"240\">":      "docs/b/d.png does not exist",
		"`[x](d.md)`":                            "",
		"```md\n[x](d.md)\n```":                  "",
		"text\n\n    [x](d.md)\n":                "",
		"# Here\n\n[x](#here) [y](#there)":       "docs/b/e.md has no heading #there",
		"[x](../a.md#who-calls-whom-and-why-1x)": "docs/a.md has no heading #who-calls-whom-and-why-1x",
	} {
		files["docs/b/e.md"] = text
		var got []string
		for _, problem := range Links("docs/b/e.md", text, read) {
			got = append(got, problem.Text)
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestSentencesReportsLongSentences(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", maxWords) + "end"
	for text, want := range map[string]int{
		long + ".":                                      1,
		"Short. " + long + "\nand more.":                1,
		strings.Repeat("word ", 29) + "end.":            0,
		"| " + long + " |":                              0,
		"```\n" + long + "\n```":                        0,
		"- " + strings.Repeat("word ", 29) + "\n- word": 0,
		"1. " + long:                                    1,
	} {
		if got := len(Sentences(text)); got != want {
			t.Errorf("%q: %d problems, want %d", text, got, want)
		}
	}
}
