package usecase

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// Package is a package of the offer with its services, as /services shows them.
type Package struct {
	*catalog.Package
	Services []*Service // in its order
}

// Minutes is how long it takes.
func (p Package) Minutes() int {
	sum := 0
	for _, s := range p.Services {
		sum += s.DurationMinutes
	}
	return sum
}

// Packages are those of which every service is offered, in the owner's order.
func (b *Business) Packages(groups []Group) []Package {
	offered := map[uuid.UUID]*Service{}
	for _, g := range groups {
		for _, s := range g.Services {
			offered[s.ID] = s
		}
	}
	var all []Package
	for i := range b.Offer.Packages {
		if p := PackageWith(&b.Offer.Packages[i], offered); p != nil {
			all = append(all, *p)
		}
	}
	return all
}

// PackageWith is a package with its services, found by their ids; nil where one of them is not offered.
func PackageWith(sold *catalog.Package, offered map[uuid.UUID]*Service) *Package {
	p := &Package{Package: sold}
	for _, id := range sold.ServiceIDs {
		s := offered[id]
		if s == nil {
			return nil
		}
		p.Services = append(p.Services, s)
	}
	return p
}
