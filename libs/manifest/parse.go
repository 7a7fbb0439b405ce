package manifest

import "reflect"

// Parse reads a manifest from YAML, or from JSON when the first character is "{". It returns the manifest, or every
// fault found, by line; at most [MaxProblems] of them are listed and one more counts the rest.
func Parse(src []byte) (*Manifest, []Problem) {
	m, problems, _ := ParseUntil(src, 0, func() bool { return false })
	return m, problems
}

// ParseUntil is [Parse] for catalog. Where so many businesses had the slug before and were removed, a manifest without an
// id gets the one of businessIDOf, from which all others follow. Soon after stop returns true it gives up with
// [ErrStopped], its only error.
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
	d.object(root, nil, reflect.ValueOf(m).Elem())
	if stop() {
		return nil, nil, ErrStopped
	}
	if m.ID == nil && predecessors > 0 {
		id := ID(businessIDOf(m.Slug, predecessors))
		m.ID = &id
	}
	newValidator(m, r, root).manifest()
	if len(r.problems) > 0 {
		return nil, r.list(), nil
	}
	return m, nil, nil
}
