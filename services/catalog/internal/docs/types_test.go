package docs

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
	"github.com/slotmesh/slotmesh/libs/platform/openapi"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// schema is the part of a schema in the OpenAPI document that a Go type must match.
type schema struct {
	Ref                  string `json:"$ref"`
	Type                 json.RawMessage
	Required             []string
	Properties           map[string]*schema
	Items                *schema
	AdditionalProperties json.RawMessage
}

// answerSchemas maps the names of schemas in the OpenAPI document to the schemas.
type answerSchemas map[string]*schema

func readSchemas(t *testing.T) answerSchemas {
	t.Helper()
	text, err := openapi.JSON(source)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Components struct{ Schemas answerSchemas }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d.Components.Schemas
}

// TestPublicTypesMatchDocument shows that each type of the public API has the same fields and types as its schema in
// the OpenAPI document.
func TestPublicTypesMatchDocument(t *testing.T) {
	t.Parallel()
	all := readSchemas(t)
	for _, of := range []any{
		publicapi.BusinessInfo{}, publicapi.ServiceList{}, publicapi.StaffList{}, publicapi.EventList{},
		publicapi.RentalList{}, publicapi.SlotList{}, publicapi.AvailableDates{}, publicapi.RentalAvailability{},
		publicapi.RentalDates{}, publicapi.BookingConfirmation{},
	} {
		as := reflect.TypeOf(of)
		all.checkType(t, as.Name(), as, all[as.Name()])
	}
}

// kinds maps each JSON type to a Go kind.
var kinds = map[string]reflect.Kind{
	"string": reflect.String, "integer": reflect.Int, "number": reflect.String, "boolean": reflect.Bool,
	"array": reflect.Slice, "object": reflect.Map,
}

// checkType compares the type `as` with the schema `s`. The argument `at` is the path in problems.
func (all answerSchemas) checkType(t *testing.T, at string, as reflect.Type, s *schema) {
	t.Helper()
	for s != nil && s.Ref != "" {
		s = all[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	if s == nil {
		t.Errorf("%s is not in the document", at)
		return
	}
	if as.Kind() == reflect.Pointer {
		as = as.Elem()
	} else if s.is("null") && as.Kind() != reflect.Map {
		t.Errorf("%s may be null, but %s cannot be nil", at, as)
	}
	switch {
	case as == reflect.TypeFor[json.Number]() && s.is("number"):
	case isText(as) && s.is("string"):
	case s.Properties != nil:
		all.checkFields(t, at, as, s)
	case !slices.ContainsFunc(slices.Collect(maps.Keys(kinds)), func(k string) bool {
		return s.is(k) && kinds[k] == as.Kind()
	}):
		t.Errorf("%s is %s, and %s in the document", at, as, s.Type)
	case s.is("array"):
		all.checkType(t, at+"[]", as.Elem(), s.Items)
	case s.is("object"):
		var values schema
		if err := json.Unmarshal(s.AdditionalProperties, &values); err != nil {
			t.Errorf("%s: %v", at, err)
			return
		}
		all.checkType(t, at+"{}", as.Elem(), &values)
	}
}

func (s *schema) is(jsonType string) bool { return strings.Contains(string(s.Type), `"`+jsonType+`"`) }

// isText reports whether a type is not a string but is encoded as a string.
func isText(as reflect.Type) bool {
	return as == reflect.TypeFor[uuid.UUID]() || as == reflect.TypeFor[timespan.Date]() ||
		as == reflect.TypeFor[timespan.TimeOfDay]()
}

// checkFields compares the fields of a struct with the schema of an object. A field is required in the schema exactly
// if it is always sent. The fields of an embedded pointer are not always sent.
func (all answerSchemas) checkFields(t *testing.T, at string, as reflect.Type, s *schema) {
	t.Helper()
	if as.Kind() != reflect.Struct {
		t.Errorf("%s is %s, and an object with fields in the document", at, as)
		return
	}
	missing := maps.Clone(s.Properties)
	var compare func(as reflect.Type, isOptional bool)
	compare = func(as reflect.Type, isOptional bool) {
		for field := range as.Fields() {
			if field.Anonymous {
				compare(field.Type.Elem(), true)
				continue
			}
			name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
			if s.Properties[name] == nil {
				t.Errorf("%s.%s is not in the document", at, name)
				continue
			}
			if isSent := option == "" && !isOptional; isSent != slices.Contains(s.Required, name) {
				t.Errorf("%s.%s: always sent is %t, and not so in the document", at, name, isSent)
			}
			all.checkType(t, at+"."+name, field.Type, s.Properties[name])
			delete(missing, name)
		}
	}
	compare(as, false)
	if len(missing) > 0 {
		t.Errorf("%s lacks %q", at, slices.Sorted(maps.Keys(missing)))
	}
}
