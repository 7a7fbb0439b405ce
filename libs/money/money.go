// Package money counts money in integers of a currency's minor unit. Decimals appear only at the edges: in the
// manifest and in JSON numbers. It is pure.
package money

import (
	"encoding/json"
	"fmt"

	"github.com/shopspring/decimal"
	"golang.org/x/text/currency"
)

// Currency is an ISO 4217 currency and the number of decimals its minor unit has.
type Currency struct {
	Code   string
	Digits int
}

// ParseCurrency reads an upper-case ISO 4217 code, such as EUR (2 decimals) or JPY (0).
func ParseCurrency(code string) (Currency, error) {
	unit, err := currency.ParseISO(code)
	if err != nil || unit.String() != code {
		return Currency{}, fmt.Errorf("%q is not an ISO 4217 currency code; write one such as EUR", code)
	}
	digits, _ := currency.Standard.Rounding(unit)
	return Currency{Code: code, Digits: digits}, nil
}

// Minor returns the decimal amount d in minor units; it refuses more decimals than the currency has and
// amounts of more than twelve digits before the point.
func (c Currency) Minor(d decimal.Decimal) (int64, error) {
	scaled := d.Shift(int32(c.Digits))
	if !scaled.IsInteger() {
		return 0, fmt.Errorf("%s has more decimals than %s allows; write at most %d", d, c.Code, c.Digits)
	}
	if d.Abs().GreaterThanOrEqual(maxAmount) {
		return 0, fmt.Errorf("%s is too large; write an amount below %s", d, maxAmount)
	}
	return scaled.IntPart(), nil
}

var maxAmount = decimal.New(1, 12)

// Decimal returns minor units as the decimal amount they stand for.
func (c Currency) Decimal(minor int64) decimal.Decimal { return decimal.New(minor, -int32(c.Digits)) }

// JSON returns minor units as a JSON number with the currency's decimals: 4000 of EUR is 40.00.
func (c Currency) JSON(minor int64) json.Number {
	return json.Number(c.Decimal(minor).StringFixed(int32(c.Digits)))
}
