package manifest

import (
	"slices"
	"strings"
)

func (v *validator) checkPackages(at *path) {
	checkUnique(v, at, v.m.Packages, "key", func(p *Package) Key { return p.Key })
	classes, first := v.findClassServices(), map[string]int{}
	byKey := v.m.servicesByKey()
	for i := range v.m.Packages {
		p, here := &v.m.Packages[i], at.item(i)
		v.recordID(here.field("id"), p.ID, p.ObjectID(v.business))
		services := here.field("services")
		v.checkKeys(services, p.Services, &v.services)
		for j, key := range p.Services {
			if classes[key] {
				v.addProblem(services.item(j),
					"names the class %s, and classes are booked alone; write services that have no sessions",
					quote(string(key)))
			}
		}
		v.checkCommonLocation(services, p, byKey)
		v.checkPackagePrice(here, p)
		checkTranslations(v, here, p.Translations)
		v.checkServiceSet(services, p, i, first)
	}
}

// checkServiceSet reports a package that has the same set of services as an earlier package. The
// argument `first` holds, for each set of services, the index of the first package with this set.
func (v *validator) checkServiceSet(at *path, p *Package, i int, first map[string]int) {
	if len(p.Services) == 0 || slices.Contains(p.Services, "") {
		return // already reported by the decoder
	}
	j, isDuplicate := first[p.serviceSet()]
	if !isDuplicate {
		first[p.serviceSet()] = i
		return
	}
	v.addProblem(at, "are those of packages[%d], in whatever order, and a booking of them could be either; write each "+
		"set of services only once", j)
}

// findClassServices returns the keys of the services that are classes. Customers can book a class only at its sessions.
func (v *validator) findClassServices() map[Key]bool {
	keys := map[Key]bool{}
	for i := range v.m.Services {
		if s := &v.m.Services[i]; len(s.Classes) > 0 {
			keys[s.Key] = true
		}
	}
	return keys
}

// serviceSet returns a text that is the same for all packages with the same services, whatever their order.
func (p *Package) serviceSet() string {
	keys := make([]string, len(p.Services))
	for i, key := range p.Services {
		keys[i] = string(key)
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// checkPackagePrice reports a package that has both price and percent, or neither.
func (v *validator) checkPackagePrice(at *path, p *Package) {
	price := p.Price != nil || v.report.hasFailed(at.field("price"))
	percent := p.Percent != nil || v.report.hasFailed(at.field("percent"))
	switch {
	case price && percent:
		v.addProblem(at.field("percent"),
			"stands beside price; write what the services cost together, or how much is taken off, but not both").
			setCode(CodeExcludes, "With", "price")
	case !price && !percent:
		v.addProblem(at,
			"has no price; write price, what the services cost together, or percent, how much is taken off").
			setCode(CodeOneOf, "Fields", "price percent")
	}
	if p.Price != nil {
		v.checkAmount(at.field("price"), *p.Price)
	}
	if p.Percent == nil {
		return
	}
	if p.Percent.IsZero() {
		v.addProblem(at.field("percent"),
			"is 0, which takes nothing off; write how much is, such as 10").setCode(CodePositive)
	}
	v.checkPercent(at.field("percent"), *p.Percent)
}
