package document

import (
	"bytes"
	"slices"
	"strings"
)

// maxComparedPairs is the maximum number of pairs of lines that are compared to find lines that two texts have in
// common. If two texts have more pairs of lines, the whole part in which the texts differ counts as one change.
const maxComparedPairs = 1 << 20

// MergeLines merges two changes of one text line by line. The argument `base` is the text before the changes; `mine`
// and `theirs` are the changed texts. The second result is false if the two changes conflict: they change the same or
// adjacent lines differently.
func MergeLines(base, mine, theirs []byte) ([]byte, bool) {
	lines := splitLines(base)
	own, others := findHunks(lines, splitLines(mine)), findHunks(lines, splitLines(theirs))
	var out bytes.Buffer
	at := 0
	take := func(p patch) {
		for _, line := range lines[at:p.from] {
			out.WriteString(line)
		}
		out.WriteString(p.text)
		at = p.to
	}
	for len(own) > 0 || len(others) > 0 {
		switch {
		case len(others) == 0 || len(own) > 0 && own[0].to < others[0].from:
			take(own[0])
			own = own[1:]
		case len(own) == 0 || others[0].to < own[0].from:
			take(others[0])
			others = others[1:]
		case own[0] == others[0]:
			take(own[0])
			own, others = own[1:], others[1:]
		default:
			return nil, false
		}
	}
	take(patch{from: len(lines), to: len(lines)})
	return out.Bytes(), true
}

func splitLines(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }

// findHunks returns the changes between an old text and a new text. The argument `from` has the lines of the old text,
// and the argument `to` has the lines of the new text. Each change has the replaced lines and their new text.
func findHunks(from, to []string) []patch {
	first := 0
	for first < len(from) && first < len(to) && from[first] == to[first] {
		first++
	}
	last := 0
	for last < len(from)-first && last < len(to)-first && from[len(from)-1-last] == to[len(to)-1-last] {
		last++
	}
	a, b := from[first:len(from)-last], to[first:len(to)-last]
	if len(a)*len(b) > maxComparedPairs {
		return []patch{{first, first + len(a), strings.Join(b, "")}}
	}
	same := buildCommonTable(a, b)
	var all []patch
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && j < len(b) && a[i] == b[j] {
			i, j = i+1, j+1
			continue
		}
		begin, typed := i, j
		for i < len(a) || j < len(b) {
			if i < len(a) && j < len(b) && a[i] == b[j] {
				break
			}
			if j == len(b) || i < len(a) && same[i+1][j] >= same[i][j+1] {
				i++
			} else {
				j++
			}
		}
		all = append(all, patch{first + begin, first + i, strings.Join(b[typed:j], "")})
	}
	return all
}

// buildCommonTable returns a table of the lines that two texts have in common. The entry [i][j] of the table is the
// length of the longest common subsequence of a[i:] and b[j:].
func buildCommonTable(a, b []string) [][]int32 {
	same := make([][]int32, len(a)+1)
	for i := range same {
		same[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if same[i][j] = max(same[i+1][j], same[i][j+1]); a[i] == b[j] {
				same[i][j] = same[i+1][j+1] + 1
			}
		}
	}
	return same
}

// FindLine returns the number of the line on which the given top-level field begins in the text. Lines are counted from
// 1. FindLine returns 0 if the text does not contain the field.
func (d *Document) FindLine(field string) int {
	root, ok := parse(d.Text)
	if !ok {
		return 0
	}
	i := findKey(root, field)
	if i < 0 {
		return 0
	}
	return root.Content[i].Line
}
