package tariff

import (
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestDivideTotalIsProportional(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prices []int64
		total  int64
		want   []int64
	}{
		{[]int64{4000, 1500}, 4900, []int64{3564, 1336}}, {[]int64{1, 1, 1}, 1, []int64{0, 1, 0}},
		{[]int64{1, 1, 1}, 2, []int64{1, 0, 1}},
		{[]int64{0, 500, 0}, 333, []int64{0, 333, 0}}, {[]int64{0, 0}, 0, []int64{0, 0}},
		{[]int64{700, 300}, 1000, []int64{700, 300}},
		{[]int64{700, 300}, 0, []int64{0, 0}}, {[]int64{99999999999999, 99999999999999}, 99999999999999,
			[]int64{50000000000000, 49999999999999}},
	} {
		if got := DivideTotal(c.prices, c.total); !slices.Equal(got, c.want) {
			t.Errorf("%d of %v: %v, want %v", c.total, c.prices, got, c.want)
		}
	}
}

// The shares sum up to the total. Each share is from 0 to its price and differs from its exact value
// by at most one minor unit.
func TestDivideTotalSumsToTotal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prices := rapid.SliceOfN(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 50),
			rapid.Int64Range(0, 99999999999999)), 1, 20).Draw(t, "prices")
		var sum, sumOfShares int64
		for _, price := range prices {
			sum += price
		}
		total := rapid.Int64Range(0, sum).Draw(t, "total")
		for i, share := range DivideTotal(prices, total) {
			sumOfShares += share
			if share < 0 || share > prices[i] {
				t.Fatalf("share %d of %d is %d", i, prices[i], share)
			}
			if sum == 0 {
				continue
			}
			exact := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(prices[i]), big.NewInt(total)), big.NewInt(sum))
			if difference := exact.Sub(exact,
				new(big.Rat).SetInt64(share)); difference.Abs(difference).Cmp(big.NewRat(1, 1)) > 0 {
				t.Fatalf("share %d of %d is %d, off by %s", i, prices[i], share, difference.FloatString(3))
			}
		}
		if sumOfShares != total {
			t.Fatalf("the shares are %d, of %d", sumOfShares, total)
		}
	})
}
