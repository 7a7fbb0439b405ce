package tariff

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
)

// BenchmarkPrice prices 2,000 services with a tariff of 20 rules. All, half or none of the rules apply
// to each service.
func BenchmarkPrice(b *testing.B) {
	saturday := Purchase{Date: parseDate("2026-11-21")}
	onSaturday, onMonday := newDaysOfWeek(time.Saturday), newDaysOfWeek(time.Monday)
	for _, applied := range []int{20, 10, 0} {
		rules := make([]Rule, 20)
		for i := range rules {
			rules[i] = Rule{Key: fmt.Sprintf("rule-%02d", i), Condition: onMonday, Change: parsePercent("-2.5"),
				AppliesTo: NewFullScope()}
			if i < applied {
				rules[i].Condition = onSaturday
			}
		}
		tariff, err := New(rules, eur)
		if err != nil {
			b.Fatal(err)
		}
		items := make([]Item, 2000)
		for i := range items {
			items[i] = Item{Kind: Service, ID: uuid.New(), ListPrice: int64(1000 + i)}
		}
		b.Run(fmt.Sprintf("2000 services × 20 rules, %d apply", applied), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, item := range items {
					tariff.Price(item, saturday)
				}
			}
		})
	}
}

// BenchmarkPriceList prices 1,000 services of five variants each with a tariff of 200 rules. The rules
// apply to everything, or to half of the services.
func BenchmarkPriceList(b *testing.B) {
	saturday := Purchase{Date: parseDate("2026-11-21")}
	ids := make([]uuid.UUID, 1000)
	for i := range ids {
		ids[i] = uuid.New()
	}
	for name, scope := range map[string]Scope{"everything": NewFullScope(), "halves": {Service: {IDs: ids[:500]}}} {
		rules := make([]Rule, 200)
		for i := range rules {
			rules[i] = Rule{Key: fmt.Sprintf("rule-%03d", i), Condition: newDaysOfWeek(time.Saturday),
				Change:    parsePercent("-0.5"),
				AppliesTo: scope}
		}
		tariff, err := New(rules, eur)
		if err != nil {
			b.Fatal(err)
		}
		price := map[string]func(Item){"one by one": func(i Item) { tariff.Price(i, saturday) }}
		for _, how := range []string{"one by one", "as a list"} {
			b.Run(name+" "+how, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					list := tariff.NewPriceList()
					price["as a list"] = func(i Item) { list.Amount(i, saturday) }
					for i := range 6000 {
						price[how](Item{Kind: Service, ID: ids[i%1000], ListPrice: int64(1000 + i)})
					}
				}
			})
		}
	}
}
