package document

import (
	"bytes"
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// write changes the document's text so that the content of the text equals the content of the argument `document`, and
// returns the changed text. write returns [manifest.ErrStopped] soon after the function `stop` returns true.
//
// write tries three ways, and returns the first text that parses to exactly the wanted content. The first way rewrites
// only the lines that differ. The second way rewrites all lines but keeps the comments. The third way drops the
// comments. The third way is needed, for example, if the text has YAML merge keys.
func (d *Document) write(document *Document, stop func() bool) ([]byte, error) {
	old, err := d.Fields()
	if err != nil {
		return nil, err
	}
	fields, err := document.Fields()
	if err != nil {
		return nil, err
	}
	bare, err := buildPlainNode(document.fields)
	if err != nil {
		return nil, err
	}
	for _, way := range []func() ([]byte, bool){
		func() ([]byte, bool) { return splice(d.Text, old, fields, bare) },
		func() ([]byte, bool) {
			root, ok := parse(d.Text)
			if !ok {
				return nil, false
			}
			root.Style = 0
			return render(updateNode(root, old, fields, bare))
		},
	} {
		if stop() {
			return nil, manifest.ErrStopped
		}
		text, ok := way()
		if !ok {
			continue
		}
		got, problems, err := ReadUntil(text, stop)
		if errors.Is(err, manifest.ErrStopped) {
			return nil, err
		}
		if err != nil || len(problems) > 0 {
			continue
		}
		if says, err := got.Fields(); err == nil && Equal(says, fields) {
			return text, nil
		}
	}
	text, _ := render(bare)
	return text, nil
}

// parse returns the root node of a YAML text. The second result is false if the text is not a YAML mapping.
func parse(text []byte) (*yaml.Node, bool) {
	var whole yaml.Node
	if err := yaml.Unmarshal(text, &whole); err != nil || len(whole.Content) != 1 ||
		whole.Content[0].Kind != yaml.MappingNode {
		return nil, false
	}
	return whole.Content[0], true
}

// buildPlainNode converts canonical JSON to a YAML node without a style (quotes or block form). The node keeps the
// order of the JSON fields.
func buildPlainNode(canonical []byte) (*yaml.Node, error) {
	var whole yaml.Node
	if err := yaml.Unmarshal(canonical, &whole); err != nil {
		return nil, err
	}
	var bare func(*yaml.Node)
	bare = func(n *yaml.Node) {
		n.Style = 0
		for _, child := range n.Content {
			bare(child)
		}
	}
	bare(whole.Content[0])
	return whole.Content[0], nil
}

func render(n *yaml.Node) ([]byte, bool) {
	var out bytes.Buffer
	writer := yaml.NewEncoder(&out)
	writer.SetIndent(2)
	if writer.Encode(n) != nil || writer.Close() != nil {
		return nil, false
	}
	return out.Bytes(), true
}

// updateNode changes the content of the YAML node `n` from `old` to `wanted`, and returns the changed node. The node
// `bare` has the wanted content without comments. New parts of the result are copies from `bare`.
func updateNode(n *yaml.Node, old, wanted any, bare *yaml.Node) *yaml.Node {
	if Equal(old, wanted) {
		return n
	}
	n = resolveAlias(n)
	before, _ := old.(Fields)
	after, isObject := wanted.(Fields)
	list, isList := wanted.([]any)
	switch {
	case isObject && before != nil && n.Kind == yaml.MappingNode:
		writeFields(n, before, after, bare)
		return n
	case isList && n.Kind == yaml.SequenceNode:
		oldList, _ := old.([]any)
		if len(oldList) == len(n.Content) {
			writeItems(n, oldList, list, bare)
			return n
		}
	case n.Kind == yaml.ScalarNode && bare.Kind == yaml.ScalarNode && n.Tag == bare.Tag:
		n.Value = bare.Value
		return n
	}
	bare.HeadComment, bare.LineComment, bare.FootComment = n.HeadComment, n.LineComment, n.FootComment
	return bare
}

// resolveAlias returns a copy of the node to which an alias refers. The caller can change this copy without changing
// other uses of the alias. If the argument is not an alias, resolveAlias returns it unchanged.
func resolveAlias(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.AliasNode {
		return n
	}
	var clone func(*yaml.Node) *yaml.Node
	clone = func(n *yaml.Node) *yaml.Node {
		c := *n
		c.Anchor, c.Content = "", slices.Clone(n.Content)
		for i := range c.Content {
			c.Content[i] = clone(c.Content[i])
		}
		return &c
	}
	return clone(n.Alias)
}

// findKey returns the index of a key in the content of a YAML mapping, or -1 if the mapping does not have the key.
func findKey(n *yaml.Node, name string) int {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return i
		}
	}
	return -1
}

func writeFields(n *yaml.Node, old, fields Fields, bare *yaml.Node) {
	for name := range old {
		if i := findKey(n, name); i >= 0 && fields[name] == nil {
			if _, null := fields[name]; !null {
				n.Content = slices.Delete(n.Content, i, i+2)
			}
		}
	}
	behind := 0
	for b := 0; b < len(bare.Content); b += 2 {
		name := bare.Content[b].Value
		i := findKey(n, name)
		before, was := old[name]
		switch {
		case i < 0 && was && Equal(before, fields[name]): // the value comes from a merge key
		case i < 0:
			n.Content = slices.Insert(n.Content, behind, bare.Content[b], bare.Content[b+1])
			behind += 2
		case !was || !Equal(before, fields[name]):
			n.Content[i+1] = updateNode(n.Content[i+1], before, fields[name], bare.Content[b+1])
			behind = i + 2
		default:
			behind = i + 2
		}
	}
}

// writeItems writes a list into the node `n`. For an item with the same name or content as an old item, writeItems
// reuses the node of the old item.
func writeItems(n *yaml.Node, old, wanted []any, bare *yaml.Node) {
	had, taken := n.Content, make([]bool, len(old))
	n.Content = make([]*yaml.Node, len(wanted))
	for i, item := range wanted {
		from := slices.IndexFunc(old, func(o any) bool { return equalItems(o, item) })
		for from >= 0 && taken[from] {
			next := slices.IndexFunc(old[from+1:], func(o any) bool { return equalItems(o, item) })
			if from += next + 1; next < 0 {
				from = -1
			}
		}
		if from < 0 {
			n.Content[i] = bare.Content[i]
			continue
		}
		taken[from] = true
		n.Content[i] = updateNode(had[from], old[from], item, bare.Content[i])
	}
}

func equalItems(a, b any) bool {
	name, ok := NameOf(a)
	other, ok2 := NameOf(b)
	if ok || ok2 {
		return ok && ok2 && name == other
	}
	return Equal(a, b)
}
