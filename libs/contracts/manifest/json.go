package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// jsonReader parses JSON into the same tree, with line numbers, that the YAML library makes from YAML.
type jsonReader struct {
	src    []byte
	dec    *json.Decoder
	line   int
	offset int // offset in src; the field `line` counts the line breaks before this offset
	values int
}

// parseJSON parses a JSON object from the reader `in`. The argument `src` is
// the whole text that this reader returns; parseJSON counts the lines of `src`.
func parseJSON(src []byte, in io.Reader) (*yaml.Node, *Problem) {
	r := &jsonReader{src: src, dec: json.NewDecoder(in), line: 1}
	r.dec.UseNumber()
	root, err := r.readValue(0)
	if err == nil {
		if _, err = r.dec.Token(); errors.Is(err, io.EOF) {
			return root, nil
		}
		r.advance()
		return nil, &Problem{Line: r.line, Message: "something follows the JSON object; write one object and nothing " +
			"after it"}
	}
	return nil, r.newProblem(err)
}

func (r *jsonReader) newProblem(err error) *Problem {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		r.advance()
		// The offset in the error counts from the start of the token that the
		// decoder was reading. It is therefore not always greater than r.offset.
		if o := int(syntax.Offset); o > r.offset && o <= len(r.src) {
			r.line += bytes.Count(r.src[r.offset:o], []byte("\n"))
		}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Problem{Line: countLines(r.src, len(r.src)),
			Message: "the JSON ends too early; close every bracket and quote"}
	}
	return &Problem{Line: r.line,
		Message: fmt.Sprintf("the JSON cannot be read (%s); check the commas, quotes and brackets near this line", err)}
}

// advance sets the field `line` to the line at the end of the last token.
func (r *jsonReader) advance() {
	end := int(r.dec.InputOffset())
	r.line += bytes.Count(r.src[r.offset:end], []byte("\n"))
	r.offset = end
}

func (r *jsonReader) readValue(depth int) (*yaml.Node, error) {
	token, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	return r.readNode(token, depth)
}

func (r *jsonReader) readNode(token json.Token, depth int) (*yaml.Node, error) {
	r.advance()
	if r.values++; r.values > maxValues {
		return nil, fmt.Errorf("it holds more than %d values", maxValues)
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.line}
	switch t := token.(type) {
	case json.Delim:
		return n, r.readItems(n, t, depth)
	case string:
		n.Tag, n.Value = "!!str", t
	case json.Number:
		n.Tag, n.Value = "!!int", t.String()
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(t)
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}

func (r *jsonReader) readItems(n *yaml.Node, open json.Delim, depth int) error {
	if depth >= maxDepth {
		return fmt.Errorf("it nests deeper than %d levels", maxDepth)
	}
	n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
	if open == '{' {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	for r.dec.More() {
		item, err := r.readValue(depth + 1)
		if err != nil {
			return err
		}
		n.Content = append(n.Content, item)
	}
	_, err := r.dec.Token()
	return err
}
