package letter

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// Bounds of texts, in characters. Longer ones are cut.
const (
	maxName      = 200
	maxCalled    = 80
	maxSubject   = 80
	maxURL       = 2000
	maxNote      = 2000
	maxNoteLines = 40
)

// clean makes one line of what somebody typed: valid, without controls, marks of direction and other invisible characters, and
// with single spaces.
func clean(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\u200c', r == '\u200d': // join letters of some scripts, and emoji
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return cut(strings.Join(strings.Fields(s), " "), most)
}

// cut bounds a text to most characters.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most-1])) + "…"
}

// runsAgainst says whether a text has letters of the other direction.
func runsAgainst(s string, rtl bool) bool {
	for _, r := range s {
		p, _ := bidi.LookupRune(r)
		switch p.Class() {
		case bidi.L:
			if rtl {
				return true
			}
		case bidi.R, bidi.AL, bidi.AN:
			if !rtl {
				return true
			}
		}
	}
	return false
}

// callable is a customer's name as it may be called in a message to the address that came with it, or empty. Who books for somebody
// else's address could send them an advertisement in the place of a name: what holds an address of the web or of mail, or
// is longer than names are, is not called.
func callable(name string) string {
	name = clean(name, maxName)
	if utf8.RuneCountInString(name) > maxCalled || strings.ContainsAny(name, "/@") || domain.MatchString(name) {
		return ""
	}
	return name
}

// domain finds what mail programs make a link of.
var domain = regexp.MustCompile(`[\pL\pN]\.[\pL]{2,}`)
