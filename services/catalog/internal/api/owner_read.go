package api

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// get gives a manifest back: the very text where it was published in the format that is asked for, else a rendering.
func (o *Owner) get(c *fiber.Ctx) error {
	version, err := versionParam(c)
	if err != nil {
		return err
	}
	slug, err := slugParam(c)
	if err != nil {
		return err
	}
	stored, err := o.Store.Version(c.UserContext(), slug, version)
	if err != nil {
		return err
	}
	c.Vary(fiber.HeaderAccept)
	if !prefersYAML(c) {
		return sendTagged(c, catalog.MediaJSON, asJSON(stored), versionTag(stored.Version))
	}
	body, err := asYAML(stored)
	if err != nil {
		return err
	}
	return sendTagged(c, catalog.MediaYAML, body, versionTag(stored.Version))
}

// prefersYAML reads the header Accept; YAML goes by several names.
func prefersYAML(c *fiber.Ctx) bool {
	switch c.Accepts(catalog.MediaJSON, catalog.MediaYAML, "application/x-yaml", "text/yaml") {
	case "", catalog.MediaJSON:
		return false
	}
	return true
}

func asJSON(v store.Stored) []byte {
	if v.Format == store.JSON {
		return v.Source
	}
	return v.Canonical
}

// asYAML renders JSON in block style, in the order in which it was written.
func asYAML(v store.Stored) ([]byte, error) {
	if v.Format == store.YAML {
		return v.Source, nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(v.Source, &document); err != nil {
		return nil, fmt.Errorf("read published JSON: %w", err)
	}
	toBlockStyle(&document)
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return nil, fmt.Errorf("render YAML: %w", err)
	}
	return text.Bytes(), nil
}

func toBlockStyle(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		toBlockStyle(child)
	}
}

func (o *Owner) list(c *fiber.Ctx) error {
	limit, err := limitParam(c)
	if err != nil {
		return err
	}
	after := c.Query("cursor")
	if after != "" && !isSlug(after) {
		return badCursor()
	}
	found, err := o.Store.List(c.UserContext(), after, limit+1)
	if err != nil {
		return err
	}
	page := catalog.BusinessList{Businesses: make([]catalog.Business, 0, len(found))}
	if len(found) > limit {
		found = found[:limit]
		page.NextCursor = found[limit-1].Slug
	}
	for _, b := range found {
		page.Businesses = append(page.Businesses, catalog.Business(b))
	}
	return c.JSON(page)
}

func (o *Owner) versions(c *fiber.Ctx) error {
	limit, err := limitParam(c)
	if err != nil {
		return err
	}
	before := int64(math.MaxInt64)
	if cursor := c.Query("cursor"); cursor != "" {
		if before, err = strconv.ParseInt(cursor, 10, 64); err != nil {
			return badCursor()
		}
	}
	slug, err := slugParam(c)
	if err != nil {
		return err
	}
	found, err := o.Store.Versions(c.UserContext(), slug, before, limit+1)
	if err != nil {
		return err
	}
	page := catalog.VersionList{Versions: make([]catalog.Version, 0, len(found))}
	if len(found) > limit {
		found = found[:limit]
		page.NextCursor = strconv.FormatInt(found[limit-1].Version, 10)
	}
	for _, v := range found {
		page.Versions = append(page.Versions, catalog.Version(v))
	}
	return c.JSON(page)
}

// The bounds of a page (admin.md).
const (
	defaultLimit = 100
	maxLimit     = 1000
)

func limitParam(c *fiber.Ctx) (int, error) {
	text := c.Query("limit")
	if text == "" {
		return defaultLimit, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, fault.Newf(fault.InvalidParameter, "limit: write a whole number from 1 to %d.", maxLimit)
	}
	return limit, nil
}

func badCursor() error {
	return fault.New(fault.InvalidParameter, "cursor: not one that a list gave; send its next_cursor, or none for the first page.")
}

func versionParam(c *fiber.Ctx) (int64, error) {
	text := c.Query("version")
	if text == "" {
		return store.Newest, nil
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version < 1 {
		return 0, fault.New(fault.InvalidParameter, "version: write a whole number from 1 on, or leave it out for the newest.")
	}
	return version, nil
}

// removed lists the businesses that were removed at or before an instant, so that whoever keeps something of theirs can
// erase it.
func (o *Owner) removed(c *fiber.Ctx) error {
	before, err := time.Parse(time.RFC3339, c.Query("before"))
	if err != nil {
		return fault.New(fault.InvalidParameter, "before: missing or not an instant; write one such as 2027-03-01T09:30:00Z.")
	}
	after := uuid.Nil
	if cursor := c.Query("cursor"); cursor != "" {
		if after, err = parseUUID(cursor); err != nil {
			return badCursor()
		}
	}
	limit, err := limitParam(c)
	if err != nil {
		return err
	}
	ids, err := o.Store.Removed(c.UserContext(), before, after, limit+1)
	if err != nil {
		return err
	}
	page := catalog.RemovedList{IDs: ids}
	if len(ids) > limit {
		page.IDs = ids[:limit]
		page.NextCursor = ids[limit-1].String()
	}
	return c.JSON(page)
}
