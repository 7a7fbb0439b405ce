package server

import (
	"context"
	"net/netip"

	"github.com/gofiber/fiber/v2"
)

// Header is the header of an answer; http.Header implements it.
type Header interface {
	Get(name string) string
	Set(name, value string)
}

// AnswerHeader returns the header of a fiber answer.
func AnswerHeader(c *fiber.Ctx) Header { return responseHeaders{c} }

// Limit decides whether a request of a client is answered. If it returns an error, that error is the answer.
// It may add headers to the answer. method and path are as the client sent them and can be any text.
type Limit func(ctx context.Context, client netip.Addr, method, path string, answer Header) error

// Limit sets the limit of the public port. It is called for every request,
// before its body is read and before any other work. It must be set before Run.
func (s *Server) Limit(limit Limit) {
	s.limit = limit
	s.LimitBy(func(c *fiber.Ctx) error {
		return limit(c.UserContext(), ClientIP(c), c.Method(), c.Path(), responseHeaders{c})
	})
}

// LimitBy is Limit for a function that reads more of the request, on a public port that fiber serves.
func (s *Server) LimitBy(limit func(*fiber.Ctx) error) { s.limitBy = limit }

// applyLimit is middleware that applies the limit of the public port.
func (s *Server) applyLimit(c *fiber.Ctx) error {
	if s.limitBy == nil {
		return c.Next()
	}
	if err := s.limitBy(c); err != nil {
		return err
	}
	return c.Next()
}
