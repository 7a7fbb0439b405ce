package manifest

import (
	"slices"
	"time"

	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// checkSeasons warns of seasons and flash sales that change the same prices at the same time. It ignores
// rules with the field stop and rules with different priorities, because their order is intended.
func (w *warner) checkSeasons(at *path, rules []PricingRule) {
	for j := range rules {
		b := &rules[j]
		if b.Kind != rule.Seasonal && b.Kind != rule.FlashSale {
			continue
		}
		for i := range rules[:j] {
			a := &rules[i]
			if a.Kind != b.Kind || a.Priority != b.Priority || a.Stop || b.Stop {
				continue
			}
			if !w.countComparison() {
				return
			}
			if overlap(a, b) && w.changeSameObject(a.AppliesTo, b.AppliesTo) {
				w.warn(at.item(j), "is from %s to %s, which overlaps pricing_rules[%d] (%s), from %s to %s: where "+
					"both hold, both change the price, one after the other; "+
					"end one where the other begins, or give the one that is to go first a lower priority", b.From,
					b.To, i, a.Key, a.From, a.To)
				break
			}
		}
	}
}

// overlap reports whether there is a date on which both seasons apply, or an instant at which both flash sales apply.
func overlap(a, b *PricingRule) bool {
	if a.Kind == rule.FlashSale {
		return a.From.DateTime().Before(b.To.DateTime()) && b.From.DateTime().Before(a.To.DateTime())
	}
	if a.From.Form == rule.DateForm && b.From.Form == rule.DateForm {
		return a.From.Date <= b.To.Date && b.From.Date <= a.To.Date
	}
	first, second := seasonDays(a), seasonDays(b)
	return slices.ContainsFunc(first, func(x dateSpan) bool {
		return slices.ContainsFunc(second, func(y dateSpan) bool { return x.from <= y.to && y.from <= x.to })
	})
}

// dateSpan is a span of dates in the year 2000, both included. It represents
// days of any year; 2000 is a leap year, so that it contains every day.
type dateSpan struct{ from, to timespan.Date }

// seasonDays returns the days of the year that a season covers, as dates in the year 2000.
func seasonDays(r *PricingRule) []dateSpan {
	const year = 2000
	whole := dateSpan{timespan.NewDate(year, time.January, 1), timespan.NewDate(year, time.December, 31)}
	from, to := r.From.Date, r.To.Date
	wraps := from > to
	if r.From.Form == rule.DateForm {
		if to-from >= 365 {
			return []dateSpan{whole}
		}
		firstYear, month, day := from.YMD()
		lastYear, lastMonth, lastDay := to.YMD()
		from, to, wraps = timespan.NewDate(year, month, day), timespan.NewDate(year, lastMonth, lastDay),
			firstYear != lastYear
	}
	if wraps {
		return []dateSpan{{from, whole.to}, {whole.from, to}}
	}
	return []dateSpan{{from, to}}
}

// changeSameObject reports whether two pricing rules change the price of the same service, event or rental.
func (w *warner) changeSameObject(a, b *AppliesTo) bool {
	if a == nil || b == nil {
		return true
	}
	return w.haveCommonKey(a.Services, b.Services) || w.haveCommonKey(a.Events, b.Events) || w.haveCommonKey(a.Rentals,
		b.Rentals)
}

func (w *warner) haveCommonKey(a, b *Selection) bool {
	if a == nil || b == nil {
		return false
	}
	if a.All || b.All {
		return true
	}
	return slices.ContainsFunc(a.Keys, func(key Key) bool {
		w.remaining -= len(b.Keys)
		return w.countComparison() && slices.Contains(b.Keys, key)
	})
}
