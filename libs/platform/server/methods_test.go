package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// paths mounts a public read, a public write and an operator's path.
func paths(s *Server) {
	s.Public.Get("/api/public/:slug/slots", func(c *fiber.Ctx) error {
		if c.Params("slug") == "unknown" {
			return fault.New(fault.BusinessNotFound, "Business not found")
		}
		c.Set("ETag", `"1"`)
		return c.JSON("slots")
	})
	s.Public.Post("/api/public/:slug/book", func(c *fiber.Ctx) error { return c.JSON("booked") })
	group := s.Public.Group("/admin", func(c *fiber.Ctx) error { return c.Next() })
	group.Get("/businesses/:slug", func(c *fiber.Ctx) error { return c.JSON("manifest") })
	group.Put("/businesses/:slug", func(c *fiber.Ctx) error { return c.JSON("published") })
}

func TestEveryMethodIsAnswered(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{}, paths)
	for _, c := range []struct {
		method, path, allow string
		want                fault.Kind
	}{
		{"POST", "/api/public/x/slots", "GET, HEAD, OPTIONS", fault.MethodNotAllowed},
		{"TRACE", "/api/public/x/slots", "GET, HEAD, OPTIONS", fault.MethodNotAllowed},
		{"PROPFIND", "/api/public/x/slots", "GET, HEAD, OPTIONS", fault.MethodNotAllowed},
		{"get", "/api/public/x/slots", "GET, HEAD, OPTIONS", fault.MethodNotAllowed},
		{"GET", "/api/public/x/book", "POST, OPTIONS", fault.MethodNotAllowed},
		{"DELETE", "/admin/businesses/x", "GET, HEAD, PUT, OPTIONS", fault.MethodNotAllowed},
		{"PROPFIND", "/nothing", "", fault.NotFound},
		{"OPTIONS", "/nothing", "", fault.NotFound},
		{"POST", "/api/public/x/nothing", "", fault.NotFound},
	} {
		response, body := fetchText(t, c.method, publicURL(s, c.path), nil)
		checkFault(t, response, body, c.want)
		if got := response.Header.Get("Allow"); got != c.allow {
			t.Errorf("%s %s: Allow is %q, want %q", c.method, c.path, got, c.allow)
		}
		if response.Header.Get("Content-Type") != "application/json" || response.Header.Get("Traceparent") == "" {
			t.Errorf("%s %s: headers %v", c.method, c.path, response.Header)
		}
	}
}

func TestHeadEqualsGetWithoutBody(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{}, paths)
	for _, path := range []string{"/api/public/x/slots", "/api/public/unknown/slots", "/nothing"} {
		get, body := fetchText(t, "GET", publicURL(s, path), nil)
		head, none := fetchText(t, "HEAD", publicURL(s, path), nil)
		if head.StatusCode != get.StatusCode || len(none) != 0 || head.ContentLength != int64(len(body)) ||
			head.Header.Get("ETag") != get.Header.Get("ETag") {
			t.Errorf("%s: GET %d with %d bytes, HEAD %d announcing %d", path, get.StatusCode, len(body),
				head.StatusCode, head.ContentLength)
		}
	}
}

func TestOnlyPublicReadsAllowOtherOrigins(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{}, paths)
	for _, c := range []struct {
		method, path string
		status       int
		open         bool
	}{
		{"GET", "/api/public/x/slots", 200, true},
		{"HEAD", "/api/public/x/slots", 200, true},
		{"OPTIONS", "/api/public/x/slots", 204, true},
		{"GET", "/api/public/unknown/slots", 404, true},
		{"GET", "/api/public/x/nothing", 404, true},
		{"POST", "/api/public/x/slots", 405, false},
		{"POST", "/api/public/x/book", 200, false},
		{"OPTIONS", "/api/public/x/book", 204, false},
		{"GET", "/api/public/x/book", 405, false},
		{"GET", "/admin/businesses/x", 200, false},
		{"OPTIONS", "/admin/businesses/x", 204, false},
	} {
		response, _ := fetchText(t, c.method, publicURL(s, c.path), nil)
		want, expose := "", ""
		if c.open {
			want, expose = "*", string(exposedHeaders)
		}
		if c.method == http.MethodOptions {
			expose = ""
		}
		h := response.Header
		if response.StatusCode != c.status || h.Get("Access-Control-Allow-Origin") != want ||
			h.Get("Access-Control-Expose-Headers") != expose {
			t.Errorf("%s %s: %d %v", c.method, c.path, response.StatusCode, h)
		}
		if answered := h.Get("Access-Control-Allow-Methods") != ""; answered != (c.open &&
			c.method == http.MethodOptions) {
			t.Errorf("%s %s: preflight answered: %v", c.method, c.path, answered)
		}
		if h.Get("Access-Control-Allow-Credentials") != "" || strings.Contains(h.Get("Access-Control-Allow-Headers"),
			"Authorization") {
			t.Errorf("%s %s: other origins may send credentials: %v", c.method, c.path, h)
		}
	}
}
