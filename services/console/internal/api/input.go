package api

import (
	"mime"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// maxSmallBody is the maximum size in bytes of a body that is not a manifest.
const maxSmallBody = 64 << 10

// parseVersion returns the version number in the query. If the query has no version number, it returns 0, which stands
// for the newest version.
func parseVersion(c *fiber.Ctx) (int64, error) {
	text := c.Query("version")
	if text == "" {
		return 0, nil
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version < 1 {
		return 0, request.Invalid("version: write a whole number from 1 on, or leave it out for the newest.")
	}
	return version, nil
}

// parseID returns the slug and the id in the path. The argument `label` is the name of the object in the error. Fault:
// not_found for an invalid id.
func parseID(c *fiber.Ctx, label string) (string, uuid.UUID, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return "", uuid.Nil, err
	}
	id, err := request.ID("id", c.Params("id"))
	if err != nil {
		return "", uuid.Nil, fault.Newf(fault.NotFound, "%s not found", label)
	}
	return slug, id, nil
}

// curlDefault is the Content-Type that curl sends by default with any body. The API treats this value as a missing
// Content-Type.
const curlDefault = "application/x-www-form-urlencoded"

// parseMediaType returns the canonical media type for the request's Content-Type, or "" if the header is missing or is
// [curlDefault]. The map `allowed` has the canonical media type for each allowed media type. For any other
// Content-Type, parseMediaType returns an error. The argument `say` is the list of allowed types for the text of this
// error.
func parseMediaType(c *fiber.Ctx, allowed map[string]string, say string) (string, error) {
	header := c.Get(fiber.HeaderContentType)
	if header == "" {
		return "", nil
	}
	mediaType, _, err := mime.ParseMediaType(header)
	if mediaType == curlDefault {
		return "", nil
	}
	canonical, ok := allowed[mediaType]
	if err != nil || !ok {
		return "", fault.Newf(fault.UnsupportedMediaType, "Content-Type: send the body as %s.", say)
	}
	return canonical, nil
}

// decode decodes the body of a request, a small JSON object, into a struct. It returns an error for unknown fields, for
// values of the wrong type, and for text after the object. The error names the field.
func decode(c *fiber.Ctx, into any) error {
	if _, err := parseMediaType(c, map[string]string{fiber.MIMEApplicationJSON: ""},
		fiber.MIMEApplicationJSON); err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	if len(body) > maxSmallBody {
		return fault.Newf(fault.PayloadTooLarge, "The request body is too large; send at most %d bytes.", maxSmallBody)
	}
	return request.JSON(body, into)
}

// decodeOptional decodes the body of a request, as [decode] does. If the request has no body, it leaves the argument
// `into` unchanged.
func decodeOptional(c *fiber.Ctx, into any) error {
	if body, err := server.Body(c); err != nil || len(body) == 0 {
		return err
	}
	return decode(c, into)
}
