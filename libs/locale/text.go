package locale

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// VisibleText returns the text that a browser shows for HTML as [Sanitize] returns it (semantics.md §6): entities
// decoded, blocks and breaks as line breaks, each run of white space folded into one line break where it holds one and
// into one space elsewhere, none at either end. White space is what HTML folds: space, tab, line feed, form feed and
// carriage return. A no-break or an ideographic space stays as it is. Where a line of the source ends beside a zero
// width space, nothing stays (CSS Text 3, §4.1.3): so scripts without spaces break their source lines.
func VisibleText(sanitized string) string {
	var out foldingWriter
	tokens := html.NewTokenizer(strings.NewReader(sanitized))
	for {
		switch tokens.Next() {
		case html.ErrorToken: // the end: a string gives no other error
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

// foldingWriter collects text and folds white space, also where tags lie within it.
type foldingWriter struct {
	text    strings.Builder
	pending string // the white space owed before the next character
	endsRow bool   // the pending space began as the end of a line of the source
	afterZW bool   // the last character written is a zero width space
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

// cutWord splits s before its first white space.
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
