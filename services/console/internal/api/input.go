package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// maxLimit is the largest page of a list (admin.md).
const maxLimit = 1000

// maxSmallBody bounds bodies that are no manifest.
const maxSmallBody = 64 << 10

func invalid(format string, args ...any) error {
	return fault.Newf(fault.InvalidParameter, format, args...)
}

// pageOf reads limit and cursor; limit 0 stands for the default. What a cursor means is known to who gave it.
func pageOf(c *fiber.Ctx) (int, string, error) {
	cursor := c.Query("cursor")
	text := c.Query("limit")
	if text == "" {
		return 0, cursor, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, "", invalid("limit: write a whole number from 1 to %d.", maxLimit)
	}
	return limit, cursor, nil
}

// dateOf reads an optional date of the query.
func dateOf(c *fiber.Ctx, name string) (*timespan.Date, error) {
	text := c.Query(name)
	if text == "" {
		return nil, nil
	}
	date, err := timespan.ParseDate(text)
	if err != nil {
		return nil, invalid("%s: %v.", name, err)
	}
	return &date, nil
}

// datesOf reads the optional dates from and to of the query.
func datesOf(c *fiber.Ctx) (*timespan.Date, *timespan.Date, error) {
	from, err := dateOf(c, "from")
	if err != nil {
		return nil, nil, err
	}
	to, err := dateOf(c, "to")
	if err != nil {
		return nil, nil, err
	}
	if from != nil && to != nil && *to < *from {
		return nil, nil, invalid("to: lies before from; write a date on or after it.")
	}
	return from, to, nil
}

// flagOf reads an optional true or false of the query.
func flagOf(c *fiber.Ctx, name string) (bool, error) {
	switch c.Query(name) {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, invalid("%s: write true or false, or leave it out.", name)
}

// versionOf reads an optional version of the query; 0 stands for the newest.
func versionOf(c *fiber.Ctx) (int64, error) {
	text := c.Query("version")
	if text == "" {
		return 0, nil
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version < 1 {
		return 0, invalid("version: write a whole number from 1 on, or leave it out for the newest.")
	}
	return version, nil
}

// idOf reads the id of the path. What is no UUID names nothing.
func idOf(c *fiber.Ctx, what string) (uuid.UUID, error) {
	id, err := uuid.Parse(c.Params("id"))
	if err != nil {
		return uuid.Nil, fault.Newf(fault.NotFound, "%s not found", what)
	}
	return id, nil
}

// curlDefault is what curl says of any body when it is told nothing; it says nothing here either.
const curlDefault = "application/x-www-form-urlencoded"

// mediaTypeOf reads Content-Type, which must be one of those allowed or left out.
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

// decode reads the JSON object of a small body into a struct, strictly: unknown fields, wrong types and anything after
// the object are refused with a sentence that names the field.
func decode(c *fiber.Ctx, into any) error {
	if _, err := mediaTypeOf(c, map[string]string{fiber.MIMEApplicationJSON: ""}, fiber.MIMEApplicationJSON); err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	if len(body) > maxSmallBody {
		return fault.Newf(fault.PayloadTooLarge, "The request body is too large; send at most %d bytes.", maxSmallBody)
	}
	if !utf8.Valid(body) {
		return invalid("The request body is not valid UTF-8; send JSON in UTF-8.")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return invalid("%s", bodySentence(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return invalid("The request body goes on after its JSON object; send one object.")
	}
	return nil
}

// bodySentence says what is wrong with a body in terms of its fields.
func bodySentence(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Sprintf("%s: a %s is not right here; write a %s.", wrong.Field, wrong.Value, jsonName(wrong.Type.Kind().String()))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return strings.Trim(name, `"`) + ": unknown field; leave it out."
	}
	return "The request body is not a JSON object of the right shape; send one such as admin.md shows."
}

func jsonName(goKind string) string {
	if strings.HasPrefix(goKind, "int") {
		return "whole number"
	}
	return goKind
}
