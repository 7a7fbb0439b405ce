package manifest

import (
	"strings"
)

// didYouMean names the candidate that was probably meant, else all of them.
func didYouMean(got string, candidates []string) string {
	if near := nearest(got, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return "the fields are " + strings.Join(candidates, ", ")
}

// Nearest is the candidate that was probably meant, or "".
func Nearest(got string, candidates []string) string { return nearest(got, candidates) }

// nearest returns the candidate within two edits of got (one, for short words), or "".
func nearest(got string, candidates []string) string {
	best, within := "", 2
	if len(got) < 4 {
		within = 1
	}
	for _, c := range candidates {
		if len(c)-len(got) > within || len(got)-len(c) > within {
			continue
		}
		if n := distance(got, c); n <= within {
			best, within = c, n-1
		}
	}
	return best
}

// distance is the number of letters to insert, remove, replace or swap with a neighbour to get from a to b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
