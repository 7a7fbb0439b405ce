package booking

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// PackageName returns the name of the package in which the services of a booking were sold, in
// one of the business's languages. It returns "" if the services were not sold as a package.
func PackageName(offer *catalog.Snapshot, services []BookedService, language string) string {
	if len(services) == 0 {
		return ""
	}
	ids := make([]uuid.UUID, len(services))
	for i, s := range services {
		ids[i] = s.ID
	}
	return offer.PackageName(ids, services[0].PackageName, language)
}
