package booking_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

func TestPackageNameUsesSoldPackage(t *testing.T) {
	t.Parallel()
	cut, colour, wash := uuid.New(), uuid.New(), uuid.New()
	offer := &catalog.Snapshot{Packages: []catalog.Package{{
		Name:       catalog.Label{Text: "Total look", Translations: map[string]string{"pt": "Visual completo"}},
		ServiceIDs: []uuid.UUID{cut, colour},
	}}}
	sold := func(name string, ids ...uuid.UUID) []booking.BookedService {
		services := make([]booking.BookedService, len(ids))
		for i, id := range ids {
			services[i] = booking.BookedService{ID: id, PackageName: name}
		}
		return services
	}
	for name, c := range map[string]struct {
		services []booking.BookedService
		want     string
	}{
		"the package":               {sold("Total look", cut, colour), "Visual completo"},
		"in another order":          {sold("Total look", colour, cut), "Visual completo"},
		"sold one by one":           {sold("", cut, colour), ""},
		"a package renamed since":   {sold("Full makeover", cut, colour), "Full makeover"},
		"a package taken out since": {sold("Wash and cut", wash, cut), "Wash and cut"},
		"one service":               {sold("", cut), ""},
		"no services":               {nil, ""},
	} {
		if got := booking.PackageName(offer, c.services, "pt"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
