package form

import (
	"html"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
)

// maxKeyLength is the maximum number of characters that a key takes from a name. NewKey may add a number after these
// characters.
const maxKeyLength = 50

// NewKey returns a key for a new object. The key differs from the keys of all objects in the list. NewKey derives the
// key from the object's name or label. If the name and the label contain no letters that are allowed in a key, NewKey
// derives the key from the argument `word`.
func NewKey(word string, object document.Fields, list []any) string {
	name, _ := object["name"].(string)
	if label, ok := object["label"].(string); ok && name == "" {
		name = label
	}
	base := slugify(name)
	if base == "" {
		base = word
	}
	taken := make(map[string]bool, len(list))
	for _, item := range list {
		if own, ok := document.NameOf(item); ok {
			taken[own] = true
		}
	}
	key := base
	for n := 2; taken[key]; n++ {
		key = base + "-" + strconv.Itoa(n)
	}
	return key
}

// slugify converts a name to a slug of a-z, 0-9 and "-". slugify drops every character that it cannot convert to these
// characters.
func slugify(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case b.Len() == maxKeyLength:
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case r == 'ß':
			b.WriteString("ss")
		case !unicode.Is(unicode.Mn, r) && b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String(), "-")
}

// TextFromHTML converts HTML to the text that a [Prose] field shows. [HTMLFromText] converts the text back to HTML.
func TextFromHTML(html string) string { return toText(html) }

// HTMLFromText converts the text that a person typed into a [Prose] field to HTML.
func HTMLFromText(input string) string { return toHTML(input) }

// toText converts HTML that contains only paragraphs and line breaks to plain text. It returns other HTML unchanged.
func toText(s string) string {
	plain := strings.NewReplacer("</p>\n<p>", "\n\n", "</p><p>", "\n\n", "<br>", "\n", "<br/>", "\n", "<br />",
		"\n").Replace(strings.TrimSpace(s))
	plain = strings.TrimSuffix(strings.TrimPrefix(plain, "<p>"), "</p>")
	if strings.Contains(plain, "<") {
		return s
	}
	return html.UnescapeString(plain)
}

// toHTML converts plain text to HTML paragraphs. It returns text that is already HTML unchanged.
func toHTML(s string) string {
	if strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") {
		return s
	}
	var b strings.Builder
	for paragraph := range strings.SplitSeq(s, "\n\n") {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
			b.WriteString("<p>" + strings.ReplaceAll(html.EscapeString(paragraph), "\n", "<br>") + "</p>")
		}
	}
	return b.String()
}
