package tariff

import "math/big"

// DivideTotal divides `total` into one share for each price, in proportion to the
// prices. The total must be at most the sum of the prices. Each share is a whole
// number of minor units, from 0 to the price. The sum of the shares is `total`.
//
// To avoid rounding errors, DivideTotal computes the part of the total for all prices up to each price,
// and rounds this part half up. A share is the difference between two consecutive rounded parts.
func DivideTotal(prices []int64, total int64) []int64 {
	sum := new(big.Int)
	for _, price := range prices {
		sum.Add(sum, big.NewInt(price))
	}
	shares := make([]int64, len(prices))
	if sum.Sign() == 0 {
		return shares
	}
	doubleSum := new(big.Int).Lsh(sum, 1)
	cumulative, assigned := new(big.Int), int64(0)
	for i, price := range prices {
		cumulative.Add(cumulative, big.NewInt(price))
		roundedEdge := new(big.Int).Mul(cumulative, big.NewInt(total)) // cumulative·total / sum, rounded half up
		roundedEdge.Lsh(roundedEdge, 1).Add(roundedEdge, sum).Quo(roundedEdge, doubleSum)
		shares[i] = roundedEdge.Int64() - assigned
		assigned = roundedEdge.Int64()
	}
	return shares
}
