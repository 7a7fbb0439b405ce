// Package gate stands before the routes of the owner's side: each is registered with the action that it is, and lets nobody by whom the
// table of internal/access does not allow it. Who asks, an authenticating middleware has said before, by [Admit].
package gate

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
)

type principalKey struct{}

// Admit notes who asks, for the routes behind it and as the actor of what they change.
func Admit(c *fiber.Ctx, p access.Principal) {
	c.Locals(principalKey{}, p)
	c.SetUserContext(actor.With(c.UserContext(), p.Actor()))
}

// Principal is who asks; nobody where no middleware has said it.
func Principal(c *fiber.Ctx) access.Principal {
	p, _ := c.Locals(principalKey{}).(access.Principal)
	return p
}

// FindBusiness finds a business by its slug, as it is now. Fault: business_not_found.
type FindBusiness func(ctx context.Context, slug string) (*catalog.Offer, error)

// Router registers routes with their actions. The business of a route is that of its :slug; a route without one is for who may do the
// action in any business, and its use case narrows what it shows.
type Router struct {
	to   fiber.Router
	base string
	find FindBusiness
}

// New returns a router of the routes below base.
func New(to fiber.Router, base string, find FindBusiness) *Router { return &Router{to, base, find} }

// Below returns a router of the routes below a path of this one.
func (r *Router) Below(path string) *Router { return New(r.to, r.base+path, r.find) }

// Get registers a read.
func (r *Router) Get(path string, action access.Action, handler fiber.Handler) {
	r.to.Get(r.base+path, r.check(path, action), handler)
}

// Put registers a write.
func (r *Router) Put(path string, action access.Action, handler fiber.Handler) {
	r.to.Put(r.base+path, r.check(path, action), handler)
}

// Post registers a write.
func (r *Router) Post(path string, action access.Action, handler fiber.Handler) {
	r.to.Post(r.base+path, r.check(path, action), handler)
}

// Patch registers a write.
func (r *Router) Patch(path string, action access.Action, handler fiber.Handler) {
	r.to.Patch(r.base+path, r.check(path, action), handler)
}

// Delete registers a write.
func (r *Router) Delete(path string, action access.Action, handler fiber.Handler) {
	r.to.Delete(r.base+path, r.check(path, action), handler)
}

// check refuses who may not, and tells who finds the business later which one was judged ([access.SameAsJudged]). An operator's request finds its
// business itself, which may not exist yet.
func (r *Router) check(path string, action access.Action) fiber.Handler {
	ofBusiness := strings.Contains(r.base+path, ":slug")
	return func(c *fiber.Ctx) error {
		p := Principal(c)
		if p.Kind == "" {
			return fault.New(fault.Unauthorized, "Sign in first.")
		}
		if !ofBusiness || p.Operator {
			if err := p.RequireAnywhere(action); err != nil {
				return err
			}
			return c.Next()
		}
		slug, err := server.Slug(c)
		if err != nil {
			return err
		}
		business, err := r.find(c.UserContext(), slug)
		if err != nil {
			return err
		}
		if err := p.Require(business.ID, action); err != nil {
			return err
		}
		c.SetUserContext(access.Judged(c.UserContext(), business.ID))
		return c.Next()
	}
}
