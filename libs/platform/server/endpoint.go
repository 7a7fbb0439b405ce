package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Internal mounts the internal endpoints of a service. Each endpoint is declared in libs/contracts/endpoints.
// Before the handlers of an endpoint run, Internal checks the caller and the actor against the declaration.
type Internal struct {
	fiber.Router // embedded only for its type: its methods panic unless Internal overrides them
	server       *Server
	prefix       string
	before       []fiber.Handler // handlers of the enclosing groups
}

// Handle mounts fiber handlers for an endpoint whose answer is not
// plain JSON. It panics if the endpoint belongs to another service.
func (r *Internal) Handle(row *endpoints.Row, handlers ...fiber.Handler) {
	s := r.server
	if row.Service != s.name {
		panic(fmt.Errorf("%s mounts %s %s of %s", s.name, row.Method, row.Path, row.Service))
	}
	s.internalApp.Add(row.Method, row.Path, slices.Concat([]fiber.Handler{s.authorize(row)}, handlers)...)
	s.mounted = append(s.mounted, row)
}

// Get mounts an endpoint with the method GET, as [Internal.Add] does.
func (r *Internal) Get(path string, handlers ...fiber.Handler) fiber.Router {
	return r.Add(http.MethodGet, path, handlers...)
}

// Post mounts an endpoint with the method POST, as [Internal.Add] does.
func (r *Internal) Post(path string, handlers ...fiber.Handler) fiber.Router {
	return r.Add(http.MethodPost, path, handlers...)
}

// Put mounts an endpoint with the method PUT, as [Internal.Add] does.
func (r *Internal) Put(path string, handlers ...fiber.Handler) fiber.Router {
	return r.Add(http.MethodPut, path, handlers...)
}

// Patch mounts an endpoint with the method PATCH, as [Internal.Add] does.
func (r *Internal) Patch(path string, handlers ...fiber.Handler) fiber.Router {
	return r.Add(http.MethodPatch, path, handlers...)
}

// Delete mounts an endpoint with the method DELETE, as [Internal.Add] does.
func (r *Internal) Delete(path string, handlers ...fiber.Handler) fiber.Router {
	return r.Add(http.MethodDelete, path, handlers...)
}

// Group returns a router for the paths below prefix. Each endpoint
// of the group runs these handlers before its own handlers.
func (r *Internal) Group(prefix string, handlers ...fiber.Handler) fiber.Router {
	return &Internal{server: r.server, prefix: r.prefix + prefix, before: slices.Concat(r.before, handlers)}
}

// Add mounts an endpoint. It panics if the endpoint has no declaration.
func (r *Internal) Add(method, path string, handlers ...fiber.Handler) fiber.Router {
	row, err := r.server.findEndpoint(method, r.prefix+path)
	if err != nil {
		panic(err)
	}
	r.server.internalApp.Add(method, r.prefix+path, slices.Concat([]fiber.Handler{r.server.authorize(row)}, r.before,
		handlers)...)
	r.server.mounted = append(r.server.mounted, row)
	return r
}

// findEndpoint returns the declaration of an endpoint of the service. It ignores the names of path parameters.
func (s *Server) findEndpoint(method, path string) (*endpoints.Row, error) {
	for _, row := range s.rows {
		if row.Method == method && hasSameShape(row.Path, path) {
			return row, nil
		}
	}
	return nil, fmt.Errorf("%s: the internal endpoint %s %s has no row in libs/contracts/endpoints",
		s.name, method, path)
}

// hasSameShape reports whether two paths have the same segments. All path parameters count as equal.
func hasSameShape(a, b string) bool {
	return slices.EqualFunc(strings.Split(a, "/"), strings.Split(b, "/"), func(x, y string) bool {
		return x == y || strings.HasPrefix(x, ":") && strings.HasPrefix(y, ":")
	})
}

// checkMounted returns an error if an endpoint of the service is declared but not mounted.
func (s *Server) checkMounted() error {
	for _, row := range s.listDeclaredRows() {
		if !slices.Contains(s.mounted, row) {
			return fmt.Errorf("%s: %s %s is declared and is not mounted", s.name, row.Method, row.Path)
		}
	}
	return nil
}

// listDeclaredRows returns the declarations of all endpoints of the service. These are the declarations in s.rows, and
// all declarations of each API of which the service mounts at least one endpoint.
func (s *Server) listDeclaredRows() []*endpoints.Row {
	declared, seen := slices.Clone(s.rows), map[*endpoints.API]bool{nil: true}
	for _, row := range s.mounted {
		if !seen[row.API] {
			seen[row.API] = true
			declared = append(declared, row.API.Rows()...)
		}
	}
	return declared
}

// authorize returns middleware that refuses callers and actors that the declaration `row` does not allow. The
// middleware runs before the body is read. It stores two things in the request's context: the actor, and whether the
// customer is notified of the change that the request makes.
func (s *Server) authorize(row *endpoints.Row) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if row.NoStore {
			c.Set(fiber.HeaderCacheControl, "no-store")
		}
		by, err := parseActor(c)
		if err != nil {
			return err
		}
		if caller := callerOf(c); !s.open && !row.Allows(caller, by.Kind) {
			s.recordRefusal(c.UserContext(), row, caller, by.Kind)
			return fault.Newf(fault.SourceForbidden, "%s may not call this endpoint for the actor %q.", caller, by.Kind)
		}
		if s.open && by.Kind == "" {
			by.Kind = actor.Owner // tests of handlers use Runtime.Open and send no actor
		}
		ctx := actor.With(c.UserContext(), by)
		if c.Get(actor.NotifyHeader) == actor.NotifyNo {
			ctx = actor.Silently(ctx)
		}
		c.SetUserContext(ctx)
		return c.Next()
	}
}

// Actor returns the actor of a request to the internal port. It returns the zero Actor if the request names no actor.
func Actor(c *fiber.Ctx) actor.Actor { return actor.Of(c.UserContext()) }

func (s *Server) recordRefusal(ctx context.Context, row *endpoints.Row, caller string, kind actor.Kind) {
	s.refused.Add(ctx, 1, metric.WithAttributes(attribute.String("by", "endpoint"), attribute.String("caller", caller)))
	s.tel.Logger.WarnContext(ctx, "internal call refused", "caller", caller, "actor", kind, "method", row.Method,
		"route", row.Path)
}

// parseActor returns the actor that the request header names, or the zero Actor if the request names no actor.
func parseActor(c *fiber.Ctx) (actor.Actor, error) {
	header := c.Get(actor.Header)
	if header == "" {
		return actor.Actor{}, nil
	}
	by, err := actor.Parse(header)
	if err != nil {
		return actor.Actor{}, fault.Newf(fault.InvalidParameter, "%s: names nobody who can act.", actor.Header)
	}
	return by, nil
}
