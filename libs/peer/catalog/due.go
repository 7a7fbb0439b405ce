package catalog

import (
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/money"
)

// PaysOnline says whether something with a payment requirement is paid online, by the mode of its kind and the customer's choice, which is
// one of the modes or "" (semantics.md §3).
func (o *Offer) PaysOnline(mode, choice string, total int64) bool {
	if len(o.Payments.Providers) == 0 || total == 0 {
		return false
	}
	return mode == ModeOnline || mode == ModeCustomerChoice && choice == ModeOnline
}

// ConnectedProviders are the providers by which the business is paid: those with an account of the business. A sandbox needs none.
func (o *Offer) ConnectedProviders() []string {
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

// PricePer names what the service's price is of, as price_per of the manifest: person or booking.
func (s *Service) PricePer() string {
	if s.PerPerson {
		return "person"
	}
	return "booking"
}

// Units is how many times a party of this size pays the service's price: once for each person or once for the booking.
func (s *Service) Units(party int) int {
	if s.PerPerson {
		return max(1, party)
	}
	return 1
}

// Due is what of the service's price in a booking for a party is to be paid online, as [Due]. A fixed deposit is of one unit, as the
// price is.
func (s *Service) Due(price int64, party int, currency money.Currency) int64 {
	deposit := s.DepositValue
	if units := s.Units(party); deposit != nil && units > 1 && s.PaymentRequirement == RequirementDepositFixed {
		all := deposit.Mul(decimal.NewFromInt(int64(units)))
		deposit = &all
	}
	return Due(s.PaymentRequirement, deposit, price, currency)
}
