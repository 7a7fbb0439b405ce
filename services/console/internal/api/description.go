package api

import (
	_ "embed" // the description
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/openapi"
)

//go:embed admin.yaml
var description []byte

// MountDescription adds the OpenAPI document of the admin API, for operators as all else.
func (a *Admin) MountDescription(router fiber.Router) error {
	document, err := openapi.Document(description)
	if err != nil {
		return fmt.Errorf("the description of the admin API: %w", err)
	}
	router.Get("/admin/openapi.json", document.Serve)
	return nil
}
