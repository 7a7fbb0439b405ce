// Package web contains the parts that the web pages of all services share: the frame of a page and its form fields
// (templ), the style sheets (style/), static files and security headers. The package also chooses the language for the
// reader, and checks that a form comes from the same site.
//
// A page is a fiber handler that parses its input, calls one use case and
// renders one view. This package contains nothing about bookings or businesses.
package web

import (
	"bytes"
	"sync"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate -log-level error

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxKeptPage is the maximal size of a buffer that returns to the
// pool. A rare large page must not occupy memory permanently.
const maxKeptPage = 512 << 10 // bytes

// keepBuffer returns the buffer to the pool, unless the buffer is larger than maxKeptPage. It reports whether it has
// returned the buffer to the pool.
func keepBuffer(page *bytes.Buffer) bool {
	if page.Cap() > maxKeptPage {
		return false
	}
	buffers.Put(page)
	return true
}

// Render renders a view and sends it with this status. It renders the whole view before it sends
// anything. A failure of the view therefore becomes an error instead of an incomplete page.
func Render(c *fiber.Ctx, status int, view templ.Component) error {
	page, _ := buffers.Get().(*bytes.Buffer)
	defer keepBuffer(page)
	page.Reset()
	if err := view.Render(c.UserContext(), page); err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Context().Response.SetBody(page.Bytes()) // SetBody copies the bytes
	c.Status(status)
	return nil
}
