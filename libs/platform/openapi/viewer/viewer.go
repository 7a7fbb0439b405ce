// Package viewer renders an OpenAPI document as an HTML page. The page uses the script
// RapiDoc. The program contains the script, so that the page loads nothing from other hosts.
package viewer

import (
	"bytes"
	_ "embed" // embeds the files below
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

// Page is the data of an HTML page that documents an API for developers.
type Page struct {
	Title string
	// part of Slotmesh that the page documents, such as a service; the page shows it beside the name Slotmesh
	Part     string
	Sections []Section
	Script   string // URL path of the file [Script]
	Document string // URL path of the OpenAPI document
	CanTry   bool   // whether readers can send requests from the page
	Content  any    // data for the template of the main part
}

// Section is a part of the page that has a link in the navigation. ID is the id attribute of the section's HTML
// element.
type Section struct{ ID, Name string }

// policy is the Content-Security-Policy of the page. It permits only scripts from the page's own origin and
// requests to that origin. The viewer sets style attributes, which requires 'unsafe-inline' for styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var securityHeaders = map[string]string{
	"Content-Security-Policy": policy,
	"X-Content-Type-Options":  "nosniff",
	"Referrer-Policy":         "no-referrer",
}

// File renders the page as a file. The argument `main` is an html/template for the main part of the page.
// The data of the template is the page. The template includes the viewer with {{template "reference"}}.
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

// Script returns the JavaScript file of the viewer. The script uses
// the colours of the page. The file is created once per process.
var Script = sync.OnceValue(func() *openapi.File {
	return openapi.NewFile(slices.Concat(adaptViewer(rapidoc), colours), fiber.MIMETextJavaScriptCharsetUTF8,
		securityHeaders)
})

// adaptViewer replaces the main elements of the viewer with div elements, because the page has its own main element.
func adaptViewer(viewer []byte) []byte {
	return []byte(strings.NewReplacer("<main ", "<div ", "</main>", "</div>").Replace(string(viewer)))
}
