package request

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slotmesh/slotmesh/libs/values/clip"
	"github.com/slotmesh/slotmesh/libs/values/plain"
)

// JSON decodes a JSON object. The argument `into` is a pointer to the struct for the result. JSON rejects unknown
// fields, wrong types and anything after the object. Fault: invalid_parameter with a sentence that names the field.
func JSON(body []byte, into any) error {
	if !utf8.Valid(body) {
		return Invalid("The request body is not valid UTF-8; send JSON in UTF-8.")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return newBodyFault(err, into)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Invalid("The request body goes on after its JSON object; send one object.")
	}
	return nil
}

// newBodyFault returns the fault for a body that could not be decoded. If an unknown
// field resembles a field of the target struct, the fault suggests that field.
func newBodyFault(err error, into any) error {
	if name, ok := strings.CutPrefix(err.Error(), unknownField); ok {
		if similar := plain.CheckNames("field", []string{strings.Trim(name, `"`)},
			appendFields(reflect.TypeOf(into), nil)); similar != nil {
			return similar
		}
	}
	return Invalid("%s", describeBodyError(err))
}

const unknownField = "json: unknown field "

// appendFields appends the JSON names of the fields of the type `t` to `names`. It also appends the names of the fields
// of these fields' types.
func appendFields(t reflect.Type, names []string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.NumField() == 0 {
		return names
	}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && !slices.Contains(names, name) {
			names = appendFields(field.Type, append(names, name))
		} else if field.Anonymous {
			names = appendFields(field.Type, names)
		}
	}
	return names
}

// describeBodyError returns a sentence about a decoding error. The sentence names the path of the field.
func describeBodyError(err error) string {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) && typeErr.Field != "" {
		return fmt.Sprintf("%s: %s is not right here; write %s.", FieldOf(typeErr), describeValue(typeErr.Value),
			describeType(typeErr.Type))
	}
	if name, ok := strings.CutPrefix(err.Error(), unknownField); ok {
		return strings.Trim(name, `"`) + ": unknown field; leave it out."
	}
	return "The request body is not a JSON object of the right shape; the description of the API shows one."
}

// FieldOf returns the JSON path of the field that has a value of a wrong type. encoding/json adds the names of embedded
// Go structs to the path. FieldOf removes the names of these structs. It recognizes them by their capital first letter,
// because JSON names in Slotmesh begin with a lower-case letter.
func FieldOf(typeErr *json.UnmarshalTypeError) string {
	return strings.Join(slices.DeleteFunc(strings.Split(typeErr.Field, "."), func(step string) bool {
		return step != "" && step[0] >= 'A' && step[0] <= 'Z'
	}), ".")
}

// describeValue describes a JSON value for error sentences. The argument `value` is the description by encoding/json:
// the type of the value, or "number" followed by the digits.
func describeValue(value string) string {
	switch kind, digits, _ := strings.Cut(value, " "); {
	case digits != "":
		return clip.Text(digits)
	case kind == "bool":
		return "true or false"
	case kind == "array":
		return "a list"
	case kind == "object":
		return "an object"
	case kind == "string":
		return "text"
	default:
		return "a " + kind
	}
}

// describeType describes, for error sentences, the JSON value that the Go type `t` requires.
func describeType(t reflect.Type) string {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "text"
	}
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct, reflect.Interface:
		return "an object"
	case reflect.Pointer:
		return describeType(t.Elem())
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "a whole number"
	}
}
