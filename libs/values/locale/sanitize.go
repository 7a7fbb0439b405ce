package locale

import (
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Sanitizer is the version of [Sanitize]. It must be incremented when the output of Sanitize changes. Services store
// the version with each sanitized text. If the version of the program is newer, they sanitize the original text again.
const Sanitizer = 1

// Sanitize returns the permitted part of the HTML that an owner wrote (semantics.md §6). It keeps links, lists,
// emphasis, headings, paragraphs and line breaks, and removes all attributes except the attributes of links. It removes
// other elements, but keeps their text. It also removes the text of elements that are not prose: scripts, styles,
// comments, input fields and drawings. A removed block that separated two texts, such as a div or a table row, is
// replaced by a line break.
//
// Links keep their URL if it is an absolute http, https or mailto URL, and open in a new page. The result is
// well-formed, so that it does not affect the surrounding page. Sanitizing the result again does not change it.
func Sanitize(dirty string) string {
	s := strings.ToValidUTF8(dirty, "\uFFFD")
	if !strings.ContainsAny(s, "<>&\"'\r\x00") {
		return s // s is plain text, as most short fields are
	}
	// Sanitize parses the HTML as a browser does before it applies
	// the policy. It parses the result of the policy again.
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

// maxRounds is the maximal number of rounds of [sanitizeUntilStable]. Prose
// needs one round. Only random sequences of tags need a second or third round.
const maxRounds = 8

// sanitizeUntilStable parses and renders `s` repeatedly until the result no longer changes. One round may not be
// enough. The parser moves an element if HTML does not permit the nesting. After that, the element may be nested
// incorrectly at its new place. The function returns false if the result still changes after [maxRounds].
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

// stripTags returns only the text of HTML. It is used if the HTML is nested too
// deeply for the parser, or if the result of the policy does not become stable.
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
	p.AllowRelativeURLs(false) // the text of an owner has no base URL to resolve relative URLs
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

// skipUnread makes a policy remove the contents of unreadElements.
func skipUnread(p *bluemonday.Policy) {
	for a := range unreadElements {
		p.SkipElementsContent(a.String())
	}
}

// parse parses `s` as a browser parses the contents of an element. It returns an element with
// these contents. It returns false if `s` is nested more deeply than the parser supports.
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

// render returns the contents of body as HTML.
func render(body *html.Node) string {
	var b strings.Builder
	for n := range body.ChildNodes() {
		if err := html.Render(&b, n); err != nil {
			return "" // cannot happen: a builder accepts all writes, and a parsed tree can be rendered
		}
	}
	return b.String()
}
