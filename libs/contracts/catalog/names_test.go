package catalog_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

func TestNamesFallBackToNameAtSale(t *testing.T) {
	t.Parallel()
	id := uuid.New
	pt := func(name string) map[string]string { return map[string]string{"pt": name} }
	cut, long, anna, gala, seat, kayak := id(), id(), id(), id(), id(), id()
	o := &catalog.Snapshot{
		Timezone: "Europe/Lisbon", Currency: "EUR",
		Services: []catalog.Service{{ID: cut, Name: "Cut", NameTranslations: pt("Corte"),
			Variants: []catalog.Variant{{ID: long, Name: "Long", NameTranslations: pt("Longo")}}}},
		Staff: []catalog.Staff{{ID: anna, Name: "Anna", NameTranslations: pt("Ana")}},
		Events: []catalog.Event{{ID: gala, Name: "Gala", NameTranslations: pt("Baile"),
			Tiers: []catalog.Tier{{ID: seat, Name: "Seat", NameTranslations: pt("Lugar")}}}},
		Rentals: []catalog.Rental{{ID: kayak, Name: "Kayak", NameTranslations: pt("Caiaque")}},
	}
	if err := o.Prepare(); err != nil {
		t.Fatal(err)
	}
	gone := id()
	for want, got := range map[string]string{
		"Corte": o.ServiceName(cut, "Cut", "pt"), "Cut": o.ServiceName(cut, "Cut", "de"),
		"Trim": o.ServiceName(cut, "Trim", "pt"), "Wash": o.ServiceName(gone, "Wash", "pt"),
		"Longo": o.VariantName(cut, long, "Long", "pt"), "Long": o.VariantName(cut, gone, "Long", "pt"),
		"Short": o.VariantName(gone, long, "Short", "pt"),
		"Ana":   o.MemberName(&anna, "Anna", "pt"), "Ben": o.MemberName(&gone, "Ben", "pt"),
		"Bo":    o.MemberName(nil, "Bo", "pt"),
		"Baile": o.EventName(gala, "Gala", "pt"), "Ball": o.EventName(gone, "Ball", "pt"),
		"Lugar": o.TierName(gala, seat, "Seat", "pt"), "Seat": o.TierName(gala, gone, "Seat", "pt"),
		"Box":     o.TierName(gone, seat, "Box", "pt"),
		"Caiaque": o.RentalName(kayak, "Kayak", "pt"), "Canoe": o.RentalName(gone, "Canoe", "pt"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
