package locale

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// keptBlocks are the block elements that [Sanitize] keeps. droppedBlocks are elements that [Sanitize] removes and
// replaces with a line break. Browsers show these elements as separate blocks or table cells.
var (
	keptBlocks = newAtomSet(atom.P, atom.Ul, atom.Ol, atom.Li, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6)

	droppedBlocks = newAtomSet(atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Caption, atom.Center,
		atom.Dd,
		atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure,
		atom.Footer, atom.Form, atom.Header, atom.Hgroup, atom.Hr, atom.Legend, atom.Main, atom.Menu, atom.Nav,
		atom.Optgroup, atom.Option, atom.Pre, atom.Search, atom.Section, atom.Summary, atom.Table, atom.Tbody, atom.Td,
		atom.Tfoot, atom.Th, atom.Thead, atom.Tr)
)

func newAtomSet(list ...atom.Atom) map[atom.Atom]bool {
	set := make(map[atom.Atom]bool, len(list))
	for _, a := range list {
		set[a] = true
	}
	return set
}

func isBlock(a atom.Atom) bool { return keptBlocks[a] || droppedBlocks[a] }

// unreadElements are the elements whose text is not prose, such as
// scripts. [Sanitize] removes them together with their contents.
var unreadElements = newAtomSet(atom.Audio, atom.Canvas, atom.Datalist, atom.Iframe, atom.Math, atom.Noembed,
	atom.Noframes,
	atom.Noscript, atom.Object, atom.Script, atom.Select, atom.Style, atom.Svg, atom.Template, atom.Textarea,
	atom.Title, atom.Video, atom.Xmp)

// breakBlocks inserts a br element at the border of a block that [Sanitize]
// removes, if the texts on both sides would otherwise run together.
func breakBlocks(body *html.Node) {
	var b borderWalker
	b.walk(body)
}

// borderWalker visits the nodes of a tree in document order. It remembers the first border of a dropped block that it
// has passed since the last text.
type borderWalker struct {
	afterText   bool       // whether there is text since the last line end
	firstBorder *html.Node // first dropped block whose border was passed since the last text
	atEnd       bool       // whether this border is the end of firstBorder; if not, it is the start
}

func (b *borderWalker) walk(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.visit(c)
	}
}

func (b *borderWalker) visit(n *html.Node) {
	switch {
	case n.Type == html.TextNode && strings.Trim(n.Data, whiteSpace) != "":
		b.noteText()
	case n.Type != html.ElementNode || unreadElements[n.DataAtom]:
	case n.DataAtom == atom.Br || keptBlocks[n.DataAtom]:
		*b = borderWalker{}
		b.walk(n)
		*b = borderWalker{}
	case droppedBlocks[n.DataAtom]:
		b.noteBorder(n, false)
		b.walk(n)
		b.noteBorder(n, true)
	default:
		b.walk(n)
	}
}

func (b *borderWalker) noteBorder(n *html.Node, atEnd bool) {
	if b.afterText && b.firstBorder == nil {
		b.firstBorder, b.atEnd = n, atEnd
	}
}

func (b *borderWalker) noteText() {
	if b.firstBorder != nil {
		before := b.firstBorder
		if b.atEnd {
			before = b.firstBorder.NextSibling
		}
		b.firstBorder.Parent.InsertBefore(&html.Node{Type: html.ElementNode, Data: "br", DataAtom: atom.Br}, before)
	}
	*b = borderWalker{afterText: true}
}
