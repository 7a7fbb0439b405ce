package view

import (
	"slices"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
)

// TestFindTargetsMatchesWordsInLanguageOfPage shows that a search finds pages by their names and by other words, in the
// language of the page and without accents, and objects by their names.
func TestFindTargetsMatchesWordsInLanguageOfPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ language, query, path string }{
		{"en", "holiday", "/offer/hours"},
		{"en", "HOLI", "/time-off"},
		{"en", "price of cut", "/offer/services/cut"},
		{"en", "yoga", "/offer/classes/yoga"},
		{"en", "block time", "/time-off"},
		{"en", "ines", "/offer/team/ines"},
		{"en", "refund", "/offer/policies"},
		{"en", "password", "/account"},
		{"en", "yaml", "/offer/text"},
		{"en", "walk-in", "/bookings/new?walk_in=yes"},
		{"de", "feiertag", "/offer/hours"},
		{"de", "preis von cut", "/offer/services/cut"},
		{"de", "OFFNUNGSZEITEN", "/offer/hours"},
		{"pt", "precos", "/offer/services"},
		{"ja", "祝日", "/offer/hours"},
		{"th", "วันหยุด", "/offer/hours"},
		{"ar", "خصم", "/offer/rules"},
	} {
		p, _ := newPageIn(t, c.language)
		p.Business.Modules.Services = true
		found := p.findTargets(c.query)
		if !slices.ContainsFunc(found, func(t target) bool { return t.path == c.path }) {
			t.Errorf("%s %q finds %+v, want %s", c.language, c.query, found, c.path)
		}
		if len(found) > maxTargets {
			t.Errorf("%s %q finds %d pages", c.language, c.query, len(found))
		}
	}
	p, _ := newPageIn(t, "en")
	if found := p.findTargets("price of cut"); len(found) != 1 {
		t.Errorf("the price of a service finds also others: %+v", found)
	}
	if found := p.findTargets("nothing at all like it"); len(found) > maxTargets {
		t.Errorf("%d pages", len(found))
	}
}

// TestFindTargetsHidesForbiddenPages shows that a search finds only pages that the person may open.
func TestFindTargetsHidesForbiddenPages(t *testing.T) {
	t.Parallel()
	p, offer := newPageIn(t, "en")
	offer.Modules.Services, offer.Services[0].Active = true, true
	p.May = func(a access.Action) bool { return a == access.Serve || a == access.SeeBookings }
	for query, path := range map[string]string{"cut": "/bookings/new?service=" + offer.Services[0].ID.String(),
		"holiday": "", "price": "", "yoga": ""} {
		found := p.findTargets(query)
		if path == "" && len(found) > 0 || path != "" && (len(found) != 1 || found[0].path != path) {
			t.Errorf("%q finds %+v, want %q", query, found, path)
		}
	}
}

// TestFindTargetsIsBounded shows that a search in a large business shows at most maxTargets pages.
func TestFindTargetsIsBounded(t *testing.T) {
	t.Parallel()
	all, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	offer := &catalog.Snapshot{Timezone: "Europe/Lisbon", Currency: "EUR"}
	for range 100 {
		offer.Services = append(offer.Services, catalog.Service{ID: uuid.New(), Key: "cut", Name: "Cut"})
	}
	p := &Page{Words: words.In(all, "en"), Business: offer, May: func(access.Action) bool { return true }}
	if found := p.findTargets("cut"); len(found) != maxTargets {
		t.Errorf("%d pages", len(found))
	}
}
