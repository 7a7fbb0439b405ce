package openapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithSchemaAddsDefinitions(t *testing.T) {
	t.Parallel()
	const schema = `{"$schema":"x","$defs":{"Part":{"type":"string","pattern":"^\u003c"}},"type":"object","properties":{"a":{"$ref":"#/$defs/Part"}}}`
	document, err := WithSchema([]byte("components:\n  schemas:\n    Id: &id {type: string}\n    Other: *id\n"),
		"Whole", []byte(schema))
	if err != nil {
		t.Fatal(err)
	}
	got, err := JSON(document)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"components":{"schemas":{"Id":{"type":"string"},"Other":{"type":"string"},` +
		`"Whole":{"type":"object","properties":{"a":{"$ref":"#/components/schemas/WholePart"}}},"WholePart":{"type":"string","pattern":"^\u003c"}}}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"", "a: 1", "["} {
		if _, err := WithSchema([]byte(bad), "Whole", []byte(schema)); err == nil {
			t.Errorf("%q was accepted as a document", bad)
		}
	}
}

func TestWithMemberAppendsMember(t *testing.T) {
	t.Parallel()
	document, err := WithMember([]byte("paths: {}"), "webhooks",
		[]byte(`{"a.b": {"at": "2026-11-21T09:00:00Z", "n": "1"}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := JSON(document); err != nil ||
		string(got) != `{"paths":{},"webhooks":{"a.b":{"at":"2026-11-21T09:00:00Z","n":"1"}}}` {
		t.Errorf("%s %v", got, err)
	}
	for _, bad := range []string{"", "[]", "webhooks: {}", "["} {
		if _, err := WithMember([]byte(bad), "webhooks", []byte("{}")); err == nil {
			t.Errorf("%q was accepted as a document", bad)
		}
	}
}
