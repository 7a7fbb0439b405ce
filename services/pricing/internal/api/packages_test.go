package api_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/values/rule"
)

// together asks for services in this order, on a Saturday in the evening.
func together(sold bool, ids ...uuid.UUID) pricing.QuotesRequest {
	r := pricing.QuotesRequest{Slug: "studio", PurchaseAt: instant("2026-12-04T09:00:00Z"), Together: sold}
	for _, id := range ids {
		r.Items = append(r.Items, pricing.Item{Kind: pricing.KindService, ID: id, Date: date("2026-12-05"),
			Start: new(clockTime("18:30"))})
	}
	return r
}

func TestAPackageIsItemised(t *testing.T) {
	t.Parallel()
	offer := studio(t)
	sauna := uuid.New()
	offer.Services = append(offer.Services, catalog.Service{ID: sauna, Active: true, Price: 1500})
	offer.Rules = []catalog.Rule{{Key: "evening", Kind: rule.TimeOfDay, When: span("18:00", "22:00"),
		Amount: new(int64(500)), AppliesTo: catalog.AppliesTo{Services: []uuid.UUID{cut}}}}
	pack := catalog.Package{ID: uuid.New(), Key: "day-off", ServiceIDs: []uuid.UUID{cut, sauna, free},
		Price: new(int64(4900))}
	offer.Packages = []catalog.Package{{ID: uuid.New(), Key: "pair", ServiceIDs: []uuid.UUID{sauna, free},
		Percent: percent("50")}, pack}
	prepare(t, offer)
	_, client := start(t, offers{"studio": offer})
	got := must(client.Quotes(t.Context(), together(true, sauna, free, cut)))
	want := &pricing.QuotesResponse{
		OfferVersion: 7, Currency: "EUR", Package: &pricing.Package{ID: pack.ID, Separately: 6000},
		Quotes: []pricing.Quote{
			{Priced: true, List: 1500, Price: 1225,
				Steps: []pricing.Step{{Rule: "day-off", Kind: pricing.KindPackage, Before: "15.00", After: "12.25"}}},
			{},
			{Priced: true, List: 4000, Price: 3675, Steps: []pricing.Step{
				{Rule: "evening", Kind: "time_of_day", Before: "40.00", After: "45.00"},
				{Rule: "day-off", Kind: pricing.KindPackage, Before: "45.00", After: "36.75"},
			}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	varied := together(true, sauna, free, cut)
	varied.Items[2].VariantID = &long
	for name, r := range map[string]pricing.QuotesRequest{
		"not asked for together": together(false, sauna, free, cut), "a part of one": together(true, cut, free),
		"more than one":     together(true, sauna, free, cut, cut),
		"one of them twice": together(true, sauna, cut, cut), "with a variant": varied, "nothing": together(true),
	} {
		if got := must(client.Quotes(t.Context(), r)); got.Package != nil {
			t.Errorf("%s: is sold as a package: %+v", name, got)
		}
	}
}

// bundles is an offer of services, rules and packages of different services.
func bundles() *rapid.Generator[*catalog.Offer] {
	return rapid.Custom(func(t *rapid.T) *catalog.Offer {
		offer := &catalog.Offer{ID: uuid.New(), Slug: "studio", Version: 7,
			Currency: rapid.SampledFrom([]string{"EUR", "JPY", "KWD"}).Draw(t, "currency"), Timezone: "Europe/Lisbon"}
		price := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 30), rapid.Int64Range(0, 1_000_000))
		var ids []uuid.UUID
		for i := range rapid.IntRange(2, 6).Draw(t, "services") {
			ids = append(ids, uuid.NewSHA1(uuid.Nil, []byte{byte(i)}))
			offer.Services = append(offer.Services, catalog.Service{
				ID: ids[i], Active: true, Price: price.Draw(t, "price"),
				Variants: []catalog.Variant{{ID: uuid.NewSHA1(ids[i], nil), Price: price.Draw(t, "variant")}},
			})
		}
		some := func(least int, what string) []uuid.UUID {
			return rapid.Permutation(ids).Draw(t, what)[:rapid.IntRange(least, len(ids)).Draw(t, what)]
		}
		tenths := func(low, high int64, what string) *decimal.Decimal {
			return new(decimal.New(rapid.Int64Range(low, high).Draw(t, what), -1))
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "rules") {
			r := catalog.Rule{Key: fmt.Sprint("r", i), Kind: rule.DayOfWeek, When: rule.When{Days: everyDay},
				Stop: rapid.Bool().Draw(t, "stop")}
			if rapid.Bool().Draw(t, "in the evening") {
				r.Kind, r.When = rule.TimeOfDay, span("18:00", "22:00")
			}
			switch rapid.IntRange(0, 2).Draw(t, "change") {
			case 0:
				r.Percent = tenths(-1000, 1000, "percent")
			case 1:
				r.Amount = new(rapid.Int64Range(-5000, 5000).Draw(t, "amount"))
			case 2:
				r.Set = new(price.Draw(t, "set"))
			}
			if rapid.Bool().Draw(t, "of some") {
				r.AppliesTo.Services = some(1, "those")
			}
			offer.Rules = append(offer.Rules, r)
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "packages") {
			p := catalog.Package{ID: uuid.New(), Key: fmt.Sprint("p", i), ServiceIDs: some(2, "services of a package")}
			if p.Price = new(price.Draw(t, "price of a package")); rapid.Bool().Draw(t, "by percent") {
				p.Price, p.Percent = nil, tenths(1, 1000, "less")
			}
			if offer.PackageOf(p.ServiceIDs, false) == nil { // the manifest refuses another of the same
				offer.Packages = append(offer.Packages, p)
			}
		}
		return offer
	})
}

// costs is what the words of a package make of what its services cost one by one: a price, unless they are cheaper; or
// so much less, rounded half up.
func costs(p catalog.Package, separately int64) int64 {
	if p.Price != nil {
		return min(*p.Price, separately)
	}
	left := new(big.Rat).Sub(big.NewRat(100, 1), p.Percent.Rat())
	left.Mul(left, big.NewRat(separately, 100)).Add(left, big.NewRat(1, 2))
	return new(big.Int).Quo(left.Num(), left.Denom()).Int64()
}

// What is bought together costs what the words say, however its services are ordered: its lines are the total, none is
// dearer than alone or below 0, and what is no package costs what its services do one by one.
func TestWhatIsBoughtTogetherCostsWhatItsPackageDoes(t *testing.T) {
	t.Parallel()
	known := offers{}
	_, client := start(t, known)
	rapid.Check(t, func(t *rapid.T) {
		offer := bundles().Draw(t, "offer")
		if err := offer.Prepare(); err != nil {
			t.Fatal(err)
		}
		known["studio"] = offer
		var ids []uuid.UUID
		if len(offer.Packages) > 0 && rapid.Bool().Draw(t, "of a package") {
			ids = rapid.Permutation(rapid.SampledFrom(offer.Packages).Draw(t, "package").ServiceIDs).Draw(t, "order")
		} else {
			for range rapid.IntRange(1, 6).Draw(t, "how many") {
				ids = append(ids, rapid.SampledFrom(offer.Services).Draw(t, "service").ID)
			}
		}
		asked := together(true, ids...)
		asked.OmitSteps = rapid.Bool().Draw(t, "without steps")
		varied := rapid.IntRange(0, 5).Draw(t, "varied") == 0
		if varied {
			asked.Items[0].VariantID = new(uuid.NewSHA1(ids[0], nil))
		}
		alone := asked
		alone.Together = false
		sold, one := must(client.Quotes(t.Context(), asked)), must(client.Quotes(t.Context(), alone))
		checkBundle(t, offer, ids, varied, sold, one)
	})
}

func checkBundle(t *rapid.T, offer *catalog.Offer, ids []uuid.UUID, varied bool, sold, one *pricing.QuotesResponse) {
	var separately, total int64
	for i, q := range sold.Quotes {
		separately += one.Quotes[i].Price
		total += q.Price
		if q.Price < 0 || q.Price > one.Quotes[i].Price || q.List != one.Quotes[i].List {
			t.Fatalf("line %d is %+v, alone %+v", i, q, one.Quotes[i])
		}
	}
	at := slices.IndexFunc(offer.Packages, func(p catalog.Package) bool { return sameServices(p.ServiceIDs, ids) })
	switch {
	case one.Package != nil:
		t.Fatalf("a package that nobody asked for: %+v", one.Package)
	case at < 0 || varied:
		if sold.Package != nil || total != separately {
			t.Fatalf("%d for what costs %d, by %+v", total, separately, sold.Package)
		}
	default:
		want := costs(offer.Packages[at], separately)
		if sold.Package == nil ||
			*sold.Package != (pricing.Package{ID: offer.Packages[at].ID, Separately: separately}) || total != want {
			t.Fatalf("%d by %+v, want %d of %d", total, sold.Package, want, separately)
		}
	}
}

// sameServices reports whether two lists hold the same services equally often.
func sameServices(a, b []uuid.UUID) bool {
	sorted := func(ids []uuid.UUID) []uuid.UUID {
		return slices.SortedFunc(slices.Values(ids), func(x, y uuid.UUID) int { return slices.Compare(x[:], y[:]) })
	}
	return slices.Equal(sorted(a), sorted(b))
}
