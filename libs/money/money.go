// Package money counts money in integers of a currency's minor unit. Decimals appear only at the edges: in the
// manifest and in JSON numbers. It is pure.
package money

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/clip"
)

// Currency is an ISO 4217 currency and the number of decimals its minor unit has.
type Currency struct {
	Code   string
	Digits int
}

// ParseCurrency reads an upper-case ISO 4217 code, such as EUR (2 decimals) or JPY (0). It refuses codes that have no
// minor unit, such as XAU.
func ParseCurrency(code string) (Currency, error) {
	n, ok := digits[code]
	if !ok {
		return Currency{}, fmt.Errorf("%q is not an ISO 4217 currency code; write one such as EUR", clip.Text(code))
	}
	return Currency{Code: code, Digits: n}, nil
}

// Codes returns the codes that [ParseCurrency] reads, in alphabetical order.
func Codes() []string { return slices.Sorted(maps.Keys(digits)) }

// Minor returns the decimal amount d in minor units. It refuses more decimals than the currency has and amounts of
// more than twelve digits before the point, however short they are written ("1e9999").
func (c Currency) Minor(d decimal.Decimal) (int64, error) {
	if d.IsZero() {
		return 0, nil
	}
	// Comparing and scaling write a decimal out in full, so that a large exponent must be refused before either.
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
		return 0, fmt.Errorf("%s has more decimals than %s allows; write at most %d", clip.Text(d.String()), c.Code, c.Digits)
	}
	return scaled.IntPart(), nil
}

// Limit is the smallest amount that [Currency.Minor] finds too large.
func Limit() decimal.Decimal { return maxAmount }

const (
	maxDigits   = 12  // before the point
	maxDecimals = 100 // as written, trailing zeros included
)

var (
	maxAmount = decimal.New(1, maxDigits)
	half      = decimal.New(5, -1)
)

// Decimal returns minor units as the decimal amount they stand for.
func (c Currency) Decimal(minor int64) decimal.Decimal { return decimal.New(minor, -int32(c.Digits)) }

// Round returns d in minor units, rounded half up (semantics.md §5): 0.5 goes to 1 and -0.5 to 0. What a calculation
// drives beyond the largest amount that [Currency.Minor] takes is cut to it, so that the integer never overflows.
func (c Currency) Round(d decimal.Decimal) int64 {
	largest := c.Largest()
	if d.Abs().GreaterThanOrEqual(maxAmount) {
		return largest * int64(d.Sign())
	}
	return min(largest, d.Shift(int32(c.Digits)).Add(half).Floor().IntPart())
}

// Largest is the largest amount in minor units that a calculation results in.
func (c Currency) Largest() int64 { return maxAmount.Shift(int32(c.Digits)).IntPart() - 1 }

// JSON returns minor units as a JSON number with the currency's decimals: 4000 of EUR is 40.00.
func (c Currency) JSON(minor int64) json.Number { return json.Number(c.Exact(c.Decimal(minor))) }

// Number is an amount as [Currency.JSON] writes it; 0 where it is no number.
func Number(n json.Number) decimal.Decimal {
	d, err := decimal.NewFromString(n.String())
	if err != nil {
		return decimal.Zero
	}
	return d
}

// Exact writes d with the currency's decimals, and with more where d has more: 40.00, 13.3875.
func (c Currency) Exact(d decimal.Decimal) string {
	s := d.String() // without trailing zeros
	if _, decimals, ok := strings.Cut(s, "."); ok && len(decimals) >= c.Digits {
		return s
	}
	return d.StringFixed(int32(c.Digits))
}
