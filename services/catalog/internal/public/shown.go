package public

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// shown converts the objects in `offered` to public data with the function `show`, and
// sorts the results with `order`. It omits objects for which the function `seen` returns
// false. If `used` is false, the business does not use such objects, and shown returns nil.
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

// place holds the sort key of a service or a rental in a list: the display order, then the name.
type place struct {
	order int
	name  text
}

func (p place) compare(with place) int {
	return cmp.Or(cmp.Compare(p.order, with.order), cmp.Compare(p.name.standard, with.name.standard))
}

// deposit returns the deposit value of the manifest as a JSON number, or nil if there is no deposit.
func deposit(written *manifest.Decimal) *json.Number {
	if written == nil {
		return nil
	}
	return new(json.Number(written.JSON()))
}
