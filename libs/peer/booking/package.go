package booking

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// PackageName returns the name of the package that these services of a booking are, in a language of the business; "" for a single
// service and for services that are no package of the offer.
func PackageName(offer *catalog.Offer, services []BookedService, language string) string {
	if len(services) < 2 {
		return ""
	}
	ids, varied := make([]uuid.UUID, len(services)), false
	for i, s := range services {
		ids[i], varied = s.ID, varied || s.VariantID != uuid.Nil
	}
	if sold := offer.PackageOf(ids, varied); sold != nil {
		return sold.Name.In(language)
	}
	return ""
}
