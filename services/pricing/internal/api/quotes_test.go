package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pricing/internal/api"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

var (
	cut      = uuid.MustParse("00000000-0000-4000-8000-000000000001")
	inactive = uuid.MustParse("00000000-0000-4000-8000-000000000002")
	free     = uuid.MustParse("00000000-0000-4000-8000-000000000003")
	long     = uuid.MustParse("00000000-0000-4000-8000-000000000004") // a variant of cut
	gala     = uuid.MustParse("00000000-0000-4000-8000-000000000005")
	vip      = uuid.MustParse("00000000-0000-4000-8000-000000000006") // a tier of gala
	kayak    = uuid.MustParse("00000000-0000-4000-8000-000000000007")
	unknown  = uuid.MustParse("00000000-0000-4000-8000-00000000ffff")
)

// fakeOffers returns offers by slug.
type fakeOffers map[string]*catalog.Snapshot

func (o fakeOffers) Get(_ context.Context, slug string) (*catalog.Snapshot, error) {
	offer, ok := o[slug]
	if !ok {
		return nil, fault.New(fault.BusinessNotFound, "Business not found")
	}
	return offer, nil
}

func (o fakeOffers) AtLeast(ctx context.Context, slug string, version int64) (*catalog.Snapshot, error) {
	offer, err := o.Get(ctx, slug)
	if err == nil && offer.Version < version {
		return nil, fault.New(fault.PeerUnavailable, "The catalog service has no such version.")
	}
	return offer, err
}

// newStudio returns an offer with one rule of each kind. Each rule changes the price by its own power
// of two, so that the price shows which rules were applied.
func newStudio(t testing.TB) *catalog.Snapshot {
	t.Helper()
	offer := &catalog.Snapshot{
		ID: uuid.New(), Slug: "studio", Version: 7, Currency: "EUR", Timezone: "Europe/Lisbon",
		Services: []catalog.Service{
			{ID: cut, Active: true, Price: 4000, Variants: []catalog.Variant{{ID: long, Price: 5500}}},
			{ID: inactive, Price: 1000},
			{ID: free, Active: true},
		},
		Events: []catalog.Event{{ID: gala, Date: parseDate("2026-12-31"), Start: parseTime("20:00"),
			End:   parseTime("23:30"),
			Tiers: []catalog.Tier{{ID: vip, Price: 12000}}}},
		Rentals: []catalog.Rental{{ID: kayak, Price: 1200, PriceType: catalog.PriceHourly}},
		Rules: []catalog.Rule{
			{Key: "day", Kind: rule.DayOfWeek,
				When: rule.When{Days: []timespan.Weekday{timespan.Weekday(time.Saturday)}}, Amount: new(int64(1))},
			{Key: "early", Kind: rule.EarlyBird, When: rule.When{MinDaysBefore: new(30)}, Amount: new(int64(2))},
			{Key: "evening", Kind: rule.TimeOfDay, When: newWhen("18:00", "22:00"), Amount: new(int64(4))},
			{Key: "first", Kind: rule.FirstBooking, Amount: new(int64(8))},
			{Key: "flash", Kind: rule.FlashSale, When: newWhen("2026-11-27T00:00", "2026-11-28T00:00"),
				Amount: new(int64(16))},
			{Key: "group", Kind: rule.PartySize, When: rule.When{Min: new(4), Max: new(9)}, Amount: new(int64(32))},
			{Key: "late", Kind: rule.LastMinute, When: rule.When{MaxDaysBefore: new(1)}, Amount: new(int64(64))},
			{Key: "long", Kind: rule.Duration, When: rule.When{MinUnits: new(4), MaxUnits: new(9)},
				Amount: new(int64(128))},
			{Key: "summer", Kind: rule.Seasonal, When: newWhen("06-01", "08-31"), Amount: new(int64(256))},
			{Key: "week", Kind: rule.Seasonal, When: newWhen("2027-06-01", "2027-06-07"), Amount: new(int64(512))},
			{Key: "zz-cut", Kind: rule.DayOfWeek, When: rule.When{Days: everyDay}, Amount: new(int64(1024)),
				AppliesTo: catalog.AppliesTo{Services: []uuid.UUID{cut}}},
			{Key: "zz-events", Kind: rule.DayOfWeek, When: rule.When{Days: everyDay}, Amount: new(int64(2048)),
				AppliesTo: catalog.AppliesTo{AllEvents: true}},
			{Key: "zz-kayak", Kind: rule.DayOfWeek, When: rule.When{Days: everyDay}, Amount: new(int64(4096)),
				AppliesTo: catalog.AppliesTo{Rentals: []uuid.UUID{kayak}}},
		},
	}
	prepare(t, offer)
	return offer
}

var everyDay = []timespan.Weekday{0, 1, 2, 3, 4, 5, 6}

func prepare(t testing.TB, offer *catalog.Snapshot) {
	t.Helper()
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// newWhen returns the condition of a rule with the fields from and to.
func newWhen(from, to string) rule.When {
	when := rule.When{From: new(rule.Bound), To: new(rule.Bound)}
	if err := errors.Join(when.From.UnmarshalText([]byte(from)), when.To.UnmarshalText([]byte(to))); err != nil {
		panic(err)
	}
	return when
}

func parseDate(s string) timespan.Date       { return must(timespan.ParseDate(s)) }
func parseTime(s string) timespan.TimeOfDay  { return must(timespan.ParseTimeOfDay(s)) }
func parseInstant(s string) time.Time        { return must(time.Parse(time.RFC3339, s)) }
func parsePercent(s string) *decimal.Decimal { return new(decimal.RequireFromString(s)) }

// startAPI serves the API on a server. It returns the internal address of the server and a client.
func startAPI(t testing.TB, offers fakeOffers) (string, *pricing.Client) {
	t.Helper()
	cfg := server.Config{
		PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0",
		RequestTimeout: 2 * time.Minute, DrainTimeout: 2 * time.Minute, PublicBodyLimit: 1 << 10,
		InternalBodyLimit: 16 << 20,
	}
	srv, err := server.New(cfg, server.Runtime{Open: true, Name: "pricing", Clock: clock.System(),
		Telemetry: telemetry.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	api.NewQuotes(offers).Mount(srv.Internal)
	ctx, stop := context.WithCancel(context.Background())
	runErr := make(chan error, 1)
	go func() { runErr <- srv.Run(ctx) }()
	base := "http://" + srv.InternalAddr().String()
	caller := peer.New("pricing", base, telemetry.Discard(), peer.Timeout(2*time.Minute))
	t.Cleanup(func() {
		caller.Close()
		stop()
		if err := <-runErr; err != nil {
			t.Error(err)
		}
	})
	return base, pricing.NewClient(caller)
}

func TestQuotesApplyEachKindOfRule(t *testing.T) {
	t.Parallel()
	_, client := startAPI(t, fakeOffers{"studio": newStudio(t)})
	service := func(day string) pricing.Item {
		return pricing.Item{Kind: pricing.KindService, ID: inactive, Date: parseDate(day)}
	}
	changed := func(item pricing.Item, change func(*pricing.Item)) pricing.Item { change(&item); return item }
	const plainDay = "2026-12-02" // a Wednesday, neither early nor late
	for _, c := range []struct {
		name string
		item pricing.Item
		want int64 // above the list price
	}{
		{"nothing applies", service(plainDay), 0},
		{"day of the week", service("2026-12-05"), 1},
		{"early bird", service("2026-12-29"), 2},
		{"time of day", changed(service(plainDay), func(i *pricing.Item) { i.Start = new(parseTime("18:00")) }), 4},
		{"first booking", changed(service(plainDay), func(i *pricing.Item) { i.FirstBooking = new(true) }), 8},
		{"party size", changed(service(plainDay), func(i *pricing.Item) { i.PartySize = new(4) }), 32},
		{"party too large", changed(service(plainDay), func(i *pricing.Item) { i.PartySize = new(10) }), 0},
		{"last minute", service("2026-11-27"), 64},
		{"summer of any year, early", service("2028-07-05"), 256 + 2},
		{"the week of one year, in summer, early", service("2027-06-02"), 512 + 256 + 2},
		{"one service", pricing.Item{Kind: pricing.KindService, ID: cut, Date: parseDate(plainDay)}, 1024},
		{"a variant of it", pricing.Item{Kind: pricing.KindService, ID: cut, VariantID: &long,
			Date: parseDate(plainDay)},
			1024},
		{"an event on its own date at its own time", pricing.Item{Kind: pricing.KindEvent, ID: gala, TierID: &vip,
			Date: parseDate(plainDay)}, 2048 + 4 + 2},
		{"a rental", pricing.Item{Kind: pricing.KindRental, ID: kayak, Date: parseDate(plainDay)}, 4096},
		{"a rental for long", pricing.Item{Kind: pricing.KindRental, ID: kayak, Date: parseDate(plainDay),
			Units: new(4)},
			4096 + 128},
		{"a rental for too long", pricing.Item{Kind: pricing.KindRental, ID: kayak, Date: parseDate(plainDay),
			Units: new(10)},
			4096},
	} {
		request := pricing.QuotesRequest{Slug: "studio", OfferVersion: 7,
			PurchaseAt: parseInstant("2026-11-26T12:00:00Z"),
			Items:      []pricing.Item{c.item}}
		answer, err := client.Quotes(t.Context(), request)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := answer.Quotes[0].Price - answer.Quotes[0].List; got != c.want {
			t.Errorf("%s: %d above the list price, want %d", c.name, got, c.want)
		}
	}
	flash := pricing.QuotesRequest{Slug: "studio", PurchaseAt: parseInstant("2026-11-27T12:00:00Z"),
		Items: []pricing.Item{service(plainDay)}}
	if answer, err := client.Quotes(t.Context(), flash); err != nil || answer.Quotes[0].Price != 1016 {
		t.Errorf("flash sale: %+v, %v; want 1016", answer, err)
	}
}

func TestQuotesReturnValidUntil(t *testing.T) {
	t.Parallel()
	offer := newStudio(t)
	_, client := startAPI(t, fakeOffers{"studio": offer})
	quoteValidUntil := func(purchase string) string {
		t.Helper()
		answer, err := client.Quotes(t.Context(), pricing.QuotesRequest{Slug: "studio", PurchaseAt: parseInstant(purchase)})
		if err != nil {
			t.Fatal(err)
		}
		if answer.ValidUntil == nil {
			return ""
		}
		return answer.ValidUntil.Format(time.RFC3339)
	}
	if got := quoteValidUntil("2026-07-01T12:00:00Z"); got != "2026-07-01T23:00:00Z" {
		t.Errorf("with rules that count days: until %q, want the midnight of Lisbon", got)
	}
	offer.Rules = slices.DeleteFunc(offer.Rules, func(r catalog.Rule) bool {
		return r.Kind == rule.EarlyBird || r.Kind == rule.LastMinute
	})
	_, client = startAPI(t, fakeOffers{"studio": offer})
	for purchase, want := range map[string]string{
		"2026-07-01T12:00:00Z": "2026-11-27T00:00:00Z", "2026-11-27T12:00:00Z": "2026-11-28T00:00:00Z",
		"2026-11-28T00:00:00Z": "",
	} {
		if got := quoteValidUntil(purchase); got != want {
			t.Errorf("a purchase at %s during a flash sale: valid until %q, want %q", purchase, got, want)
		}
	}
}

func TestQuotesKeepOrderOfItems(t *testing.T) {
	t.Parallel()
	offer := newStudio(t)
	offer.Rules = []catalog.Rule{
		{Key: "less", Kind: rule.DayOfWeek, When: rule.When{Days: everyDay}, Percent: parsePercent("-15")},
		{Key: "more", Kind: rule.DayOfWeek, When: rule.When{Days: everyDay}, Percent: parsePercent("0.5"), Priority: 1},
		{Key: "set", Kind: rule.DayOfWeek, When: rule.When{Days: everyDay}, Set: new(int64(900)), Priority: 2,
			AppliesTo: catalog.AppliesTo{AllRentals: true}},
	}
	_, client := startAPI(t, fakeOffers{"studio": offer})
	day := parseDate("2026-12-02")
	request := pricing.QuotesRequest{Slug: "studio", OfferVersion: 3, PurchaseAt: parseInstant("2026-11-26T12:00:00Z"),
		Items: []pricing.Item{
			{Kind: pricing.KindRental, ID: kayak, Date: day},
			{Kind: pricing.KindService, ID: free, Date: day},
			{Kind: pricing.KindService, ID: cut, VariantID: &long, Date: day},
		}}
	got, err := client.Quotes(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	want := &pricing.QuotesResponse{OfferVersion: 7, Currency: "EUR", Quotes: []pricing.Quote{
		{Priced: true, List: 1200, Price: 900, Steps: []pricing.Step{
			{Rule: "less", Kind: "day_of_week", Before: "12.00", After: "10.20"},
			{Rule: "more", Kind: "day_of_week", Before: "10.20", After: "10.251"},
			{Rule: "set", Kind: "day_of_week", Before: "10.251", After: "9.00"},
		}},
		{Priced: false},
		{Priced: true, List: 5500, Price: 4698, Steps: []pricing.Step{ // 46.98375
			{Rule: "less", Kind: "day_of_week", Before: "55.00", After: "46.75"},
			{Rule: "more", Kind: "day_of_week", Before: "46.75", After: "46.98375"},
		}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("quotes (-want +got):\n%s", diff)
	}
	request.OmitSteps = true
	for i := range want.Quotes {
		want.Quotes[i].Steps = nil
	}
	if got, err = client.Quotes(t.Context(), request); err != nil || !cmp.Equal(want, got) {
		t.Errorf("without steps: %+v, %v", got, err)
	}
}

func TestQuotesUseTimeZoneOfBusiness(t *testing.T) {
	t.Parallel()
	offer := newStudio(t)
	offer.Timezone = "Pacific/Auckland" // thirteen hours ahead
	prepare(t, offer)
	_, client := startAPI(t, fakeOffers{"studio": offer})
	for purchaseAt, want := range map[string]int64{
		"2026-11-26T10:59:59Z": 0,  // in Auckland it is 23:59 on the 26th
		"2026-11-26T11:00:00Z": 16, // the flash sale begins
		"2026-11-27T11:00:00Z": 0,  // the flash sale is over; the 30th is two days ahead
		"2026-11-28T11:00:00Z": 64, // in Auckland it is the 29th: last minute
	} {
		answer, err := client.Quotes(t.Context(),
			pricing.QuotesRequest{Slug: "studio", PurchaseAt: parseInstant(purchaseAt),
				Items: []pricing.Item{
					{Kind: pricing.KindService, ID: inactive, Date: parseDate("2026-11-30")},
				}})
		if err != nil || answer.Quotes[0].Price != 1000+want {
			t.Errorf("bought at %s: %+v, %v; want %d above 1000", purchaseAt, answer, err, want)
		}
	}
}

func TestQuotesRebuildTariffOfNewOffer(t *testing.T) {
	t.Parallel()
	offers := fakeOffers{"studio": newStudio(t)}
	_, client := startAPI(t, offers)
	quote := func() int64 {
		answer, err := client.Quotes(t.Context(),
			pricing.QuotesRequest{Slug: "studio", PurchaseAt: parseInstant("2026-11-26T12:00:00Z"),
				Items: []pricing.Item{{Kind: pricing.KindService, ID: cut, Date: parseDate("2026-12-02")}}})
		if err != nil {
			t.Fatal(err)
		}
		return answer.Quotes[0].Price
	}
	if got := quote(); got != 5024 {
		t.Fatalf("price %d, want 5024", got)
	}
	next := newStudio(t)
	next.Version, next.Rules = 8, nil
	offers["studio"] = next
	if got := quote(); got != 4000 {
		t.Errorf("price without rules: %d, want 4000", got)
	}
}

func TestQuotesRejectUnknownItems(t *testing.T) {
	t.Parallel()
	_, client := startAPI(t, fakeOffers{"studio": newStudio(t)})
	day := parseDate("2026-12-02")
	for _, c := range []struct {
		name     string
		slug     string
		version  int64
		item     pricing.Item
		kind     fault.Kind
		sentence string
	}{
		{"business", "nobody", 0, pricing.Item{Kind: pricing.KindService, ID: cut, Date: day}, fault.BusinessNotFound,
			"Business not found"},
		{"service", "studio", 7, pricing.Item{Kind: pricing.KindService, ID: unknown, Date: day}, fault.ServiceNotFound,
			"Service not found: " + unknown.String()},
		{"service that is a rental", "studio", 7, pricing.Item{Kind: pricing.KindService, ID: kayak, Date: day},
			fault.ServiceNotFound, "Service not found: " + kayak.String()},
		{"variant", "studio", 7, pricing.Item{Kind: pricing.KindService, ID: cut, VariantID: &unknown, Date: day},
			fault.NotFound, "Variant not found: " + unknown.String()},
		{"rental", "studio", 7, pricing.Item{Kind: pricing.KindRental, ID: unknown, Date: day}, fault.RentalNotFound,
			"Rental not found"},
		{"event", "studio", 7, pricing.Item{Kind: pricing.KindEvent, ID: unknown, TierID: &vip}, fault.NotFound,
			"Event not found: " + unknown.String()},
		{"tier", "studio", 7, pricing.Item{Kind: pricing.KindEvent, ID: gala, TierID: &unknown}, fault.NotFound,
			"Tier not found: " + unknown.String()},
	} {
		request := pricing.QuotesRequest{Slug: c.slug, OfferVersion: c.version,
			PurchaseAt: parseInstant("2026-11-26T12:00:00Z"), Items: []pricing.Item{c.item}}
		_, err := client.Quotes(t.Context(), request)
		if f := fault.Of(err); err == nil || f.Kind != c.kind || f.Sentence != c.sentence {
			t.Errorf("unknown %s: %v", c.name, err)
		}
	}
	_, err := client.Quotes(t.Context(), pricing.QuotesRequest{Slug: "studio", OfferVersion: 8,
		PurchaseAt: parseInstant("2026-11-26T12:00:00Z")})
	if !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("a version that catalog does not have: %v", err)
	}
}

func TestQuotesFailForUnreadableRule(t *testing.T) {
	t.Parallel()
	for name, unreadable := range map[string]catalog.Rule{
		"unknown kind":        {Key: "x", Kind: "moon_phase", Amount: new(int64(1))},
		"no change":           {Key: "x", Kind: rule.FirstBooking},
		"seasonal, no season": {Key: "x", Kind: rule.Seasonal, Amount: new(int64(1))},
		"no hours":            {Key: "x", Kind: rule.TimeOfDay, Amount: new(int64(1))},
		"no sale":             {Key: "x", Kind: rule.FlashSale, Amount: new(int64(1))},
		"no days before":      {Key: "x", Kind: rule.EarlyBird, Amount: new(int64(1))},
		"no days at most":     {Key: "x", Kind: rule.LastMinute, Amount: new(int64(1))},
	} {
		offer := newStudio(t)
		offer.Rules = []catalog.Rule{unreadable}
		base, _ := startAPI(t, fakeOffers{"studio": offer})
		status, body := postQuotes(t, base, `{"slug":"studio","purchase_at":"2026-11-26T12:00:00Z","items":[]}`)
		if status != http.StatusInternalServerError || strings.Contains(body, "x") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

func postQuotes(t testing.TB, base, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+pricing.Quotes.Path,
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

func TestQuotesNameItemAndFieldOfInvalidRequest(t *testing.T) {
	t.Parallel()
	base, _ := startAPI(t, fakeOffers{"studio": newStudio(t)})
	const good = `{"kind":"service","id":"00000000-0000-4000-8000-000000000001","date":"2026-12-02"}`
	item := func(fields string) string {
		return `{"slug":"studio","offer_version":7,"purchase_at":"2026-11-26T12:00:00Z","items":[` + good + `,{` +
			fields + `}]}`
	}
	service := func(fields string) string {
		return item(`"kind":"service","id":"00000000-0000-4000-8000-000000000001","date":"2026-12-02",` + fields)
	}
	for _, c := range []struct{ body, field string }{
		{``, "body:"}, {`{`, "body:"}, {`[]`, "body:"}, {`null`, "slug:"}, {"\xff\x00", "body:"}, {`"x"`, "body:"},
		{`{"slug":5}`, "slug:"}, {`{"slug":""}`, "slug:"}, {`{"slug":"studio"}`, "purchase_at:"},
		{`{"slug":"studio","offer_version":-1}`, "offer_version:"},
		{`{"slug":"studio","offer_version":"7"}`, "offer_version:"},
		{`{"slug":"studio","purchase_at":"2026-11-26"}`, "purchase_at:"},
		{`{"slug":"studio","purchase_at":"2026-02-30T12:00:00Z"}`, "purchase_at:"},
		{`{"slug":"studio","purchase_at":"2026-11-26T12:00:00Z","items":{}}`, "items:"},
		{`{"slug":"studio","purchase_at":"2026-11-26T12:00:00Z","items":[` + strings.Repeat("{},", pricing.MaxItems) +
			`{}]}`, "items: are 10001"},
		{`{"slug":"studio","purchase_at":"2026-11-26T12:00:00Z","items":[` + good + `,7]}`, "items[1]:"},
		{`{"slug":"studio","purchase_at":"2026-11-26T12:00:00Z","items":[` + good + `,null]}`, "items[1]."},
		{item(``), "items[1]."},
		{item(`"kind":"ticket","id":"00000000-0000-4000-8000-000000000001","date":"2026-12-02"`), "items[1].kind:"},
		{item(`"kind":7`), "items[1].kind:"},
		{item(`"kind":"service","date":"2026-12-02"`), "items[1].id:"},
		{item(`"kind":"service","id":"x","date":"2026-12-02"`), "items[1].id:"},
		{item(`"kind":"service","id":7,"date":"2026-12-02"`), "items[1].id:"},
		{item(`"kind":"service","id":"00000000-0000-0000-0000-000000000000","date":"2026-12-02"`), "items[1].id:"},
		{item(`"kind":"service","id":"00000000-0000-4000-8000-000000000001"`), "items[1].date:"},
		{item(`"kind":"service","id":"00000000-0000-4000-8000-000000000001","date":"2027-02-29"`), "items[1].date:"},
		{item(`"kind":"service","id":"00000000-0000-4000-8000-000000000001","date":20261202`), "items[1].date:"},
		{service(`"start":"25:00"`), "items[1].start:"}, {service(`"start":"24:00"`), "items[1].start:"},
		{service(`"start":""`), "items[1].start:"},
		{service(`"start":"1\u00000:0"`), "items[1].start:"},
		{service(`"party_size":0`), "items[1].party_size:"}, {service(`"party_size":2.5`), "items[1].party_size:"},
		{service(`"party_size":"4"`), "items[1].party_size:"}, {service(`"party_size":1e99`), "items[1].party_size:"},
		{service(`"first_booking":"yes"`), "items[1].first_booking:"},
		{service(`"variant_id":"x"`), "items[1].variant_id:"},
		{service(`"tier_id":"00000000-0000-4000-8000-000000000006"`), "items[1].tier_id:"},
		{service(`"units":2`), "items[1].units:"},
		{item(`"kind":"event","id":"00000000-0000-4000-8000-000000000005"`), "items[1].tier_id:"},
		{item(`"kind":"event","id":"00000000-0000-4000-8000-000000000005","tier_id":"x"`), "items[1].tier_id:"},
		{item(`"kind":"rental","id":"00000000-0000-4000-8000-000000000007","date":"2026-12-02","units":0`),
			"items[1].units:"},
		{item(`"kind":"rental","id":"00000000-0000-4000-8000-000000000007","date":"2026-12-02","variant_id":"00000000-0000-4000-8000-000000000004"`), "items[1].variant_id:"},
	} {
		status, body := postQuotes(t, base, c.body)
		var answer struct{ Error, MessageCode string }
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Errorf("%.80s: %v in %s", c.body, err, body)
		}
		if status != http.StatusBadRequest || answer.MessageCode != "invalid_parameter" ||
			!strings.HasPrefix(answer.Error, c.field) {
			t.Errorf("%.200s:\n%d %s, want a fault of %s", c.body, status, body, c.field)
		}
	}
	if status, body := postQuotes(t, base, strings.Repeat(" ", 17<<20)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("17 MB: %d %s", status, body)
	}
	if status, body := postQuotes(t, base,
		item(strings.TrimSuffix(strings.TrimPrefix(good, "{"), "}"))); status != http.StatusOK {
		t.Errorf("the good item alone: %d %s", status, body)
	}
}

func TestQuotesAcceptMaxItems(t *testing.T) {
	t.Parallel()
	offer, items := newLargeOffer(t, pricing.MaxItems)
	_, client := startAPI(t, fakeOffers{"large": offer})
	answer, err := client.Quotes(t.Context(), pricing.QuotesRequest{Slug: "large",
		PurchaseAt: parseInstant("2026-11-26T12:00:00Z"), Items: items, OmitSteps: true})
	if err != nil {
		t.Fatal(err)
	}
	last := items[len(items)-1].ID
	if len(answer.Quotes) != len(items) || answer.Quotes[len(items)-1].List != offer.Service(last).Price {
		t.Errorf("%d quotes for %d items", len(answer.Quotes), len(items))
	}
}

// newLargeOffer returns an offer with n services and 20 rules that apply to all of them, and one item
// for each service.
func newLargeOffer(t testing.TB, n int) (*catalog.Snapshot, []pricing.Item) {
	t.Helper()
	offer := &catalog.Snapshot{Slug: "large", Version: 1, Currency: "EUR", Timezone: "Europe/Lisbon"}
	items := make([]pricing.Item, n)
	for i := range items {
		id := uuid.New()
		offer.Services = append(offer.Services, catalog.Service{ID: id, Active: true, Price: int64(1000 + i)})
		items[i] = pricing.Item{Kind: pricing.KindService, ID: id, Date: parseDate("2026-12-02")}
	}
	for i := range 20 {
		offer.Rules = append(offer.Rules, catalog.Rule{
			Key: fmt.Sprintf("rule-%02d", i), Kind: rule.DayOfWeek, When: rule.When{Days: everyDay},
			Percent: parsePercent("-2.5"),
		})
	}
	prepare(t, offer)
	return offer, items
}

// BenchmarkQuotes requests quotes over HTTP for 2,000 services, to which all of 20 rules apply.
func BenchmarkQuotes(b *testing.B) {
	offer, items := newLargeOffer(b, 2000)
	_, client := startAPI(b, fakeOffers{"large": offer})
	for _, omit := range []bool{false, true} {
		b.Run(fmt.Sprintf("2000 services × 20 rules, omit_steps %t", omit), func(b *testing.B) {
			request := pricing.QuotesRequest{Slug: "large", PurchaseAt: parseInstant("2026-11-26T12:00:00Z"),
				Items:     items,
				OmitSteps: omit}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Quotes(b.Context(), request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
