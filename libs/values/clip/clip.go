// Package clip shortens a text of a client, so that an error sentence can quote it. The package does no I/O.
package clip

import "unicode/utf8"

// Text returns `s` if it has at most 40 bytes. If `s` is longer, Text
// returns its beginning, cut between two characters, and an ellipsis.
func Text(s string) string {
	end := 40
	if len(s) <= end {
		return s
	}
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
