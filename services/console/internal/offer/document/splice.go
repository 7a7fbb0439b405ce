package document

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// splicer changes a text by rewriting only the lines whose content differs. The unit of a rewrite is a whole top-level
// field, or one object of a list.
type splicer struct {
	lines     []string // lines of the text, each with its line break
	patches   []patch
	hasFailed bool
}

// patch is a change of a text: the new text replaces lines[from:to].
type patch struct {
	from, to int
	text     string
}

func splice(text []byte, old, fields Fields, bare *yaml.Node) ([]byte, bool) {
	root, ok := parse(text)
	if !ok || root.Style&yaml.FlowStyle != 0 {
		return nil, false
	}
	s := &splicer{lines: slices.Collect(strings.Lines(string(text)))}
	for i := 0; i < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if _, isStored := fields[key.Value]; Equal(findOrMissing(old, key.Value), findOrMissing(fields, key.Value)) {
			continue
		} else if key.Column != 1 || !strings.HasPrefix(s.readLine(key.Line-1), key.Value) {
			return nil, false
		} else if end := s.findEntryEnd(root, i); !isStored {
			s.patches = append(s.patches, patch{key.Line - 1, s.trim(key.Line-1, end, 0), ""})
		} else {
			s.writeEntry(key, value, end, old[key.Value], fields[key.Value], bare.Content[findKey(bare, key.Value)+1])
		}
	}
	for b := 0; b < len(bare.Content); b += 2 {
		if findKey(root, bare.Content[b].Value) < 0 {
			s.add(newMapping(bare.Content[b], bare.Content[b+1]), len(s.lines), len(s.lines), 0)
		}
	}
	return s.apply(), !s.hasFailed
}

func newMapping(key, value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}}
}

func newSequence(item *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{item}}
}

func (s *splicer) readLine(i int) string {
	if i < 0 || i >= len(s.lines) {
		return ""
	}
	return s.lines[i]
}

// findEntryEnd returns the index of the first line after a top-level field of root. The result is the line on which the
// next field begins, or the number of lines if the field is the last one. The argument `i` is the index of the field's
// key in root.Content.
func (s *splicer) findEntryEnd(root *yaml.Node, i int) int {
	if i+2 < len(root.Content) {
		return root.Content[i+2].Line - 1
	}
	return len(s.lines)
}

// trim returns the end of the block s.lines[from:to] without the blank lines and comments at the end of the block. The
// argument `indent` is a number of spaces. A comment at the end that is indented by more than `indent` spaces stays in
// this block; other comments at the end belong to the following block.
func (s *splicer) trim(from, to, indent int) int {
	for ; to > from+1; to-- {
		rest := strings.TrimSpace(s.lines[to-1])
		if rest != "" && (rest[0] != '#' || countIndent(s.lines[to-1]) > indent) {
			break
		}
	}
	return to
}

func countIndent(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// writeEntry writes a changed top-level field. If the field is a list, all its objects have names, and the remaining
// objects keep their order, writeEntry rewrites only the objects that differ.
func (s *splicer) writeEntry(key, value *yaml.Node, end int, old, wanted any, bare *yaml.Node) {
	names, _, ok := indexByName(old)
	wantedNames, items, ok2 := indexByName(wanted)
	stay := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return items[name] == nil })
	byItem := ok && ok2 && value.Kind == yaml.SequenceNode && value.Style&yaml.FlowStyle == 0 &&
		len(value.Content) == len(names) &&
		len(stay) > 0 && slices.Equal(stay, wantedNames[:len(stay)])
	for _, item := range value.Content {
		line := s.readLine(item.Line - 1)
		byItem = byItem && item.Kind == yaml.MappingNode && strings.HasPrefix(strings.TrimLeft(line, " "), "- ") &&
			item.Column > countIndent(line)
	}
	if !byItem {
		from, to := key.Line-1, s.trim(key.Line-1, end, 0)
		s.add(newMapping(key, updateNode(value, old, wanted, bare)), from, to, 0)
		return
	}
	s.spliceItems(value, end, old.([]any), items, bare, len(stay))
}

func (s *splicer) spliceItems(list *yaml.Node, end int, old []any, wanted map[string]Fields, bare *yaml.Node,
	stay int) {
	indent, last := countIndent(s.readLine(list.Content[0].Line-1)), 0
	for i, item := range list.Content {
		from, to := item.Line-1, end
		if i+1 < len(list.Content) {
			to = list.Content[i+1].Line - 1
		}
		to = s.trim(from, to, indent)
		last = to
		name, _ := NameOf(old[i])
		switch after, stays := wanted[name]; {
		case !stays:
			s.remove(from, to, i > 0)
		case !Equal(old[i], after):
			place := slices.IndexFunc(bare.Content, func(b *yaml.Node) bool { return nameOfNode(b) == name })
			s.add(newSequence(updateNode(item, old[i], after, bare.Content[place])), from, to, indent)
		}
	}
	for _, added := range bare.Content[stay:] {
		s.add(newSequence(added), last, last, indent)
	}
}

// nameOfNode returns the name of an object that is a YAML node, as [NameOf] does for other objects. It returns "" if
// the object has no name.
func nameOfNode(n *yaml.Node) string {
	for _, field := range []string{"key", "date"} {
		if i := findKey(n, field); i >= 0 {
			return n.Content[i+1].Value
		}
	}
	return ""
}

// remove removes the object in s.lines[from:to]. It also removes the blank lines after the object if a blank line
// precedes the object.
//
// If the argument `comments` is true, remove also removes the comment directly above the object. Callers pass false for
// the first object of a list, because the comment above the first object may describe the whole list.
func (s *splicer) remove(from, to int, comments bool) {
	for comments && from > 0 && strings.HasPrefix(strings.TrimSpace(s.lines[from-1]), "#") {
		from--
	}
	for from > 0 && to < len(s.lines) && strings.TrimSpace(s.lines[from-1]) == "" &&
		strings.TrimSpace(s.lines[to]) == "" {
		to++
	}
	s.patches = append(s.patches, patch{from, to, ""})
}

// add replaces s.lines[from:to] with the text of the YAML node `n`. First, add removes from `n` all comments that are
// not in the replaced lines. Other lines of the text already have these comments, so the comments would otherwise
// appear twice.
func (s *splicer) add(n *yaml.Node, from, to, indent int) {
	here := strings.Join(s.lines[from:to], "")
	var inside func(*yaml.Node)
	inside = func(n *yaml.Node) {
		for _, comment := range []*string{&n.HeadComment, &n.FootComment} {
			if first, _, _ := strings.Cut(*comment, "\n"); !strings.Contains(here, first) {
				*comment = ""
			}
		}
		for _, child := range n.Content {
			inside(child)
		}
	}
	inside(n)
	text, ok := render(n)
	if !ok {
		s.hasFailed = true
		return
	}
	var out strings.Builder
	if from == to && from > 0 && !strings.HasSuffix(s.lines[from-1], "\n") {
		out.WriteByte('\n')
	}
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			out.WriteString(strings.Repeat(" ", indent))
		}
		out.Write(line)
	}
	s.patches = append(s.patches, patch{from, to, out.String()})
}

func (s *splicer) apply() []byte {
	slices.SortStableFunc(s.patches, func(a, b patch) int { return cmp.Compare(a.from, b.from) })
	var out bytes.Buffer
	next := 0
	for _, p := range s.patches {
		out.WriteString(strings.Join(s.lines[next:max(next, p.from)], ""))
		out.WriteString(p.text)
		next = max(next, p.to)
	}
	out.WriteString(strings.Join(s.lines[next:], ""))
	return out.Bytes()
}
