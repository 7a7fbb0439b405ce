package manifest

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/values/clip"
)

// expand measures how large a YAML tree would be if every alias were replaced by its
// value. It replaces each merge key (<<) by the fields of the mappings that the key names.
// It returns a problem if the tree contains itself, is nested too deeply or is too large.
//
// The measured size bounds the cost of reading, checking and storing the tree, even if
// aliases repeat values many times. Without merge keys, the work of expand is linear
// in the size of the source. With merge keys, it is linear in the size of the result.
func expand(root *yaml.Node) *Problem {
	e := expander{extents: map[*yaml.Node]*extent{}}
	_, problem := e.measure(root, 0)
	return problem
}

// extent is the size of a value in which all aliases are replaced by their values.
type extent struct {
	values int // number of values: the value itself, all values inside it, and the names of fields
	bytes  int // sum of the lengths of all texts, and one byte for each value
	height int // number of nested lists and objects
}

type expander struct {
	extents map[*yaml.Node]*extent // extents of the values with anchors; nil while a value is measured
}

func (e *expander) measure(n *yaml.Node, depth int) (extent, *Problem) {
	if n.Kind == yaml.AliasNode {
		return e.measureAlias(n, depth)
	}
	if n.Anchor != "" {
		e.extents[n] = nil
	}
	size := extent{values: 1, bytes: 1 + len(n.Value)}
	if n.Kind != yaml.ScalarNode {
		var problem *Problem
		if size, problem = e.measureCollection(n, depth); problem != nil {
			return extent{}, problem
		}
	}
	if n.Anchor != "" {
		e.extents[n] = &size
	}
	return size, nil
}

func (e *expander) measureAlias(n *yaml.Node, depth int) (extent, *Problem) {
	size := e.extents[n.Alias]
	switch {
	case size == nil:
		return extent{}, &Problem{Line: n.Line,
			Message: fmt.Sprintf("the alias *%s stands within what it names; write the value out", clip.Text(n.Value))}
	case depth+size.height > maxDepth:
		return extent{}, newDepthProblem(n)
	}
	return *size, nil
}

func (e *expander) measureCollection(n *yaml.Node, depth int) (extent, *Problem) {
	if depth >= maxDepth {
		return extent{}, newDepthProblem(n)
	}
	size := extent{values: 1, bytes: 1, height: 1}
	for i, item := range n.Content {
		part, problem := e.measure(item, depth+1)
		if problem != nil {
			return extent{}, problem
		}
		size.values += part.values
		size.bytes += part.bytes
		size.height = max(size.height, 1+part.height-countMergedLevels(n, i))
		if problem := size.check(item); problem != nil {
			return extent{}, problem
		}
	}
	if n.Kind == yaml.MappingNode {
		return size, replaceMergeKeys(n)
	}
	return size, nil
}

// countMergedLevels returns by how many levels one item of the mapping `n` moves up when
// merge keys are replaced. The argument `item` is the index of this item. A merge
// key names a mapping or a list of mappings, whose fields become fields of `n`.
func countMergedLevels(n *yaml.Node, item int) int {
	switch {
	case n.Kind != yaml.MappingNode || item%2 == 0 || resolveAlias(n.Content[item-1]).Tag != "!!merge":
		return 0
	case resolveAlias(n.Content[item]).Kind == yaml.SequenceNode:
		return 2
	default:
		return 1
	}
}

func newDepthProblem(n *yaml.Node) *Problem {
	return &Problem{Line: n.Line,
		Message: fmt.Sprintf("the manifest nests deeper than %d levels here; check the indentation and brackets",
			maxDepth)}
}

// check returns a problem if the extent is too large. The argument
// `last` is the value with which the extent exceeded the limit.
func (x extent) check(last *yaml.Node) *Problem {
	const advice = "up to here, those that aliases and merge keys repeat included; repeat less"
	switch {
	case x.values > maxValues:
		return &Problem{Line: last.Line, Message: fmt.Sprintf("the manifest holds more than %d values "+advice,
			maxValues)}
	case x.bytes > MaxBytes:
		return &Problem{Line: last.Line, Message: fmt.Sprintf("the manifest holds more than %d bytes "+advice,
			MaxBytes)}
	}
	return nil
}

// replaceMergeKeys replaces the merge keys of the mapping `n` by the fields of the mappings that the merge keys
// name. If several mappings have a field with the same name, the field of `n` itself takes precedence. If `n` has
// no such field, the first named mapping takes precedence. The named mappings must not contain merge keys.
func replaceMergeKeys(n *yaml.Node) *Problem {
	own, sources := splitMergeKeys(n.Content)
	if len(sources) == 0 {
		return nil
	}
	known := make(map[string]bool, len(own)/2)
	for i := 0; i+1 < len(own); i += 2 {
		known[resolveAlias(own[i]).Value] = true
	}
	for _, source := range sources {
		named := []*yaml.Node{source}
		if list := resolveAlias(source); list.Kind == yaml.SequenceNode {
			named = list.Content
		}
		for _, one := range named {
			from := resolveAlias(one)
			if from.Kind != yaml.MappingNode {
				return &Problem{Line: one.Line, Message: "the merge key << names " + describe(from) +
					"; name an object or a list of objects"}
			}
			own = appendMissing(own, from.Content, known)
		}
	}
	n.Content = own
	return nil
}

// splitMergeKeys returns the fields of a mapping that are not merge keys, and the values of its merge keys.
func splitMergeKeys(fields []*yaml.Node) ([]*yaml.Node, []*yaml.Node) {
	var own, sources []*yaml.Node
	for i := 0; i+1 < len(fields); i += 2 {
		if resolveAlias(fields[i]).Tag == "!!merge" {
			sources = append(sources, fields[i+1])
		} else {
			own = append(own, fields[i], fields[i+1])
		}
	}
	return own, sources
}

// appendMissing appends to the list `own` the fields whose names
// are not in the set `known`. It adds these names to `known`.
func appendMissing(own, fields []*yaml.Node, known map[string]bool) []*yaml.Node {
	for i := 0; i+1 < len(fields); i += 2 {
		if name := resolveAlias(fields[i]).Value; !known[name] {
			known[name] = true
			own = append(own, fields[i], fields[i+1])
		}
	}
	return own
}
