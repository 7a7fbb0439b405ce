// Package viewer renders an OpenAPI document as a page with RapiDoc. The
// script is bundled, so that the page loads nothing from other hosts.
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

	"github.com/slotmesh/slotmesh/libs/platform/openapi"
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
	Part     string // part of Slotmesh, shown beside its name
	Sections []Section
	Script   string // path of [Script]
	Document string // path of the OpenAPI document
	CanTry   bool   // whether the reference sends requests
	Content  any    // data of the main part
}

// Section is a part of a page to which the navigation links; ID is the id of its element.
type Section struct{ ID, Name string }

// policy is the Content-Security-Policy of the page. It permits only the page's own script and requests
// to the page's own origin. The viewer sets style attributes, which requires 'unsafe-inline' for styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var securityHeaders = map[string]string{
	"Content-Security-Policy": policy,
	"X-Content-Type-Options":  "nosniff",
	"Referrer-Policy":         "no-referrer",
}

// File renders the page as a file. The argument main is an html/template for the main part of the page.
// It is executed with the page as its data, and includes the viewer with the template "reference".
func (p Page) File(main string) (*openapi.File, error) {
	page, err := template.New("page").Funcs(template.FuncMap{"style": func() template.CSS {
		return template.CSS(style)
	}}).Parse(frame)
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
	return openapi.NewFile(html.Bytes(), fiber.MIMETextHTMLCharsetUTF8, securityHeaders), nil
}

// Script returns the file of the viewer, which uses the colours of its page. It is created once per process.
var Script = sync.OnceValue(func() *openapi.File {
	return openapi.NewFile(slices.Concat(adaptViewer(rapidoc), colours), fiber.MIMETextJavaScriptCharsetUTF8,
		securityHeaders)
})

// adaptViewer adapts the viewer for a page that has its own main element.
func adaptViewer(viewer []byte) []byte {
	return []byte(strings.NewReplacer("<main ", "<div ", "</main>", "</div>").Replace(string(viewer)))
}
