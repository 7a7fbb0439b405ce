package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeSchemas writes the API server's resources, including custom ones, as strict JSON schemas. It returns their
// location in kubeconform's format.
func (c cluster) writeSchemas(t *testing.T) string {
	t.Helper()
	var document struct{ Definitions map[string]map[string]any }
	if err := json.Unmarshal([]byte(c.run(t, "kubectl", "get", "--raw", "/openapi/v2")), &document); err != nil {
		t.Fatal(err)
	}
	for _, d := range document.Definitions {
		forbidUnknownFields(d)
	}
	// Both are described as strings, but may be numbers.
	either := map[string]any{"anyOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "number"}}}
	document.Definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"] = either
	document.Definitions["io.k8s.apimachinery.pkg.util.intstr.IntOrString"] = either

	folder := t.TempDir()
	for name, d := range document.Definitions {
		kinds, _ := d["x-kubernetes-group-version-kind"].([]any)
		if len(kinds) != 1 {
			continue // options of requests belong to every group
		}
		kind := kinds[0].(map[string]any)
		group, _, _ := strings.Cut(kind["group"].(string), ".")
		file := strings.ToLower(strings.Trim(fmt.Sprintf("%s-%s", kind["kind"], group), "-")) + "-" +
			kind["version"].(string) + ".json"
		used := make(map[string]any)
		collectDefinitions(document.Definitions, d, used)
		used[name] = d
		save(t, filepath.Join(folder, file), map[string]any{"$ref": "#/definitions/" + name, "definitions": used})
	}
	return folder + "/{{.ResourceKind}}{{.KindSuffix}}.json"
}

// collectDefinitions adds the definitions to which a node refers, directly or indirectly, to used.
func collectDefinitions(all map[string]map[string]any, node any, used map[string]any) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			collectDefinitions(all, child, used)
		}
	case map[string]any:
		for _, child := range n {
			collectDefinitions(all, child, used)
		}
		reference, _ := n["$ref"].(string)
		name := strings.TrimPrefix(reference, "#/definitions/")
		if _, known := used[name]; reference != "" && !known {
			used[name] = all[name]
			collectDefinitions(all, all[name], used)
		}
	}
}

// forbidUnknownFields makes unknown fields errors at every depth, if the schema lists fields.
func forbidUnknownFields(node any) {
	switch n := node.(type) {
	case []any:
		for _, child := range n {
			forbidUnknownFields(child)
		}
	case map[string]any:
		for _, child := range n {
			forbidUnknownFields(child)
		}
		if n["x-kubernetes-int-or-string"] == true {
			delete(n, "type")
		}
		_, listed := n["properties"].(map[string]any)
		_, isSet := n["additionalProperties"]
		if listed && !isSet && n["x-kubernetes-preserve-unknown-fields"] != true {
			n["additionalProperties"] = false
		}
	}
}

func save(t *testing.T, file string, document any) {
	t.Helper()
	encoded, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
}
