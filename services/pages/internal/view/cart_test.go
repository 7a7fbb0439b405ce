package view

import (
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// TestRowsAddToCart shows that the rows of services that can be combined add to the cart and remove from it, that other
// rows lead to the times, and that the bar sums up the cart. A full cart does not change the cached page of an empty one.
func TestRowsAddToCart(t *testing.T) {
	t.Parallel()
	cut, wash, alone, long := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	groups := []usecase.Group{{Category: "Hair", Services: []*usecase.Service{
		{ID: cut, Name: "Cut", AllowMultiple: true, DurationMinutes: 45, Price: "36.00",
			Variants: []publicapi.Variant{{ID: long, Name: "Long hair", DurationMinutes: 75, Price: "50.00"}}},
		{ID: wash, Name: "Wash", AllowMultiple: true, DurationMinutes: 30, Price: "15.00"},
		{ID: alone, Name: "Colour", DurationMinutes: 30, Price: "90.00"}}}}
	p := newPage(t, &catalog.Snapshot{})
	menus := NewMenus()
	show := func(services ...string) string {
		t.Helper()
		page := *p
		page.HasCart = true
		page.Cart = usecase.NewCart(url.Values{"service": services}, groups)
		var out strings.Builder
		if err := menus.Services(&page, groups).Body.Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		return html.UnescapeString(out.String())
	}
	expect := func(text string, wants map[string]bool) {
		t.Helper()
		for want, isWanted := range wants {
			if strings.Contains(text, want) != isWanted {
				t.Errorf("%q is shown: %v; the page: %s", want, !isWanted, text)
			}
		}
	}
	for range 2 {
		expect(show(), map[string]bool{
			`href="/b/harbor?service=` + wash.String() + `#s-` + wash.String() + `"`: true,
			`href="/b/harbor/when?service=` + alone.String() + `"`:                   true,
			`class="cart-bar"`: false, `id="cart"`: false, ">Add<": true, ">Remove<": false,
		})
		expect(show(cut.String()+":"+long.String(), wash.String()), map[string]bool{
			`class="cart-bar"`: true, "<bdi>2 services</bdi>": true, "<bdi>1 h 45 min</bdi>": true, "€65.00": true,
			`href="/b/harbor/when?service=` + cut.String() + `%3A` + long.String() + `&service=` + wash.String() + `"`:     true,
			`href="/b/harbor?service=` + wash.String() + `#s-` + cut.String() + `"`:                                        true,
			`<bdi>Cut, Long hair</bdi> <bdi class="quiet small">1 h 15 min</bdi></span> <span class="price">€50.00</span>`: true,
			`data-cart>Remove<span class="unseen">, Wash</span>`:                                                           true,
			">Remove<": true, `href="/b/harbor/when?service=` + alone.String() + `"`: true,
		})
	}
}

// TestCartNamesPackage shows that the cart names the package whose price it shows, because this price is not the sum of
// the lines.
func TestCartNamesPackage(t *testing.T) {
	t.Parallel()
	cut, wash := uuid.New(), uuid.New()
	price := int64(4500)
	snapshot := &catalog.Snapshot{Slug: "harbor", Currency: "EUR", Timezone: "Europe/Lisbon",
		Packages: []catalog.Package{{Name: catalog.Label{Text: "Fresh"}, Price: &price, ServiceIDs: []uuid.UUID{cut, wash}}}}
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	groups := []usecase.Group{{Services: []*usecase.Service{
		{ID: cut, Name: "Cut", AllowMultiple: true, DurationMinutes: 45, Price: "36.00"},
		{ID: wash, Name: "Wash", AllowMultiple: true, DurationMinutes: 30, Price: "15.00"}}}}
	p := newPage(t, snapshot)
	for want, services := range map[string][]string{
		"€45.00": {cut.String(), wash.String()}, "€36.00": {cut.String()},
	} {
		p.Cart = usecase.NewCart(url.Values{"service": services}, groups)
		var out strings.Builder
		if err := cart(p).Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "Fresh") != (len(services) == 2) {
			t.Errorf("%d services: %s", len(services), &out)
		}
	}
}
