// Package document edits the text of a manifest. It writes changed fields into the text, and keeps the wording, the
// order and the comments of all other lines. It also merges the changes of two people. It does no I/O.
package document

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// Fields has the fields of an object. The keys of the map are the JSON names of the fields. A text value is a string,
// and a number is a [json.Number].
type Fields = map[string]any

// Document is a valid manifest together with the text from which it was parsed.
type Document struct {
	Text     []byte
	Manifest *manifest.Manifest
	fields   []byte // canonical JSON of Manifest
}

// Read parses the text of a manifest. If the manifest is invalid, Read returns the problems of the manifest and no
// document.
func Read(text []byte) (*Document, []manifest.Problem, error) {
	return ReadUntil(text, neverStop)
}

// neverStop is a stop function for [ReadUntil]. It always returns false, so the parsing runs to its end.
func neverStop() bool { return false }

// ReadUntil is [Read], but it returns [manifest.ErrStopped] soon after the function `stop` returns true.
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

// Fields returns a copy of the manifest's fields, which the caller may change. A field is missing from the copy if the
// text omits the field or sets it to its default.
func (d *Document) Fields() (Fields, error) { return decodeFields(d.fields) }

func decodeFields(canonical []byte) (Fields, error) {
	reader := json.NewDecoder(bytes.NewReader(canonical))
	reader.UseNumber()
	var all Fields
	return all, reader.Decode(&all)
}

// WithFields returns a document that has the fields in the argument `fields`. The text of the new document is the text
// of `d` with these fields written into it. If the fields are invalid, WithFields returns the problems and no document.
// The paths of the problems count list items from 0. The line numbers of the problems have no meaning.
func (d *Document) WithFields(fields Fields) (*Document, []manifest.Problem, error) {
	return d.WithFieldsUntil(fields, neverStop)
}

// WithFieldsUntil is [Document.WithFields], but it returns [manifest.ErrStopped] soon after the function `stop` returns
// true.
func (d *Document) WithFieldsUntil(fields Fields, stop func() bool) (*Document, []manifest.Problem, error) {
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, nil, err
	}
	document, problems, err := ReadUntil(text, stop)
	if err != nil || len(problems) > 0 {
		return nil, problems, err
	}
	if document.Text, err = d.write(document, stop); err != nil {
		return nil, nil, err
	}
	return document, nil, nil
}

// Equal reports whether two values of a manifest are equal. Numbers that differ only in trailing zeros are equal.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case Fields:
		b, ok := b.(Fields)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, value := range a {
			other, has := b[name]
			if !has || !Equal(value, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case json.Number:
		b, ok := b.(json.Number)
		return ok && (a == b || equalNumbers(a, b))
	}
	return reflect.DeepEqual(a, b)
}

func equalNumbers(a, b json.Number) bool {
	one, err := decimal.NewFromString(a.String())
	other, err2 := decimal.NewFromString(b.String())
	return err == nil && err2 == nil && one.Equal(other)
}

// NameOf returns the text that identifies an object in its list, whatever the object's position. The text is the
// object's key, or its date if the object has no key. The second result is false if the object has neither a key nor a
// date.
func NameOf(item any) (string, bool) {
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

// indexByName returns the names of the objects in a list, in the order of the list, and a map from names to objects. A
// name is the text that [NameOf] returns. The third result is false if an object has no name, or if two objects have
// the same name.
func indexByName(value any) ([]string, map[string]Fields, bool) {
	list, ok := value.([]any)
	if !ok {
		return nil, nil, false
	}
	names, objects := make([]string, len(list)), make(map[string]Fields, len(list))
	for i, item := range list {
		name, ok := NameOf(item)
		if _, twice := objects[name]; !ok || twice {
			return nil, nil, false
		}
		names[i], objects[name] = name, item.(Fields)
	}
	return names, objects, true
}

// Find returns the object with the given name in a list of the manifest. The argument `list` is the name of the list.
// The argument `name` is the name of the object, as [NameOf] returns it.
func Find(fields Fields, list, name string) (Fields, bool) {
	items, _ := fields[list].([]any)
	for _, item := range items {
		if own, ok := NameOf(item); ok && own == name {
			return item.(Fields), true
		}
	}
	return nil, false
}
