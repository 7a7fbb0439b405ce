package manifest

import (
	"bytes"
	"strings"
)

// What a source takes in memory while it is read, in bytes. The YAML library keeps up to 185 for each value and its decoded form takes some more; a
// text is copied several times where it is cleaned and stored.
const (
	valueBytes   = 240
	textBytes    = 8
	aliasedBytes = 100 * maxValues // what aliases repeat is decoded as often, up to the bound of values, whatever the size of the source
)

// Cost is about the most memory, in bytes, that a source takes while it is read and what was read is put to use. It is told by the source's marks
// alone, as it has to be known before the source is read. [Parse] refuses what has too many values only when it has read them.
func Cost(src []byte) int64 {
	text := int64(len(src)) * textBytes
	json := bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(src, []byte("\ufeff")), " \t\r\n"), []byte("{"))
	if len(src) > MaxBytes || !json && separators(src) > maxValues {
		return text // it is refused unread
	}
	values, aliased := valuesIn(src)
	if json {
		return text + min(values, maxValues)*valueBytes // it is read up to the bound of values, and has no aliases
	}
	if aliased {
		text += aliasedBytes
	}
	return text + values*valueBytes
}

// valuesIn is about the most values that a source holds by its marks, and whether aliases may repeat any.
func valuesIn(src []byte) (int64, bool) {
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
	// A colon stands between a name and its value. Where there are fewer than commas, each comma may part names without values, which are null.
	return values + 1 + commas + 2*colons + max(0, commas-colons), anchors && aliases
}

// endsWord reports whether the source ends at i or has white space there.
func endsWord(src []byte, i int) bool {
	return i >= len(src) || strings.IndexByte(" \t\r\n", src[i]) >= 0
}

// namesValue reports whether the mark at i can begin an anchor or an alias.
func namesValue(src []byte, i int) bool {
	return (i == 0 || strings.IndexByte(" \t\r\n,[{:-", src[i-1]) >= 0) && !endsWord(src, i+1)
}
