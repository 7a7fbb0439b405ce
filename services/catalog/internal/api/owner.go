package api

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
	"github.com/slotmesh/slotmesh/services/catalog/internal/usecase"
)

// Owner serves the operations of business owners (admin.md) on the internal port.
type Owner struct {
	Businesses *usecase.Owner
	Store      *store.Store // Store is used for reads only
}

// Mount adds the routes below /internal/businesses and the route /internal/removed.
func (o *Owner) Mount(router fiber.Router) {
	router.Get("/internal/businesses", o.list)
	router.Get("/internal/removed", o.listRemoved)
	business := router.Group("/internal/businesses/:slug")
	business.Put("", o.handleIdempotently(o.publish, o.repeatPublished))
	business.Get("", o.get)
	business.Delete("", o.handleIdempotently(o.remove, o.repeatRemoved))
	business.Get("/versions", o.listVersions)
	business.Post("/rollback", o.handleIdempotently(o.rollback, o.repeatPublished))
	business.Post("/offer", o.compile)
}

// handleIdempotently returns a handler that runs `change` at most once for each slug and Idempotency-Key. If an earlier
// request made the change, the handler passes the stored result to the function `repeat`, which sends the response.
func (o *Owner) handleIdempotently(change fiber.Handler, repeat func(*fiber.Ctx, []byte) error) fiber.Handler {
	return server.HandleIdempotently(change, func(c *fiber.Ctx) ([]byte, error) {
		slug, err := server.Slug(c)
		if err != nil {
			return nil, err
		}
		return o.Store.FindIdempotencyResult(c.UserContext(), slug)
	}, repeat)
}

func (o *Owner) repeatPublished(c *fiber.Ctx, answer []byte) error {
	var published store.Published
	if err := json.Unmarshal(answer, &published); err != nil {
		return err
	}
	if err := o.Businesses.Announce(c.UserContext(), "published before", c.Params("slug"), published.BusinessID,
		published.Version); err != nil {
		return err
	}
	return sendPublished(c, published)
}

func (o *Owner) publish(c *fiber.Ctx) error {
	ifMatch, err := ifMatchHeader(c)
	if err != nil {
		return err
	}
	binds, err := server.Query(c).Flag(catalog.BindAccounts)
	if err != nil {
		return err
	}
	source, err := server.Body(c)
	if err != nil {
		return err
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	published, err := o.Businesses.Publish(c.UserContext(), slug, source, ifMatch, binds)
	if err != nil {
		return err
	}
	return sendPublished(c, published)
}

// compile responds with the snapshot that a publish of the request's body would create. It publishes nothing.
func (o *Owner) compile(c *fiber.Ctx) error {
	source, err := server.Body(c)
	if err != nil {
		return err
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	compiled, err := o.Businesses.Compile(c.UserContext(), slug, source)
	if err != nil {
		return err
	}
	return c.JSON(compiled.Snapshot)
}

// ifMatchHeader returns the number of the version in the header If-Match. ifMatchHeader returns nil
// if the header is missing, and 0 for If-None-Match: *, which means that the business must not be
// published yet. Fault: invalid_parameter if the header does not contain a version number in quotes.
func ifMatchHeader(c *fiber.Ctx) (*int64, error) {
	if c.Get(fiber.HeaderIfNoneMatch) == "*" {
		return new(int64), nil
	}
	header := strings.TrimSpace(c.Get(fiber.HeaderIfMatch))
	if header == "" {
		return nil, nil
	}
	version, err := strconv.ParseInt(strings.Trim(header, `"`), 10, 64)
	if err != nil || version < 1 {
		return nil, fault.New(fault.InvalidParameter,
			`If-Match: not a version; write the newest one you know in quotes, such as "3".`)
	}
	return &version, nil
}

func sendPublished(c *fiber.Ctx, p store.Published) error {
	if p.IsNew {
		c.Status(fiber.StatusCreated)
	}
	c.Set(fiber.HeaderETag, versionTag(p.Version))
	return c.JSON(catalog.Published{ID: p.BusinessID, Slug: c.Params("slug"), Version: p.Version, Created: p.IsNew})
}

func (o *Owner) rollback(c *fiber.Ctx) error {
	ifMatch, err := ifMatchHeader(c)
	if err != nil {
		return err
	}
	binds, err := server.Query(c).Flag(catalog.BindAccounts)
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	var version catalog.Rollback
	if err := json.Unmarshal(body, &version); err != nil || version.Version < 1 {
		return fault.New(fault.InvalidParameter,
			`version: missing or not a whole number from 1 on; send {"version": 3}.`)
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	published, err := o.Businesses.Rollback(c.UserContext(), slug, version.Version, ifMatch, binds)
	if err != nil {
		return err
	}
	return sendPublished(c, published)
}

func (o *Owner) remove(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	var id uuid.UUID
	if text := c.Query("id"); text != "" {
		if id, err = request.ID("id", text); err != nil {
			return err
		}
	}
	if err := o.Businesses.Remove(c.UserContext(), slug, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (o *Owner) repeatRemoved(c *fiber.Ctx, answer []byte) error {
	var removed store.Removed
	if err := json.Unmarshal(answer, &removed); err != nil {
		return err
	}
	err := o.Businesses.Announce(c.UserContext(), "removed before", c.Params("slug"), removed.BusinessID,
		removed.LastVersion+1)
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func versionTag(version int64) string { return fmt.Sprintf(`"%d"`, version) }
