package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// property is one argument in the input schema of a tool.
type property struct {
	name       string
	schema     *jsonschema.Schema
	isRequired bool
}

// inputSchema returns the schema of a tool's arguments. It lists the arguments in the given order and allows no others.
func inputSchema(properties ...property) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, p := range properties {
		s.Properties[p.name] = p.schema
		s.PropertyOrder = append(s.PropertyOrder, p.name)
		if p.isRequired {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

func requiredProperty(name string, schema *jsonschema.Schema) property {
	return property{name, schema, true}
}
func optionalProperty(name string, schema *jsonschema.Schema) property {
	return property{name, schema, false}
}

func textSchema(description string, maxLength int) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: description, MaxLength: &maxLength}
}

func idSchema(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Format: "uuid", Description: description}
}

func dateSchema(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Format: "date",
		Description: description + " YYYY-MM-DD, a calendar date in the business's time zone."}
}

func idsSchema(description string, maxItems int) *jsonschema.Schema {
	minItems := 1
	return &jsonschema.Schema{
		Type: "array", Items: &jsonschema.Schema{Type: "string", Format: "uuid"}, MinItems: &minItems,
		MaxItems:    &maxItems,
		Description: description,
	}
}

// clockPattern is a regular expression for a time of day in the form HH:MM.
const clockPattern = `^([01][0-9]|2[0-3]):[0-5][0-9]$`

// clockSchema returns the schema of a time of day. It adds the format HH:MM to the description.
func clockSchema(description string) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "string", Pattern: clockPattern,
		Description: description + " HH:MM (24 hours), in the business's time zone.",
	}
}

func wholeSchema(description string, minimum, maximum float64) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "integer", Description: description, Minimum: &minimum}
	if maximum > 0 {
		s.Maximum = &maximum
	}
	return s
}

func oneOfSchema(description string, values ...any) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: values, Description: description}
}

func localeProperty() property {
	return optionalProperty("locale",
		textSchema("Language of names and descriptions, as a BCP 47 code such as pt. One that "+
			"the business does not offer, "+
			"like none, gives its default language; get_business_info lists languages.", maxLocale))
}

func offsetProperty() property {
	return optionalProperty("offset",
		wholeSchema("Where to go on in a long list: the next_offset of the answer before. Left "+
			"out: the beginning.", 0, 0))
}

// outputSchema returns the schema of a tool's structured content. The content is an Out or, in a tool error, a
// [refusal]. The schema allows additional fields, because later versions of the service may add fields.
func outputSchema[Out any]() *jsonschema.Schema {
	answer, refused := schemaOf[Out](), schemaOf[refusal]()
	s := &jsonschema.Schema{
		Type:          "object",
		Properties:    maps.Clone(answer.Properties),
		PropertyOrder: slices.Concat(answer.PropertyOrder, refused.PropertyOrder),
		AnyOf:         []*jsonschema.Schema{{Required: answer.Required}, {Required: refused.Required}},
	}
	maps.Copy(s.Properties, refused.Properties)
	return s
}

func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		panic(fmt.Sprintf("the schema of %T: %v", *new(T), err)) // a programming error that every test of a tool finds
	}
	allowExtraFields(s)
	return s
}

// allowExtraFields changes a schema so that every object allows additional fields. It describes a
// value that may be null as a choice of two types (anyOf), because most clients do not understand
// a list of types. Only lists are an exception, because they are never null in the tools' answers.
func allowExtraFields(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.AdditionalProperties = nil
	maps.DeleteFunc(s.Properties, func(_ string, p *jsonschema.Schema) bool { return p.Comment == isHidden })
	s.PropertyOrder = slices.DeleteFunc(s.PropertyOrder, func(name string) bool { return s.Properties[name] == nil })
	allowExtraFields(s.Items)
	for _, p := range s.Properties {
		allowExtraFields(p)
	}
	if len(s.Types) != 2 || s.Types[0] != "null" {
		return
	}
	other := s.Types[1]
	s.Types = nil
	if other == "array" {
		s.Type = other
		return
	}
	s.AnyOf = []*jsonschema.Schema{{Type: other}, {Type: "null"}}
}

// hiddenFields is the type of a field that hides a field of an embedded type of
// the public API. Both fields have the same JSON name. If the tag of the hiding
// field has omitzero, neither the answer nor the schema contains the hidden field.
type hiddenFields struct{}

// isHidden is the comment that marks the schema of a [hiddenFields] field, so that [allowExtraFields] removes it.
const isHidden = "hidden"

// known contains the schemas of types whose JSON form differs from their Go type.
var known = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.Number]():        {Type: "number"},
	reflect.TypeFor[uuid.UUID]():          {Type: "string"},
	reflect.TypeFor[timespan.Date]():      {Type: "string"},
	reflect.TypeFor[timespan.TimeOfDay](): {Type: "string"},
	reflect.TypeFor[hiddenFields]():       {Comment: isHidden},
	reflect.TypeFor[availabilityStatus](): {Type: "string", Enum: []any{statusAvailable, statusUnavailable,
		statusUnknown}},
}
