package manifest

import "reflect"

// Parse parses a manifest from JSON if the first character of `src` is "{", otherwise from
// YAML. It returns either the manifest or its problems, ordered by line. There are at
// most [MaxProblems] problems, and one more that states the number of further problems.
func Parse(src []byte) (*Manifest, []Problem) {
	m, problems, _ := ParseUntil(src, 0, func() bool { return false })
	return m, problems
}

// ParseUntil is [Parse] for the catalog service. The argument `predecessors` is the number of removed
// businesses that had the same slug. If `predecessors` is above 0 and the manifest has no id, the
// manifest gets the id from deriveBusinessID. All other ids are derived from the id of the business.
//
// Soon after the function `stop` returns true, ParseUntil returns [ErrStopped]. It returns no other error.
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
		return nil, r.sortProblems(), nil
	}
	return m, nil, nil
}
