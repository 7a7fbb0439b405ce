package api

import (
	_ "embed" // the OpenAPI document
	"fmt"
	"sync"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/event/catalogue"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/openapi"
	"github.com/slotmesh/slotmesh/libs/platform/openapi/viewer"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
)

//go:embed admin.yaml
var description []byte

// The paths of the OpenAPI document of the admin API and of the page that shows this document. Requests to these paths
// need no token, because the answers contain no data of businesses.
const (
	referencePage     = "/developers"
	referenceScript   = "/developers/viewer.js"
	referenceDocument = "/developers/openapi.json"
)

// manifestSchema is the path of the JSON Schema of manifests, which editors read. Requests to this path need no token:
// editors have no token, and the schema contains no data of businesses.
const manifestSchema = "/manifest.schema.json"

// loadDescription returns the OpenAPI document of the admin API. Only the first call builds the document, because all
// servers of a process serve the same document.
var loadDescription = sync.OnceValues(func() (*openapi.File, error) {
	whole, err := openapi.WithSchema(description, "Manifest", manifest.Schema)
	if err != nil {
		return nil, err
	}
	webhooks, err := catalogue.Webhooks(true)
	if err != nil {
		return nil, err
	}
	if whole, err = openapi.WithMember(whole, "webhooks", webhooks); err != nil {
		return nil, err
	}
	return openapi.Document(whole)
})

// MountDescription adds three public routes: for the OpenAPI document of the admin API, for the page that shows the
// document, and for the JSON Schema of manifests.
func (a *Admin) MountDescription(router fiber.Router) error {
	document, err := loadDescription()
	if err != nil {
		return fmt.Errorf("the description of the admin API: %w", err)
	}
	page, err := loadReference()
	if err != nil {
		return err
	}
	router.Get(referencePage, page.Serve)
	router.Get(referenceScript, viewer.ServeScript)
	router.Get(referenceDocument, document.Serve)
	router.Get(manifestSchema, openapi.NewFile(manifest.Schema, "application/schema+json", nil).Serve)
	authorize.New(router, "/admin", a.Rooms.FindBusiness, a.Rooms.Accounts).Get("/openapi.json", access.SignedIn,
		document.Serve)
	return nil
}

// loadReference renders the page that shows the OpenAPI document of the admin API.
func loadReference() (*openapi.File, error) {
	const book = "/docs/api/"
	return viewer.Page{
		Title: "What the owner's side does, programs can do.", Part: "admin API", Script: referenceScript,
		Document: referenceDocument,
		Lead: "Publish an offer, book and reschedule, cancel and refund, sell tickets, and look after customers, webhooks " +
			"and the team. Reading offers and booking for customers is the public API, on the host of the booking pages.",
		Guides: []viewer.Guide{{Path: book + "admin", Name: "Tokens"}, {Path: book + "errors/", Name: "Errors"},
			{Path: book + "idempotency", Name: "Retries"}, {Path: book + "webhooks", Name: "Webhooks"},
			{Path: book + "tools", Name: "Clients and tools"}},
	}.File()
}
