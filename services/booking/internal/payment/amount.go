package payment

import (
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// AmountDue is what is to be paid online for services at their prices: the sum of what each one's requirement asks of its own
// price (semantics.md §3), in minor units. A fixed deposit is never more than the price; a percentage is rounded half up.
func AmountDue(services []*catalog.Service, prices []int64, currency money.Currency) int64 {
	var due int64
	for i, s := range services {
		due += dueOf(s, prices[i], currency)
	}
	return due
}

func dueOf(s *catalog.Service, price int64, currency money.Currency) int64 {
	if s.PaymentRequirement == catalog.RequirementFull {
		return price
	}
	if s.DepositValue == nil {
		return 0
	}
	switch s.PaymentRequirement {
	case catalog.RequirementDepositPercent:
		return min(price, currency.Round(currency.Decimal(price).Mul(*s.DepositValue).Div(hundred)))
	case catalog.RequirementDepositFixed:
		return min(price, currency.Round(*s.DepositValue))
	}
	return 0
}

var hundred = decimal.NewFromInt(100)
