package public

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// listPublic converts the objects in `objects` to public data with the function `convert`, and
// sorts the results with `order`. It omits objects for which the function `isVisible` returns
// false. If `isUsed` is false, the business does not use such objects, and listPublic returns nil.
func listPublic[O, S any](isUsed bool, objects []O, isVisible func(*O) bool, convert func(*O) S,
	order func(a, b S) int) []S {
	if !isUsed {
		return nil
	}
	all := make([]S, 0, len(objects))
	for i := range objects {
		if isVisible(&objects[i]) {
			all = append(all, convert(&objects[i]))
		}
	}
	slices.SortStableFunc(all, order)
	return all
}

// sortKey holds the sort key of a service or a rental in a list: the display order, then the name.
type sortKey struct {
	order int
	name  text
}

func (p sortKey) compare(other sortKey) int {
	return cmp.Or(cmp.Compare(p.order, other.order), cmp.Compare(p.name.original, other.name.original))
}

// depositValue returns the deposit value of the manifest as a JSON number, or nil if there is no deposit.
func depositValue(value *manifest.Decimal) *json.Number {
	if value == nil {
		return nil
	}
	return new(json.Number(value.JSON()))
}
