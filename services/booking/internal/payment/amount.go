package payment

import (
	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// AmountDue is what is to be paid online for services at their prices: the sum of what each one's requirement asks of its own
// price for a party ([catalog.Service.Due]), in minor units.
func AmountDue(services []*catalog.Service, prices []int64, party int, currency money.Currency) int64 {
	var due int64
	for i, s := range services {
		due += s.Due(prices[i], party, currency)
	}
	return due
}
