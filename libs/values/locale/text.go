package locale

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// VisibleText returns the text that a browser shows for HTML from [Sanitize] (semantics.md §6). Entities are decoded. A
// br element and each border of a block become a line break. A sequence of white space and line breaks becomes one line
// break if it contains a line break, and otherwise one space. White space at the start and at the end of the text is
// removed.
//
// White space is the set of characters that HTML collapses: space, tab, line feed, form feed and carriage
// return. No-break and ideographic spaces are kept. A line end in the source is removed if it is next to a
// zero width space (CSS Text 3, §4.1.3). Scripts without spaces between words break their source lines there.
func VisibleText(sanitized string) string {
	var out foldingWriter
	tokens := html.NewTokenizer(strings.NewReader(sanitized))
	for {
		switch tokens.Next() {
		case html.ErrorToken: // end of the text; a string reader returns no other error
			return out.text.String()
		case html.TextToken:
			out.write(string(tokens.Text()))
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := tokens.TagName()
			if a := atom.Lookup(name); a == atom.Br || isBlock(a) {
				out.lineBreak()
			}
		}
	}
}

// foldingWriter collects text and collapses white space, also across tags.
type foldingWriter struct {
	text    strings.Builder
	pending string // white space to write before the next character
	endsRow bool   // whether the pending space comes from a line end in the source
	afterZW bool   // whether the last written character is a zero width space
}

func (w *foldingWriter) lineBreak() { w.pending = "\n" }

func (w *foldingWriter) write(s string) {
	for word, rest := "", s; rest != ""; {
		if n := len(rest) - len(strings.TrimLeft(rest, whiteSpace)); n > 0 {
			w.space(strings.Contains(rest[:n], "\n"))
			rest = rest[n:]
			continue
		}
		word, rest = cutWord(rest)
		w.word(word)
	}
}

func (w *foldingWriter) space(endsRow bool) {
	if w.pending != "" || endsRow && w.afterZW {
		return
	}
	w.pending, w.endsRow = " ", endsRow
}

func (w *foldingWriter) word(s string) {
	vanishes := w.pending == " " && w.endsRow && strings.HasPrefix(s, zeroWidthSpace)
	if w.text.Len() > 0 && !vanishes {
		w.text.WriteString(w.pending)
	}
	w.pending = ""
	w.text.WriteString(s)
	w.afterZW = strings.HasSuffix(s, zeroWidthSpace)
}

// cutWord splits `s` before the first white space.
func cutWord(s string) (string, string) {
	if i := strings.IndexAny(s, whiteSpace); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

const (
	whiteSpace     = " \t\n\f\r"
	zeroWidthSpace = "\u200b"
)
