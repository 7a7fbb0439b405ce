package api

import (
	_ "embed" // the description
	"fmt"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/openapi"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
	"github.com/slotmesh/slotmesh/services/console/internal/gate"
)

//go:embed admin.yaml
var description []byte

// MountDescription adds the OpenAPI document of the admin API, for whoever has a token.
func (a *Admin) MountDescription(router fiber.Router) error {
	document, err := openapi.Document(description)
	if err != nil {
		return fmt.Errorf("the description of the admin API: %w", err)
	}
	gate.New(router, "/admin", a.Owner.Business).Get("/openapi.json", access.SignedIn, document.Serve)
	return nil
}
