package usecase

import (
	"net/url"
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
)

// TestCartIgnoresWhatCannotBeAdded shows that a cart contains only offered services that can be combined, each once.
func TestCartIgnoresWhatCannotBeAdded(t *testing.T) {
	t.Parallel()
	cut, wash, alone, class, long := uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New()
	groups := []Group{{Services: []*Service{
		{ID: cut, AllowMultiple: true, Variants: []publicapi.Variant{{ID: long}}}, {ID: wash, AllowMultiple: true},
		{ID: alone}, {ID: class, AllowMultiple: true, HasClassSchedule: true}}}}
	if !HasCart(groups) || HasCart([]Group{{Services: groups[0].Services[1:]}}) {
		t.Error("a page has a cart if at least two services can be combined")
	}
	id := uuid.UUID.String
	for name, c := range map[string]struct{ query, want []string }{
		"nothing":             {nil, nil},
		"malformed":           {[]string{"x"}, nil},
		"two services":        {[]string{id(wash), id(cut)}, []string{id(wash), id(cut)}},
		"a variant":           {[]string{id(cut) + ":" + id(long)}, []string{id(cut) + ":" + id(long)}},
		"an unknown variant":  {[]string{id(wash) + ":" + id(long), id(cut)}, []string{id(cut)}},
		"repeated":            {[]string{id(cut), id(cut)}, []string{id(cut)}},
		"not combinable":      {[]string{id(alone), id(class), id(wash)}, []string{id(wash)}},
		"nothing that exists": {[]string{id(uuid.New())}, nil},
	} {
		cart := NewCart(url.Values{"service": c.query, "date": {"2027-03-01"}}, groups)
		if (cart == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, cart)
		} else if cart != nil && (!slices.Equal(cart.Selection.Values()["service"], c.want) ||
			len(cart.Selection.Values()) != 1 || len(cart.Services) != len(c.want)) {
			t.Errorf("%s: %v, want %v", name, cart.Selection.Values(), c.want)
		}
	}
	cart := NewCart(url.Values{"service": {id(cut), id(wash)}}, groups)
	if got := cart.With(cut, id(cut)+":"+id(long)).Values()["service"]; !slices.Equal(got,
		[]string{id(wash), id(cut) + ":" + id(long)}) || !cart.Has(cut, "") {
		t.Errorf("another variant replaces the first: %v", got)
	}
	if got := cart.Without(cut).Values()["service"]; !slices.Equal(got, []string{id(wash)}) {
		t.Errorf("without the cut: %v", got)
	}
}
