package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	// MaxBytes is the size of the largest source that [Parse] reads.
	MaxBytes = 8 << 20
	// maxValues bounds the values read from one source, those that YAML aliases repeat included.
	maxValues = 2_000_000
	// maxDepth bounds the nesting of JSON; no valid manifest nests half as deep.
	maxDepth = 32
)

// parseSource returns the source's values as a tree, or the one problem that keeps it from being read.
func parseSource(src []byte) (*yaml.Node, *Problem) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if p := checkBytes(src); p != nil {
		return nil, p
	}
	var root *yaml.Node
	var problem *Problem
	if text := bytes.TrimLeft(src, " \t\r\n"); text[0] == '{' {
		root, problem = parseJSON(src)
	} else {
		root, problem = parseYAML(src)
	}
	if problem == nil && root.Kind != yaml.MappingNode {
		problem = &Problem{Line: root.Line, Message: "the manifest is " + describe(root) + "; write fields, beginning with apiVersion: " + APIVersion}
	}
	return root, problem
}

func checkBytes(src []byte) *Problem {
	if len(src) > MaxBytes {
		return &Problem{Line: 1, Message: fmt.Sprintf("the manifest has %d bytes; write at most %d", len(src), MaxBytes)}
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return empty()
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return &Problem{Line: lineAt(src, i), Message: "the manifest contains a NUL byte; write plain UTF-8 text"}
	}
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return &Problem{Line: lineAt(src, i), Message: "the manifest is not valid UTF-8 here; save the file as UTF-8"}
		}
		i += size
	}
	return nil
}

func empty() *Problem {
	return &Problem{Line: 1, Message: "the manifest is empty; write one, beginning with apiVersion: " + APIVersion}
}

func lineAt(src []byte, offset int) int { return 1 + bytes.Count(src[:offset], []byte("\n")) }

func parseYAML(src []byte) (*yaml.Node, *Problem) {
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, empty()
	} else if err != nil {
		return nil, yamlProblem(err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, &Problem{Line: second.Line, Message: "a second YAML document begins here; write one document, without a further ---"}
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlProblem(err)
	}
	if isNull(doc.Content[0]) {
		return nil, empty()
	}
	return doc.Content[0], nil
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

func yamlProblem(err error) *Problem {
	text, line := err.Error(), 1
	if m := yamlLine.FindStringSubmatchIndex(text); m != nil {
		line, _ = strconv.Atoi(text[m[2]:m[3]])
		text = text[m[1]:]
	}
	return &Problem{Line: line, Message: "the YAML cannot be read (" + text + "); check the indentation and quotes near this line"}
}

// entry is one field of a mapping.
type entry struct{ key, value *yaml.Node }

// entries returns the fields of a mapping, with those that merge keys (<<) bring in after its own, which win.
func entries(n *yaml.Node) []entry {
	own := make([]entry, 0, len(n.Content)/2)
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := target(n.Content[i]), n.Content[i+1]
		if key.Tag == "!!merge" {
			merged = append(merged, value)
			continue
		}
		own = append(own, entry{key, value})
	}
	for _, m := range merged {
		own = appendMerged(own, target(m))
	}
	return own
}

// appendMerged adds the fields of what a merge key names, a mapping or a list of mappings, that are not there yet.
// Merge keys inside of it are not followed, which keeps the work linear.
func appendMerged(own []entry, source *yaml.Node) []entry {
	if source.Kind == yaml.SequenceNode {
		for _, one := range source.Content {
			if one = target(one); one.Kind == yaml.MappingNode {
				own = appendMerged(own, one)
			}
		}
		return own
	}
	known := make(map[string]bool, len(own))
	for _, e := range own {
		known[e.key.Value] = true
	}
	for i := 0; source.Kind == yaml.MappingNode && i+1 < len(source.Content); i += 2 {
		if key := target(source.Content[i]); !known[key.Value] {
			own = append(own, entry{key, source.Content[i+1]})
		}
	}
	return own
}

// target follows an alias to what it stands for.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// describe names the kind of a value for a message.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "an object"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "empty"
	case n.Tag == "!!int" || n.Tag == "!!float":
		return "the number " + clipText(n.Value)
	case n.Tag == "!!bool":
		return clipText(n.Value)
	default:
		return "the text " + quote(n.Value)
	}
}

func clipText(s string) string {
	if len(s) > maxNumberLength {
		return s[:maxNumberLength] + "…"
	}
	return s
}
