package document

import (
	"maps"
	"slices"
	"strings"
)

// Conflict is a field or object that two people changed differently. A Conflict has the value of each person. The value
// of a person who removed the field or object is nil.
type Conflict struct {
	At           []string // path from the top: names of fields, and in brackets the names of list objects
	Mine, Theirs any
}

// Path joins the parts of At with dots, for example services.[cut].price.
func (c Conflict) Path() string { return strings.Join(c.At, ".") }

// missing stands for the value of a field or object that does not exist. This type differs from nil, which stands for
// the value null.
type missing struct{}

// Merge merges two changes of the fields in the argument `base`. The arguments `mine` and `theirs` are the changed
// fields. Merge returns the merged fields and the conflicts. At the path of a conflict, the merged fields have the
// value from `theirs` if `takeTheirs` returns true for this path; otherwise they have the value from `mine`. Merge does
// not change its arguments, but the merged fields share values with them.
func Merge(base, mine, theirs Fields, takeTheirs func(path string) bool) (Fields, []Conflict) {
	m := merger{takeTheirs: takeTheirs}
	merged, _ := m.mergeValues(nil, base, mine, theirs).(Fields)
	return merged, m.conflicts
}

type merger struct {
	takeTheirs func(string) bool
	conflicts  []Conflict
}

func (m *merger) mergeValues(at []string, base, mine, theirs any) any {
	switch {
	case Equal(base, mine):
		return theirs
	case Equal(base, theirs), Equal(mine, theirs):
		return mine
	}
	own, isObject := mine.(Fields)
	others, bothAre := theirs.(Fields)
	if isObject && bothAre {
		before, _ := base.(Fields)
		return m.mergeObjects(at, before, own, others)
	}
	ownNames, ownItems, isList := indexByName(mine)
	othersNames, othersItems, bothLists := indexByName(theirs)
	names, items, had := indexByName(base)
	if isList && bothLists && (had || base == missing{}) {
		return m.mergeLists(at, namedList{names, items}, namedList{ownNames, ownItems},
			namedList{othersNames, othersItems})
	}
	return m.addConflict(at, mine, theirs)
}

func (m *merger) addConflict(at []string, mine, theirs any) any {
	c := Conflict{At: slices.Clone(at), Mine: displayValue(mine), Theirs: displayValue(theirs)}
	m.conflicts = append(m.conflicts, c)
	if m.takeTheirs(c.Path()) {
		return theirs
	}
	return mine
}

func displayValue(value any) any {
	if (value == missing{}) {
		return nil
	}
	return value
}

func findOrMissing[T any](all map[string]T, name string) any {
	if value, ok := all[name]; ok {
		return value
	}
	return missing{}
}

func (m *merger) mergeObjects(at []string, base, mine, theirs Fields) Fields {
	names := map[string]bool{}
	for _, fields := range []Fields{base, mine, theirs} {
		for name := range fields {
			names[name] = true
		}
	}
	merged := Fields{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		value := m.mergeValues(append(at, name), findOrMissing(base, name), findOrMissing(mine, name),
			findOrMissing(theirs, name))
		if (value != missing{}) {
			merged[name] = value
		}
	}
	return merged
}

type namedList struct {
	names []string
	items map[string]Fields
}

// mergeItem merges one object of a list. If both people added different objects with the same name, mergeItem does not
// merge the fields of these objects: the two objects are one conflict.
func (m *merger) mergeItem(at []string, base, mine, theirs any) any {
	if (base == missing{} && mine != missing{} && theirs != missing{}) && !Equal(mine, theirs) {
		return m.addConflict(at, mine, theirs)
	}
	return m.mergeValues(at, base, mine, theirs)
}

// mergeLists merges two changed lists object by object. If `theirs` has the same order as `base`, the result has the
// order of `mine`. Otherwise the result has the order of `theirs`, and the objects that only `mine` contains come last.
func (m *merger) mergeLists(at []string, base, mine, theirs namedList) any {
	order := slices.Clone(theirs.names)
	if slices.Equal(base.names, theirs.names) {
		order = slices.Clone(mine.names)
	}
	for _, name := range slices.Concat(mine.names, theirs.names) {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	merged := []any{}
	for _, name := range order {
		value := m.mergeItem(append(at, "["+name+"]"), findOrMissing(base.items, name), findOrMissing(mine.items, name),
			findOrMissing(theirs.items, name))
		if (value != missing{}) {
			merged = append(merged, value)
		}
	}
	return merged
}
