package locale

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestVisibleText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"plain text", "Haircut", "Haircut"},
		{"entities", "<p>Wash, cut &amp; dry &lt;3 &eacute;&#233;&#xE9; &quot;x&quot; it&#39;s</p>",
			`Wash, cut & dry <3 ééé "x" it's`},
		{"entities are decoded once", "&amp;amp;lt;", "&amp;lt;"},
		{"paragraphs", "<p>one</p><p>two</p>", "one\ntwo"},
		{"breaks", "one<br>two<br/>three", "one\ntwo\nthree"},
		{"many breaks are one", "<p>one<br><br></p> <br> <p> two</p>", "one\ntwo"},
		{"headings", "<h1>one</h1>two<h2>three</h2>", "one\ntwo\nthree"},
		{"nested lists", "<ul><li>a<ol><li>b</li><li>c</li></ol></li><li>d</li></ul>", "a\nb\nc\nd"},
		{"emphasis within words", "un<b>believ</b>able", "unbelievable"},
		{"links", `see <a href="https://x.example">here</a>.`, "see here."},
		{"white space", " \n a \t\r\n b\f c ", "a b c"},
		{"white space across tags", "<b>a </b> <i> b</i>", "a b"},
		{"line feeds of the source are no breaks", "a\nb", "a b"},
		{"white space as entities", "a&#32;&#10;&#9;b", "a b"},
		{"white space around blocks", "<p> a </p> \n <p> b </p>", "a\nb"},
		{"no-break spaces stay", "10&nbsp;€ &nbsp; x", "10\u00a0€ \u00a0 x"},
		{"ideographic spaces stay", "美しい　髪", "美しい　髪"},
		{"right to left", "<p>مرحبا <b>بكم</b></p><p>שלום</p>", "مرحبا بكم\nשלום"},
		{"empty blocks", "<p></p><ul></ul><p>a</p><p> </p>", "a"},
		{"a line that ends beside a zero width space", "<p>ไทย\u200b\n ไทย</p>", "ไทย\u200bไทย"},
		{"a space beside a zero width space", "a\u200b b", "a\u200b b"},
		{"no code points are lost", "👩🏽‍🦰 e\u0301 \u200bx", "👩🏽‍🦰 e\u0301 \u200bx"},
	} {
		if got := VisibleText(c.in); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestVisibleTextOfSanitizedHTML(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"<p>a</p><script>b</script><style>c</style><!-- d --><p>e</p>", "a\ne"},
		{"<div>one</div><div>two <span>three</span></div>", "one\ntwo three"},
		{"<table><tr><td>a<td>b<tr><td>c</table>", "a\nb\nc"},
		{"&lt;script&gt;alert(1)&lt;/script&gt;", "<script>alert(1)</script>"},
		{"1 < 2 & 3 > 2", "1 < 2 & 3 > 2"},
	} {
		if got := VisibleText(Sanitize(c.in)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.in, got, c.want)
		}
	}
}

// Placeholders of [visibleByTree], which no text of the tests contains.
const (
	mark  = '\uE000' // the border of a block
	space = '\uE001' // white space within a line of the source
	row   = '\uE002' // white space in which a line of the source ends
)

// visibleByTree computes the same text in a slower way. It writes a placeholder for each border of a block and for each
// white space, which depends on whether a line of the source ends there. Then it folds all of them.
func visibleByTree(body *html.Node) string {
	runs := regexp.MustCompile(`[ \t\n\f\r]+`)
	var text []rune
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		inline := n.Type != html.ElementNode || strings.Contains(" a b strong i em u s body ", " "+n.Data+" ")
		if !inline {
			text = append(text, mark)
		}
		if n.Type == html.TextNode {
			text = append(text, []rune(runs.ReplaceAllStringFunc(n.Data, func(run string) string {
				if strings.Contains(run, "\n") {
					return string(row)
				}
				return string(space)
			}))...)
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
		if !inline {
			text = append(text, mark)
		}
	}
	walk(body)
	var b strings.Builder
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && slices.Contains([]rune{mark, space, row}, text[end]) {
			end++
		}
		if end == i {
			b.WriteRune(text[i])
			i++
			continue
		}
		if 0 < i && end < len(text) { // no text at the start and the end
			b.WriteString(foldedRun(text[i-1], text[i:end], text[end]))
		}
		i = end
	}
	return b.String()
}

// foldedRun returns the text that replaces a run of placeholders between two characters.
func foldedRun(before rune, run []rune, after rune) string {
	if slices.Contains(run, mark) {
		return "\n"
	}
	signs := string(run)
	if before == '\u200b' {
		signs = strings.TrimLeft(signs, string(row))
	}
	if signs == "" || after == '\u200b' && strings.HasPrefix(signs, string(row)) {
		return ""
	}
	return " "
}
