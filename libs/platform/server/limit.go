package server

import (
	"context"
	"net/netip"

	"github.com/gofiber/fiber/v2"
)

// Header gives access to the headers of an answer. http.Header implements it.
type Header interface {
	Get(name string) string
	Set(name, value string)
}

// AnswerHeader returns the headers of a fiber answer.
func AnswerHeader(c *fiber.Ctx) Header { return responseHeaders{c} }

// Limit decides whether the server accepts a request. If it returns an error, the
// server sends that error as the answer. A Limit may add headers to the answer. The
// arguments `method` and `path` are the texts that the client sent; they can be arbitrary.
type Limit func(ctx context.Context, client netip.Addr, method, path string, answer Header) error

// Limit sets the function that limits requests to the public port. The server calls the function for
// every request, before any other work and before the body is read. Limit must be called before Run.
func (s *Server) Limit(limit Limit) {
	s.limit = limit
	s.LimitBy(func(c *fiber.Ctx) error {
		return limit(c.UserContext(), ClientIP(c), c.Method(), c.Path(), responseHeaders{c})
	})
}

// LimitBy sets a limit function that can read the whole fiber request. The server calls it only if fiber, and not
// net/http, serves the public port.
func (s *Server) LimitBy(limit func(*fiber.Ctx) error) { s.limitBy = limit }

// applyLimit is middleware that calls the limit function of the public port.
func (s *Server) applyLimit(c *fiber.Ctx) error {
	if s.limitBy == nil {
		return c.Next()
	}
	if err := s.limitBy(c); err != nil {
		return err
	}
	return c.Next()
}
