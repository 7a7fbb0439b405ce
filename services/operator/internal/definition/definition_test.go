package definition_test

import (
	"bytes"
	"flag"
	"os"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
	"github.com/slotmesh/slotmesh/services/operator/internal/definition"
)

var update = flag.Bool("update", false, "write the definitions of the chart")

// The definitions in the chart are the generated ones. The API server accepts them in k8s/e2e.
func TestDefinitionsMatchChart(t *testing.T) {
	t.Parallel()
	businesses, err := definition.NewBusinessDefinition(manifest.Schema)
	if err != nil {
		t.Fatal(err)
	}
	for name, document := range map[string]map[string]any{"businesses": businesses,
		"apikeys": definition.NewAPIKeyDefinition()} {
		want, err := yaml.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		inputs.Checkout("charts")
		file := "../../../../charts/slotmesh/files/definitions/" + name + ".yaml"
		if *update {
			if err := os.WriteFile(file, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from the generated definition; run go generate ./internal/definition in services/operator", file)
		}
	}
}

// Every value of a structural schema has a type, or accepts anything.
func TestDefinitionTypesEveryValue(t *testing.T) {
	t.Parallel()
	businesses, err := definition.NewBusinessDefinition(manifest.Schema)
	if err != nil {
		t.Fatal(err)
	}
	version := businesses["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	checkTypes(t, "", version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any))
}

func checkTypes(t *testing.T, path string, schema map[string]any) {
	t.Helper()
	if schema["type"] == nil && schema["x-kubernetes-preserve-unknown-fields"] != true {
		t.Errorf("%s has no type", path)
	}
	if properties, found := schema["properties"].(map[string]any); found {
		for name, member := range properties {
			checkTypes(t, path+"."+name, member.(map[string]any))
		}
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if member, found := schema[keyword].(map[string]any); found {
			checkTypes(t, path+"[]", member)
		}
	}
}
