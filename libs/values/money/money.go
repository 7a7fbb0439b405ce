// Package money represents amounts of money as integers in the minor unit of a currency, such
// as cents. Decimal numbers occur only in manifests and in JSON. The package does no I/O.
package money

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/clip"
)

// Currency is an ISO 4217 currency: its code and its number of decimals.
type Currency struct {
	Code   string
	Digits int
}

// ParseCurrency returns the currency for an upper-case ISO 4217 code, such as EUR (2
// decimals) or JPY (0 decimals). It rejects codes without a minor unit, such as XAU.
func ParseCurrency(code string) (Currency, error) {
	n, ok := digits[code]
	if !ok {
		return Currency{}, fmt.Errorf("%q is not an ISO 4217 currency code; write one such as EUR", clip.Text(code))
	}
	return Currency{Code: code, Digits: n}, nil
}

// Codes returns the codes that [ParseCurrency] accepts, in alphabetical order.
func Codes() []string { return slices.Sorted(maps.Keys(digits)) }

// Minor converts the decimal amount `d` to minor units. It rejects an amount with more decimals than the currency has.
// It also rejects an amount with more than twelve digits before the decimal point, even in exponent notation
// ("1e9999").
func (c Currency) Minor(d decimal.Decimal) (int64, error) {
	if d.IsZero() {
		return 0, nil
	}
	// To compare or shift a decimal, the package decimal writes out all its digits. A large exponent would need too
	// much memory, so it must be rejected first.
	if d.Exponent() > maxDigits {
		return 0, fmt.Errorf("the amount is too large; write one below %s", maxAmount)
	}
	if d.Exponent() < -maxDecimals {
		return 0, fmt.Errorf("the amount has more decimals than %s allows; write at most %d", c.Code, c.Digits)
	}
	if d.Abs().GreaterThanOrEqual(maxAmount) {
		return 0, fmt.Errorf("%s is too large; write an amount below %s", clip.Text(d.String()), maxAmount)
	}
	scaled := d.Shift(int32(c.Digits))
	if !scaled.IsInteger() {
		return 0, fmt.Errorf("%s has more decimals than %s allows; write at most %d", clip.Text(d.String()), c.Code,
			c.Digits)
	}
	return scaled.IntPart(), nil
}

// Limit returns the smallest positive amount that [Currency.Minor] rejects as too large.
func Limit() decimal.Decimal { return maxAmount }

const (
	maxDigits   = 12  // maximal number of digits before the decimal point
	maxDecimals = 100 // maximal number of digits after the decimal point, including trailing zeros
)

var (
	maxAmount = decimal.New(1, maxDigits)
	half      = decimal.New(5, -1)
)

// Decimal converts an amount in minor units to a decimal.
func (c Currency) Decimal(minor int64) decimal.Decimal { return decimal.New(minor, -int32(c.Digits)) }

// Round converts `d` to minor units and rounds half up (semantics.md §5): 0.5 becomes 1, and -0.5 becomes 0. An amount
// above [Currency.Largest] is replaced by Largest, and an amount below -Largest by -Largest, so that the integer cannot
// overflow.
func (c Currency) Round(d decimal.Decimal) int64 {
	largest := c.Largest()
	if d.Abs().GreaterThanOrEqual(maxAmount) {
		return largest * int64(d.Sign())
	}
	return min(largest, d.Shift(int32(c.Digits)).Add(half).Floor().IntPart())
}

// Largest returns the largest result of [Currency.Round], in minor units.
func (c Currency) Largest() int64 { return maxAmount.Shift(int32(c.Digits)).IntPart() - 1 }

// JSON converts an amount in minor units to a JSON number with the
// decimals of the currency. For example, 4000 in EUR becomes 40.00.
func (c Currency) JSON(minor int64) json.Number { return json.Number(c.Exact(c.Decimal(minor))) }

// Number converts the JSON number `n` to a decimal. It returns 0 if `n` is not a number.
func Number(n json.Number) decimal.Decimal {
	d, err := decimal.NewFromString(n.String())
	if err != nil {
		return decimal.Zero
	}
	return d
}

// Exact formats `d` with the decimals of the currency, or with more decimals if `d` has more decimals: 40.00, 13.3875.
func (c Currency) Exact(d decimal.Decimal) string {
	s := d.String() // String omits trailing zeros
	if _, decimals, ok := strings.Cut(s, "."); ok && len(decimals) >= c.Digits {
		return s
	}
	return d.StringFixed(int32(c.Digits))
}
