package occupancy

import (
	"cmp"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// NewStock returns the stock of a rental. Only units in service
// count. Overlapping maintenance periods of one unit count once.
func NewStock(r *catalog.Rental) Stock {
	var s Stock
	if r.Quantity != nil {
		s.Quantity = *r.Quantity
	}
	for i := range r.Units {
		if r.Units[i].InService {
			s.InService++
			s.Maintenance = append(s.Maintenance, mergePeriods(r.Units[i].Maintenance)...)
		}
	}
	return s
}

// mergePeriods sorts the maintenance periods of one unit and merges periods that have a date in common.
func mergePeriods(periods []catalog.Maintenance) []Dates {
	sorted := slices.SortedFunc(slices.Values(periods), func(a, b catalog.Maintenance) int {
		return cmp.Compare(a.From, b.From)
	})
	var list []Dates
	for _, m := range sorted {
		if n := len(list); n > 0 && m.From <= list[n-1].To {
			list[n-1].To = max(list[n-1].To, m.To)
			continue
		}
		list = append(list, Dates{From: m.From, To: m.To})
	}
	return list
}
