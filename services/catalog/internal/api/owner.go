package api

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
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

// Mount adds the endpoints of businesses.
func (o *Owner) Mount(r *server.Internal) {
	server.Mount(r, catalogclient.ListBusinesses, o.list)
	server.Mount(r, catalogclient.ListRemoved, o.listRemoved)
	r.Handle(catalogclient.Publish.Row,
		server.HandleIdempotently(o.publish, o.findIdempotencyResult, o.repeatPublished))
	r.Handle(catalogclient.ReadManifest.Row, o.get)
	server.MountIdempotent(r, catalogclient.Remove, o.remove, o.findIdempotencyResult, o.repeatRemoved)
	server.Mount(r, catalogclient.ListVersions, o.listVersions)
	r.Handle(catalogclient.Rollback.Row,
		server.HandleIdempotently(o.rollback, o.findIdempotencyResult, o.repeatPublished))
	server.Mount(r, catalogclient.Compile, o.compile)
}

// findIdempotencyResult returns the stored result of an earlier write with the same slug
// and Idempotency-Key. It returns nil if no write with the key succeeded.
func (o *Owner) findIdempotencyResult(c *fiber.Ctx) ([]byte, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return nil, err
	}
	return o.Store.FindIdempotencyResult(c.UserContext(), slug)
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

// compile returns the snapshot that a publish of the request's body would create. It publishes nothing.
func (o *Owner) compile(ctx context.Context,
	r catalogclient.File[endpoints.OfSlug]) (*catalog.Snapshot, error) {
	slug, err := request.Slug(r.At.Slug)
	if err != nil {
		return nil, err
	}
	compiled, err := o.Businesses.Compile(ctx, slug, r.File)
	if err != nil {
		return nil, err
	}
	return compiled.Snapshot, nil
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

func (o *Owner) remove(ctx context.Context, r catalogclient.OfBusiness) (*endpoints.None, error) {
	of, err := businessRef(r)
	if err != nil {
		return nil, err
	}
	return nil, o.Businesses.Remove(ctx, of.Slug, of.ID)
}

func (o *Owner) repeatRemoved(ctx context.Context, r catalogclient.OfBusiness,
	answer []byte) (*endpoints.None, error) {
	var removed store.Removed
	if err := json.Unmarshal(answer, &removed); err != nil {
		return nil, err
	}
	return nil, o.Businesses.Announce(ctx, "removed before", r.Slug, removed.BusinessID, removed.LastVersion+1)
}

func versionTag(version int64) string { return fmt.Sprintf(`"%d"`, version) }
