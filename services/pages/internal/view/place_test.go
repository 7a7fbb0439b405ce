package view

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/postal"
)

func newPlacePage(t *testing.T) *Page {
	t.Helper()
	return newPage(t, &catalog.Snapshot{
		Locations: []catalog.Location{{Kind: catalog.KindPlace, Geo: &catalog.Geo{Lat: 38.71, Lon: -9.13},
			Address: postal.Address{Street: "Rua 1", PostalCode: "1100-001", City: "Lisboa", Country: "PT"}}},
		Contact: catalog.Contact{Phone: "+351 21 000 00 00", Email: "hello@harbor.example",
			Website: "https://www.harbor.example/"},
		Legal: catalog.Legal{Imprint: catalog.Label{Text: "https://harbor.example/imprint"},
			Terms: catalog.Label{Text: "Be kind.\nBe on time."}},
	})
}

func TestFrontPageShowsPlaceAndContact(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	p := newPlacePage(t)
	if err := Document(p, p.newFront("", p.title("services"), emptyTab(p))).Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<title>Harbor, Lisboa</title>", "<h1>Harbor</h1>", "Rua 1, 1100-001 Lisboa</a>", `href="tel:+351210000000"`,
		`href="geo:38.71,-9.13?q=38.71%2C-9.13%28Harbor%29"`, `href="mailto:hello@harbor.example"`, ">harbor.example<",
		`href="https://harbor.example/imprint"`, `href="/b/harbor/legal/terms"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "legal/privacy") {
		t.Error("there is a link to a text that does not exist")
	}
}

func TestLegalPageShowsOwnTextsOnly(t *testing.T) {
	t.Parallel()
	p := newPlacePage(t)
	for part, want := range map[string]bool{"terms": true, "imprint": false, "privacy": false, "other": false} {
		if _, ok := LegalPage(p, part); ok != want {
			t.Errorf("%s: %v", part, ok)
		}
	}
}

func TestCountryOfAddressDecidesWordsOfButton(t *testing.T) {
	t.Parallel()
	p := newPlacePage(t)
	if p.Business.Snapshot.Timezone = "America/New_York"; !p.Business.IsInEU() {
		t.Error("a business with an address in Portugal is not in the European Union")
	}
	p.Business.Snapshot.Locations[0].Address.Country = "CH"
	if p.Business.Snapshot.Timezone = "Europe/Lisbon"; p.Business.IsInEU() {
		t.Error("a business with an address in Switzerland is in the European Union")
	}
}
