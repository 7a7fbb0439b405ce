// Package email decides which texts are valid e-mail addresses, and
// which spellings mean the same address. The package does no I/O.
package email

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// MaxLength is the maximal number of characters in an e-mail address.
const MaxLength = 254

// Valid reports whether `s` is one e-mail address: a local part, an @, and a domain with at least two
// labels. It rejects characters that could end the header line of a message, or add a second address.
func Valid(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 || !utf8.ValidString(s) || utf8.RuneCountInString(s) > MaxLength ||
		strings.ContainsFunc(s[:at], isInvalidLocalRune) || strings.ContainsAny(s[:at], `@<>()[],;:\"`) {
		return false
	}
	labels := strings.Split(s[at+1:], ".")
	for _, label := range labels {
		if label == "" || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") || strings.ContainsFunc(label,
			isInvalidDomainRune) {
			return false
		}
	}
	return len(labels) > 1
}

func isInvalidLocalRune(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

func isInvalidDomainRune(r rune) bool {
	return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

// Canonical returns the canonical spelling of a valid address: in Unicode form NFKC and in lower case, with the domain
// in ASCII (IDNA). Services identify customers by this spelling, for example to find, export or erase their data. Mail
// to the canonical spelling reaches the same mailbox.
//
// If the NFKC form is not a valid address, Canonical only converts the
// address to lower case. A domain that IDNA rejects stays in Unicode.
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

// Mask shortens the part of an address before the @ to its first letter: m…@example.com. Callers use Mask if people
// other than the customer may read the result, for example on the page behind a customer's link. Mask returns "" for
// nil and for an invalid address.
func Mask(address *string) string {
	if address == nil {
		return ""
	}
	at := strings.LastIndexByte(*address, '@')
	if at <= 0 {
		return ""
	}
	_, first := utf8.DecodeRuneInString(*address)
	return (*address)[:first] + "…" + (*address)[at:]
}
