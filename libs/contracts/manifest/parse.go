package manifest

import "reflect"

// Parse reads a manifest from YAML, or from JSON if the first character is "{". It
// returns either the manifest, or all problems ordered by line. At most [MaxProblems]
// problems are listed; one further problem states the number of the others.
func Parse(src []byte) (*Manifest, []Problem) {
	m, problems, _ := ParseUntil(src, 0, func() bool { return false })
	return m, problems
}

// ParseUntil is [Parse] for the catalog service. predecessors is the number of
// removed businesses that had the same slug. If it is above 0 and the manifest has no
// id, the manifest gets the id of deriveBusinessID, from which all other ids are derived.
//
// ParseUntil returns [ErrStopped], its only error, soon after stop returns true.
func ParseUntil(src []byte, predecessors int, stop func() bool) (*Manifest, []Problem, error) {
	root, problem, err := parseSource(src, stop)
	if err != nil {
		return nil, nil, err
	}
	if problem != nil {
		return nil, []Problem{*problem}, nil
	}
	m, r := &Manifest{}, &report{}
	d := decoder{report: r}
	d.decodeObject(root, nil, reflect.ValueOf(m).Elem())
	if stop() {
		return nil, nil, ErrStopped
	}
	if m.ID == nil && predecessors > 0 {
		id := ID(deriveBusinessID(m.Slug, predecessors))
		m.ID = &id
	}
	newValidator(m, r, root).checkManifest()
	if len(r.problems) > 0 {
		return nil, r.sortedProblems(), nil
	}
	return m, nil, nil
}
