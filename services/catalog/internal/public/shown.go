package public

import (
	"cmp"
	"slices"
)

// shown makes the public form of what is offered and is to be seen, in order; none of it where the business does not use its module.
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

// place is where a service or a rental stands among its like: in display order, then by name.
type place struct {
	order int
	name  text
}

func (p place) compare(with place) int {
	return cmp.Or(cmp.Compare(p.order, with.order), cmp.Compare(p.name.standard, with.name.standard))
}
