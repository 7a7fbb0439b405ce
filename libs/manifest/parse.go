package manifest

import "reflect"

// Parse reads a manifest from YAML, or from JSON when the first character is "{". It returns the manifest, or every
// fault found, by line; at most [MaxProblems] of them are listed and one more counts the rest.
func Parse(src []byte) (*Manifest, []Problem) { return parse(src, maxValues) }

// parse is Parse with a bound on the values read, those that aliases repeat included.
func parse(src []byte, budget int) (*Manifest, []Problem) {
	root, problem := parseSource(src)
	if problem != nil {
		return nil, []Problem{*problem}
	}
	m, r := &Manifest{}, &report{}
	d := decoder{report: r, budget: budget}
	d.object(root, nil, reflect.ValueOf(m).Elem())
	if !r.closed {
		newValidator(m, r, root).manifest()
	}
	if len(r.problems) > 0 {
		return nil, r.list()
	}
	return m, nil
}
