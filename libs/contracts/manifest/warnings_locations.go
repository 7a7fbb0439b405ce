package manifest

import "slices"

// checkStaffLocations warns of staff members of a service who work at none of the locations of the service.
// Customers can never book the service with such a member.
func (w *warner) checkStaffLocations(m *Manifest) {
	byKey := make(map[Key]*Staff, len(m.Staff))
	for i := range m.Staff {
		if len(m.Staff[i].At) > 0 {
			byKey[m.Staff[i].Key] = &m.Staff[i]
		}
	}
	if len(byKey) == 0 {
		return
	}
	for i := range m.Services {
		s := &m.Services[i]
		offered := m.LocationsOf(s)
		for j, key := range s.Staff {
			member := byKey[key]
			if member == nil {
				continue
			}
			if !w.countComparison() {
				return
			}
			if slices.ContainsFunc(offered, func(l Key) bool { _, works := member.At[l]; return works }) {
				continue
			}
			w.warn((*path)(nil).field("services").item(i).field("staff").item(j),
				"is %s, who works at no location of the service; add one to `at` of the member or to the locations of "+
					"the service", key)
		}
	}
}
