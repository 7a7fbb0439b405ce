package tools

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of an answer, in bytes of its JSON form. With these
// limits, an answer stays below 25 kB, including its other fields.
const (
	maxListBytes = 18_000 // the list in the structured content
	maxText      = 5_000  // the text
)

// Limits of single texts, in bytes of the texts' JSON form. With
// these limits, one element of a list always fits into an answer.
const (
	maxName        = 200
	maxDescription = 600
	maxReason      = 200
	maxLocale      = 35
)

// An answer lists objects, such as services. These constants are the maximum lengths
// of the lists inside one object, such as the variants of a service.
const (
	maxVariants = 50
	maxTiers    = 50
	maxUpsells  = 100
)

// Limits of descriptions in a text, in bytes. All descriptions of a list together
// take at most maxBriefs, so that the names of all elements fit into the text.
const (
	maxBrief  = 160
	minBrief  = 40
	maxBriefs = 2_000
)

// shortDescription returns a line break followed by the description, shortened to one line. The argument
// `listed` is the number of elements of the list: the more elements, the shorter each description.
// shortDescription returns "" if the description is empty, or if the list is too long for descriptions.
func shortDescription(description string, listed int) string {
	maxSize := min(maxBrief, maxBriefs/max(listed, 1))
	line := strings.Join(strings.Fields(description), " ")
	if line == "" || maxSize < minBrief {
		return ""
	}
	return "\n  " + clipText(line, maxSize)
}

// cutList shortens a list to at most `maxItems` entries. If cutList leaves out entries, it also returns the
// length of the whole list, which the answer shows beside the list. Otherwise the second result is 0.
func cutList[T any](all []T, maxItems int) ([]T, int) {
	if len(all) <= maxItems {
		return all, 0
	}
	return all[:maxItems], len(all)
}

// page is one page of a list that is too long for one answer.
type page[T any] struct {
	items []T
	total int
	next  *int // offset of the next page; nil on the last page
}

// pageOf returns one page of a list. The page contains the elements from the index `offset` on that fit into
// maxListBytes, but at least one. The argument `later` is the number of bytes that the caller will add to each element.
func pageOf[T any](all []T, offset, later int) page[T] {
	p := page[T]{items: []T{}, total: len(all)}
	size := 0
	for i := min(offset, len(all)); i < len(all); i++ {
		encoded, err := json.Marshal(all[i])
		if size += len(encoded) + 1 + later; err != nil || size > maxListBytes && len(p.items) > 0 {
			p.next = &i
			return p
		}
		p.items = append(p.items, all[i])
	}
	return p
}

// note returns the sentence that tells the agent how to read the next page. It returns "" on the last page.
func (p page[T]) note() string { return note(p.next) }

func note(next *int) string {
	if next == nil {
		return ""
	}
	return fmt.Sprintf("\nThis is a part; for the rest call again with offset %d.", *next)
}

// clipText returns s, shortened if its JSON form has more bytes than
// the argument `maxSize`. A shortened text ends with an ellipsis.
func clipText(s string, maxSize int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if n := findFittingPrefix(s, maxSize, len("…")); n < len(s) {
		return s[:n] + "…"
	}
	return s
}

// findFittingPrefix returns how many bytes of s to keep. If the JSON form of s has at most maxSize
// bytes, it keeps all of s. Otherwise the caller shortens s and appends an ending of `ending` bytes:
// then findFittingPrefix keeps the longest prefix that fits into maxSize together with the ending.
func findFittingPrefix(s string, maxSize, ending int) int {
	size, end := 0, 0
	for i := 0; i < len(s); {
		if size <= maxSize-ending {
			end = i
		}
		r, width := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRuneInString(s[i:])
		}
		if size += runeSize(r); size > maxSize {
			return end
		}
		i += width
	}
	return len(s)
}

// computeEncodedSize returns the number of bytes of a text in its JSON form.
func computeEncodedSize(s string) int {
	size := 0
	for _, r := range s {
		size += runeSize(r)
	}
	return size
}

// runeSize returns the number of bytes of a character in JSON, with its escape sequence if it needs one.
func runeSize(r rune) int {
	if r < utf8.RuneSelf {
		return int(sizes[r])
	}
	if r == '\u2028' || r == '\u2029' {
		return len(`\u2028`)
	}
	return utf8.RuneLen(r)
}

// sizes contains, for each ASCII character, the number of its bytes in JSON.
var sizes = func() [utf8.RuneSelf]uint8 {
	var sizes [utf8.RuneSelf]uint8
	for c := range sizes {
		sizes[c] = 1
		if c < ' ' || strings.ContainsRune("<>&", rune(c)) {
			sizes[c] = uint8(len(`\u003c`))
		}
		if strings.ContainsRune("\"\\\b\f\n\r\t", rune(c)) {
			sizes[c] = uint8(len(`\n`))
		}
	}
	return sizes
}()

// moreNote is the text that is appended to a text that was shortened.
const (
	moreNote     = "\n… more in the structured content."
	moreNoteSize = len(moreNote) + 1 // size in bytes of the JSON form
)

// clipLines shortens the text of an answer to at most maxText bytes, if possible at the end of a line.
func clipLines(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	n := findFittingPrefix(s, maxText, moreNoteSize)
	if n == len(s) {
		return s
	}
	if i := strings.LastIndexByte(s[:n], '\n'); i > 0 && s[n] != '\n' {
		n = i
	}
	return s[:n] + moreNote
}
