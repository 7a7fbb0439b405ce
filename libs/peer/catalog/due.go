package catalog

import (
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/money"
)

// Due is what of a price is to be paid online when it is booked, in minor units, as a payment requirement asks with its deposit
// (semantics.md §3). A fixed deposit is never more than the price; a percentage is rounded half up.
func Due(requirement string, deposit *decimal.Decimal, price int64, currency money.Currency) int64 {
	if requirement == RequirementFull {
		return price
	}
	if deposit == nil {
		return 0
	}
	switch requirement {
	case RequirementDepositPercent:
		return min(price, currency.Round(currency.Decimal(price).Mul(*deposit).Div(decimal.NewFromInt(100))))
	case RequirementDepositFixed:
		return min(price, currency.Round(*deposit))
	}
	return 0
}
