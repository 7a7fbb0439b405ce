package locale

import (
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Sanitizer is the version of [Sanitize]; increment it when the output changes. It is stored
// together with sanitized text. A program with a newer version sanitizes the original text again.
const Sanitizer = 1

// Sanitize returns the permitted part of HTML that an owner wrote (semantics.md §6): links, lists,
// emphasis, headings, paragraphs and breaks, without attributes except a link's. The text of all other
// elements is kept, unless it is not readable prose: scripts, styles, comments, input fields and
// drawings. If a removed block, such as a div or a table row, separated text, a line break replaces it.
//
// Links keep an absolute http, https or mailto address and open in a new page. The result is well formed,
// so that no open tag affects the surrounding page. Sanitizing the result again does not change it.
func Sanitize(dirty string) string {
	s := strings.ToValidUTF8(dirty, "\uFFFD")
	if !strings.ContainsAny(s, "<>&\"'\r\x00") {
		return s // plain text, as most short fields are
	}
	// An HTML5 parser reads the tags before the policy is applied, and reads the result of the policy again.
	body, ok := parse(s)
	if !ok {
		return stripTags(s)
	}
	breakBlocks(body)
	if stable, ok := sanitizeUntilStable(policy.Sanitize(render(body))); ok {
		return stable
	}
	return stripTags(s)
}

// maxRounds bounds [sanitizeUntilStable]. Prose needs one round; only random sequences of tags need a second or third.
const maxRounds = 8

// sanitizeUntilStable parses and renders s until the result no longer changes. One round may not
// suffice: parsing moves elements that HTML does not permit to nest, and the moved
// elements may be invalid again. It returns false if s still changes after [maxRounds].
func sanitizeUntilStable(s string) (string, bool) {
	for range maxRounds {
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

// stripTags returns the text of HTML that nests too deep for the parser or does not stabilize.
func stripTags(s string) string {
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
	p.AllowRelativeURLs(false) // an owner's text has no base address
	p.RequireNoFollowOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true) // also sets rel=noopener
	skipUnread(p)
	return p
}

var textOnly = newTextPolicy()

func newTextPolicy() *bluemonday.Policy {
	p := bluemonday.StrictPolicy()
	skipUnread(p)
	return p
}

// skipUnread makes a policy drop the contents of the elements in unread.
func skipUnread(p *bluemonday.Policy) {
	for a := range unreadElements {
		p.SkipElementsContent(a.String())
	}
}

// parse parses s like a browser parses the contents of an element, and returns
// that element. It returns false if s nests deeper than the parser supports.
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

// render returns the HTML of the contents of body.
func render(body *html.Node) string {
	var b strings.Builder
	for n := range body.ChildNodes() {
		if err := html.Render(&b, n); err != nil {
			return "" // unreachable: a builder accepts all writes, and a parsed tree can be rendered
		}
	}
	return b.String()
}
