package catalog

import (
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/money"
)

// PaysOnline reports whether a customer pays online for a sale (semantics.md §3). The
// argument `mode` is the payment mode for the kind of sale; `choice` is the customer's
// choice, or "" if the mode permits none; `total` is the price of the sale.
func (o *Snapshot) PaysOnline(mode, choice string, total int64) bool {
	if len(o.Payments.Providers) == 0 || total == 0 {
		return false
	}
	return mode == ModeOnline || mode == ModeCustomerChoice && choice == ModeOnline
}

// ConnectedProviders returns the payment providers with which the business has an account.
// A sandbox needs no accounts, so for a sandbox it returns all configured providers.
func (o *Snapshot) ConnectedProviders() []string {
	if o.Account.Sandbox {
		return o.Payments.Providers
	}
	var connected []string
	for _, name := range o.Payments.Providers {
		if o.Payments.Accounts[name] != "" {
			connected = append(connected, name)
		}
	}
	return connected
}

// Due returns the part of a price that the customer pays online at the time of the booking, in minor units
// (semantics.md §3). The argument `requirement` is the payment requirement, and `deposit` is the amount or
// percentage of its deposit. A fixed deposit is at most the price. A percentage is rounded half up.
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

// PricePer returns the unit to which the price of the service applies:
// person or booking. These are the values of price_per in the manifest.
func (s *Service) PricePer() string {
	if s.PerPerson {
		return "person"
	}
	return "booking"
}

// Units returns how many times the price of the service is charged for
// a party: once per person if the price is per person, otherwise once.
func (s *Service) Units(party int) int {
	if s.PerPerson {
		return max(1, party)
	}
	return 1
}

// Due returns the part of a price that a party pays online at the time of the booking; see the function
// [Due]. A fixed deposit is charged as often as the price of the service; see [Service.Units].
func (s *Service) Due(price int64, party int, currency money.Currency) int64 {
	deposit := s.DepositValue
	if units := s.Units(party); deposit != nil && units > 1 && s.PaymentRequirement == RequirementDepositFixed {
		all := deposit.Mul(decimal.NewFromInt(int64(units)))
		deposit = &all
	}
	return Due(s.PaymentRequirement, deposit, price, currency)
}
