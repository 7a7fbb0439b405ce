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

// Path joins At with dots, for example services.[cut].price.
func (c Conflict) Path() string { return strings.Join(c.At, ".") }

// missing stands for the value of a field or object that does not exist. This type differs from nil, which stands for
// the value null.
type missing struct{}

// Merge merges two changes of the fields in the argument `base`. The arguments `mine` and `theirs` are the changed
// fields. Merge returns the merged fields and the conflicts. At the path of a conflict, the merged fields have the
// value from `theirs` if `takeTheirs` returns true for this path; otherwise they have the value from `mine`. Merge does
// not change its arguments, but the merged fields share values with them.
func Merge(base, mine, theirs Fields, takeTheirs func(path string) bool) (Fields, []Conflict) {
	m := merging{takeTheirs: takeTheirs}
	merged, _ := m.values(nil, base, mine, theirs).(Fields)
	return merged, m.conflicts
}

type merging struct {
	takeTheirs func(string) bool
	conflicts  []Conflict
}

func (m *merging) values(at []string, base, mine, theirs any) any {
	switch {
	case Same(base, mine):
		return theirs
	case Same(base, theirs), Same(mine, theirs):
		return mine
	}
	own, isObject := mine.(Fields)
	others, bothAre := theirs.(Fields)
	if isObject && bothAre {
		before, _ := base.(Fields)
		return m.objects(at, before, own, others)
	}
	ownNames, ownItems, isList := named(mine)
	othersNames, othersItems, bothLists := named(theirs)
	names, items, had := named(base)
	if isList && bothLists && (had || base == missing{}) {
		return m.lists(at, listOf{names, items}, listOf{ownNames, ownItems}, listOf{othersNames, othersItems})
	}
	return m.conflict(at, mine, theirs)
}

func (m *merging) conflict(at []string, mine, theirs any) any {
	c := Conflict{At: slices.Clone(at), Mine: shown(mine), Theirs: shown(theirs)}
	m.conflicts = append(m.conflicts, c)
	if m.takeTheirs(c.Path()) {
		return theirs
	}
	return mine
}

func shown(value any) any {
	if (value == missing{}) {
		return nil
	}
	return value
}

func get[T any](all map[string]T, name string) any {
	if value, ok := all[name]; ok {
		return value
	}
	return missing{}
}

func (m *merging) objects(at []string, base, mine, theirs Fields) Fields {
	names := map[string]bool{}
	for _, fields := range []Fields{base, mine, theirs} {
		for name := range fields {
			names[name] = true
		}
	}
	merged := Fields{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		value := m.values(append(at, name), get(base, name), get(mine, name), get(theirs, name))
		if (value != missing{}) {
			merged[name] = value
		}
	}
	return merged
}

type listOf struct {
	names []string
	items map[string]Fields
}

// item merges one object of a list. If both people added different objects with the same name, item does not merge the
// fields of these objects: the two objects are one conflict.
func (m *merging) item(at []string, base, mine, theirs any) any {
	if (base == missing{} && mine != missing{} && theirs != missing{}) && !Same(mine, theirs) {
		return m.conflict(at, mine, theirs)
	}
	return m.values(at, base, mine, theirs)
}

// lists merges two changed lists object by object. If `theirs` has the same order as `base`, the result has the order
// of `mine`. Otherwise the result has the order of `theirs`, and the objects that only `mine` contains come last.
func (m *merging) lists(at []string, base, mine, theirs listOf) any {
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
		value := m.item(append(at, "["+name+"]"), get(base.items, name), get(mine.items, name), get(theirs.items, name))
		if (value != missing{}) {
			merged = append(merged, value)
		}
	}
	return merged
}
