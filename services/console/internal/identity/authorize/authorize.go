// Package authorize authorizes the requests to the owner's pages and the admin API. Each route is registered with an
// action. The package refuses a request if the table of permissions in internal/identity/access does not allow the
// principal to do the action. Another middleware must authenticate the caller and set the principal with [Admit] before
// this check.
//
// A write is authorized twice: before its body is read, and after. Otherwise a client that sends the body slowly could
// still use rights that were removed before the body arrived (docs/decisions/033).
package authorize

import (
	"context"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

type principalKey struct{}

// Admit sets the principal of a request. Later handlers read the principal with [Principal]. Events about the request's
// changes have the principal as their actor.
func Admit(c *fiber.Ctx, p access.Principal) {
	c.Locals(principalKey{}, p)
	c.SetUserContext(actor.With(c.UserContext(), p.Actor()))
}

// Principal returns the principal of a request, or the zero Principal if no middleware has set it.
func Principal(c *fiber.Ctx) access.Principal {
	p, _ := c.Locals(principalKey{}).(access.Principal)
	return p
}

type businessKey struct{}

// Business returns the business for which a read was authorized, with its data at the time of the check. It returns nil
// for a request of an operator. It also returns nil for a write, because the business may have changed before the body
// arrived.
func Business(c *fiber.Ctx) *catalog.Snapshot {
	if c.Method() != fiber.MethodGet {
		return nil
	}
	business, _ := c.Locals(businessKey{}).(*catalog.Snapshot)
	return business
}

// FindBusiness returns the current data of the business with the given slug. Fault: business_not_found.
type FindBusiness func(ctx context.Context, slug string) (*catalog.Snapshot, error)

// Authority looks up the current rights of principals. *identity.Accounts implements it outside tests.
type Authority interface {
	// Renew returns a principal with their current rights. Fault: unauthorized.
	Renew(ctx context.Context, p access.Principal) (access.Principal, error)
	// BeginWrite returns a principal with their current rights, before a write in another service. Until the write
	// ends, a revocation of the principal's rights waits. After the write, the caller must call `end` with the error of
	// the write.
	BeginWrite(ctx context.Context, p access.Principal) (now access.Principal, end func(error), err error)
}

// Router registers routes with their actions. A route with :slug in its path is about the business with this slug. A
// route without :slug is open to every principal who may do the action in at least one business. The use case then
// limits the data that such a route shows.
type Router struct {
	router       fiber.Router
	base         string
	findBusiness FindBusiness
	authority    Authority
}

// New returns a router for the routes below the path `base`. The routes are added to the router `to`. The function
// `find` looks up the business of a route.
func New(to fiber.Router, base string, find FindBusiness, authority Authority) *Router {
	return &Router{to, base, find, authority}
}

// Below returns a router for the routes below a path, which is relative to the base path of `r`.
func (r *Router) Below(path string) *Router {
	return New(r.router, r.base+path, r.findBusiness, r.authority)
}

// Get registers a route for a read.
func (r *Router) Get(path string, action access.Action, handler fiber.Handler) {
	r.router.Get(r.base+path, r.check(path, action), handler)
}

// Put registers a route for a write.
func (r *Router) Put(path string, action access.Action, handler fiber.Handler) {
	r.router.Put(r.base+path, r.check(path, action), r.recheck(action), handler)
}

// Post registers a route for a write.
func (r *Router) Post(path string, action access.Action, handler fiber.Handler) {
	r.router.Post(r.base+path, r.check(path, action), r.recheck(action), handler)
}

// Patch registers a route for a write.
func (r *Router) Patch(path string, action access.Action, handler fiber.Handler) {
	r.router.Patch(r.base+path, r.check(path, action), r.recheck(action), handler)
}

// Delete registers a route for a write.
func (r *Router) Delete(path string, action access.Action, handler fiber.Handler) {
	r.router.Delete(r.base+path, r.check(path, action), r.recheck(action), handler)
}

// check returns middleware that refuses principals who may not do the action in the business of the path. It stores the
// id of this business in the request's context. [access.CheckBusiness] later compares this id with the business that
// the request changes. For an operator, check does not look up the business, because the request may be the one that
// creates the business.
func (r *Router) check(path string, action access.Action) fiber.Handler {
	ofBusiness := strings.Contains(r.base+path, ":slug")
	return func(c *fiber.Ctx) error {
		p := Principal(c)
		if p.Kind == "" {
			return fault.New(fault.Unauthorized, "Sign in first.")
		}
		if !ofBusiness || p.IsOperator {
			if err := p.RequireAnywhere(action); err != nil {
				return err
			}
			return c.Next()
		}
		slug, err := server.Slug(c)
		if err != nil {
			return err
		}
		business, err := r.findBusiness(c.UserContext(), slug)
		if err != nil {
			return err
		}
		if err := p.Require(business.ID, action); err != nil {
			return err
		}
		c.SetUserContext(access.WithBusiness(c.UserContext(), business.ID))
		limit(c, p, business)
		c.Locals(businessKey{}, business)
		return c.Next()
	}
}

// limit limits the request to the locations of a member ([actor.LimitTo]). The other services obey the limit. If the
// location of bookings without a stored location is among them, the request also concerns these bookings.
func limit(c *fiber.Ctx, p access.Principal, business *catalog.Snapshot) {
	var locations []uuid.UUID
	if m, _ := p.MembershipIn(business.ID); m.IsLimited() {
		locations = slices.Clone(m.Locations)
		if l := business.UnstoredLocation(); l != nil && slices.Contains(locations, l.ID) {
			locations = append(locations, uuid.Nil)
		}
	}
	c.SetUserContext(actor.LimitTo(c.UserContext(), locations))
}

// recheck returns middleware that reads the body of a write, authorizes the write again, and continues with the
// principal's current rights.
//
// A change of the team or its tokens also checks the rights in its own transaction. A write in another service has no
// such transaction. So for such a write, recheck makes a revocation of the principal's rights wait until the write has
// ended.
func (r *Router) recheck(action access.Action) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if _, err := server.Body(c); err != nil {
			return err
		}
		if action == access.ManageTeam || action == access.ManageOperators {
			now, err := r.authority.Renew(c.UserContext(), Principal(c))
			if err != nil {
				return err
			}
			return readmit(c, now, action)
		}
		now, end, err := r.authority.BeginWrite(c.UserContext(), Principal(c))
		if err != nil {
			return err
		}
		err = fault.Guard(func() error { return readmit(c, now, action) })
		end(err)
		return err
	}
}

// readmit continues the request if the principal may still do the action. Otherwise it returns a fault:
// business_not_found or forbidden. The argument `now` is the principal with their current rights.
func readmit(c *fiber.Ctx, now access.Principal, action access.Action) error {
	business, authorized := access.AuthorizedBusiness(c.UserContext())
	if authorized && !now.IsOperator {
		if err := now.Require(business, action); err != nil {
			return err
		}
		snapshot, _ := c.Locals(businessKey{}).(*catalog.Snapshot)
		limit(c, now, snapshot)
	} else if err := now.RequireAnywhere(action); err != nil {
		return err
	}
	Admit(c, now)
	return c.Next()
}
