package manifest

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// scalar is a scalar of the example manifest: a value or the name of a field.
type scalar struct {
	node  *yaml.Node
	place string // path of fields that leads to the scalar
	isKey bool
}

// scalars returns one scalar for each path of fields.
func scalars(n *yaml.Node, place string, seen map[string]bool) []scalar {
	var all []scalar
	for i, c := range n.Content {
		isKey := n.Kind == yaml.MappingNode && i%2 == 0
		inner := place
		if n.Kind == yaml.MappingNode {
			inner += "." + n.Content[i-i%2].Value
		}
		if id := fmt.Sprint(inner, isKey); c.Kind == yaml.ScalarNode && !seen[id] {
			seen[id] = true
			all = append(all, scalar{c, inner, isKey})
		}
		all = append(all, scalars(c, inner, seen)...)
	}
	return all
}

func exampleScalars(t *testing.T) []scalar {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(readExample(t), &doc); err != nil {
		t.Fatal(err)
	}
	return scalars(doc.Content[0], "", map[string]bool{})
}

// replaceValue returns src with the text of the scalar n replaced.
func replaceValue(t *testing.T, src []byte, n *yaml.Node, with string) []byte {
	t.Helper()
	lines := bytes.SplitAfter(src, []byte("\n"))
	runes := []rune(string(lines[n.Line-1])) // columns count characters
	size := len([]rune(n.Value))
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		size += 2
	}
	at := n.Column - 1
	if got := strings.Trim(string(runes[at:at+size]), `"'`); got != n.Value {
		t.Fatalf("line %d: found %q in place of %q", n.Line, got, n.Value)
	}
	lines[n.Line-1] = []byte(string(runes[:at]) + with + string(runes[at+size:]))
	return bytes.Join(lines, nil)
}

func hasProblemOn(src []byte, line int) bool {
	_, problems := Parse(src)
	for _, p := range problems {
		if p.Line == line {
			return true
		}
	}
	return false
}

func TestWrongTypesAreReportedOnTheirLine(t *testing.T) {
	t.Parallel()
	src := readExample(t)
	for _, s := range exampleScalars(t) {
		if !s.isKey && !hasProblemOn(replaceValue(t, src, s.node, "[[]]"), s.node.Line) {
			t.Errorf("line %d: a list in place of %q was accepted", s.node.Line, s.node.Value)
		}
	}
}

func TestUnknownFieldsAreReportedOnTheirLine(t *testing.T) {
	t.Parallel()
	src := readExample(t)
	for _, s := range exampleScalars(t) {
		isName := s.isKey && s.place != ".social_links.instagram" // the owner may choose the keys of a map
		if isName && !hasProblemOn(replaceValue(t, src, s.node, s.node.Value+"_x"), s.node.Line) {
			t.Errorf("line %d: the field %s_x was accepted", s.node.Line, s.node.Value)
		}
	}
}
