package server

import (
	"context"
	"fmt"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Internal mounts the internal endpoints of a service. Each endpoint is declared by libs/contracts/endpoints.
// Before the handlers of an endpoint run, Internal checks the caller and the actor against the declaration.
type Internal struct{ server *Server }

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

// checkMounted returns an error if an endpoint of the service is declared but not mounted. It
// knows the endpoints of each API of which the service mounts at least one endpoint.
func (s *Server) checkMounted() error {
	for _, mounted := range s.mounted {
		for _, row := range mounted.API.Rows() {
			if !slices.Contains(s.mounted, row) {
				return fmt.Errorf("%s: %s %s is declared and is not mounted", s.name, row.Method, row.Path)
			}
		}
	}
	return nil
}

// authorize returns middleware that refuses callers and actors that the declaration `row` does not allow. The
// middleware runs before the body is read. It stores three things in the request's context: the actor, the locations to
// which the actor is limited, and whether the customer is notified of the change that the request makes.
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
		locations, err := parseLocations(c)
		if err != nil {
			return err
		}
		if locations != nil && !row.ServesLimited() {
			return fault.New(fault.SourceForbidden, "This endpoint serves nobody who is limited to locations.")
		}
		ctx := actor.LimitTo(actor.With(c.UserContext(), by), locations)
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

// parseLocations returns the locations to which the actor is limited, or nil if the request names none.
func parseLocations(c *fiber.Ctx) ([]uuid.UUID, error) {
	header := c.Context().Request.Header.Peek(actor.LocationsHeader)
	if header == nil {
		return nil, nil
	}
	locations, err := actor.ParseLocations(string(header))
	if err != nil {
		return nil, fault.Newf(fault.InvalidParameter, "%s: is no list of ids.", actor.LocationsHeader)
	}
	return locations, nil
}
