package usecase

import (
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
)

// TestSandboxSellsTicketsAndRentalsOnline shows that a sandbox takes payments without an account at a provider.
// Another business needs an account.
func TestSandboxSellsTicketsAndRentalsOnline(t *testing.T) {
	t.Parallel()
	gala, kayak := uuid.New(), uuid.New()
	for _, sandbox := range []bool{true, false} {
		snapshot := &catalog.Snapshot{
			Currency: "EUR", Timezone: "Europe/Lisbon", Account: catalog.Account{Sandbox: sandbox},
			Payments: catalog.Payments{Providers: []string{"stripe"},
				Modes: catalog.PaymentModes{Events: catalog.ModeOnline, Rentals: catalog.ModeOnline}},
			Events: []catalog.Event{{ID: gala, PaymentRequirement: catalog.RequirementFull,
				Tiers: []catalog.Tier{{Price: 1200}}}},
			Rentals: []catalog.Rental{{ID: kayak, PaymentRequirement: catalog.RequirementFull, Price: 1200,
				PriceType: catalog.PriceHourly}},
		}
		if err := snapshot.Prepare(); err != nil {
			t.Fatal(err)
		}
		b := &Business{Snapshot: snapshot}
		sells := b.SellsOnline(&Event{Event: publicapi.Event{ID: gala}})
		rents := !b.isUnpayable(&Rental{Rental: publicapi.Rental{ID: kayak}})
		if sells != sandbox || rents != sandbox {
			t.Errorf("sandbox %v: it sells tickets %v, and rents out %v", sandbox, sells, rents)
		}
	}
}
