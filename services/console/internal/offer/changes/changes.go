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

// Most is the maximum number of changes that [Between] lists.
const Most = 1000

// Values of the field Change of the type [Change].
const (
	Added   = "added"
	Changed = "changed"
	Removed = "removed"
)

// Change is one difference between two manifests. If the objects of a list have keys, each object is compared with the
// object of the same key in the other manifest, regardless of the order. A list whose objects have no keys is compared
// as a whole.
type Change struct {
	Path   string `json:"path"`   // path of the changed value, such as services[cut].price
	Change string `json:"change"` // [Added], [Changed] or [Removed]
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
	// Summary describes the change for a person, for example "40 becomes 45". Long values are shortened.
	Summary string `json:"summary"`
}

// Between returns the differences between two manifests, sorted by path. Between returns at most [Most] differences.
// The second result is the number of differences that are left out. Between returns an error if a manifest cannot be
// encoded as JSON.
func Between(before, after *manifest.Manifest) ([]Change, int, error) {
	old, err := fields(before)
	if err != nil {
		return nil, 0, err
	}
	wanted, err := fields(after)
	if err != nil {
		return nil, 0, err
	}
	c := comparison{list: []Change{}}
	c.objects("", old, wanted)
	return c.list, c.more, nil
}

// fields returns a map from the JSON names of the manifest's fields to their values.
func fields(m *manifest.Manifest) (map[string]any, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	var all map[string]any
	return all, json.Unmarshal(text, &all)
}

type comparison struct {
	list []Change
	more int
}

func (c *comparison) note(change Change) {
	if len(c.list) == Most {
		c.more++
		return
	}
	change.Summary = change.inWords()
	c.list = append(c.list, change)
}

// objects compares two objects field by field and notes the differences. The argument `path` is the path of both
// objects in the manifest.
func (c *comparison) objects(path string, before, after map[string]any) {
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
		c.values(at, old, wanted, was, is)
	}
}

func (c *comparison) values(at string, old, wanted any, was, is bool) {
	oldObject, oldIs := old.(map[string]any)
	object, bothAre := wanted.(map[string]any)
	oldList, oldKeyed := keyed(old)
	list, bothKeyed := keyed(wanted)
	switch {
	case !was && !oldKeyed && bothKeyed && len(list) > 0, was && oldKeyed && !is && len(oldList) > 0,
		oldKeyed && bothKeyed && len(oldList)+len(list) > 0:
		c.lists(at, oldList, list)
	case !was:
		c.note(Change{Path: at, Change: Added, After: wanted})
	case !is:
		c.note(Change{Path: at, Change: Removed, Before: old})
	case oldIs && bothAre:
		c.objects(at, oldObject, object)
	case !reflect.DeepEqual(old, wanted):
		c.note(Change{Path: at, Change: Changed, Before: old, After: wanted})
	}
}

// keyed converts a value to a list of objects. The second result is true if the value is a list in which every object
// has a key.
func keyed(value any) ([]map[string]any, bool) {
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

// lists compares the objects that have the same key in both lists. Then it compares the order of the keys that both
// lists contain.
func (c *comparison) lists(path string, before, after []map[string]any) {
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
			c.note(Change{Path: at, Change: Removed, Before: object})
			continue
		}
		order = append(order, key)
		c.objects(at, object, wanted[key])
	}
	for _, object := range after {
		if key := object["key"].(string); had[key] {
			newOrder = append(newOrder, key)
		} else {
			c.note(Change{Path: fmt.Sprintf("%s[%s]", path, key), Change: Added, After: object})
		}
	}
	if !slices.Equal(order, newOrder) {
		c.note(Change{Path: path, Change: Changed, Before: order, After: newOrder})
	}
}
