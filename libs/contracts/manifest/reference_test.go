package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
)

const referenceFile = "REFERENCE.md"

// TestReferenceMatchesSchema shows that the reference, which describes the schema for people, is generated from the
// present schema.
func TestReferenceMatchesSchema(t *testing.T) {
	t.Parallel()
	var schema jsonschema.Schema
	if err := json.Unmarshal(generateSchema(t), &schema); err != nil {
		t.Fatal(err)
	}
	want := reference(&schema)
	if *update {
		if err := os.WriteFile(referenceFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s does not match the schema; run make generate", referenceFile)
	}
	for name := range schema.Definitions {
		if !bytes.Contains(got, []byte("\n## "+name+"\n")) {
			t.Errorf("%s lacks %s", referenceFile, name)
		}
	}
}

// reference returns one table of fields for each object, in the order in which the objects are first mentioned.
func reference(schema *jsonschema.Schema) []byte {
	r := &referenceWriter{definitions: schema.Definitions}
	r.WriteString("# Fields of a manifest\n\nMade from `manifest.schema.json` by `make generate`. A field in bold must be there. `null` is the same as leaving a field out, unless the field says otherwise.\n")
	r.object("Manifest", schema)
	for i := 0; i < len(r.named); i++ {
		r.object(r.named[i], schema.Definitions[r.named[i]])
	}
	return r.Bytes()
}

type referenceWriter struct {
	bytes.Buffer
	definitions jsonschema.Definitions
	named       []string // names of objects that must still be described, in order of mention
}

func (r *referenceWriter) object(name string, s *jsonschema.Schema) {
	fmt.Fprintf(r, "\n## %s\n\n%s\n\n| field | value | |\n|---|---|---|\n", name, oneLine(s.Description))
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		field := "`" + p.Key + "`"
		if slices.Contains(s.Required, p.Key) {
			field = "**" + field + "**"
		}
		fmt.Fprintf(r, "| %s | %s | %s |\n", field, r.value(p.Value), oneLine(p.Value.Description))
	}
}

// value returns a description of the values that are valid for a schema.
func (r *referenceWriter) value(s *jsonschema.Schema) string {
	switch {
	case s.Ref != "":
		name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		if !slices.Contains(r.named, name) {
			r.named = append(r.named, name)
		}
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	case s.Const != nil:
		return fmt.Sprintf("`%v`", s.Const)
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, word := range s.Enum {
			words[i] = fmt.Sprintf("`%v`", word)
		}
		return strings.Join(words, ", ")
	case len(s.AnyOf) > 0:
		var either []string
		for _, one := range s.AnyOf {
			if one.Type != "null" {
				either = append(either, r.value(one))
			}
		}
		return strings.Join(either, " or ")
	case s.Type == "array":
		return "list of " + r.value(s.Items)
	case s.Type == "object" && s.AdditionalProperties != nil:
		return "map to " + r.value(s.AdditionalProperties)
	}
	return r.plain(s)
}

// forms maps patterns of texts to descriptions.
var forms = map[string]string{
	`^[a-z0-9-]{1,63}$`: "key", `^[A-Z]{3}$`: "currency", `^[A-Z]{2}$`: "country, such as PT", `^#[0-9a-fA-F]{6}$`: "colour, such as #1d4ed8",
	`^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$`: "language, such as pt-BR",
	scalarPattern("URL"):             "address, https or http",
	scalarPattern("Date"):            "date, such as 2027-03-01", scalarPattern("TimeOfDay"): "time, such as 09:30",
	scalarPattern("Window"):           "window, such as 09:00-17:00",
	scalarPattern("LocalDateTime"):    "moment, such as 2027-03-01T09:30",
	`^(mon|tue|wed|thu|fri|sat|sun)$`: "weekday, such as mon",
}

func scalarPattern(name string) string {
	for t, s := range scalarSchemas {
		if t.Name() == name {
			return s.Pattern
		}
	}
	panic("there is no scalar " + name)
}

func (r *referenceWriter) plain(s *jsonschema.Schema) string {
	text := s.Type
	switch form, known := forms[s.Pattern]; {
	case known:
		return form
	case s.Format != "":
		return s.Format
	case s.Type == "string":
		text = "text"
	case s.Type == "boolean":
		return "`true` or `false`"
	}
	switch {
	case s.Minimum != "" && s.Maximum != "":
		return fmt.Sprintf("%s, %s to %s", text, s.Minimum, s.Maximum)
	case s.Minimum != "":
		return fmt.Sprintf("%s from %s on", text, s.Minimum)
	case s.MaxLength != nil:
		return fmt.Sprintf("%s, at most %d characters", text, *s.MaxLength)
	}
	return text
}

func oneLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}
