// Package viewer shows an OpenAPI document on a page: RapiDoc, bundled, so that nothing is loaded from elsewhere, with what such pages look like.
package viewer

import (
	"bytes"
	_ "embed" // the files below
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/openapi"
)

var (
	//go:embed rapidoc-min.js
	rapidoc []byte
	//go:embed colours.js
	colours []byte
	//go:embed page.css
	style string
	//go:embed page.html
	frame string
)

// Page is a page for developers.
type Page struct {
	Title    string
	Part     string // of Slotmesh, beside its name
	Sections []Section
	Script   string // where [Script] is served
	Document string // where the OpenAPI document is
	Try      bool   // whether the reference sends requests
	Content  any    // what the main part shows
}

// Section is a part of a page that its navigation leads to: the ID is an element's.
type Section struct{ ID, Name string }

// policy lets a page run its own viewer and ask its own origin, and nothing else. The viewer sets style attributes,
// hence 'unsafe-inline' for styles alone.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var guarded = map[string]string{
	"Content-Security-Policy": policy,
	"X-Content-Type-Options":  "nosniff",
	"Referrer-Policy":         "no-referrer",
}

// File renders the page, whose main part is a template of html/template that is given the page. Its template "reference" is the document's viewer.
func (p Page) File(main string) (*openapi.File, error) {
	page, err := template.New("page").Funcs(template.FuncMap{"style": func() template.CSS { return template.CSS(style) }}).Parse(frame)
	if err == nil {
		_, err = page.New("main").Parse(main)
	}
	var html bytes.Buffer
	if err == nil {
		err = page.Execute(&html, p)
	}
	if err != nil {
		return nil, fmt.Errorf("the page %q: %w", p.Title, err)
	}
	return openapi.NewFile(html.Bytes(), fiber.MIMETextHTMLCharsetUTF8, guarded), nil
}

// Script returns the file of the viewer, which takes the colours of its page. It is made once in a process.
var Script = sync.OnceValue(func() *openapi.File {
	return openapi.NewFile(slices.Concat(within(rapidoc), colours), fiber.MIMETextJavaScriptCharsetUTF8, guarded)
})

// within makes the viewer a part of a page, which has its own main part.
func within(viewer []byte) []byte {
	return []byte(strings.NewReplacer("<main ", "<div ", "</main>", "</div>").Replace(string(viewer)))
}
