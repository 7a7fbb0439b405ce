package occupancy

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// edge is a moment at which units become occupied or free. The fields `booked` and `maintained` are the changes of
// these two counts at this moment. A change is negative if units become free.
type edge struct {
	at                 int64
	booked, maintained int32
}

const (
	digitBits = 11
	digits    = 1 << digitBits
	// maxComparisonSort is the number of edges below which a comparison
	// sort is used, because it is then faster than a radix sort.
	maxComparisonSort = 1024
)

// sortEdges returns the edges sorted by time. All edges must lie in the
// span `bounds`. The result may share memory with the argument `edges`.
//
// For many edges, sortEdges uses a radix sort, because sorting takes most of the time of a large calendar.
func sortEdges(edges []edge, bounds timespan.Span) []edge {
	if len(edges) < maxComparisonSort {
		slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
		return edges
	}
	to := make([]edge, len(edges))
	width := bits.Len64(uint64(bounds.End - bounds.Start))
	for shift := 0; shift < width; shift += digitBits {
		distribute(to, edges, bounds.Start, shift)
		edges, to = to, edges
	}
	return edges
}

// distribute makes one pass of the radix sort. It copies `edges` to the slice `target`,
// sorted by one digit of the distance of each edge from `base`. Edges with the same
// digit keep their order. The argument `shift` is the position of the digit in bits.
func distribute(target, edges []edge, base int64, shift int) {
	var place [digits]int
	for i := range edges {
		place[digitOf(edges[i], base, shift)]++
	}
	next := 0
	for d, n := range place {
		place[d] = next
		next += n
	}
	for _, e := range edges {
		d := digitOf(e, base, shift)
		target[place[d]] = e
		place[d]++
	}
}

func digitOf(e edge, base int64, shift int) int { return int(uint64(e.at-base)>>shift) & (digits - 1) }
