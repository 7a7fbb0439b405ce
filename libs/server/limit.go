package server

import (
	"context"
	"net/netip"

	"github.com/gofiber/fiber/v2"
)

// Header is the header of an answer; http.Header is one.
type Header interface {
	Get(name string) string
	Set(name, value string)
}

// AnswerHeader is the header of a fiber answer.
func AnswerHeader(c *fiber.Ctx) Header { return responseHeaders{c} }

// Limit decides whether a request from client is answered at all; an error is sent instead. It may add to the header of the
// answer. Method and path are as they were sent: they may be any text.
type Limit func(ctx context.Context, client netip.Addr, method, path string, answer Header) error

// Limit is asked about every request to the public port, before its body is read and before anything else is done for it. It is
// set before Run.
func (s *Server) Limit(limit Limit) {
	s.limit = limit
	s.LimitBy(func(c *fiber.Ctx) error {
		return limit(c.UserContext(), ClientIP(c), c.Method(), c.Path(), responseHeaders{c})
	})
}

// LimitBy is Limit for one that reads more of the request, where fiber serves the public port.
func (s *Server) LimitBy(limit func(*fiber.Ctx) error) { s.limitBy = limit }

// limited asks the limit of the public port.
func (s *Server) limited(c *fiber.Ctx) error {
	if s.limitBy == nil {
		return c.Next()
	}
	if err := s.limitBy(c); err != nil {
		return err
	}
	return c.Next()
}
