package money

import (
	"math/big"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"
)

func currencyOf(t *testing.T, code string) Currency {
	t.Helper()
	c, err := ParseCurrency(code)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParseCurrencyHasISO4217Digits(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]int{
		"EUR": 2, "USD": 2, "JPY": 0, "KRW": 0, "ISK": 0, "BHD": 3, "TND": 3, "CLF": 4,
		"RSD": 2, "COP": 2, "IDR": 2, "PKR": 2, "HUF": 2, "IQD": 3, "UGX": 0, // CLDR has other digits
		"XCG": 2, "ZWG": 2, "SLE": 2, "VED": 2, // newer than the data of CLDR in x/text
	} {
		if got := currencyOf(t, code).Digits; got != want {
			t.Errorf("%s has %d decimals, want %d", code, got, want)
		}
	}
}

func TestParseCurrencyRejectsUnknownCodes(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"", "eur", "EURO", "EU", "ABC", "XAU", "XXX", "XTS", "DEM", "EUR ", "\x00\x00\x00"} {
		if c, err := ParseCurrency(code); err == nil {
			t.Errorf("%q was read as %v", code, c)
		}
	}
}

func TestMinorAcceptsPayableAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code, amount string
		want         int64
	}{
		{"EUR", "40", 4000}, {"EUR", "40.00", 4000}, {"EUR", "0.01", 1}, {"EUR", "40.000000", 4000},
		{"EUR", "-12.5", -1250}, {"EUR", "1e3", 100000}, {"EUR", "999999999999.99", 99999999999999},
		{"JPY", "1500", 1500}, {"JPY", "1500.0", 1500}, {"BHD", "1.234", 1234}, {"EUR", "0e-9999", 0},
	} {
		got, err := currencyOf(t, c.code).Minor(decimal.RequireFromString(c.amount))
		if err != nil || got != c.want {
			t.Errorf("%s %s: got %d, %v; want %d", c.amount, c.code, got, err, c.want)
		}
	}
}

func TestMinorRejectsUnpayableAmounts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ code, amount, says string }{
		{"EUR", "40.001", "more decimals"}, {"JPY", "1.5", "more decimals"}, {"BHD", "0.0001", "more decimals"},
		{"EUR", "1000000000000", "too large"}, {"EUR", "-1000000000000", "too large"},
		{"EUR", "1e9999", "too large"}, {"EUR", "1e-9999", "more decimals"},
	} {
		got, err := currencyOf(t, c.code).Minor(decimal.RequireFromString(c.amount))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %s: got %d, %v; want an error with %q", c.amount, c.code, got, err, c.says)
		}
	}
}

func TestRoundRoundsHalfUp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code, amount string
		want         int64
	}{
		{"EUR", "1.005", 101}, {"EUR", "1.0049999999999999999999", 100}, {"EUR", "1.015", 102}, {"EUR", "1.025", 103},
		{"EUR", "-0.005", 0}, {"EUR", "-0.0051", -1}, {"EUR", "0", 0}, {"EUR", "1e3", 100000},
		{"JPY", "0.5", 1}, {"JPY", "1.5", 2}, {"JPY", "2.5", 3}, {"JPY", "2.49", 2},
		{"BHD", "1.0005", 1001}, {"BHD", "1.00049", 1000},
		{"EUR", "999999999999.994", 99999999999999}, {"EUR", "999999999999.995", 99999999999999},
		{"EUR", "1e40", 99999999999999}, {"EUR", "-1e40", -99999999999999},
	} {
		if got := currencyOf(t, c.code).Round(decimal.RequireFromString(c.amount)); got != c.want {
			t.Errorf("%s %s rounds to %d, want %d", c.amount, c.code, got, c.want)
		}
	}
}

// The number x rounded half up is the largest integer that is at most x + 0.5.
func TestRoundEqualsFloorOfHalfMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := currencyOfDigits(rapid.SampledFrom([]int{0, 2, 3}).Draw(t, "digits"))
		d := decimal.New(rapid.Int64Range(-1e15, 1e15).Draw(t, "coefficient"),
			rapid.Int32Range(-9, -4).Draw(t, "exponent"))
		scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Digits)), nil))
		scaled := new(big.Rat).Mul(d.Rat(), scale)
		distance := new(big.Rat).Sub(scaled, new(big.Rat).SetInt64(c.Round(d)))
		half := big.NewRat(1, 2)
		if distance.Cmp(half) >= 0 || distance.Cmp(new(big.Rat).Neg(half)) < 0 {
			t.Fatalf("%s with %d decimals rounds to %d", d, c.Digits, c.Round(d))
		}
	})
}

func currencyOfDigits(n int) Currency { return Currency{Code: "XXX", Digits: n} }

func TestExactHasCurrencyDecimals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code  string
		minor int64
		want  string
	}{
		{"EUR", 4000, "40.00"}, {"EUR", 4010, "40.10"}, {"EUR", 5, "0.05"}, {"EUR", -5, "-0.05"}, {"EUR", 0, "0.00"},
		{"JPY", 1500, "1500"}, {"BHD", 1234, "1.234"}, {"BHD", 1000, "1.000"},
	} {
		if got := currencyOf(t, c.code).JSON(c.minor).String(); got != c.want {
			t.Errorf("%d minor units of %s are written %s, want %s", c.minor, c.code, got, c.want)
		}
	}
	if got := currencyOf(t, "EUR").Exact(decimal.RequireFromString("13.38750")); got != "13.3875" {
		t.Errorf("an exact amount is written %s, want 13.3875", got)
	}
}

func TestMinorAndDecimalAreInverses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := currencyOfDigits(rapid.IntRange(0, 4).Draw(t, "digits"))
		minor := rapid.Int64Range(-1e11, 1e11).Draw(t, "minor")
		if got, err := c.Minor(c.Decimal(minor)); err != nil || got != minor {
			t.Fatalf("%d became %d, %v", minor, got, err)
		}
	})
}
