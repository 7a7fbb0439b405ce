package view

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// TestPackageCardShowsPriceAndSavings shows that the card of a package has its name, services, duration, price and
// saving. If the price can vary, the card shows it as a minimum. A package is not shown if one of its services is not
// offered.
func TestPackageCardShowsPriceAndSavings(t *testing.T) {
	t.Parallel()
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	cut, wash := uuid.New(), uuid.New()
	render := func(published catalog.Package, rule *catalog.Rule, quoted *json.Number, isIncomplete bool) string {
		t.Helper()
		published.Name = catalog.Label{Text: "Fresh", Translations: map[string]string{"de": "Frisch"}}
		published.Description, published.ServiceIDs = catalog.Label{Text: "<All>"}, []uuid.UUID{wash, cut}
		snapshot := &catalog.Snapshot{Slug: "harbor", Name: "Salon", Currency: "EUR", Timezone: "Europe/Lisbon",
			DefaultLanguage: "en", Languages: []string{"en", "de"}, Packages: []catalog.Package{published}}
		if rule != nil {
			snapshot.Rules = []catalog.Rule{*rule}
		}
		if err := snapshot.Prepare(); err != nil {
			t.Fatal(err)
		}
		groups := []usecase.Group{{Services: []*usecase.Service{{ID: cut, Name: "Cut", DurationMinutes: 45,
			Price: "40.00", QuotedPrice: quoted}, {ID: wash, Name: "Wash", DurationMinutes: 30, Price: "10.01"}}}}
		if isIncomplete {
			groups[0].Services = groups[0].Services[:1]
		}
		p := &Page{Words: words.In(sentences, "de"), Business: &usecase.Business{Snapshot: snapshot}}
		var out strings.Builder
		if err := menu(p, groups, groups).Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		_, section, _ := strings.Cut(out.String(), "Pakete</h2>")
		section, _, _ = strings.Cut(section, "</section>")
		return strings.ReplaceAll(section, "\u00a0", " ")
	}
	price := func(minor int64) catalog.Package { return catalog.Package{Price: &minor} }
	tenth := catalog.Package{Percent: new(decimal.NewFromInt(10))}
	dearer := &catalog.Rule{Percent: new(decimal.NewFromInt(10))}
	for name, c := range map[string]struct {
		shown string
		has   []string
		lacks []string
	}{
		"a price": {render(price(4200), nil, nil, false),
			[]string{">Frisch<", "Wash + Cut", "1 Std. 15 Min.", "&lt;All&gt;", ">42,00 €<", "Sie sparen 8,01 €",
				"service=" + wash.String() + "&amp;service=" + cut.String()}, nil},
		"a price and rules": {render(price(4200), dearer, nil, false), []string{">42,00 €<", "Sie sparen 8,01 €"},
			nil},
		"a tenth less":           {render(tenth, nil, nil, false), []string{">45,01 €<", "Sie sparen 5,00 €"}, nil},
		"a tenth less and rules": {render(tenth, dearer, nil, false), []string{">ab 45,01 €<"}, nil},
		"cheaper today": {render(price(4200), nil, new(json.Number("20.00")), false), []string{">ab 30,01 €<"},
			[]string{"sparen"}},
		"more than its services": {render(price(6000), nil, nil, false), []string{">50,01 €<"}, []string{"sparen"}},
		"nothing":                {render(price(0), nil, nil, false), []string{">Kostenlos<", "Sie sparen 50,01 €"}, nil},
		"not all of it offered":  {render(price(4200), nil, nil, true), nil, []string{"Frisch"}},
	} {
		for _, has := range c.has {
			if !strings.Contains(c.shown, has) {
				t.Errorf("%s: no %q in %s", name, has, c.shown)
			}
		}
		for _, lacks := range c.lacks {
			if strings.Contains(c.shown, lacks) {
				t.Errorf("%s: %q in %s", name, lacks, c.shown)
			}
		}
	}
}
