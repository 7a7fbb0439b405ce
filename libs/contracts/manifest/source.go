package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/values/clip"
)

const (
	// MaxBytes is the maximal size of a source that [Parse] reads, in bytes.
	MaxBytes = 8 << 20
	// maxValues is the maximal number of values in a source. Names of fields
	// count as values, too. A value that YAML aliases repeat counts each time.
	maxValues = 1_000_000
	// maxDepth is the maximal number of nested levels. No valid manifest has half as many.
	maxDepth = 32
)

// ErrStopped is the error if parsing ended early because the function `stop` of the caller returned true.
var ErrStopped = errors.New("reading the manifest was stopped")

// parseSource parses a source into a tree of values without merge keys. If the source cannot be parsed,
// parseSource returns the problem. It returns [ErrStopped] soon after the function `stop` returns true.
func parseSource(src []byte, stop func() bool) (*yaml.Node, *Problem, error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if p := checkBytes(src); p != nil {
		return nil, p, nil
	}
	read := parseYAML
	if text := bytes.TrimLeft(src, " \t\r\n"); text[0] == '{' {
		read = parseJSON
	}
	in := &stoppableReader{in: bytes.NewReader(src), stop: stop}
	root, problem := read(src, in)
	switch {
	case in.isStopped:
		return nil, nil, ErrStopped
	case problem == nil && root.Kind != yaml.MappingNode:
		problem = &Problem{Line: root.Line, Message: "the manifest is " + describe(root) +
			"; write fields, beginning with apiVersion: " + APIVersion}
	}
	return root, problem, nil
}

// stoppableReader reads a source until the function `stop` returns true. Then Read returns [ErrStopped].
type stoppableReader struct {
	in        io.Reader
	stop      func() bool
	isStopped bool
}

// Read implements [io.Reader].
func (s *stoppableReader) Read(p []byte) (int, error) {
	if s.isStopped = s.isStopped || s.stop(); s.isStopped {
		return 0, ErrStopped
	}
	return s.in.Read(p)
}

func checkBytes(src []byte) *Problem {
	if len(src) > MaxBytes {
		return &Problem{Line: 1, Message: fmt.Sprintf("the manifest has %d bytes; write at most %d", len(src),
			MaxBytes)}
	}
	if len(bytes.TrimSpace(src)) == 0 {
		return newEmptyProblem()
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return &Problem{Line: countLines(src, i), Message: "the manifest contains a NUL byte; write plain UTF-8 text"}
	}
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return &Problem{Line: countLines(src, i),
				Message: "the manifest is not valid UTF-8 here; save the file as UTF-8"}
		}
		i += size
	}
	return nil
}

func newEmptyProblem() *Problem {
	return &Problem{Line: 1, Message: "the manifest is empty; write one, beginning with apiVersion: " + APIVersion}
}

func countLines(src []byte, offset int) int { return 1 + bytes.Count(src[:offset], []byte("\n")) }

// parseYAML parses a YAML document from the reader `in`. The argument `src` is the whole
// text that this reader returns; parseYAML counts the lines and separators of `src`.
func parseYAML(src []byte, in io.Reader) (*yaml.Node, *Problem) {
	if n := countSeparators(src); n > maxValues {
		return nil, &Problem{Line: 1, Message: fmt.Sprintf(
			"the manifest has %d commas, colons, dashes and opening brackets that can part values; write at most %d", n,
			maxValues)}
	}
	dec := yaml.NewDecoder(in)
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, newEmptyProblem()
	} else if err != nil {
		return nil, yamlProblem(src, err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, &Problem{Line: second.Line,
			Message: "a second YAML document begins here; write one document, without a further ---"}
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlProblem(src, err)
	}
	if isNull(doc.Content[0]) {
		return nil, newEmptyProblem()
	}
	root := doc.Content[0]
	if p := expand(root); p != nil {
		return nil, p
	}
	return root, nil
}

// countSeparators counts the characters in a source that can separate YAML values, including
// those in quoted texts. For each of these characters, a source has at most three values.
//
// The count limits the number of values before the YAML library reads the
// source. The library needs up to 200 bytes of memory for each value.
func countSeparators(src []byte) int {
	n := 0
	for i, c := range src {
		switch c {
		case ',', '[', '{':
			n++
		case ':', '-', '?':
			if i+1 == len(src) || strings.IndexByte(" \t\r\n", src[i+1]) >= 0 {
				n++
			}
		}
	}
	return n
}

// entry is one field of a mapping.
type entry struct{ key, value *yaml.Node }

func listEntries(n *yaml.Node) []entry {
	fields := make([]entry, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		fields = append(fields, entry{resolveAlias(n.Content[i]), n.Content[i+1]})
	}
	return fields
}

// resolveAlias returns the value to which an alias refers. It returns any other value unchanged.
func resolveAlias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// describe returns a description of a value for a message.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "an object"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "empty"
	case n.Tag == "!!int" || n.Tag == "!!float":
		return "the number " + clip.Text(n.Value)
	case n.Tag == "!!bool":
		return clip.Text(n.Value)
	default:
		return "the text " + quote(n.Value)
	}
}
