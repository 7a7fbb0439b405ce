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

// maxSmallBody is the maximum size of a body other than a manifest, in bytes.
const maxSmallBody = 64 << 10

// versionOf reads the optional version of the query; 0 means the newest.
func versionOf(c *fiber.Ctx) (int64, error) {
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

// idOf reads the slug and the id of the path. Fault: not_found for an invalid id.
func idOf(c *fiber.Ctx, what string) (string, uuid.UUID, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return "", uuid.Nil, err
	}
	id, err := request.ID("id", c.Params("id"))
	if err != nil {
		return "", uuid.Nil, fault.Newf(fault.NotFound, "%s not found", what)
	}
	return slug, id, nil
}

// curlDefault is the Content-Type that curl sends by default for any body. It is treated as if it were omitted.
const curlDefault = "application/x-www-form-urlencoded"

// mediaTypeOf returns the media type of the request's Content-Type header. It returns "" if the request omits the
// header or sends [curlDefault]. It returns an error if the header names a type that is not in allowed. say is the text
// of the allowed types in the error.
func mediaTypeOf(c *fiber.Ctx, allowed map[string]string, say string) (string, error) {
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

// decode decodes the JSON object of a small body into a struct. It refuses unknown fields, wrong types, and text after
// the object. The error names the field.
func decode(c *fiber.Ctx, into any) error {
	if _, err := mediaTypeOf(c, map[string]string{fiber.MIMEApplicationJSON: ""},
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

// decodeOptional is decode for a request that may have no body. Without a body it does not change into.
func decodeOptional(c *fiber.Ctx, into any) error {
	if body, err := server.Body(c); err != nil || len(body) == 0 {
		return err
	}
	return decode(c, into)
}
