// Package docs describes the public interface: the OpenAPI document, written by hand, and the developers' page, a guide with programs that
// the tests run, and a reference made of the document, to try it.
package docs

import (
	_ "embed" // the files below
	"fmt"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/event/catalogue"
	"github.com/slotmesh/slotmesh/libs/lru"
	"github.com/slotmesh/slotmesh/libs/openapi"
	"github.com/slotmesh/slotmesh/libs/openapi/viewer"
)

var (
	//go:embed public.yaml
	source []byte
	//go:embed page.html
	pageSource string
)

// collection is made once in a process, in which tests start many.
var collection = sync.OnceValues(func() ([]byte, error) { return postman(source) })

// document is made once in a process: the description, and the webhooks of the catalogue of events.
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

// maxCollections bounds the memory for collections of Postman by the address of their site: a caller can send any Host.
const maxCollections = 1 << 20 // bytes

// Mount adds the routes: the document, the same as a collection of Postman, the page, and the page's viewer.
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
			file = openapi.NewFile(collectionOf(forPostman, site), fiber.MIMEApplicationJSON, nil)
			bySite.Put(site, file)
		}
		return file.Serve(c)
	}
	page, err := guide()
	if err != nil {
		return err
	}
	router.Get("/api/public/openapi.json", document.Serve)
	router.Get("/api/public/postman.json", servePostman)
	router.Get("/api/public/docs", page.Serve)
	router.Get("/api/public/docs.js", viewer.Script().Serve)
	return nil
}
