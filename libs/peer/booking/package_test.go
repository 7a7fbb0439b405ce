package booking_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

func TestPackageNameIsOfExactlyTheServices(t *testing.T) {
	t.Parallel()
	cut, colour, wash := uuid.New(), uuid.New(), uuid.New()
	offer := &catalog.Offer{Packages: []catalog.Package{{
		Name: catalog.Label{Text: "Total look", Translations: map[string]string{"pt": "Visual completo"}}, ServiceIDs: []uuid.UUID{cut, colour},
	}}}
	for name, c := range map[string]struct {
		services []booking.BookedService
		want     string
	}{
		"the package":          {[]booking.BookedService{{ID: cut}, {ID: colour}}, "Visual completo"},
		"in another order":     {[]booking.BookedService{{ID: colour}, {ID: cut}}, "Visual completo"},
		"one more":             {[]booking.BookedService{{ID: cut}, {ID: colour}, {ID: wash}}, ""},
		"with a variant":       {[]booking.BookedService{{ID: cut, VariantID: uuid.New()}, {ID: colour}}, ""},
		"one service":          {[]booking.BookedService{{ID: cut}}, ""},
		"services of no offer": {[]booking.BookedService{{ID: uuid.New()}, {ID: uuid.New()}}, ""},
	} {
		if got := booking.PackageName(offer, c.services, "pt"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
