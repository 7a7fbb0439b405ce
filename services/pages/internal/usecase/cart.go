package usecase

import (
	"net/url"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
)

// Cart contains the services that a visitor has added on the first page to book them for one visit.
type Cart struct {
	Selection Selection  // the services and their variants, without a staff member and a start
	Services  []*Service // as GET /services describes them, in the order of the selection
}

// IsCombinable reports whether customers can book a service together with other services.
func IsCombinable(s *Service) bool { return s.AllowMultiple && !s.HasClassSchedule }

// HasCart reports whether the page has a cart: customers can book at least two of the services together.
func HasCart(groups []Group) bool {
	count := 0
	for _, g := range groups {
		for _, s := range g.Services {
			if IsCombinable(s) {
				count++
			}
		}
	}
	return count > 1
}

// NewCart returns the cart that the query of the first page contains. It ignores services and variants that the page
// does not show or that cannot be combined, and repeated services. It returns nil if the cart is empty.
func NewCart(query url.Values, groups []Group) *Cart {
	asked, err := ReadSelection(url.Values{"service": query["service"]})
	if err != nil {
		return nil
	}
	cart := &Cart{}
	for _, id := range asked.Services {
		service := findCombinable(groups, id)
		if service == nil || slices.Contains(cart.Selection.Services, id) {
			continue
		}
		variant, hasVariant := asked.Variants[id]
		if hasVariant && !hasVariantID(service, variant) {
			continue
		}
		cart.Selection = cart.Selection.WithService(asked.serviceParam(id))
		cart.Services = append(cart.Services, service)
	}
	if len(cart.Services) == 0 {
		return nil
	}
	return cart
}

func findCombinable(groups []Group, id uuid.UUID) *Service {
	for _, g := range groups {
		for _, s := range g.Services {
			if s.ID == id && IsCombinable(s) {
				return s
			}
		}
	}
	return nil
}

func hasVariantID(s *Service, id uuid.UUID) bool {
	return slices.ContainsFunc(s.Variants, func(v publicapi.Variant) bool { return v.ID == id })
}

// Has reports whether the cart contains a service with the given variant. The argument `variant` is "" for the service
// without a variant. A nil cart contains nothing.
func (c *Cart) Has(service uuid.UUID, variant string) bool {
	if c == nil || !slices.Contains(c.Selection.Services, service) {
		return false
	}
	chosen, hasVariant := c.Selection.Variants[service]
	return hasVariant && chosen.String() == variant || !hasVariant && variant == ""
}

// With returns the selection of the cart with one more service, given as ID or ID:VARIANT. If the cart already contains
// the service, the new variant replaces the earlier one. A nil cart is empty.
func (c *Cart) With(service uuid.UUID, param string) Selection {
	return c.Without(service).WithService(param)
}

// Without returns the selection of the cart without a service. A nil cart is empty.
func (c *Cart) Without(service uuid.UUID) Selection {
	if c == nil {
		return Selection{}
	}
	var s Selection
	for _, id := range c.Selection.Services {
		if id != service {
			s = s.WithService(c.Selection.serviceParam(id))
		}
	}
	return s
}
