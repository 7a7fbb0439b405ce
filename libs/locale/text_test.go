package locale

import (
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestVisibleText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"plain text", "Haircut", "Haircut"},
		{"entities", "<p>Wash, cut &amp; dry &lt;3 &eacute;&#233;&#xE9; &quot;x&quot; it&#39;s</p>", `Wash, cut & dry <3 ééé "x" it's`},
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
		{"no code points are lost", "👩🏽‍🦰 e\u0301 \u200bx", "👩🏽‍🦰 e\u0301 \u200bx"},
	} {
		if got := VisibleText(c.in); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestVisibleTextOfWhatWasSanitized(t *testing.T) {
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

// visibleByTree is the slow way to the same text: it writes a mark for each border of a block, then folds by regular
// expressions.
func visibleByTree(body *html.Node) string {
	const mark = "\uE000"
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		inline := n.Type != html.ElementNode || strings.Contains(" a b strong i em u s body ", " "+n.Data+" ")
		if !inline {
			b.WriteString(mark)
		}
		if n.Type == html.TextNode {
			b.WriteString(strings.ReplaceAll(n.Data, mark, "\uE001"))
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
		if !inline {
			b.WriteString(mark)
		}
	}
	walk(body)
	s := regexp.MustCompile(`[ \t\n\f\r]+`).ReplaceAllString(b.String(), " ")
	s = regexp.MustCompile(` ?`+mark+`[ `+mark+`]*`).ReplaceAllString(s, "\n")
	return strings.ReplaceAll(strings.Trim(s, " \n"), "\uE001", mark)
}
