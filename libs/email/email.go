// Package email says what is taken for an e-mail address, wherever one is given. It is pure.
package email

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLength is how many characters an address may have.
const MaxLength = 254

// Valid reports whether s is one address: something, an @, and a domain of at least two labels, with nothing that could end a
// line of a message's head or name a second address.
func Valid(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 || !utf8.ValidString(s) || utf8.RuneCountInString(s) > MaxLength ||
		strings.ContainsFunc(s[:at], isUnfit) || strings.ContainsAny(s[:at], `@<>()[],;:\"`) {
		return false
	}
	labels := strings.Split(s[at+1:], ".")
	for _, label := range labels {
		if label == "" || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") || strings.ContainsFunc(label, notInDomain) {
			return false
		}
	}
	return len(labels) > 1
}

func isUnfit(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

func notInDomain(r rune) bool {
	return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}
