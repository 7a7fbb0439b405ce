package usecase

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// Package is a package of services that the business offers. The field Services has the services of the package as GET
// /services describes them.
type Package struct {
	*catalog.Package
	Services []*Service // in the order in which the package lists them
}

// Minutes returns the sum of the durations of the package's services, in minutes.
func (p Package) Minutes() int {
	sum := 0
	for _, s := range p.Services {
		sum += s.DurationMinutes
	}
	return sum
}

// Packages returns the packages whose services are all in `groups`, in the order of the offer.
func (b *Business) Packages(groups []Group) []Package {
	services := map[uuid.UUID]*Service{}
	for _, g := range groups {
		for _, s := range g.Services {
			services[s.ID] = s
		}
	}
	var all []Package
	for i := range b.Snapshot.Packages {
		if p := NewPackage(&b.Snapshot.Packages[i], services); p != nil {
			all = append(all, *p)
		}
	}
	return all
}

// NewPackage returns a package with its services from the map `services`. It returns nil if the map lacks one of the
// services.
func NewPackage(published *catalog.Package, services map[uuid.UUID]*Service) *Package {
	p := &Package{Package: published}
	for _, id := range published.ServiceIDs {
		s := services[id]
		if s == nil {
			return nil
		}
		p.Services = append(p.Services, s)
	}
	return p
}
