package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/catalog/internal/api"
)

// unwritable is a store that publishes nothing: a publish that came so far would panic.
type unwritable struct{ api.Store }

func (unwritable) Predecessors(context.Context, string) (int, error) { return 0, nil }

// A manifest may take long to read. Nobody waits for it once the request has ended, so it is given up then.
func TestAManifestIsNotCheckedAfterItsRequestEnded(t *testing.T) {
	t.Parallel()
	over, end := context.WithCancel(t.Context())
	end()
	var answered error
	app := fiber.New(fiber.Config{ErrorHandler: func(c *fiber.Ctx, err error) error {
		answered = err
		return c.SendStatus(fault.KindOf(err).Status)
	}})
	app.Use(func(c *fiber.Ctx) error {
		c.SetUserContext(over)
		return c.Next()
	})
	(&api.Owner{Store: unwritable{}, Telemetry: telemetry.Discard()}).Mount(app)
	req := httptest.NewRequest(http.MethodPut, "/internal/businesses/harbor", strings.NewReader(string(harbor(t))))
	res, err := app.Test(req, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(answered.Error(), "could not be checked in time") {
		t.Errorf("%d: %v", res.StatusCode, answered)
	}
}
