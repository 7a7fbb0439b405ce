// Package document is a manifest as its owner wrote it. Another content is written into it so that what stays the same keeps its words, its
// order and its comments; and what two people changed is merged. It is pure.
package document

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/manifest"
)

// Fields are an object's, by the names that JSON gives them: text is a string, a number a [json.Number].
type Fields = map[string]any

// Document is a valid manifest with its text.
type Document struct {
	Text     []byte
	Manifest *manifest.Manifest
	fields   []byte // as canonical JSON
}

// Read reads a manifest, or says what is wrong with it.
func Read(text []byte) (*Document, []manifest.Problem, error) {
	return ReadUntil(text, never)
}

// never stops nothing.
func never() bool { return false }

// ReadUntil is [Read]. Soon after stop returns true it gives up with [manifest.ErrStopped].
func ReadUntil(text []byte, stop func() bool) (*Document, []manifest.Problem, error) {
	m, problems, err := manifest.ParseUntil(text, 0, stop)
	if err != nil || len(problems) > 0 {
		return nil, problems, err
	}
	canonical, err := json.Marshal(m)
	if err != nil {
		return nil, nil, err
	}
	return &Document{Text: text, Manifest: m, fields: canonical}, nil, nil
}

// Fields are the manifest's, to be changed by whoever asks. What is left out in the text, or says what leaving it out says, is left out here.
func (d *Document) Fields() (Fields, error) { return fieldsOf(d.fields) }

func fieldsOf(canonical []byte) (Fields, error) {
	reader := json.NewDecoder(bytes.NewReader(canonical))
	reader.UseNumber()
	var all Fields
	return all, reader.Decode(&all)
}

// With is the manifest with other fields, written into its text. The problems are those of the fields: their paths count from 0, and their
// lines mean nothing.
func (d *Document) With(fields Fields) (*Document, []manifest.Problem, error) {
	return d.WithUntil(fields, never)
}

// WithUntil is [Document.With]. Soon after stop returns true it gives up with [manifest.ErrStopped].
func (d *Document) WithUntil(fields Fields, stop func() bool) (*Document, []manifest.Problem, error) {
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, nil, err
	}
	wanted, problems, err := ReadUntil(text, stop)
	if err != nil || len(problems) > 0 {
		return nil, problems, err
	}
	if wanted.Text, err = d.write(wanted, stop); err != nil {
		return nil, nil, err
	}
	return wanted, nil, nil
}

// Same reports whether two values say the same; numbers do whatever zeros they are written with.
func Same(a, b any) bool {
	switch a := a.(type) {
	case Fields:
		b, ok := b.(Fields)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, value := range a {
			other, has := b[name]
			if !has || !Same(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Same)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || sameNumber(a, b))
	}
	return reflect.DeepEqual(a, b)
}

func sameNumber(a, b json.Number) bool {
	one, err := decimal.NewFromString(a.String())
	other, err2 := decimal.NewFromString(b.String())
	return err == nil && err2 == nil && one.Equal(other)
}

// Name is what tells an object of a list from the others, whatever its place: its key, else the date that it is for.
func Name(item any) (string, bool) {
	object, ok := item.(Fields)
	if !ok {
		return "", false
	}
	for _, field := range []string{"key", "date"} {
		if name, ok := object[field].(string); ok {
			return name, true
		}
	}
	return "", false
}

// named are the objects of a list by their names, in their order; false where they have none, or two have the same.
func named(value any) ([]string, map[string]Fields, bool) {
	list, ok := value.([]any)
	if !ok {
		return nil, nil, false
	}
	names, objects := make([]string, len(list)), make(map[string]Fields, len(list))
	for i, item := range list {
		name, ok := Name(item)
		if _, twice := objects[name]; !ok || twice {
			return nil, nil, false
		}
		names[i], objects[name] = name, item.(Fields)
	}
	return names, objects, true
}

// Find is the object of this name in a list of the fields.
func Find(fields Fields, list, name string) (Fields, bool) {
	items, _ := fields[list].([]any)
	for _, item := range items {
		if own, ok := Name(item); ok && own == name {
			return item.(Fields), true
		}
	}
	return nil, false
}
