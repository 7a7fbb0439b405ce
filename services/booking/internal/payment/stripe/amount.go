package stripe

import (
	"fmt"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
)

// unit describes how Stripe represents amounts of a currency. An amount is an integer. Its unit is the
// currency's main unit divided by 10 to the power of `digits`. The amount must be a multiple of `step`.
type unit struct {
	digits int
	step   int64
}

// special contains the currencies that Stripe represents differently from ISO 4217
// (docs.stripe.com/currencies). The Malagasy ariary has no decimals at Stripe. Icelandic króna and Ugandan
// shilling have two decimals, which must be 00. An amount in a currency with three decimals must end in 0.
var special = map[string]unit{
	"MGA": {0, 1},
	"ISK": {2, 100}, "UGX": {2, 100},
	"BHD": {3, 10}, "JOD": {3, 10}, "KWD": {3, 10}, "OMR": {3, 10}, "TND": {3, 10},
}

// findUnit returns how Stripe represents amounts of the currency `c`.
// Errors: [payment.ErrRefused] if Stripe does not support the currency.
func findUnit(c money.Currency) (unit, error) {
	if u, ok := special[c.Code]; ok {
		return u, nil
	}
	if c.Digits > 2 {
		return unit{}, fmt.Errorf("%w: Stripe does not charge %s", payment.ErrRefused, c.Code)
	}
	return unit{c.Digits, 1}, nil
}

// toStripeAmount converts minor units of ISO 4217 into Stripe's
// representation. It rounds down to an amount that Stripe can charge.
func toStripeAmount(minor int64, c money.Currency) (int64, error) {
	u, err := findUnit(c)
	if err != nil {
		return 0, err
	}
	n := minor
	for range u.digits - c.Digits {
		n *= 10
	}
	for range c.Digits - u.digits {
		n /= 10
	}
	return n - n%u.step, nil
}

// toMinorUnits converts Stripe's representation of an amount into minor units of ISO 4217.
func toMinorUnits(n int64, c money.Currency) (int64, error) {
	u, err := findUnit(c)
	if err != nil {
		return 0, err
	}
	for range u.digits - c.Digits {
		n /= 10
	}
	for range c.Digits - u.digits {
		n *= 10
	}
	return n, nil
}
