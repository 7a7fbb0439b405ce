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

// newRequest requests quotes for these services, in this order, on a Saturday evening.
func newRequest(isTogether bool, ids ...uuid.UUID) pricing.QuotesRequest {
	r := pricing.QuotesRequest{Slug: "studio", PurchaseAt: parseInstant("2026-12-04T09:00:00Z"), Together: isTogether}
	for _, id := range ids {
		r.Items = append(r.Items, pricing.Item{Kind: pricing.KindService, ID: id, Date: parseDate("2026-12-05"),
			Start: new(parseTime("18:30"))})
	}
	return r
}

func TestQuotesItemisePackage(t *testing.T) {
	t.Parallel()
	offer := newStudio(t)
	sauna := uuid.New()
	offer.Services = append(offer.Services, catalog.Service{ID: sauna, Active: true, Price: 1500})
	offer.Rules = []catalog.Rule{{Key: "evening", Kind: rule.TimeOfDay, When: newWhen("18:00", "22:00"),
		Amount: new(int64(500)), AppliesTo: catalog.AppliesTo{Services: []uuid.UUID{cut}}}}
	pack := catalog.Package{ID: uuid.New(), Key: "day-off", ServiceIDs: []uuid.UUID{cut, sauna, free},
		Price: new(int64(4900))}
	offer.Packages = []catalog.Package{{ID: uuid.New(), Key: "pair", ServiceIDs: []uuid.UUID{sauna, free},
		Percent: parsePercent("50")}, pack}
	prepare(t, offer)
	_, client := startAPI(t, fakeOffers{"studio": offer})
	got := must(client.Quotes(t.Context(), newRequest(true, sauna, free, cut)))
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
	withVariant := newRequest(true, sauna, free, cut)
	withVariant.Items[2].VariantID = &long
	for name, r := range map[string]pricing.QuotesRequest{
		"not asked for together": newRequest(false, sauna, free, cut), "a part of one": newRequest(true, cut, free),
		"more than one":     newRequest(true, sauna, free, cut, cut),
		"one of them twice": newRequest(true, sauna, cut, cut), "with a variant": withVariant,
		"nothing": newRequest(true),
	} {
		if got := must(client.Quotes(t.Context(), r)); got.Package != nil {
			t.Errorf("%s: got a package: %+v", name, got)
		}
	}
}

// genOffer generates offers with services, rules and packages. No two packages have the same services.
func genOffer() *rapid.Generator[*catalog.Snapshot] {
	return rapid.Custom(func(t *rapid.T) *catalog.Snapshot {
		offer := &catalog.Snapshot{ID: uuid.New(), Slug: "studio", Version: 7,
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
		drawSome := func(least int, what string) []uuid.UUID {
			return rapid.Permutation(ids).Draw(t, what)[:rapid.IntRange(least, len(ids)).Draw(t, what)]
		}
		drawTenths := func(low, high int64, what string) *decimal.Decimal {
			return new(decimal.New(rapid.Int64Range(low, high).Draw(t, what), -1))
		}
		for i := range rapid.IntRange(0, 3).Draw(t, "rules") {
			r := catalog.Rule{Key: fmt.Sprint("r", i), Kind: rule.DayOfWeek, When: rule.When{Days: everyDay},
				Stop: rapid.Bool().Draw(t, "stop")}
			if rapid.Bool().Draw(t, "in the evening") {
				r.Kind, r.When = rule.TimeOfDay, newWhen("18:00", "22:00")
			}
			switch rapid.IntRange(0, 2).Draw(t, "change") {
			case 0:
				r.Percent = drawTenths(-1000, 1000, "percent")
			case 1:
				r.Amount = new(rapid.Int64Range(-5000, 5000).Draw(t, "amount"))
			case 2:
				r.Set = new(price.Draw(t, "set"))
			}
			if rapid.Bool().Draw(t, "of some") {
				r.AppliesTo.Services = drawSome(1, "those")
			}
			offer.Rules = append(offer.Rules, r)
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "packages") {
			p := catalog.Package{ID: uuid.New(), Key: fmt.Sprint("p", i),
				ServiceIDs: drawSome(2, "services of a package")}
			if p.Price = new(price.Draw(t, "price of a package")); rapid.Bool().Draw(t, "by percent") {
				p.Price, p.Percent = nil, drawTenths(1, 1000, "less")
			}
			// a manifest cannot have two packages with the same services
			if offer.PackageOf(p.ServiceIDs, false) == nil {
				offer.Packages = append(offer.Packages, p)
			}
		}
		return offer
	})
}

// packagePrice computes the price of a package as the manifest defines it. The argument separately is
// the sum of the prices of the services. The price is the fixed price of the package but at most
// separately, or separately less a percentage, rounded half up.
func packagePrice(p catalog.Package, separately int64) int64 {
	if p.Price != nil {
		return min(*p.Price, separately)
	}
	remaining := new(big.Rat).Sub(big.NewRat(100, 1), p.Percent.Rat())
	remaining.Mul(remaining, big.NewRat(separately, 100)).Add(remaining, big.NewRat(1, 2))
	return new(big.Int).Quo(remaining.Num(), remaining.Denom()).Int64()
}

// The price of a package does not depend on the order of the services. The prices of the items sum up
// to the price of the package. No item costs more than alone or less than 0. Services that form no
// package cost their separate prices.
func TestQuotesPricePackageAsItsManifestDefines(t *testing.T) {
	t.Parallel()
	offers := fakeOffers{}
	_, client := startAPI(t, offers)
	rapid.Check(t, func(t *rapid.T) {
		offer := genOffer().Draw(t, "offer")
		if err := offer.Prepare(); err != nil {
			t.Fatal(err)
		}
		offers["studio"] = offer
		var ids []uuid.UUID
		if len(offer.Packages) > 0 && rapid.Bool().Draw(t, "of a package") {
			ids = rapid.Permutation(rapid.SampledFrom(offer.Packages).Draw(t, "package").ServiceIDs).Draw(t, "order")
		} else {
			for range rapid.IntRange(1, 6).Draw(t, "how many") {
				ids = append(ids, rapid.SampledFrom(offer.Services).Draw(t, "service").ID)
			}
		}
		request := newRequest(true, ids...)
		request.OmitSteps = rapid.Bool().Draw(t, "without steps")
		hasVariant := rapid.IntRange(0, 5).Draw(t, "varied") == 0
		if hasVariant {
			request.Items[0].VariantID = new(uuid.NewSHA1(ids[0], nil))
		}
		aloneRequest := request
		aloneRequest.Together = false
		asPackage, alone := must(client.Quotes(t.Context(), request)), must(client.Quotes(t.Context(), aloneRequest))
		checkPackage(t, offer, ids, hasVariant, asPackage, alone)
	})
}

func checkPackage(t *rapid.T, offer *catalog.Snapshot, ids []uuid.UUID, hasVariant bool,
	asPackage, alone *pricing.QuotesResponse) {
	var separately, total int64
	for i, q := range asPackage.Quotes {
		separately += alone.Quotes[i].Price
		total += q.Price
		if q.Price < 0 || q.Price > alone.Quotes[i].Price || q.List != alone.Quotes[i].List {
			t.Fatalf("line %d is %+v, alone %+v", i, q, alone.Quotes[i])
		}
	}
	index := slices.IndexFunc(offer.Packages, func(p catalog.Package) bool {
		return haveSameServices(p.ServiceIDs, ids)
	})
	switch {
	case alone.Package != nil:
		t.Fatalf("a package without the field together: %+v", alone.Package)
	case index < 0 || hasVariant:
		if asPackage.Package != nil || total != separately {
			t.Fatalf("the sum is %d, want %d, package %+v", total, separately, asPackage.Package)
		}
	default:
		want := packagePrice(offer.Packages[index], separately)
		if asPackage.Package == nil ||
			*asPackage.Package != (pricing.Package{ID: offer.Packages[index].ID, Separately: separately}) ||
			total != want {
			t.Fatalf("the sum is %d, package %+v, want %d of %d", total, asPackage.Package, want, separately)
		}
	}
}

// haveSameServices reports whether two lists have the same services, in any order, each the same
// number of times.
func haveSameServices(a, b []uuid.UUID) bool {
	sortIDs := func(ids []uuid.UUID) []uuid.UUID {
		return slices.SortedFunc(slices.Values(ids), func(x, y uuid.UUID) int { return slices.Compare(x[:], y[:]) })
	}
	return slices.Equal(sortIDs(a), sortIDs(b))
}
