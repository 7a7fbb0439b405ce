package locale

import (
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Sanitizer numbers the releases of [Sanitize] that answer differently; count it up with such a change. It is stored with
// what was sanitized, so that the better one does it again.
const Sanitizer = 1

// Sanitize returns what may stay of HTML that an owner wrote (semantics.md §6): links, lists, emphasis, headings,
// paragraphs and breaks, without attributes but a link's. Of everything else the text stays, save where it never was
// text to read (scripts, styles, comments, input fields, drawings). Where a block that goes, such as a div or a table row, set
// text apart, a line break does.
//
// Links keep an absolute http, https or mailto address and open apart from the page that shows them. The result is
// well formed, so that it cannot leak an open tag into that page, and sanitizing it again changes nothing.
func Sanitize(dirty string) string {
	s := strings.ToValidUTF8(dirty, "\uFFFD")
	if !strings.ContainsAny(s, "<>&\"'\r\x00") {
		return s // plain text, as most short fields are
	}
	// A browser's parser decides what a tag is before the policy sees it, and again what is left of the tree after.
	body, ok := parse(s)
	if !ok {
		return onlyText(s)
	}
	breakBlocks(body)
	if stable, ok := stabilized(policy.Sanitize(render(body))); ok {
		return stable
	}
	return onlyText(s)
}

// mostRounds bounds [stabilized]. Prose needs one round; only tags strewn at random need a second or third.
const mostRounds = 8

// stabilized parses and writes s until that changes nothing. A parse moves elements that HTML does not let nest, and what
// it made of them may have to be moved again. It reports false for what still changes after [mostRounds].
func stabilized(s string) (string, bool) {
	for range mostRounds {
		body, ok := parse(s)
		if !ok {
			return "", false
		}
		written := render(body)
		if written == s {
			return s, true
		}
		s = written
	}
	return "", false
}

// onlyText is what stays of HTML that nests deeper than a parser follows or is no prose in some other way.
func onlyText(s string) string {
	return html.EscapeString(VisibleText(textOnly.Sanitize(s)))
}

var policy = newPolicy()

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "ul", "ol", "li", "b", "strong", "i", "em", "u", "s",
		"h1", "h2", "h3", "h4", "h5", "h6")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false) // an owner's text has no address of its own to be relative to
	p.RequireNoFollowOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true) // brings rel=noopener with it
	skipUnread(p)
	return p
}

var textOnly = newTextPolicy()

func newTextPolicy() *bluemonday.Policy {
	p := bluemonday.StrictPolicy()
	skipUnread(p)
	return p
}

// skipUnread drops the content of unread elements.
func skipUnread(p *bluemonday.Policy) {
	for a := range unread {
		p.SkipElementsContent(a.String())
	}
}

// parse reads s as a browser reads the content of an element; the element is returned. It reports false where s nests
// deeper than the parser follows.
func parse(s string) (*html.Node, bool) {
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	nodes, err := html.ParseFragment(strings.NewReader(s), body)
	if err != nil {
		return nil, false
	}
	for _, n := range nodes {
		body.AppendChild(n)
	}
	return body, true
}

// render writes the content of body.
func render(body *html.Node) string {
	var b strings.Builder
	for n := range body.ChildNodes() {
		if err := html.Render(&b, n); err != nil {
			return "" // not reached: a builder takes everything, and a parsed tree can be written
		}
	}
	return b.String()
}
