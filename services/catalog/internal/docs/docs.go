// Package docs serves the documentation of the public API: the OpenAPI document and the developers'
// page. The OpenAPI document is written by hand. The page has a guide, whose example programs are
// tested. It also has a reference, which is generated from the OpenAPI document and can send requests.
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

var (
	//go:embed public.yaml
	source []byte
	//go:embed page.html
	pageSource string
)

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

// Mount adds the routes of the OpenAPI document, the Postman collection, the developers' page and the page's script.
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
	page, err := newGuide()
	if err != nil {
		return err
	}
	router.Get("/api/public/openapi.json", document.Serve)
	router.Get("/api/public/postman.json", servePostman)
	router.Get("/api/public/docs", page.Serve)
	router.Get("/api/public/docs.js", viewer.Script().Serve)
	return nil
}
