package docs

import (
	"bytes"
	"html"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// repository is where links to files outside of the books lead.
const repository = "https://github.com/slotmesh/slotmesh/blob/main/"

// folderKey is the key of the folder of the page in the parser's context.
var folderKey = parser.NewContextKey()

var converter = goldmark.New(goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(links{}, 100))),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(nodes{}, 100))))

// render converts a page in a folder of the books to HTML.
func render(folder string, source []byte) (string, error) {
	ctx := parser.NewContext(parser.WithIDs(anchors{}))
	ctx.Set(folderKey, folder)
	var out bytes.Buffer
	err := converter.Convert(source, &out, parser.WithContext(ctx))
	return out.String(), err
}

// anchors gives headings the same anchors as GitHub does, so that links work in both places.
type anchors map[string]int

// Generate returns the anchor of a heading.
func (a anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	anchor := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.Is(unicode.Nd, r), r == '_', r == '-':
			return unicode.ToLower(r)
		}
		return -1
	}, string(heading))
	a[anchor]++
	if n := a[anchor]; n > 1 {
		anchor += "-" + strconv.Itoa(n-1)
	}
	return []byte(anchor)
}

// Put is part of the interface; no heading has an anchor of its own.
func (anchors) Put([]byte) {}

// links makes relative links absolute: to a page of the books, or to a file of the repository.
type links struct{}

// Transform changes the links of a document.
func (links) Transform(document *ast.Document, _ text.Reader, ctx parser.Context) {
	folder, _ := ctx.Get(folderKey).(string)
	// The visitor returns no errors.
	_ = ast.Walk(document, func(node ast.Node, isEntering bool) (ast.WalkStatus, error) {
		if link, isLink := node.(*ast.Link); isLink && isEntering {
			link.Destination = []byte(resolve(folder, string(link.Destination)))
		}
		return ast.WalkContinue, nil
	})
}

// resolve returns the address of a link in a page of the folder.
func resolve(folder, target string) string {
	if strings.HasPrefix(target, "#") || strings.HasPrefix(target, "/") || strings.Contains(target, ":") {
		return target
	}
	name, anchor, hasAnchor := strings.Cut(target, "#")
	name = path.Join(folder, name)
	if hasAnchor {
		anchor = "#" + anchor
	}
	if outside, isOutside := strings.CutPrefix(name, "../"); isOutside {
		return repository + outside + anchor
	}
	if strings.HasSuffix(name, ".md") {
		name = pathOf(name)
	}
	return root + "/" + name + anchor
}

// nodes renders code, which readers can scroll with the keyboard, and placeholders such as <API_KEY> as text.
type nodes struct{}

// RegisterFuncs registers the functions that render nodes.
func (nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindCodeBlock, renderCode)
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, node ast.Node, isEntering bool) (ast.WalkStatus,
		error) {
		if raw, isRaw := node.(*ast.RawHTML); isRaw && isEntering {
			_, _ = w.WriteString(html.EscapeString(string(raw.Segments.Value(source))))
		}
		return ast.WalkSkipChildren, nil
	})
}

func renderCode(w util.BufWriter, source []byte, node ast.Node, isEntering bool) (ast.WalkStatus, error) {
	if isEntering {
		_, _ = w.WriteString(`<pre tabindex="0"><code>` + html.EscapeString(string(node.Lines().Value(source))) +
			"</code></pre>\n")
	}
	return ast.WalkContinue, nil
}
