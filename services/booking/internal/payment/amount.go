package payment

import (
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/money"
)

// AmountDue returns the amount that must be paid online for the services, in minor units. For each service, the payment
// requirement determines the part of the service's price for the party ([catalog.Service.Due]). The result is the sum.
func AmountDue(services []*catalog.Service, prices []int64, party int, currency money.Currency) int64 {
	var due int64
	for i, s := range services {
		due += s.Due(prices[i], party, currency)
	}
	return due
}
