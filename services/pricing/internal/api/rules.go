package api

import (
	"errors"
	"fmt"

	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/pricing/internal/tariff"
)

// newTariff says a business's rules in the terms of the tariff. A rule that it cannot read (of a kind younger than this
// build, say) is an error: no price is better than a wrong one.
func newTariff(offer *catalog.Offer) (*tariff.Tariff, error) {
	rules := make([]tariff.Rule, len(offer.Rules))
	for i := range offer.Rules {
		r := &offer.Rules[i]
		when, err := condition(offer, r)
		if err != nil {
			return nil, fmt.Errorf("pricing rule %q of kind %q: %w", r.Key, r.Kind, err)
		}
		rules[i] = tariff.Rule{
			Key: r.Key, Kind: r.Kind, Priority: r.Priority, Stop: r.Stop,
			When: when, Change: change(r), AppliesTo: scope(r.AppliesTo),
		}
	}
	return tariff.New(rules, offer.Money())
}

// change returns nil for a rule that states no change; the tariff refuses it.
func change(r *catalog.Rule) tariff.Change {
	switch {
	case r.Percent != nil:
		return tariff.PercentOf(*r.Percent)
	case r.Amount != nil:
		return tariff.Amount(*r.Amount)
	case r.Set != nil:
		return tariff.Set(*r.Set)
	}
	return nil
}

// condition reads the fields that belong to the rule's kind.
func condition(offer *catalog.Offer, r *catalog.Rule) (tariff.Condition, error) {
	switch r.Kind {
	case catalog.RuleSeasonal:
		return given(r.Season, season)
	case catalog.RuleDayOfWeek:
		return tariff.DaysOfWeekOf(r.Days), nil
	case catalog.RuleTimeOfDay:
		return given(r.Hours, func(w timespan.Window) tariff.Condition { return tariff.TimeOfDay(w) })
	case catalog.RuleFlashSale:
		return given(r.Sale, func(s catalog.Sale) tariff.Condition {
			return tariff.FlashSaleBetween(s.From, s.To, offer.Location())
		})
	case catalog.RuleEarlyBird:
		return given(r.MinDays, func(n int) tariff.Condition { return tariff.EarlyBird(n) })
	case catalog.RuleLastMinute:
		return given(r.MaxDays, func(n int) tariff.Condition { return tariff.LastMinute(n) })
	case catalog.RulePartySize:
		return tariff.PartySize{Min: r.MinSize, Max: r.MaxSize}, nil
	case catalog.RuleFirstBooking:
		return tariff.FirstBooking{}, nil
	case catalog.RuleDuration:
		return tariff.Duration{Min: r.MinUnits, Max: r.MaxUnits}, nil
	}
	return nil, errors.New("the kind is not known")
}

// given makes a condition of a field that the kind needs.
func given[T any](field *T, condition func(T) tariff.Condition) (tariff.Condition, error) {
	if field == nil {
		return nil, errors.New("its condition is missing")
	}
	return condition(*field), nil
}

func season(s catalog.Season) tariff.Condition {
	if s.Yearly {
		return tariff.Yearly{From: tariff.MonthDayOf(s.From), To: tariff.MonthDayOf(s.To)}
	}
	return tariff.Season{From: s.From, To: s.To}
}

func scope(a catalog.AppliesTo) tariff.Scope {
	if a.Everything() {
		return tariff.Everything()
	}
	return tariff.Scope{
		tariff.Service: {All: a.AllServices, IDs: a.Services},
		tariff.Event:   {All: a.AllEvents, IDs: a.Events},
		tariff.Rental:  {All: a.AllRentals, IDs: a.Rentals},
	}
}
