// Package phone holds the form of telephone numbers. It does not know which numbers exist.
package phone

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLength is the maximal length of a telephone number, in characters.
const MaxLength = 50

const minDigits = 3

// OtherDigits has the digits 0 to 9 of several scripts, one script after another: Arabic, Persian, Devanagari, Bengali,
// Thai and full width. Services compare numbers after they replace these digits.
const OtherDigits = "٠١٢٣٤٥٦٧٨٩" + "۰۱۲۳۴۵۶۷۸۹" + "०१२३४५६७८९" + "০১২৩৪৫৬৭৮৯" + "๐๑๒๓๔๕๖๗๘๙" + "０１２３４５６７８９"

// form matches digits of any script with the usual separators, followed by an optional extension.
var form = regexp.MustCompile(`^(?i)[+(# ]*\p{Nd}[\p{Nd}\p{Pd} ()./+#*,]*(x|ext\.?)? ?\p{Nd}*$`)

// Valid reports whether a text has the form of a telephone number.
func Valid(text string) bool {
	digits := 0
	for _, r := range text {
		if unicode.IsDigit(r) {
			digits++
		}
	}
	return digits >= minDigits && utf8.RuneCountInString(text) <= MaxLength && form.MatchString(text)
}

// URI returns the tel: URI of a telephone number (RFC 3966), without the extension. It returns "" for a text that
// [Valid] rejects.
func URI(text string) string {
	if !Valid(text) {
		return ""
	}
	main := text
	if i := strings.IndexAny(main, "xXeE,"); i >= 0 {
		main = main[:i]
	}
	isInternational := strings.HasPrefix(strings.TrimLeft(main, "( "), "+")
	if isInternational {
		main = strings.ReplaceAll(main, "(0)", "") // the digit that callers from abroad leave out
	}
	var b strings.Builder
	b.WriteString("tel:")
	if isInternational {
		b.WriteByte('+')
	}
	for _, r := range main {
		switch {
		case unicode.IsDigit(r):
			b.WriteRune('0' + digitValue(r))
		case r == '*':
			b.WriteByte('*')
		case r == '#':
			b.WriteString("%23")
		}
	}
	return b.String()
}

// digitValue returns the value of a decimal digit of any script. Each range of digits in Unicode begins with a zero,
// and its length is a multiple of ten.
func digitValue(r rune) rune {
	for _, digits := range unicode.Nd.R16 {
		if lo, hi := rune(digits.Lo), rune(digits.Hi); r >= lo && r <= hi {
			return (r - lo) % 10
		}
	}
	for _, digits := range unicode.Nd.R32 {
		if lo, hi := rune(digits.Lo), rune(digits.Hi); r >= lo && r <= hi {
			return (r - lo) % 10
		}
	}
	return 0
}
