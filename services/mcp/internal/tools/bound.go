package tools

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/segmentio/encoding/json"
)

// Bounds of an answer, in bytes of its JSON form. Together with the frame around them they stay below 25 kB.
const (
	maxListBytes = 18_000 // of a list in the structured content, as JSON
	maxText      = 3_000  // of the short text
)

// Bounds of single texts, likewise, so that one element always fits.
const (
	maxName        = 200
	maxDescription = 600
	maxReason      = 200
	maxLocale      = 35
)

// page is a part of a list.
type page[T any] struct {
	items []T
	json  []byte // the items as JSON, with commas between them
	total int
	next  *int // where the rest begins, nil at the end
}

// pageOf takes as many elements from offset on as fit, each with so many more bytes as are added to it later.
func pageOf[T any](all []T, offset, later int) page[T] {
	begin := min(offset, len(all))
	p := page[T]{items: []T{}, json: make([]byte, 0, maxListBytes), total: len(all)}
	for i := begin; i < len(all); i++ {
		encoded, err := json.Append(p.json, &all[i], json.EscapeHTML|json.SortMapKeys)
		size := len(encoded) + 1 + later*(len(p.items)+1)
		if err != nil || size > maxListBytes && len(p.items) > 0 {
			p.next = &i
			break
		}
		p.items, p.json = all[begin:i+1], append(encoded, ',')
	}
	p.json = bytes.TrimSuffix(p.json, []byte(","))
	return p
}

// note says in the text that there is more.
func (p page[T]) note() string {
	if p.next == nil {
		return ""
	}
	return fmt.Sprintf("\nThis is a part; for the rest call again with offset %d.", *p.next)
}

// clip bounds a text; a cut one ends with an ellipsis.
func clip(s string, most int) string {
	if len(s) <= most && plain(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	size, end := 0, 0 // end is where the text would be cut
	for i, r := range s {
		if size <= most-len("…") {
			end = i
		}
		if size += sizeOf(r); size > most {
			return s[:end] + "…"
		}
	}
	return s
}

// plain reports whether a text takes as many bytes in JSON as it has.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || sizeOf(rune(c)) != 1 {
			return false
		}
	}
	return true
}

// sizeOf is how many bytes a character takes in JSON.
func sizeOf(r rune) int {
	switch r {
	case '"', '\\', '\b', '\f', '\n', '\r', '\t':
		return len(`\n`)
	case '<', '>', '&', '\u2028', '\u2029':
		return len(`\u003c`)
	}
	if r < ' ' {
		return len(`\u003c`)
	}
	return utf8.RuneLen(r)
}

// clipLines bounds the short text at the end of a line.
func clipLines(s string) string {
	if len(s) <= maxText && clip(s, maxText) == s {
		return s
	}
	const rest = "\n… more in the structured content."
	s = clip(s, maxText-len(rest)-1)
	if i := strings.LastIndexByte(s, '\n'); i > 0 {
		s = s[:i]
	}
	return s + rest
}
