package catalog_test

import (
	"testing"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/money"
)

func TestDueCapsFixedDepositAtPrice(t *testing.T) {
	t.Parallel()
	euro, five := money.Currency{Code: "EUR", Digits: 2}, decimal.NewFromInt(5)
	for _, c := range []struct {
		perPerson      bool
		party          int
		price, deposit int64
	}{
		{true, 1, 1750, 500},
		{true, 3, 5250, 1500},
		{true, 3, 1200, 1200}, // the price for the party is smaller than three deposits
		{false, 3, 1750, 500},
		{false, 3, 300, 300},
	} {
		s := catalog.Service{PerPerson: c.perPerson, PaymentRequirement: catalog.RequirementDepositFixed,
			DepositValue: &five}
		if got := s.Due(c.price, c.party, euro); got != c.deposit {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
