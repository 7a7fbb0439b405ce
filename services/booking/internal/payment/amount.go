package payment

import (
	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// AmountDue returns the amount to be paid online for the services, in minor units. It is the sum of
// what each service's payment requirement demands of its own price for a party ([catalog.Service.Due]).
func AmountDue(services []*catalog.Service, prices []int64, party int, currency money.Currency) int64 {
	var due int64
	for i, s := range services {
		due += s.Due(prices[i], party, currency)
	}
	return due
}
