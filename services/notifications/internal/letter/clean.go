package letter

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// The maximum lengths of texts, in characters. A longer text is shortened.
const (
	maxName         = 200
	maxGreetingName = 80
	maxSubject      = 80
	maxURL          = 2000
	maxNote         = 2000
	maxNoteLines    = 40
)

// clean converts a text that a person typed to one line of valid UTF-8 with single spaces. It removes control
// characters, direction marks and other invisible characters. It shortens a text that is longer than `maxRunes`
// characters.
func clean(s string, maxRunes int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\u200c', r == '\u200d': // these two characters join letters of some scripts, and emoji
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return cut(strings.Join(strings.Fields(s), " "), maxRunes)
}

// cut shortens a text to at most `maxRunes` characters. A shortened text ends with an ellipsis.
func cut(s string, maxRunes int) string {
	if utf8.RuneCountInString(s) <= maxRunes {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:maxRunes-1])) + "…"
}

// hasOppositeDirection reports whether a text has characters that are written in the direction opposite to the
// direction of the message. The argument `isRTL` is true if the letter's language is written from right to left.
func hasOppositeDirection(s string, isRTL bool) bool {
	for _, r := range s {
		p, _ := bidi.LookupRune(r)
		switch p.Class() {
		case bidi.L:
			if isRTL {
				return true
			}
		case bidi.R, bidi.AL, bidi.AN:
			if !isRTL {
				return true
			}
		}
	}
	return false
}

// filterName returns a customer's name if a message may contain the name, otherwise "". A person can book with the
// address of another person and type an advertisement as the name. filterName therefore returns "" for a name that
// contains a web or mail address, or that is longer than usual names.
func filterName(name string) string {
	name = clean(name, maxName)
	if utf8.RuneCountInString(name) > maxGreetingName || strings.ContainsAny(name, "/@") ||
		domainPattern.MatchString(name) {
		return ""
	}
	return name
}

// domainPattern matches text that mail programs show as a link.
var domainPattern = regexp.MustCompile(`[\pL\pN]\.[\pL]{2,}`)
