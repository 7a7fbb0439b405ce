package manifest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/phone"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

var update = flag.Bool("update", false, "write manifest.schema.json anew from the types")

const schemaFile = "manifest.schema.json"

func TestSchemaMatchesTypes(t *testing.T) {
	t.Parallel()
	want := generateSchema(t)
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s does not match the types; run make generate", schemaFile)
	}
}

// TestSchemaDescribesEveryProperty shows that each field has a description, which editors and the reference show.
func TestSchemaDescribesEveryProperty(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties map[string]struct{ Description string }
		Defs       map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema, &schema); err != nil {
		t.Fatal(err)
	}
	schema.Defs["Manifest"] = struct {
		Properties map[string]struct{ Description string }
	}{schema.Properties}
	for of, d := range schema.Defs {
		for name, property := range d.Properties {
			if property.Description == "" {
				t.Errorf("%s.%s has no description", of, name)
			}
		}
	}
	if len(schema.Defs) < 30 {
		t.Errorf("only %d objects were found", len(schema.Defs))
	}
}

func generateSchema(t *testing.T) []byte {
	t.Helper()
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, Mapper: scalarSchema}
	for _, dir := range []string{".", "../../values/rule"} {
		if err := r.AddGoComments("github.com/slotmesh/slotmesh/libs/contracts/manifest", dir); err != nil {
			t.Fatal(err)
		}
	}
	schema := r.ReflectFromType(manifestType)
	schema.Title = "Slotmesh manifest"
	allowNull(schema)
	for _, d := range schema.Definitions {
		allowNull(d)
	}
	out, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(out, '\n')
}

// allowNull permits null for every property that may be omitted.
func allowNull(s *jsonschema.Schema) {
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		if slices.Contains(s.Required, p.Key) {
			continue
		}
		value := *p.Value
		description := value.Description
		value.Description = ""
		p.Value = &jsonschema.Schema{Description: description, AnyOf: []*jsonschema.Schema{&value, {Type: "null"}}}
	}
}

const (
	datePattern = `[0-9]{4}-[0-9]{2}-[0-9]{2}`
	timePattern = `([01][0-9]|2[0-3]):[0-5][0-9]|24:00`
)

var longestEmail, longestPhone uint64 = email.MaxLength, phone.MaxLength

var scalarSchemas = map[reflect.Type]jsonschema.Schema{
	reflect.TypeFor[Key]():              text(`^[a-z0-9-]{1,63}$`),
	reflect.TypeFor[ID]():               {Type: "string", Format: "uuid"},
	reflect.TypeFor[Language]():         text(`^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$`),
	reflect.TypeFor[Currency]():         text(`^[A-Z]{3}$`),
	reflect.TypeFor[Timezone]():         text(`.`),
	reflect.TypeFor[URL]():              text(`^(https?://[^\s"'` + "`" + `<>\\]+)?$`),
	reflect.TypeFor[Email]():            {Type: "string", Format: "email", MaxLength: &longestEmail},
	reflect.TypeFor[Color]():            text(`^#[0-9a-fA-F]{6}$`),
	reflect.TypeFor[Phone]():            {Type: "string", MaxLength: &longestPhone},
	reflect.TypeFor[Country]():          text(`^[A-Z]{2}$`),
	reflect.TypeFor[Origin]():           text(`^https?://[a-z0-9.-]+(:[0-9]{1,5})?$`),
	reflect.TypeFor[PictureID]():        text(`^([0-9a-f]{64})?$`),
	reflect.TypeFor[Until]():            {Type: "integer"},
	reflect.TypeFor[timespan.Weekday](): text(`^(mon|tue|wed|thu|fri|sat|sun)$`),
	reflect.TypeFor[Decimal]():          {Type: "number"},
	reflect.TypeFor[rule.Bound](): text(`^([0-9]{2}-[0-9]{2}|` + datePattern + `|(` + timePattern + `)|` +
		datePattern + `T(` + timePattern + `))$`),
	reflect.TypeFor[timespan.Date]():          text(`^` + datePattern + `$`),
	reflect.TypeFor[timespan.TimeOfDay]():     text(`^(` + timePattern + `)$`),
	reflect.TypeFor[timespan.Window]():        text(`^(` + timePattern + `)-(` + timePattern + `)$`),
	reflect.TypeFor[timespan.LocalDateTime](): text(`^` + datePattern + `T(` + timePattern + `)$`),
}

func text(pattern string) jsonschema.Schema {
	return jsonschema.Schema{Type: "string", Pattern: pattern}
}

func scalarSchema(t reflect.Type) *jsonschema.Schema {
	if t == reflect.TypeFor[Selection]() {
		one, key := uint64(1), text(`^[a-z0-9-]{1,63}$`)
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Const: selectAll}, {Type: "array", Items: &key, MinItems: &one},
		}}
	}
	if t == reflect.TypeFor[rule.Kind]() {
		names := &jsonschema.Schema{Type: "string"}
		for _, name := range rule.Names() {
			names.Enum = append(names.Enum, name)
		}
		return names
	}
	if s, ok := scalarSchemas[t]; ok {
		return &s
	}
	return nil
}
