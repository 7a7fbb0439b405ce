// Package docs describes the public interface: the OpenAPI document, written by hand, and a page that shows it. The
// page's viewer is bundled; nothing is loaded from elsewhere.
package docs

import (
	_ "embed" // the files below
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/openapi"
)

var (
	//go:embed public.yaml
	source []byte
	//go:embed page.html
	page []byte
	//go:embed rapidoc-min.js
	viewer []byte
)

// policy lets the page run its own viewer and ask its own origin, and nothing else. The viewer sets style attributes,
// hence 'unsafe-inline' for styles alone.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

var guarded = map[string]string{
	"Content-Security-Policy": policy,
	"X-Content-Type-Options":  "nosniff",
	"Referrer-Policy":         "no-referrer",
}

// Mount adds the routes: the document, the page, and the page's viewer.
func Mount(router fiber.Router) error {
	document, err := openapi.Document(source)
	if err != nil {
		return fmt.Errorf("the description of the public interface: %w", err)
	}
	router.Get("/api/public/openapi.json", document.Serve)
	router.Get("/api/public/docs", openapi.NewFile(page, fiber.MIMETextHTMLCharsetUTF8, guarded).Serve)
	router.Get("/api/public/docs.js", openapi.NewFile(viewer, fiber.MIMETextJavaScriptCharsetUTF8, guarded).Serve)
	return nil
}
