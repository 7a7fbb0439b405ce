// Package viewer shows an OpenAPI document on a page: RapiDoc, bundled, so that nothing is loaded from elsewhere, with what such pages look like.
// A page has the element rapi-doc, and loads [Script].
package viewer

import (
	_ "embed" // the files below
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
)

// Style is how these pages look, for a style element.
var Style = template.CSS(style)

// policy lets a page run its own viewer and ask its own origin, and nothing else. The viewer sets style attributes,
// hence 'unsafe-inline' for styles alone.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var guarded = map[string]string{
	"Content-Security-Policy": policy,
	"X-Content-Type-Options":  "nosniff",
	"Referrer-Policy":         "no-referrer",
}

// Page returns the file of a page.
func Page(html []byte) *openapi.File {
	return openapi.NewFile(html, fiber.MIMETextHTMLCharsetUTF8, guarded)
}

// Script returns the file of the viewer, which takes the colours of its page. It is made once in a process.
var Script = sync.OnceValue(func() *openapi.File {
	return openapi.NewFile(slices.Concat(within(rapidoc), colours), fiber.MIMETextJavaScriptCharsetUTF8, guarded)
})

// within makes the viewer a part of a page, which has its own main part.
func within(viewer []byte) []byte {
	return []byte(strings.NewReplacer("<main ", "<div ", "</main>", "</div>").Replace(string(viewer)))
}
