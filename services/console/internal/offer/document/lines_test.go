package document_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
)

// edit returns the lines with some of them changed, removed or added at random.
func edit(t *rapid.T, lines []string, word string) []string {
	var out []string
	for i, line := range lines {
		switch rapid.IntRange(0, 7).Draw(t, "what becomes of a line") {
		case 0:
		case 1:
			out = append(out, line, word+line)
		case 2:
			out = append(out, word+line)
		default:
			out = append(out, lines[i])
		}
	}
	return out
}

// TestMergeLinesKeepsAllChangesOrFails shows that a merge with an unchanged text returns the changed one. The order of
// the two texts does not matter. A merge keeps each added line and drops each removed line.
func TestMergeLinesKeepsAllChangesOrFails(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "e\n", "f\n", "\n"})
		base := rapid.SliceOfN(line, 0, 30).Draw(t, "base")
		mine, theirs := edit(t, base, "mine "), edit(t, base, "theirs ")
		text := func(lines []string) []byte { return []byte(strings.Join(lines, "")) }
		for _, c := range [][3][]string{{base, mine, base}, {base, base, mine}, {base, mine, mine}} {
			if got, ok := document.MergeLines(text(c[0]), text(c[1]), text(c[2])); !ok ||
				string(got) != string(text(mine)) {
				t.Fatalf("one change alone: %q, %t, want %q", got, ok, mine)
			}
		}
		got, ok := document.MergeLines(text(base), text(mine), text(theirs))
		other, ok2 := document.MergeLines(text(base), text(theirs), text(mine))
		if ok != ok2 || string(got) != string(other) {
			t.Fatalf("%q (%t) and the other way about %q (%t)", got, ok, other, ok2)
		}
		if !ok {
			return
		}
		count := func(lines []string, word string) int {
			return len(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l != word }))
		}
		merged := slices.Collect(strings.Lines(string(got)))
		for _, word := range slices.Concat(base, mine, theirs) {
			most, least := min(count(mine, word), count(theirs, word)),
				count(mine, word)+count(theirs, word)-count(base, word)
			if count(base, word) == 0 { // one of the two texts has added the line
				most = least
			}
			if n := count(merged, word); n < least || n > most {
				t.Fatalf("%q occurs %d times in %q, want %d to %d", word, n, merged, least, most)
			}
		}
	})
}

// TestMergeLinesMergesDistantLines shows that changes of different lines are merged. If both texts change the same
// line, the merge fails.
func TestMergeLinesMergesDistantLines(t *testing.T) {
	t.Parallel()
	const base = "# ours\na: 1\nb: 2\nc: 3\nd: 4\n"
	for _, c := range []struct{ mine, theirs, want string }{
		{"# ours\na: 9\nb: 2\nc: 3\nd: 4\n", "# ours\na: 1\nb: 2\nc: 3\n# theirs\nd: 4\n",
			"# ours\na: 9\nb: 2\nc: 3\n# theirs\nd: 4\n"},
		{"a: 1\nb: 2\nc: 3\nd: 4\n", "# ours\na: 1\nb: 2\nc: 3\nd: 4\ne: 5", "a: 1\nb: 2\nc: 3\nd: 4\ne: 5"},
		{"# ours\na: 9\nb: 2\nc: 3\nd: 4\n", "# ours\na: 8\nb: 2\nc: 3\nd: 4\n", ""},
	} {
		got, ok := document.MergeLines([]byte(base), []byte(c.mine), []byte(c.theirs))
		if string(got) != c.want || ok != (c.want != "") {
			t.Errorf("%q and %q: %q, %t, want %q", c.mine, c.theirs, got, ok, c.want)
		}
	}
	d, problems, err := document.Read([]byte("# x\napiVersion: slotmesh/v1\nkind: Business\nslug: a\nname: A\ncurrency: EUR\ntimezone: UTC\ndefault_language: en\n"))
	if err != nil || len(problems) > 0 || d.FindLine("slug") != 4 || d.FindLine("account") != 0 {
		t.Errorf("slug is on line %d (%v %v)", d.FindLine("slug"), problems, err)
	}
}
