// Package clip shortens a caller's text for a sentence. The package does no I/O.
package clip

import "unicode/utf8"

// Text returns s if it has at most 40 bytes, otherwise its beginning, cut between two characters, and an ellipsis.
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
