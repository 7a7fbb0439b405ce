// Package viewer renders an OpenAPI document as an HTML page. The page uses the script
// RapiDoc. The program contains the script, so that the page loads nothing from other hosts.
package viewer

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed" // embeds the files below
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/openapi"
)

var (
	//go:embed rapidoc-min.js.gz
	rapidoc []byte
	//go:embed colours.js
	colours []byte
	//go:embed page.css
	style string
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate -log-level error

// Page is the data of an HTML page with the reference of an API.
type Page struct {
	Title, Lead string
	// part of Slotmesh that the page documents, such as a service; the page shows it beside the name Slotmesh
	Part     string
	Guides   []Guide
	Script   string // URL path of the file that [ServeScript] sends
	Document string // URL path of the OpenAPI document
	CanTry   bool   // whether readers can send requests from the page
}

// Guide is a page of the documentation that the navigation links to.
type Guide struct{ Path, Name string }

// policy is the Content-Security-Policy of the page. It permits only scripts from the page's own origin and
// requests to that origin. The viewer sets style attributes, which requires 'unsafe-inline' for styles.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var securityHeaders = map[string]string{
	"Content-Security-Policy": policy,
	"X-Content-Type-Options":  "nosniff",
	"Referrer-Policy":         "no-referrer",
}

// File renders the page as a file.
func (p Page) File() (*openapi.File, error) {
	var html bytes.Buffer
	if err := p.document().Render(context.Background(), &html); err != nil {
		return nil, fmt.Errorf("the page %q: %w", p.Title, err)
	}
	return openapi.NewFile(html.Bytes(), fiber.MIMETextHTMLCharsetUTF8, securityHeaders), nil
}

// ServeScript sends the JavaScript file of the viewer. The script uses the colours of the page.
func ServeScript(c *fiber.Ctx) error {
	file, err := script()
	if err != nil {
		return err
	}
	return file.Serve(c)
}

// script returns the file at its first request, so that processes without readers do not keep it in memory.
var script = sync.OnceValues(func() (*openapi.File, error) {
	packed, err := gzip.NewReader(bytes.NewReader(rapidoc))
	if err != nil {
		return nil, err
	}
	viewer, err := io.ReadAll(packed)
	if err != nil {
		return nil, err
	}
	return openapi.NewFile(slices.Concat(adaptViewer(viewer), colours), fiber.MIMETextJavaScriptCharsetUTF8,
		securityHeaders), nil
})

// adaptViewer replaces the main elements of the viewer with div elements, because the page has its own main element.
func adaptViewer(viewer []byte) []byte {
	return []byte(strings.NewReplacer("<main ", "<div ", "</main>", "</div>").Replace(string(viewer)))
}
