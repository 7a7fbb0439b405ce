package usecase

import (
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/locale"
)

// euCountries are the countries of the European Union. In these countries, the button that places an order with costs
// must state the duty to pay (directive 2011/83/EU, article 8).
const euCountries = " AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK "

// Country returns the code of the country in the business's address or, if the business has no address with a country,
// of the country of the business's time zone.
func (b *Business) Country() string {
	if place := b.Snapshot.Place(); place != nil && place.Address.Country != "" {
		return place.Address.Country
	}
	return locale.RegionOf(b.Snapshot.Timezone)
}

// IsInEU reports whether the business is in the European Union; see [Business.Country].
func (b *Business) IsInEU() bool {
	country := b.Country()
	return country != "" && strings.Contains(euCountries, " "+country+" ")
}
