// Package plain decides which characters a name may contain. It also detects
// names of fields that are probably misspelled. The package does no I/O.
//
// Names of customers and businesses are shown next to other names, in mails and in tables. Direction marks in a
// name would reverse the text around the name. Invisible characters would make two different names look equal.
package plain

import (
	"strings"
	"unicode"
)

// Refusal is the part of an error sentence for a name with a hidden character. It follows the name of the field.
const Refusal = "the text contains an invisible character or a direction mark; write it without."

// nonJoiner and joiner are invisible, but allowed. Scripts such as Persian and Malayalam need them, and so do emoji.
const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
)

// The flag of a region, such as Scotland, is encoded as a black flag, followed by tag characters in the range from
// firstTag to lastTag.
const (
	blackFlag = '\U0001F3F4'
	firstTag  = '\U000E0020'
	lastTag   = '\U000E007F'
)

// fillers are letters and marks that are invisible.
var fillers = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer vowels that are invisible
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // blank Braille pattern
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // half-width Hangul filler
	},
}

// HasHidden reports whether `s` contains a character that names may not contain. These
// are direction marks, line and paragraph separators, and other invisible characters.
// Joiners, variation selectors and the tag characters of flags are allowed.
func HasHidden(s string) bool {
	inFlag := false
	for _, r := range s {
		if inFlag && r >= firstTag && r <= lastTag {
			continue
		}
		inFlag = r == blackFlag
		if isHidden(r) {
			return true
		}
	}
	return false
}

func isHidden(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, fillers) && r != joiner && r != nonJoiner
}

// IsBlank reports whether `s` shows no visible character: it is
// empty, or contains only white space and invisible characters.
func IsBlank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.In(r, unicode.C, unicode.Z, unicode.M, fillers)
	})
}

// Strip removes the characters from `s` that [HasHidden] detects.
func Strip(s string) string {
	if !HasHidden(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isHidden(r) {
			return -1
		}
		return r
	}, s)
}
