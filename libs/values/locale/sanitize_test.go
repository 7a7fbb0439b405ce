package locale

import (
	_ "embed"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

func TestSanitizeKeepsProse(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"",
		"Just text.",
		"<p>Wash, cut &amp; dry.</p>",
		"<p>Colour <b>specialist</b>.</p>",
		"<h1>A</h1><h2>B</h2><h3>C</h3><h4>D</h4><h5>E</h5><h6>F</h6>",
		"<p><strong>a</strong> <em>b</em> <i>c</i> <u>d</u> <s>e</s></p>",
		"<p>one<br/>two</p>",
		"<ul><li>a<ol><li>b</li><li>c</li></ol></li><li>d</li></ul>",
		"<p>مرحبا بكم في <b>الاستوديو</b></p><p>שלום עולם</p>",
		"<p>美しい髪。　<b>カット</b></p><p>머리 손질</p><p>剪发</p>",
		"<p>👩🏽‍🦰 ti\u200bny\u00a0space \u202babc\u202c</p>",
		`<a href="https://harbor.example/?a=1&amp;b=%C3%A9#top" rel="nofollow noopener" target="_blank">x</a>`,
		`<a href="mailto:hi@harbor.example" rel="nofollow">x</a>`,
	} {
		if got := Sanitize(s); got != s {
			t.Errorf("%s\nbecame %s", s, got)
		}
	}
}

func TestSanitizeRemovesOtherMarkup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"scripts and styles with what they hold", "a<script>b</script><style>c</style>d", "ad"},
		{"comments", "a<!-- b -->c", "ac"},
		{"attributes", `<p class="x" onclick="y" style="z">a</p>`, "<p>a</p>"},
		{"unknown elements but not their text", "<span>a</span><foo>b</foo>c", "abc"},
		{"links that lead nowhere", `<a>a</a><a href="/b">b</a><a href="javascript:c">c</a><a href="//d.example">d</a>`,
			"abcd"},
		{"images", `a<img src="https://x.example/y.png" alt="z">b`, "ab"},
		{"drawings", "a<svg><title>b</title><text>c</text></svg>d", "ad"},
		{"input fields", "a<textarea>b</textarea><select><option>c</option></select>d", "ad"},
		{"tags left open", "<b>a<i>b", "<b>a<i>b</i></b>"},
		{"tags that close nothing", "</b>a</div>", "a"},
		{"links in links", `<a href="https://a.example">a<a href="https://b.example">b</a></a>`,
			`<a href="https://a.example" rel="nofollow noopener" target="_blank">a</a>` +
				`<a href="https://b.example" rel="nofollow noopener" target="_blank">b</a>`},
		{"bytes that are no UTF-8", "a\xffb", "a\uFFFDb"},
		{"an unclosed comment", "a<!-- b", "a"},
		{"an unclosed script", "a<script>b", "a"},
	} {
		if got := Sanitize(c.in); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestSanitizeReplacesBlocksByBreaks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"<div>a</div><div>b</div>", "a<br/>b"},
		{"a<div>b</div>c", "a<br/>b<br/>c"},
		{"<div><div>a</div></div>", "a"},
		{"<div>a</div>\n<div>b</div>", "a<br/>\nb"},
		{"<div>a</div><p>b</p><div>c</div>", "a<p>b</p>c"},
		{"<div>a<br></div>b", "a<br/>b"},
		{"<div>a</div><script>x</script><div>b</div>", "a<br/>b"},
		{"<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a<br/>b<br/>c"},
		{"<ul><li><div>a</div></li><li>b</li></ul>", "<ul><li>a</li><li>b</li></ul>"},
		{"<b><div>a</div>b</b>", "<b>a<br/>b</b>"},
	} {
		if got := Sanitize(c.in); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestSanitizeKeepsTextOfDeepNesting(t *testing.T) {
	t.Parallel()
	got := Sanitize(strings.Repeat("<b>", 5000) + "a &lt; b" + strings.Repeat("</b>", 5000))
	if got != "a &lt; b" {
		t.Errorf("got %.80s…", got)
	}
}

//go:embed testdata/xss.txt
var attacks string

func TestSanitizeRemovesAttacks(t *testing.T) {
	t.Parallel()
	if n := strings.Count(attacks, "\n"); n < 100 {
		t.Errorf("only %d attacks", n)
	}
	for attack := range strings.Lines(attacks) {
		checkSanitized(t, attack)
		checkSanitized(t, "<p>before "+attack+" <b>after</b></p>")
	}
	checkSanitized(t, attacks)
}

// FuzzSanitize searches for HTML from which more than prose remains.
func FuzzSanitize(f *testing.F) {
	for attack := range strings.Lines(attacks) {
		f.Add(attack)
	}
	f.Fuzz(func(t *testing.T, s string) { checkSanitized(t, s) })
}

// Random sequences of tags change at a second parse more often than random bytes do.
func TestSanitizeIsIdempotent(t *testing.T) {
	t.Parallel()
	pieces := []string{"<p>", "</p>", "<b>", "</b>", "<i>", "</i>", "<ul>", "</ul>", "<li>", "</li>", "<h1>", "</h1>",
		"<h2>",
		`<a href="https://a.example">`, `<a href="https://b.example/?q=%zz">`, "</a>", "<br>", "</br>", "<div>",
		"</div>", "<table>", "<tr>", "<td>", "</table>",
		"<svg>", "</svg>", "<math>", "<script>", "</script>", "<select>", "</select>", "<option>", "<form>", "</form>",
		"<button>",
		"<pre>", "<textarea>", "<!--", "-->", "<template>", "</template>", "<style>", "</style>", "<nobr>", "<u>",
		"<s>", "<em>", "<strong>",
		"<center>", "<applet>", "<marquee>", "<frameset>", "<head>", "<body>", "<html>", "<col>", "<caption>", "<dd>",
		"<dt>", "<rt>",
		"\n", " ", "x", "\u200b", "&", "&lt;", "&#13;", "&nbsp;", "<", ">", "\"", "\x00", "é"}
	rapid.Check(t, func(t *rapid.T) {
		checkSanitized(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 40).Draw(t, "pieces"), ""))
	})
}

// checkSanitized checks the result for any HTML. It contains only prose, sanitizing it again does not change it, and
// its visible text equals that of a walk over its tree.
func checkSanitized(t interface{ Fatalf(string, ...any) }, dirty string) {
	clean := Sanitize(dirty)
	if again := Sanitize(clean); again != clean {
		t.Fatalf("%q\nis sanitized to %q\nand that to %q", dirty, clean, again)
	}
	if !utf8.ValidString(clean) {
		t.Fatalf("%q\nis sanitized to bytes that are not valid UTF-8: %q", dirty, clean)
	}
	body, ok := parse(clean)
	if !ok {
		t.Fatalf("%q\nis sanitized to HTML that nests too deeply: %q", dirty, clean)
	}
	for n := range body.Descendants() {
		if !isProse(n) {
			t.Fatalf("%q\nis sanitized to %q\nwhich contains %q %v", dirty, clean, n.Data, n.Attr)
		}
	}
	if got, want := VisibleText(clean), visibleByTree(body); got != want {
		t.Fatalf("%q\nshows %q, want %q", clean, got, want)
	}
}

// isProse is a second implementation of the policy, independent of the first.
func isProse(n *html.Node) bool {
	switch {
	case n.Type == html.TextNode:
		return true
	case n.Type != html.ElementNode || n.Namespace != "":
		return false
	case n.Data == "a":
		return isHarmlessLink(n.Attr)
	}
	return len(n.Attr) == 0 && slices.Contains(strings.Fields("p br ul ol li b strong i em u s h1 h2 h3 h4 h5 h6"),
		n.Data)
}

func isHarmlessLink(attributes []html.Attribute) bool {
	seen := map[string]string{}
	for _, a := range attributes {
		seen[a.Key] = a.Val
	}
	u, err := url.Parse(seen["href"])
	switch {
	case err != nil || len(seen) != len(attributes):
		return false
	case u.Scheme == "mailto" || u.Host == "":
		return len(seen) == 2 && seen["rel"] == "nofollow"
	}
	return len(seen) == 3 && (u.Scheme == "http" || u.Scheme == "https") &&
		seen["rel"] == "nofollow noopener" && seen["target"] == "_blank"
}
