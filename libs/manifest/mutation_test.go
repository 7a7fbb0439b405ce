package manifest

import (
	"bytes"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// scalar is a scalar of the example and whether it is the name of a field.
type scalar struct {
	node  *yaml.Node
	isKey bool
	under string // the field that holds it
}

func scalars(n *yaml.Node, under string) []scalar {
	var all []scalar
	for i, c := range n.Content {
		isKey := n.Kind == yaml.MappingNode && i%2 == 0
		if c.Kind == yaml.ScalarNode {
			all = append(all, scalar{c, isKey, under})
		}
		inner := under
		if n.Kind == yaml.MappingNode && !isKey {
			inner = n.Content[i-1].Value
		}
		all = append(all, scalars(c, inner)...)
	}
	return all
}

// replaced returns src with the scalar's text replaced.
func replaced(t *testing.T, src []byte, n *yaml.Node, with string) []byte {
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

func TestEveryValueOfTheWrongTypeIsReportedOnItsLine(t *testing.T) {
	t.Parallel()
	src := example(t)
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		t.Fatal(err)
	}
	for _, s := range scalars(doc.Content[0], "") {
		if !s.isKey && !hasProblemOn(replaced(t, src, s.node, "[[]]"), s.node.Line) {
			t.Errorf("line %d: a list in place of %q was accepted", s.node.Line, s.node.Value)
		}
	}
}

func TestEveryUnknownFieldIsReportedOnItsLine(t *testing.T) {
	t.Parallel()
	src := example(t)
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		t.Fatal(err)
	}
	for _, s := range scalars(doc.Content[0], "") {
		if s.isKey && s.under != "social_links" && !hasProblemOn(replaced(t, src, s.node, s.node.Value+"_x"), s.node.Line) {
			t.Errorf("line %d: the field %s_x was accepted", s.node.Line, s.node.Value)
		}
	}
}
