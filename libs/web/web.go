// Package web is what the pages of all services are made of: the frame around each page and the fields of its forms (templ), the
// style (style/, in layers), the files that pages ask for, the headers that keep a page to itself, the language of its reader, and the
// check that a form was sent from here.
//
// A page is a fiber handler that parses, calls one use case and renders one view. Nothing here knows a business.
package web

import (
	"bytes"
	"sync"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate -log-level error

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxKeptPage is the size of the largest buffer that is kept: a rare large page must not hold its memory for good.
const maxKeptPage = 512 << 10 // bytes

// keepBuffer gives a buffer back to the pool, and reports whether it is small enough to be kept.
func keepBuffer(page *bytes.Buffer) bool {
	if page.Cap() > maxKeptPage {
		return false
	}
	buffers.Put(page)
	return true
}

// Render answers with a view. It is made whole before anything is sent, so that a view that fails becomes an error and no half page.
func Render(c *fiber.Ctx, status int, view templ.Component) error {
	page, _ := buffers.Get().(*bytes.Buffer)
	defer keepBuffer(page)
	page.Reset()
	if err := view.Render(c.UserContext(), page); err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Context().Response.SetBody(page.Bytes()) // which takes a copy
	c.Status(status)
	return nil
}
