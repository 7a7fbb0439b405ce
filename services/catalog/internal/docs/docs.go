// Package docs serves the reference of the public API: the OpenAPI document, which is written by hand, and a page that
// shows it and can send requests. The tests of this package also write the pages of the book docs/api about programs,
// errors and events.
package docs

import (
	_ "embed" // for the files below
	"fmt"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/event/catalogue"
	"github.com/slotmesh/slotmesh/libs/platform/lru"
	"github.com/slotmesh/slotmesh/libs/platform/openapi"
	"github.com/slotmesh/slotmesh/libs/platform/openapi/viewer"
)

//go:generate go test . -run ^TestBookPagesAreCurrent$ -update

//go:embed public.yaml
var source []byte

// collection returns the Postman collection. It is built once
// per process, because tests start many services in one process.
var collection = sync.OnceValues(func() ([]byte, error) { return convertToPostman(source) })

// document returns the OpenAPI document: the source with the
// webhooks of the event catalogue. It is built once per process.
var document = sync.OnceValues(func() (*openapi.File, error) {
	webhooks, err := catalogue.Webhooks(false)
	if err != nil {
		return nil, err
	}
	whole, err := openapi.WithMember(source, "webhooks", webhooks)
	if err != nil {
		return nil, err
	}
	return openapi.Document(whole)
})

// maxCollections is the maximum memory for cached Postman collections, in bytes. The cache has one collection for
// each base URL, which depends on the Host header. The limit is needed because callers can send any Host header.
const maxCollections = 1 << 20

// newPage renders the page of the reference.
func newPage() (*openapi.File, error) {
	const book = "/docs/api/"
	return viewer.Page{
		Title: "Read what a business offers, ask when it is free, and book.", Part: "for developers",
		Lead: "Every business has a name of its own in each address, such as harbor-studio. Reading needs no key and works " +
			"from any web page. Booking needs a key and is for servers. Open a call, fill in the business, and send it.",
		Guides: []viewer.Guide{
			{Path: book + "quick-start", Name: "Quick start"}, {Path: book + "authentication", Name: "Keys"},
			{Path: book + "errors/", Name: "Errors"}, {Path: book + "limits", Name: "Limits"},
			{Path: book + "idempotency", Name: "Retries"}, {Path: book + "webhooks", Name: "Webhooks"},
			{Path: book + "mcp", Name: "Agents"}, {Path: book + "tools", Name: "Clients and tools"},
		},
		Script: "docs.js", Document: "openapi.json", CanTry: true,
	}.File()
}

// Mount adds the routes of the OpenAPI document, the Postman collection, the page and its script.
func Mount(router fiber.Router) error {
	document, err := document()
	if err != nil {
		return fmt.Errorf("the description of the public interface: %w", err)
	}
	forPostman, err := collection()
	if err != nil {
		return err
	}
	bySite := lru.New[string](maxCollections, func(*openapi.File) int { return len(forPostman) })
	servePostman := func(c *fiber.Ctx) error {
		site := c.BaseURL()
		file, isKnown := bySite.Get(site)
		if !isKnown {
			file = openapi.NewFile(fillSite(forPostman, site), fiber.MIMEApplicationJSON, nil)
			bySite.Put(site, file)
		}
		return file.Serve(c)
	}
	page, err := newPage()
	if err != nil {
		return err
	}
	router.Get("/api/public/openapi.json", document.Serve)
	router.Get("/api/public/postman.json", servePostman)
	router.Get("/api/public/docs", page.Serve)
	router.Get("/api/public/docs.js", viewer.ServeScript)
	return nil
}
