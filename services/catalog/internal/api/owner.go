package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/locale"
	"github.com/slotmesh/slotmesh/libs/manifest"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// Store keeps the versions; *store.Store is the one outside tests. Its errors are those of package store.
type Store interface {
	Publish(ctx context.Context, slug string, c store.Content, ifMatch *int64, now time.Time) (store.Published, error)
	Rollback(ctx context.Context, slug string, version int64, now time.Time) (store.Published, error)
	Remove(ctx context.Context, slug string, now time.Time) (store.Removed, error)
	Outcome(ctx context.Context, slug string) ([]byte, error)
	Predecessors(ctx context.Context, slug string) (int, error)
	Removed(ctx context.Context, before time.Time, after uuid.UUID, limit int) ([]uuid.UUID, error)
	Version(ctx context.Context, slug string, version int64) (store.Stored, error)
	List(ctx context.Context, after string, limit int) ([]store.Business, error)
	Versions(ctx context.Context, slug string, before int64, limit int) ([]store.Version, error)
}

var _ Store = (*store.Store)(nil)

// Owner serves the owner's side of the internal API: what the admin API of admin.md says of businesses.
type Owner struct {
	Store     Store
	Changed   func(ctx context.Context, slug string, version int64) // told after each change, before which version all are superseded
	Clock     clock.Clock
	Telemetry *telemetry.Telemetry
}

// Mount adds the routes.
func (o *Owner) Mount(router fiber.Router) {
	router.Get("/internal/businesses", o.list)
	router.Get("/internal/removed", o.removed)
	business := router.Group("/internal/businesses/:slug")
	business.Put("", o.once(o.publish, o.publishedAgain))
	business.Get("", o.get)
	business.Delete("", o.once(o.remove, o.removedAgain))
	business.Get("/versions", o.versions)
	business.Post("/rollback", o.once(o.rollback, o.publishedAgain))
}

// once makes a change once for each Idempotency-Key of a slug.
func (o *Owner) once(change fiber.Handler, again func(*fiber.Ctx, []byte) error) fiber.Handler {
	return server.Once(change, func(c *fiber.Ctx) ([]byte, error) {
		slug, err := server.Slug(c)
		if err != nil {
			return nil, err
		}
		return o.Store.Outcome(c.UserContext(), slug)
	}, again)
}

func (o *Owner) publishedAgain(c *fiber.Ctx, answer []byte) error {
	var made store.Published
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	return o.done(c, "published before", made)
}

func (o *Owner) publish(c *fiber.Ctx) error {
	ifMatch, err := ifMatchHeader(c)
	if err != nil {
		return err
	}
	source, err := server.Body(c)
	if err != nil {
		return err
	}
	if len(source) > manifest.MaxBytes {
		return fault.Newf(fault.PayloadTooLarge, "The manifest is too large; send at most %d bytes.", manifest.MaxBytes)
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	predecessors, err := o.Store.Predecessors(c.UserContext(), slug)
	if err != nil {
		return err
	}
	content, err := o.check(c, source, predecessors)
	if err != nil {
		return err
	}
	published, err := o.Store.Publish(c.UserContext(), slug, content, ifMatch, o.Clock.Now())
	if err == nil {
		return o.done(c, "published", published)
	}
	if meanwhile, e := o.Store.Predecessors(c.UserContext(), slug); e == nil && meanwhile != predecessors {
		return fault.Wrap(fault.Conflict, err, "The business was removed while its manifest was read; publish it again.")
	}
	return idProblem(err, source)
}

// checking lets two manifests of the greatest size, or many small ones, be checked at the same time in a process: each
// takes up to a hundred times its size in memory.
var checking = semaphore.NewWeighted(2 * manifest.MaxBytes)

// check reads the manifest and compiles it, so that nothing is published that cannot be served. It gives up when the
// request ends.
func (o *Owner) check(c *fiber.Ctx, source []byte, predecessors int) (store.Content, error) {
	ctx, span := o.Telemetry.Tracer.Start(c.UserContext(), "catalog.check")
	defer span.End()
	if err := checking.Acquire(ctx, int64(len(source))); err != nil {
		return store.Content{}, tooLong(ctx, err)
	}
	defer checking.Release(int64(len(source)))
	m, problems, err := manifest.ParseUntil(source, predecessors, ended(ctx))
	if err != nil {
		return store.Content{}, tooLong(ctx, err)
	}
	if len(problems) > 0 {
		return store.Content{}, invalid(problems)
	}
	if slug := c.Params("slug"); string(m.Slug) != slug {
		return store.Content{}, invalid([]manifest.Problem{{Path: "slug", Line: lineOf("slug", source),
			Message: fmt.Sprintf("the manifest says %s and the path says %q; publish it under its own slug", m.Slug, slug)}})
	}
	if _, err := ready.New(m, 1); err != nil {
		return store.Content{}, err
	}
	return content(ctx, m, source)
}

// content returns what is stored of a manifest.
func content(ctx context.Context, m *manifest.Manifest, source []byte) (store.Content, error) {
	canonical, err := json.Marshal(m)
	if err != nil {
		return store.Content{}, fmt.Errorf("encode manifest: %w", err)
	}
	clean, ok := public.SanitizeUntil(m, ended(ctx))
	if !ok {
		return store.Content{}, tooLong(ctx, manifest.ErrStopped)
	}
	sanitized, err := json.Marshal(clean)
	if err != nil {
		return store.Content{}, fmt.Errorf("encode sanitized manifest: %w", err)
	}
	if bytes.Equal(sanitized, canonical) {
		sanitized = nil
	}
	return store.Content{
		BusinessID: m.BusinessID(), Name: string(m.Name), Format: formatOf(source), Source: source, Canonical: canonical,
		Sanitizer: locale.Sanitizer, Sanitized: sanitized,
	}, nil
}

// ended returns a function that reports whether ctx has ended.
func ended(ctx context.Context) func() bool { return func() bool { return ctx.Err() != nil } }

// tooLong is the error of a manifest that could not be checked before the request ended.
func tooLong(ctx context.Context, err error) error {
	return fault.Wrap(fault.PeerUnavailable, errors.Join(err, context.Cause(ctx)),
		"The manifest could not be checked in time; nothing was published, try again shortly.")
}

// formatOf tells the two formats apart as [manifest.Parse] does.
func formatOf(source []byte) string {
	if bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(source, []byte("\ufeff")), " \t\r\n"), []byte("{")) {
		return store.JSON
	}
	return store.YAML
}

func invalid(problems []manifest.Problem) error {
	f := fault.Newf(fault.InvalidParameter, "The manifest is not valid: %s.", problems[0])
	if len(problems) > 1 {
		f = fault.Newf(fault.InvalidParameter, "The manifest is not valid in %d places; the first: %s.", len(problems), problems[0])
	}
	f.Extra = map[string]any{"problems": problems}
	return f
}

// idProblem turns what the store says of ids into a problem of the manifest.
func idProblem(err error, source []byte) error {
	var changed store.IDChangedError
	problem := manifest.Problem{Path: "id", Line: lineOf("id", source)}
	switch {
	case errors.As(err, &changed):
		problem.Message = fmt.Sprintf("a business keeps its id for good, and this one was published as %s; write that id", changed.Known)
	case errors.Is(err, store.ErrIDTaken):
		problem.Message = "another business, which may be removed, was published with this id; write an id of its own or leave it out"
	default:
		return err
	}
	return invalid([]manifest.Problem{problem})
}

// lineOf returns the line of a field of the document itself in YAML, and 1 where it is not written so.
func lineOf(field string, source []byte) int {
	at := regexp.MustCompile(`(?m)^` + field + `\s*:`).FindIndex(source)
	if at == nil {
		return 1
	}
	return 1 + bytes.Count(source[:at[0]], []byte("\n"))
}

// ifMatchHeader reads If-Match: "<version>", nil where it is left out.
func ifMatchHeader(c *fiber.Ctx) (*int64, error) {
	header := strings.TrimSpace(c.Get(fiber.HeaderIfMatch))
	if header == "" {
		return nil, nil
	}
	version, err := strconv.ParseInt(strings.Trim(header, `"`), 10, 64)
	if err != nil || version < 1 {
		return nil, fault.New(fault.InvalidParameter, `If-Match: not a version; write the newest one you know in quotes, such as "3".`)
	}
	return &version, nil
}

// done tells the readers of a change and answers with it.
func (o *Owner) done(c *fiber.Ctx, change string, p store.Published) error {
	slug := c.Params("slug")
	o.Changed(c.UserContext(), slug, p.Version)
	o.Telemetry.Logger.InfoContext(c.UserContext(), change, "slug", slug, "version", p.Version)
	if p.Created {
		c.Status(fiber.StatusCreated)
	}
	c.Set(fiber.HeaderETag, versionTag(p.Version))
	return c.JSON(catalog.Published{ID: p.BusinessID, Slug: slug, Version: p.Version, Created: p.Created})
}

func (o *Owner) rollback(c *fiber.Ctx) error {
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	var asked catalog.Rollback
	if err := json.Unmarshal(body, &asked); err != nil || asked.Version < 1 {
		return fault.New(fault.InvalidParameter, `version: missing or not a whole number from 1 on; send {"version": 3}.`)
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	old, err := o.Store.Version(ctx, slug, asked.Version)
	if err != nil {
		return err
	}
	// An old version was checked by the code of its day; nothing that today's cannot serve becomes the newest.
	if _, err := ready.Decode(store.Text{JSON: old.Canonical}, old.Version); err != nil {
		return fault.Wrap(fault.InvalidParameter, err, "version: this version can no longer be served; correct its manifest and publish it.")
	}
	published, err := o.Store.Rollback(ctx, slug, asked.Version, o.Clock.Now())
	if err != nil {
		return err
	}
	return o.done(c, "rolled back", published)
}

func (o *Owner) remove(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	ctx := c.UserContext()
	removed, err := o.Store.Remove(ctx, slug, o.Clock.Now())
	if err != nil {
		return err
	}
	return o.gone(c, "removed", removed)
}

func (o *Owner) removedAgain(c *fiber.Ctx, answer []byte) error {
	var removed store.Removed
	if err := json.Unmarshal(answer, &removed); err != nil {
		return err
	}
	return o.gone(c, "removed before", removed)
}

// gone tells the readers of a removal and answers with it.
func (o *Owner) gone(c *fiber.Ctx, change string, removed store.Removed) error {
	slug := c.Params("slug")
	o.Changed(c.UserContext(), slug, removed.LastVersion+1)
	o.Telemetry.Logger.InfoContext(c.UserContext(), change, "slug", slug)
	return c.SendStatus(fiber.StatusNoContent)
}

func versionTag(version int64) string { return fmt.Sprintf(`"%d"`, version) }
