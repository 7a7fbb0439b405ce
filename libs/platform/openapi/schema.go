package openapi

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// WithSchema adds a JSON Schema to components.schemas of an OpenAPI document, under the name in the argument `name`.
// Each definition in $defs of the schema becomes another entry of components.schemas. The name of that entry is `name`,
// followed by the name of the definition. Client generators find types only in components.schemas.
func WithSchema(document []byte, name string, schema []byte) ([]byte, error) {
	var into, from yaml.Node
	if err := yaml.Unmarshal(document, &into); err != nil {
		return nil, fmt.Errorf("the document is not YAML: %w", err)
	}
	if err := yaml.Unmarshal(schema, &from); err != nil { // YAML includes JSON
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	if len(into.Content) != 1 || len(from.Content) != 1 {
		return nil, fmt.Errorf("the document or the schema is empty")
	}
	schemas := findMember(findMember(into.Content[0], "components"), "schemas")
	if schemas == nil {
		return nil, fmt.Errorf("the document has no components.schemas")
	}
	root := from.Content[0]
	redirectReferences(root, name)
	definitions := findMember(root, "$defs")
	removeKeys(root, "$schema", "$defs")
	schemas.Content = append(schemas.Content, newText(name), root)
	for i := 0; definitions != nil && i < len(definitions.Content); i += 2 {
		schemas.Content = append(schemas.Content, newText(name+definitions.Content[i].Value), definitions.Content[i+1])
	}
	return yaml.Marshal(&into)
}

// WithMember adds a member with this name and JSON value to the root of a document.
// It returns an error if the document already has a member with this name.
func WithMember(document []byte, name string, value []byte) ([]byte, error) {
	var into, from yaml.Node
	if err := yaml.Unmarshal(document, &into); err != nil {
		return nil, fmt.Errorf("the document is not YAML: %w", err)
	}
	if err := yaml.Unmarshal(value, &from); err != nil { // YAML includes JSON
		return nil, fmt.Errorf("the member %s is not JSON: %w", name, err)
	}
	if len(into.Content) != 1 || len(from.Content) != 1 || into.Content[0].Kind != yaml.MappingNode ||
		findMember(into.Content[0], name) != nil {
		return nil, fmt.Errorf("the document is empty, or has the member %s", name)
	}
	root := into.Content[0]
	root.Content = append(root.Content, newText(name), from.Content[0])
	return yaml.Marshal(&into)
}

// findMember returns the value of the given key in the mapping, or nil if the mapping has no such key.
func findMember(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; mapping != nil && i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

func removeKeys(mapping *yaml.Node, keys ...string) {
	var remaining []*yaml.Node
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if !slices.Contains(keys, mapping.Content[i].Value) {
			remaining = append(remaining, mapping.Content[i], mapping.Content[i+1])
		}
	}
	mapping.Content = remaining
}

// redirectReferences changes references to $defs into references to components.schemas, because WithSchema moves the
// definitions there. The argument `name` is the prefix of the moved definitions' names.
func redirectReferences(node *yaml.Node, name string) {
	if node.Kind == yaml.ScalarNode {
		if of, ok := strings.CutPrefix(node.Value, "#/$defs/"); ok {
			node.Value = "#/components/schemas/" + name + of
		}
	}
	for _, inner := range node.Content {
		redirectReferences(inner, name)
	}
}

func newText(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }
