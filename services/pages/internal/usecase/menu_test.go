package usecase_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

func TestCanServicePriceRiseDependsOnRules(t *testing.T) {
	t.Parallel()
	cut, wash := uuid.New(), uuid.New()
	percent := func(n int64) *decimal.Decimal { d := decimal.NewFromInt(n); return &d }
	minor := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		rule  catalog.Rule
		rises bool
	}{
		"a tenth less": {catalog.Rule{Percent: percent(-10)}, false},
		"a tenth more": {catalog.Rule{Percent: percent(10)}, true},
		"less":         {catalog.Rule{Amount: minor(-1)}, false}, "more": {catalog.Rule{Amount: minor(1)}, true},
		"set below": {catalog.Rule{Set: minor(3999)}, false}, "set to it": {catalog.Rule{Set: minor(4000)}, false},
		"set above": {catalog.Rule{Set: minor(4001)}, true},
		"of this service": {catalog.Rule{Amount: minor(1), AppliesTo: catalog.AppliesTo{Services: []uuid.UUID{cut}}},
			true},
		"of another": {catalog.Rule{Amount: minor(1), AppliesTo: catalog.AppliesTo{Services: []uuid.UUID{wash}}},
			false},
		"of all events":    {catalog.Rule{Amount: minor(1), AppliesTo: catalog.AppliesTo{AllEvents: true}}, false},
		"of every service": {catalog.Rule{Amount: minor(1), AppliesTo: catalog.AppliesTo{AllServices: true}}, true},
	} {
		if got := usecase.CanServicePriceRise(&catalog.Snapshot{Rules: []catalog.Rule{{Percent: percent(-5)}, c.rule}}, cut,
			4000); got != c.rises {
			t.Errorf("%s: %v, want %v", name, got, c.rises)
		}
		rental := c.rule
		rental.AppliesTo = catalog.AppliesTo{Rentals: c.rule.AppliesTo.Services,
			AllRentals: c.rule.AppliesTo.AllServices, AllEvents: c.rule.AppliesTo.AllEvents}
		if got := usecase.CanRentalPriceRise(&catalog.Snapshot{Rules: []catalog.Rule{{Percent: percent(-5)}, rental}}, cut,
			4000); got != c.rises {
			t.Errorf("the same of a rental, %s: %v, want %v", name, got, c.rises)
		}
	}
}
