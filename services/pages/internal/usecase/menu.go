package usecase

import (
	"context"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
)

// Service is a service as GET /services describes it, in one language.
type Service = publicapi.Service

// Group contains the services of one category, in the order in which the page shows them.
type Group struct {
	Category string
	Services []*Service
}

// Menu returns the services of a business by category, in the order in which the page shows them. The texts are in the
// given language. The categories are in the order of their first services. The names of categories come from the
// snapshot, because GET /services does not translate these names (interface.md §2). Faults: business_not_found;
// service_unavailable.
func (s *Shop) Menu(ctx context.Context, b *Business, language string) ([]Group, error) {
	list, err := read[publicapi.ServiceList](ctx, s.Catalog, b.Snapshot.Slug, "services",
		url.Values{"locale": {language}})
	if err != nil {
		return nil, err
	}
	var groups []Group
	for i := range list.Services {
		service := &list.Services[i]
		category := b.categoryName(service, language)
		at := slices.IndexFunc(groups, func(g Group) bool { return g.Category == category })
		if at < 0 {
			at, groups = len(groups), append(groups, Group{Category: category})
		}
		groups[at].Services = append(groups[at].Services, service)
	}
	return groups, nil
}

// categoryName returns the name of a service's category, in the
// language of the business that is nearest to the given language.
func (b *Business) categoryName(service *Service, language string) string {
	s := b.Snapshot.Service(service.ID)
	if s == nil || s.Category.Text != service.Category {
		return service.Category
	}
	return s.Category.In(b.Language(language))
}

// canRaise reports whether the pricing rule `r`, if it applies, makes a price higher than `price`. The argument `price`
// is in minor units.
func canRaise(r catalog.Rule, price int64) bool {
	return r.Percent != nil && r.Percent.IsPositive() || r.Amount != nil && *r.Amount > 0 || r.Set != nil &&
		*r.Set > price
}

// CanServicePriceRise reports whether a pricing rule can make the price of a service higher than `price`. The argument
// `price` is in minor units.
func CanServicePriceRise(snapshot *catalog.Snapshot, service uuid.UUID, price int64) bool {
	return slices.ContainsFunc(snapshot.Rules, func(r catalog.Rule) bool {
		applies := r.AppliesTo.IsEverything() || r.AppliesTo.AllServices || slices.Contains(r.AppliesTo.Services,
			service)
		return applies && canRaise(r, price)
	})
}

// Names contains the services and staff members of a business in one language, by their ids.
type Names struct {
	Services map[uuid.UUID]*Service
	Members  map[uuid.UUID]*Member
}

// Member is a staff member as GET /staff describes them, in one language.
type Member = publicapi.StaffMember

// Names returns the services and staff of a business in one language. Faults: business_not_found; service_unavailable.
func (s *Shop) Names(ctx context.Context, slug, language string) (*Names, error) {
	query := url.Values{"locale": {language}}
	services, err := read[publicapi.ServiceList](ctx, s.Catalog, slug, "services", query)
	if err != nil {
		return nil, err
	}
	staff, err := read[publicapi.StaffList](ctx, s.Catalog, slug, "staff", query)
	if err != nil {
		return nil, err
	}
	n := &Names{Services: make(map[uuid.UUID]*Service, len(services.Services)),
		Members: make(map[uuid.UUID]*Member, len(staff.Staff))}
	for i := range services.Services {
		n.Services[services.Services[i].ID] = &services.Services[i]
	}
	for i := range staff.Staff {
		n.Members[staff.Staff[i].ID] = &staff.Staff[i]
	}
	return n, nil
}
