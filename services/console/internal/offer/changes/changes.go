// Package changes compares two manifests field by field. It does no I/O.
package changes

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// MaxChanges is the maximum number of changes that [Compare] lists.
const MaxChanges = 1000

// Values of the field Change of the type [Change].
const (
	Added   = "added"
	Changed = "changed"
	Removed = "removed"
)

// Change is one difference between two manifests. If the objects of a list have keys, objects with the same key are
// compared, regardless of the order. If the objects of a list have no keys, the list is compared as a whole.
type Change struct {
	Path   string `json:"path"`   // path of the changed value, such as services[cut].price
	Change string `json:"change"` // [Added], [Changed] or [Removed]
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
	// Summary describes the change for a person, for example "40 becomes 45". Long values are shortened.
	Summary string `json:"summary"`
}

// Compare returns the differences between two manifests, sorted by path. Compare returns at most [MaxChanges]
// differences. The second result is the number of differences that are left out. Compare returns an error if a manifest
// cannot be encoded as JSON.
func Compare(before, after *manifest.Manifest) ([]Change, int, error) {
	old, err := encodeFields(before)
	if err != nil {
		return nil, 0, err
	}
	wanted, err := encodeFields(after)
	if err != nil {
		return nil, 0, err
	}
	c := comparison{list: []Change{}}
	c.compareObjects("", old, wanted)
	return c.list, c.omitted, nil
}

// encodeFields returns a map from the JSON names of the manifest's fields to their values.
func encodeFields(m *manifest.Manifest) (map[string]any, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	var all map[string]any
	return all, json.Unmarshal(text, &all)
}

type comparison struct {
	list    []Change
	omitted int
}

func (c *comparison) add(change Change) {
	if len(c.list) == MaxChanges {
		c.omitted++
		return
	}
	change.Summary = change.describe()
	c.list = append(c.list, change)
}

// compareObjects compares two objects field by field and notes the differences. The argument `path` is the path of both
// objects in the manifest.
func (c *comparison) compareObjects(path string, before, after map[string]any) {
	names := slices.Collect(maps.Keys(before))
	for name := range after {
		if _, both := before[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		at := name
		if path != "" {
			at = path + "." + name
		}
		old, was := before[name]
		wanted, is := after[name]
		c.compareValues(at, old, wanted, was, is)
	}
}

func (c *comparison) compareValues(at string, old, wanted any, hadValue, hasValue bool) {
	oldObject, oldIs := old.(map[string]any)
	object, bothAre := wanted.(map[string]any)
	oldList, oldKeyed := listKeyedObjects(old)
	list, bothKeyed := listKeyedObjects(wanted)
	switch {
	case !hadValue && !oldKeyed && bothKeyed && len(list) > 0, hadValue && oldKeyed && !hasValue && len(oldList) > 0,
		oldKeyed && bothKeyed && len(oldList)+len(list) > 0:
		c.compareLists(at, oldList, list)
	case !hadValue:
		c.add(Change{Path: at, Change: Added, After: wanted})
	case !hasValue:
		c.add(Change{Path: at, Change: Removed, Before: old})
	case oldIs && bothAre:
		c.compareObjects(at, oldObject, object)
	case !reflect.DeepEqual(old, wanted):
		c.add(Change{Path: at, Change: Changed, Before: old, After: wanted})
	}
}

// listKeyedObjects converts a value to a list of objects. The second result is true if the value is a list in which
// every object has a key.
func listKeyedObjects(value any) ([]map[string]any, bool) {
	list, ok := value.([]any)
	if !ok {
		return nil, false
	}
	objects := make([]map[string]any, len(list))
	for i, element := range list {
		object, _ := element.(map[string]any)
		if _, has := object["key"].(string); !has {
			return nil, false
		}
		objects[i] = object
	}
	return objects, true
}

// compareLists compares the objects that have the same key in both lists. Then it compares the order of the keys that
// both lists contain.
func (c *comparison) compareLists(path string, before, after []map[string]any) {
	wanted := make(map[string]map[string]any, len(after))
	for _, object := range after {
		wanted[object["key"].(string)] = object
	}
	var order, newOrder []string
	had := make(map[string]bool, len(before))
	for _, object := range before {
		key := object["key"].(string)
		had[key] = true
		at := fmt.Sprintf("%s[%s]", path, key)
		if wanted[key] == nil {
			c.add(Change{Path: at, Change: Removed, Before: object})
			continue
		}
		order = append(order, key)
		c.compareObjects(at, object, wanted[key])
	}
	for _, object := range after {
		if key := object["key"].(string); had[key] {
			newOrder = append(newOrder, key)
		} else {
			c.add(Change{Path: fmt.Sprintf("%s[%s]", path, key), Change: Added, After: object})
		}
	}
	if !slices.Equal(order, newOrder) {
		c.add(Change{Path: path, Change: Changed, Before: order, After: newOrder})
	}
}
