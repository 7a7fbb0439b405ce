package public

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// shown returns the public forms, made by show, of the objects in offered for which seen returns true, sorted
// by order. It returns none if the argument used is false, because the business does not use such objects.
func shown[O, S any](used bool, offered []O, seen func(*O) bool, show func(*O) S, order func(a, b S) int) []S {
	if !used {
		return nil
	}
	all := make([]S, 0, len(offered))
	for i := range offered {
		if seen(&offered[i]) {
			all = append(all, show(&offered[i]))
		}
	}
	slices.SortStableFunc(all, order)
	return all
}

// place is the position of a service or a rental in its list: by display order, then name.
type place struct {
	order int
	name  text
}

func (p place) compare(with place) int {
	return cmp.Or(cmp.Compare(p.order, with.order), cmp.Compare(p.name.standard, with.name.standard))
}

// deposit returns the written value of a deposit as a JSON number, or nil without a deposit.
func deposit(written *manifest.Decimal) *json.Number {
	if written == nil {
		return nil
	}
	return new(json.Number(written.JSON()))
}
