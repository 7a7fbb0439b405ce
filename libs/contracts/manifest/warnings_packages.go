package manifest

import (
	"slices"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/rule"
)

// checkPackages warns of packages that have no effect: the package is not cheaper than its services one
// by one, or customers cannot book the package because one of its services is not active. It also warns
// of a package with a fixed price if the price of one of its services depends on the number of people.
func (w *warner) checkPackages(at *path, m *Manifest) {
	if len(m.Packages) == 0 {
		return
	}
	services := make(map[Key]*Service, len(m.Services))
	for i := range m.Services {
		services[m.Services[i].Key] = &m.Services[i]
	}
	for i := range m.Packages {
		p, here, sum := &m.Packages[i], at.item(i), decimal.Zero
		for j, key := range p.Services {
			if !services[key].IsActive() {
				w.warn(here.field("services").item(j),
					"names %s, which is not active, so that the package is not offered", quote(string(key)))
			}
			sum = sum.Add(services[key].Price.Decimal)
		}
		if p.Price != nil && p.Price.GreaterThanOrEqual(sum) {
			w.warn(here.field("price"),
				"is %s, and the services cost %s one by one: customers never pay more than that, so that the package "+
					"saves nothing; write less", p.Price, sum)
		}
		if p.Percent != nil && sum.IsZero() {
			w.warn(here.field("percent"),
				"is taken off services that cost nothing, so that the package saves nothing; give a service a price, "+
					"or leave the package out")
		}
		if p.Price != nil {
			w.checkPartySizeRules(here.field("price"), p.Services, m.PricingRules)
		}
	}
}

// checkPartySizeRules warns if a pricing rule about the number of people names a service of a package
// with a fixed price. The rule is probably a mistake, because it does not change the price of the package. The
// warning names only the first such rule. Rules for all services cause no warning, because they are probably not
// meant for the package.
func (w *warner) checkPartySizeRules(at *path, services []Key, rules []PricingRule) {
	for i := range rules {
		if rules[i].Kind != rule.PartySize || !w.countComparison() {
			continue
		}
		of := rules[i].AppliesTo
		w.remaining -= len(services)
		if of != nil && of.Services != nil && slices.ContainsFunc(services,
			func(key Key) bool { return slices.Contains(of.Services.Keys, key) }) {
			w.warn(at, "is the same for any number of people, though pricing_rules[%d] (%s) changes what a service "+
				"of it costs by that: the rule has no effect on the package, "+
				"unless the services are less than its price; write percent instead of price, which is taken off "+
				"after the rules", i, rules[i].Key)
			return
		}
	}
}
