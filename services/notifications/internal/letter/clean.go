package letter

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
)

// Maximum lengths of texts in characters. Longer texts are cut.
const (
	maxName      = 200
	maxCalled    = 80
	maxSubject   = 80
	maxURL       = 2000
	maxNote      = 2000
	maxNoteLines = 40
)

// clean turns a text that a person typed into one line of valid UTF-8 with single spaces. It removes control
// characters, direction marks and other invisible characters. It cuts the line after most characters.
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

// cut cuts a text to a maximum of most characters, with an ellipsis at the end.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most-1])) + "…"
}

// runsAgainst reports whether a text has letters of the opposite direction.
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

// callable returns a customer's name if a message may contain it, otherwise "". A person can book with
// another person's address, and type an advertisement as the name. callable therefore rejects a name
// that contains a web or mail address, or that is longer than usual names.
func callable(name string) string {
	name = clean(name, maxName)
	if utf8.RuneCountInString(name) > maxCalled || strings.ContainsAny(name, "/@") || domain.MatchString(name) {
		return ""
	}
	return name
}

// domain matches text that mail programs turn into a link.
var domain = regexp.MustCompile(`[\pL\pN]\.[\pL]{2,}`)
