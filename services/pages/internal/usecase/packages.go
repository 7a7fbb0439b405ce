package usecase

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// Package is a package of the offer with its services of /services.
type Package struct {
	*catalog.Package
	Services []*Service // in the package's order
}

// Minutes returns the sum of its services' durations.
func (p Package) Minutes() int {
	sum := 0
	for _, s := range p.Services {
		sum += s.DurationMinutes
	}
	return sum
}

// Packages returns the packages whose services are all offered, in the owner's order.
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

// PackageWith returns a package with its services from offered, or nil if one of them is not offered.
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
