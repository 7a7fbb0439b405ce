package tariff

import "math/big"

// DivideTotal divides a total among the prices, in proportion to the prices. The total must be at most the sum of
// the prices. Each share is in whole minor units, from 0 to its price. The sum of the shares is the total.
//
// To avoid rounding errors, Shares computes the cumulative total up to each price
// and rounds it half up. A share is the difference between two such totals.
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
		roundedEdge := new(big.Int).Mul(cumulative, big.NewInt(total)) // total·until/sum, rounded half up
		roundedEdge.Lsh(roundedEdge, 1).Add(roundedEdge, sum).Quo(roundedEdge, doubleSum)
		shares[i] = roundedEdge.Int64() - assigned
		assigned = roundedEdge.Int64()
	}
	return shares
}
