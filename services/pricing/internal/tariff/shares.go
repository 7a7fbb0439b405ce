package tariff

import "math/big"

// Shares are what each of prices is of a total that is at most their sum: in proportion, in whole minor units, none below 0 or above its
// price, and together the total. Each runs from where the shares before it end, rounded half up, to where they end with it.
func Shares(prices []int64, total int64) []int64 {
	sum := new(big.Int)
	for _, price := range prices {
		sum.Add(sum, big.NewInt(price))
	}
	shares := make([]int64, len(prices))
	if sum.Sign() == 0 {
		return shares
	}
	twice := new(big.Int).Lsh(sum, 1)
	until, given := new(big.Int), int64(0)
	for i, price := range prices {
		until.Add(until, big.NewInt(price))
		edge := new(big.Int).Mul(until, big.NewInt(total)) // of total·until/sum, half up
		edge.Lsh(edge, 1).Add(edge, sum).Quo(edge, twice)
		shares[i] = edge.Int64() - given
		given = edge.Int64()
	}
	return shares
}
