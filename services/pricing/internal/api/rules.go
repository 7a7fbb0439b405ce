package api

import (
	"fmt"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/pricing/internal/tariff"
)

// newTariff builds the tariff of a business from its offer. newTariff returns an error if this
// release does not know a kind of rule, because a wrong price would be worse than no price.
func newTariff(offer *catalog.Snapshot) (*tariff.Tariff, error) {
	rules := make([]tariff.Rule, len(offer.Rules))
	for i := range offer.Rules {
		r := &offer.Rules[i]
		when, err := tariff.NewCondition(r.Kind, r.When, offer.Location())
		if err != nil {
			return nil, fmt.Errorf("pricing rule %q: %w", r.Key, err)
		}
		rules[i] = tariff.Rule{
			Key: r.Key, Kind: r.Kind, Priority: r.Priority, Stop: r.Stop,
			Condition: when, Change: convertChange(r), AppliesTo: convertScope(r.AppliesTo),
		}
	}
	return tariff.New(rules, offer.Money())
}

// convertChange returns the price change of a rule. convertChange returns
// nil if the rule has no change; [tariff.New] then returns an error.
func convertChange(r *catalog.Rule) tariff.Change {
	switch {
	case r.Percent != nil:
		return tariff.NewPercent(*r.Percent)
	case r.Amount != nil:
		return tariff.Amount(*r.Amount)
	case r.Set != nil:
		return tariff.Set(*r.Set)
	}
	return nil
}

func convertScope(a catalog.AppliesTo) tariff.Scope {
	if a.IsEverything() {
		return tariff.NewFullScope()
	}
	return tariff.Scope{
		tariff.Service: {All: a.AllServices, IDs: a.Services},
		tariff.Event:   {All: a.AllEvents, IDs: a.Events},
		tariff.Rental:  {All: a.AllRentals, IDs: a.Rentals},
	}
}
