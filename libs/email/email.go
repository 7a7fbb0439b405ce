// Package email says what is taken for an e-mail address, wherever one is given, and which spellings are one address.
// It is pure.
package email

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// MaxLength is how many characters an address may have.
const MaxLength = 254

// Valid reports whether s is one address: something, an @, and a domain of at least two labels, with nothing that
// could end a line of a message's head or name a second address.
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

// Canonical returns the one spelling of a valid address by which a customer is kept, found, counted, exported and
// erased: in Unicode form NFKC, in small letters, with the domain in ASCII (IDNA). Mail to the spelling reaches the
// mailbox of the address.
//
// An address whose NFKC form is no valid address stays as it is, but in small letters. So does a domain that IDNA
// refuses.
func Canonical(address string) string {
	folded := norm.NFKC.String(strings.ToLower(norm.NFKC.String(address)))
	if !Valid(folded) {
		return strings.ToLower(address)
	}
	at := strings.LastIndexByte(folded, '@')
	domain, err := idna.Lookup.ToASCII(folded[at+1:])
	if err != nil || !Valid(folded[:at+1]+domain) {
		return folded
	}
	return folded[:at+1] + domain
}
