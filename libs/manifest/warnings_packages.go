package manifest

import "github.com/shopspring/decimal"

// packages that cost no less than their services one by one, and those that a service is not offered of.
func (w *warner) packages(at *path, m *Manifest) {
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
				w.warn(here.field("services").item(j), "names %s, which is not active, so that the package is not offered", quote(string(key)))
			}
			sum = sum.Add(services[key].Price.Decimal)
		}
		if p.Price != nil && p.Price.GreaterThanOrEqual(sum) {
			w.warn(here.field("price"), "is %s, and the services cost %s one by one: customers never pay more than that, so that the package saves nothing; write less", p.Price, sum)
		}
	}
}
