package view

import (
	"slices"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// TestListSetupTasksFollowsOffer shows that the offer decides which tasks are done, and that a person sees only tasks
// that they may do.
func TestListSetupTasksFollowsOffer(t *testing.T) {
	t.Parallel()
	empty := catalog.Snapshot{}
	full := catalog.Snapshot{
		Logo:      &catalog.Picture{},
		Locations: []catalog.Location{{Kind: catalog.KindPlace, Address: postal.Address{City: "Porto"}}},
		Contact:   catalog.Contact{Phone: "+351 21 000 0000"},
		Legal: catalog.Legal{Imprint: catalog.Label{Text: "We"},
			Privacy: catalog.Label{Text: "https://example.com/privacy"}},
		Page:          catalog.Page{AboutHTML: "<p>Since 1999</p>"},
		Notifications: catalog.Notifications{OwnerEmails: []string{"ana@example.com"}},
	}
	unopened := catalog.Snapshot{NotYetOpen: true}
	owner := []access.Action{access.ChangeOffer, access.Integrate}
	for name, c := range map[string]struct {
		business *catalog.Snapshot
		may      []access.Action
		all, due int
	}{
		"an owner":                {&empty, owner, 6, 6},
		"a complete business":     {&full, owner, 6, 0},
		"a manager":               {&empty, owner[:1], 5, 5},
		"the front desk":          {&empty, nil, 0, 0},
		"a business in the forms": {&unopened, owner, 0, 0},
	} {
		p := &Page{Business: c.business, May: func(a access.Action) bool { return slices.Contains(c.may, a) }}
		tasks, due := p.listSetupTasks(), 0
		for _, task := range tasks {
			if !task.IsDone {
				due++
			}
		}
		if len(tasks) != c.all || due != c.due {
			t.Errorf("%s has %d tasks, %d due; want %d, %d", name, len(tasks), due, c.all, c.due)
		}
	}
}

// TestFindCurrencyKnowsNewCurrencies shows that the currency of a country is the present one, and one that a business
// may have.
func TestFindCurrencyKnowsNewCurrencies(t *testing.T) {
	t.Parallel()
	for country, want := range map[string]string{"BG": "EUR", "HR": "EUR", "CW": "XCG", "JP": "JPY", "AQ": "", "": ""} {
		if got := FindCurrency(country); got != want {
			t.Errorf("%q has %q, want %q", country, got, want)
		}
	}
	for _, country := range postal.Countries() {
		if code := FindCurrency(country); code != "" && !slices.Contains(money.Codes(), code) {
			t.Errorf("%s has the unknown currency %s", country, code)
		}
	}
}
