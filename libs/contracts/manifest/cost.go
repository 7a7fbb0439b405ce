package manifest

import (
	"bytes"
	"strings"
)

// The memory, in bytes, that reading a source needs. The YAML library needs up to 185 bytes for each
// value, and the decoded form needs more. A text is copied several times while it is sanitized and stored.
const (
	valueBytes = 240
	textBytes  = 8
	// aliasedBytes is added if values are repeated by aliases. Repeated values
	// are decoded each time, up to maxValues values, even if the source is small.
	aliasedBytes = 100 * maxValues
)

// Cost returns an upper estimate of the memory, in bytes, for reading a source and using the
// result. It counts separators in the source instead of parsing it, because the caller must
// reserve the memory before parsing. [Parse] detects too many values only while it reads.
func Cost(src []byte) int64 {
	text := int64(len(src)) * textBytes
	json := bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(src, []byte("\ufeff")), " \t\r\n"), []byte("{"))
	if len(src) > MaxBytes || !json && countSeparators(src) > maxValues {
		return text // Parse rejects such a source without reading it
	}
	values, aliased := countValues(src)
	if json {
		return text + min(values, maxValues)*valueBytes // JSON has no aliases, and reading stops at maxValues values
	}
	if aliased {
		text += aliasedBytes
	}
	return text + values*valueBytes
}

// countValues returns an upper estimate of the number of values, and whether aliases may repeat some of them.
func countValues(src []byte) (int64, bool) {
	var values, commas, colons int64
	var anchors, aliases bool
	for i, c := range src {
		switch c {
		case '[', '{':
			values++
		case ',':
			commas++
		case ':':
			if endsWord(src, i+1) || i > 0 && strings.IndexByte("\"'[]{}, \t\r\n", src[i-1]) >= 0 {
				colons++
			}
		case '?':
			if endsWord(src, i+1) {
				colons++
			}
		case '-':
			if endsWord(src, i+1) {
				values++
			}
		case '&':
			anchors = anchors || namesValue(src, i)
		case '*':
			aliases = aliases || namesValue(src, i)
		}
	}
	// A colon separates a name from its value. Commas in excess of
	// the colons may separate names without values, which are null.
	return values + 1 + commas + 2*colons + max(0, commas-colons), anchors && aliases
}

// endsWord reports whether the source ends at the index `i` or has white space at `i`.
func endsWord(src []byte, i int) bool {
	return i >= len(src) || strings.IndexByte(" \t\r\n", src[i]) >= 0
}

// namesValue reports whether the "&" or "*" at the index `i` can begin an anchor or an alias.
func namesValue(src []byte, i int) bool {
	return (i == 0 || strings.IndexByte(" \t\r\n,[{:-", src[i-1]) >= 0) && !endsWord(src, i+1)
}
