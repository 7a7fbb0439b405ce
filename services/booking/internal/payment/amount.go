package payment

import (
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/money"
)

// ComputeDue returns the amount that must be paid online for the services, in minor units of currency. The
// argument `prices` contains the price of each service. The payment requirement of a service determines
// which part of its price is due ([catalog.Service.Due]). The result is the sum of these parts.
func ComputeDue(services []*catalog.Service, prices []int64, party int, currency money.Currency) int64 {
	var due int64
	for i, s := range services {
		due += s.Due(prices[i], party, currency)
	}
	return due
}
