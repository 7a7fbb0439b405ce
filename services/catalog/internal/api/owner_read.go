package api

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest/reading"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
	"github.com/slotmesh/slotmesh/services/catalog/internal/usecase"
)

// get responds with a manifest, in the format that the Accept header prefers. If the manifest was
// published in that format, the response is the original text. Otherwise, get converts the manifest.
func (o *Owner) get(c *fiber.Ctx) error {
	version, err := versionParam(c)
	if err != nil {
		return err
	}
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	stored, err := o.Store.Version(c.UserContext(), slug, version)
	if err != nil {
		return usecase.Fault(err)
	}
	c.Vary(fiber.HeaderAccept)
	if !prefersYAML(c) {
		return sendTagged(c, catalog.MediaJSON, encodeJSON(stored), versionTag(stored.Version))
	}
	body, err := encodeYAML(c.UserContext(), slug, stored)
	if err != nil {
		return err
	}
	return sendTagged(c, catalog.MediaYAML, body, versionTag(stored.Version))
}

// prefersYAML reports whether the Accept header prefers one of the media types of YAML to JSON.
func prefersYAML(c *fiber.Ctx) bool {
	switch c.Accepts(catalog.MediaJSON, catalog.MediaYAML, "application/x-yaml", "text/yaml") {
	case "", catalog.MediaJSON:
		return false
	}
	return true
}

func encodeJSON(v store.Stored) []byte {
	if v.Format == store.JSON {
		return v.Source
	}
	return v.Canonical
}

// encodeYAML returns a version as YAML. If the version was published as JSON, encodeYAML
// first waits until memory for the conversion is available ([reading.Do]).
func encodeYAML(ctx context.Context, slug string, v store.Stored) ([]byte, error) {
	if v.Format == store.YAML {
		return v.Source, nil
	}
	var text []byte
	err := reading.Do(ctx, slug, func(func() bool) error {
		var err error
		text, err = blockStyle(v.Source)
		return err
	}, v.Source)
	return text, err
}

// blockStyle converts JSON to YAML in block style. blockStyle keeps the order of the fields.
func blockStyle(source []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(source, &document); err != nil {
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

func (o *Owner) list(ctx context.Context, r catalogclient.BusinessesRequest) (*catalog.BusinessList, error) {
	if r.Cursor != "" && !request.IsSlug(r.Cursor) {
		return nil, request.BadCursor()
	}
	found, err := o.Store.List(ctx, r.IDs, r.Cursor, r.Limit+1)
	if err != nil {
		return nil, err
	}
	found, next := request.Cut(found, r.Limit, func(b store.Business) string { return b.Slug })
	list := &catalog.BusinessList{Businesses: make([]catalog.Business, len(found)), NextCursor: next}
	for i, b := range found {
		list.Businesses[i] = catalog.Business(b)
	}
	return list, nil
}

func (o *Owner) listVersions(ctx context.Context, r catalogclient.PageRequest) (*catalog.VersionList, error) {
	before := int64(math.MaxInt64)
	if r.Cursor != "" {
		var err error
		if before, err = strconv.ParseInt(r.Cursor, 10, 64); err != nil {
			return nil, request.BadCursor()
		}
	}
	slug, err := request.Slug(r.Slug)
	if err != nil {
		return nil, err
	}
	found, err := o.Store.Versions(ctx, slug, before, r.Limit+1)
	if err != nil {
		return nil, usecase.Fault(err)
	}
	found, next := request.Cut(found, r.Limit, func(v store.Version) string {
		return strconv.FormatInt(v.Version, 10)
	})
	list := &catalog.VersionList{Versions: make([]catalog.Version, len(found)), NextCursor: next}
	for i, v := range found {
		list.Versions[i] = catalog.Version(v)
	}
	return list, nil
}

func versionParam(c *fiber.Ctx) (int64, error) {
	text := c.Query("version")
	if text == "" {
		return store.NewestVersion, nil
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version < 1 {
		return 0, fault.New(fault.InvalidParameter,
			"version: write a whole number from 1 on, or leave it out for the newest.")
	}
	return version, nil
}

// listRemoved lists the ids of businesses that were removed at or before an
// instant. Other services use the list to erase the data of these businesses.
func (o *Owner) listRemoved(ctx context.Context, r catalogclient.RemovedRequest) (*catalog.RemovedList, error) {
	before, err := time.Parse(time.RFC3339, r.Before)
	if err != nil {
		return nil, request.Invalid("before: missing or not an instant; write one such as 2027-03-01T09:30:00Z.")
	}
	after := uuid.Nil
	if r.Cursor != "" {
		if after, err = request.ID("cursor", r.Cursor); err != nil {
			return nil, err
		}
	}
	ids, err := o.Store.ListRemoved(ctx, before, after, r.Limit+1)
	if err != nil {
		return nil, err
	}
	ids, next := request.Cut(ids, r.Limit, uuid.UUID.String)
	return &catalog.RemovedList{IDs: ids, NextCursor: next}, nil
}
