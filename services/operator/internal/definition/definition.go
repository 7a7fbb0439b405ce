// Package definition generates the CustomResourceDefinitions in the chart. The definition of Business
// contains the JSON Schema of manifests, converted to a structural schema. A structural schema is the
// form that Kubernetes requires: it has no references, and exactly one type for each value.
package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "github.com/slotmesh/slotmesh/services/operator/internal/v1"
)

//go:generate go test . -run ^TestDefinitionsMatchChart$ -update

type object = map[string]any

// NewBusinessDefinition returns the CustomResourceDefinition of Business. The argument
// manifestSchema is the JSON Schema of the spec. A structural schema cannot express all rules of a
// manifest. The admin API checks the other rules, and the status of the object lists the problems.
func NewBusinessDefinition(manifestSchema []byte) (map[string]any, error) {
	var schema object
	if err := json.Unmarshal(manifestSchema, &schema); err != nil {
		return nil, err
	}
	defs, _ := schema["$defs"].(object)
	spec, err := convertSchema(schema, defs)
	if err != nil {
		return nil, err
	}
	delete(spec, "title")
	spec["description"] = "The manifest, without apiVersion and kind. Left out, slug is the object's name, and " +
		"managed_by names the object."
	properties := spec["properties"].(object)
	delete(properties, "apiVersion")
	delete(properties, "kind")
	// Kubernetes needs a maximum length to estimate the cost of the validation rules.
	properties["slug"].(object)["maxLength"] = 63
	spec["required"] = slices.DeleteFunc(spec["required"].([]any), func(name any) bool {
		return slices.Contains([]any{"apiVersion", "kind", "slug"}, name)
	})
	spec["x-kubernetes-validations"] = []any{object{
		"rule":    "has(self.slug) == has(oldSelf.slug) && (!has(self.slug) || self.slug == oldSelf.slug)",
		"message": "a business keeps its slug; delete this object and make another",
	}}
	status := object{"type": "object", "properties": object{
		"observedGeneration": object{"type": "integer", "format": "int64",
			"description": "The generation of the spec that was judged last."},
		"slug": object{"type": "string", "description": "The business that was published."},
		"version": object{"type": "integer", "format": "int64",
			"description": "The newest version that was published of this object."},
		"conditions": newConditionsSchema(),
		"problems": object{"type": "array", "maxItems": v1.MaxProblems, "description": "Why the manifest was refused.",
			"items": object{
				"type": "object", "required": []any{"message"}, "properties": object{
					"path":    object{"type": "string", "description": "The field, such as services[0].price."},
					"message": object{"type": "string"},
				},
			}},
	}}
	names := resourceNames{kind: "Business", singular: "business", plural: "businesses", columns: []any{
		newColumn("Slug", "string", ".status.slug"),
		newColumn("Version", "integer", ".status.version"),
		newColumn("Ready", "string", `.status.conditions[?(@.type=="Ready")].status`),
		newColumn("Reason", "string", `.status.conditions[?(@.type=="Ready")].reason`),
		markWide(newColumn("Message", "string", `.status.conditions[?(@.type=="Ready")].message`)),
		newColumn("Age", "date", ".metadata.creationTimestamp"),
	}}
	return names.buildDefinition("A business and what it offers.", spec, status), nil
}

// NewAPIKeyDefinition returns the CustomResourceDefinition of APIKey.
func NewAPIKeyDefinition() map[string]any {
	const duration = `^([0-9]+(\.[0-9]+)?(h|m|s))+$`
	spec := object{"type": "object", "required": []any{"business", "scope"}, "properties": object{
		"business": object{"type": "string", "minLength": 1, "maxLength": 253,
			"description": "The name of a Business in this namespace."},
		"scope": object{"type": "string", "enum": []any{"read", "write", "all"},
			"description": "What the key may do."},
		"secretName": object{"type": "string", "maxLength": 253, "pattern": `^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`,
			"description": "The Secret that holds the key; left out, it has this object's name."},
		"rotateEvery": object{"type": "string", "maxLength": 32, "pattern": duration,
			"description": "The age at which the key is replaced, such as 720h, a minute or more; left out, never."},
		"gracePeriod": object{"type": "string", "maxLength": 32, "pattern": duration, "default": "1h",
			"description": "How long a key that was replaced goes on working."},
	}, "x-kubernetes-validations": []any{
		object{"rule": "self.business == oldSelf.business",
			"message": "a key stays with its business; delete this object and make another"},
		object{
			"rule": "has(self.secretName) == has(oldSelf.secretName) && (!has(self.secretName) || self.secretName " +
				"== oldSelf.secretName)",
			"message": "a key keeps its Secret; delete this object and make another",
		},
		object{"rule": "!has(self.rotateEvery) || duration(self.rotateEvery) >= duration('1m')",
			"message": "rotateEvery: write a minute or more"},
	}}
	status := object{"type": "object", "properties": object{
		"observedGeneration": object{"type": "integer", "format": "int64",
			"description": "The generation of the spec that was judged last."},
		"slug":      object{"type": "string", "description": "The business that the key is of."},
		"prefix":    object{"type": "string", "description": "How the key begins."},
		"createdAt": object{"type": "string", "format": "date-time"},
		"rotatesAt": object{"type": "string", "format": "date-time"},
		"replaced": object{"type": "integer",
			"description": "Keys that were replaced and are not revoked yet."},
		"conditions": newConditionsSchema(),
	}}
	names := resourceNames{kind: "APIKey", singular: "apikey", plural: "apikeys", columns: []any{
		newColumn("Business", "string", ".spec.business"),
		newColumn("Scope", "string", ".spec.scope"),
		newColumn("Key", "string", ".status.prefix"),
		newColumn("Ready", "string", `.status.conditions[?(@.type=="Ready")].status`),
		newColumn("Rotates", "string", ".status.rotatesAt"),
		markWide(newColumn("Message", "string", `.status.conditions[?(@.type=="Ready")].message`)),
		newColumn("Age", "date", ".metadata.creationTimestamp"),
	}}
	return names.buildDefinition("An API key of a business, kept in a Secret.", spec, status)
}

type resourceNames struct {
	kind, singular, plural string
	columns                []any
}

func (n resourceNames) buildDefinition(description string, spec, status object) object {
	return object{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata": object{
			"name": n.plural + "." + v1.GroupVersion.Group,
			// Without this annotation, uninstalling the chart would delete every object of this kind.
			"annotations": object{"helm.sh/resource-policy": "keep"},
		},
		"spec": object{
			"group": v1.GroupVersion.Group,
			"scope": "Namespaced",
			"names": object{"kind": n.kind, "listKind": n.kind + "List", "singular": n.singular, "plural": n.plural,
				"categories": []any{"slotmesh"}},
			"versions": []any{object{
				"name": v1.GroupVersion.Version, "served": true, "storage": true,
				"subresources":             object{"status": object{}},
				"additionalPrinterColumns": n.columns,
				"schema": object{"openAPIV3Schema": object{
					"type": "object", "description": description, "required": []any{"spec"}, "properties": object{
						"apiVersion": object{"type": "string"}, "kind": object{"type": "string"},
						"metadata": object{"type": "object"},
						"spec":     spec, "status": status,
					},
				}},
			}},
		},
	}
}

func newColumn(name, kind, path string) object {
	return object{"name": name, "type": kind, "jsonPath": path}
}

// markWide changes a column so that only `kubectl get -o wide` shows it.
func markWide(column object) object {
	column["priority"] = 1
	return column
}

// newConditionsSchema returns the schema of a list of metav1.Condition, for the status.
func newConditionsSchema() object {
	return object{
		"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"type"},
		"items": object{"type": "object", "required": []any{"type", "status", "reason", "message",
			"lastTransitionTime"}, "properties": object{
			"type":               object{"type": "string"},
			"status":             object{"type": "string", "enum": []any{"True", "False", "Unknown"}},
			"reason":             object{"type": "string"},
			"message":            object{"type": "string"},
			"lastTransitionTime": object{"type": "string", "format": "date-time"},
			"observedGeneration": object{"type": "integer", "format": "int64"},
		}},
	}
}

// keptKeywords are the keywords of JSON Schema that have the same meaning in a structural schema.
var keptKeywords = []string{
	"type", "description", "enum", "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems",
	"maxItems", "required",
}

// convertSchema converts a JSON Schema to a structural schema. The argument `defs` holds the definitions to which the
// schema refers. A value that may have several types gets a schema that accepts anything. convertSchema omits
// "additionalProperties: false", because Kubernetes drops unknown fields in any case.
func convertSchema(schema, defs object) (object, error) {
	if ref, isRef := schema["$ref"].(string); isRef {
		definition, found := defs[strings.TrimPrefix(ref, "#/$defs/")].(object)
		if !found {
			return nil, fmt.Errorf("%s is not defined", ref)
		}
		converted, err := convertSchema(definition, defs)
		if description, hasDescription := schema["description"]; hasDescription && err == nil {
			converted["description"] = description
		}
		return converted, err
	}
	if _, hasAlternatives := schema["anyOf"]; hasAlternatives {
		return convertAlternatives(schema, defs)
	}
	converted := object{}
	for keyword, value := range schema {
		switch {
		case slices.Contains(keptKeywords, keyword):
			converted[keyword] = value
		case keyword == "const":
			converted["enum"] = []any{value}
			converted["type"] = "string"
		case keyword == "properties" || keyword == "items" || keyword == "additionalProperties":
		case !slices.Contains([]string{"$schema", "$defs", "title", "anyOf"}, keyword):
			return nil, fmt.Errorf("%q: no structural schema says this", keyword)
		}
	}
	return converted, convertMembers(schema, converted, defs)
}

// convertMembers converts the schemas of properties, list items and additional properties, and adds the results to the
// argument `converted`.
func convertMembers(schema, converted, defs object) error {
	if properties, found := schema["properties"].(object); found {
		inner := object{}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			member, err := convertSchema(properties[name].(object), defs)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			inner[name] = member
		}
		converted["properties"] = inner
	}
	for _, keyword := range []string{"items", "additionalProperties"} {
		if member, found := schema[keyword].(object); found {
			inner, err := convertSchema(member, defs)
			if err != nil {
				return err
			}
			converted[keyword] = inner
		}
	}
	return nil
}

// convertAlternatives converts a schema with anyOf. If one alternative is null,
// the result is nullable. If there are several other alternatives, the result
// accepts anything, because a structural schema cannot express a choice of types.
func convertAlternatives(schema, defs object) (object, error) {
	var types []object
	isNullable := false
	for _, alternative := range schema["anyOf"].([]any) {
		a := alternative.(object)
		if a["type"] == "null" {
			isNullable = true
			continue
		}
		types = append(types, a)
	}
	converted := object{"x-kubernetes-preserve-unknown-fields": true}
	if len(types) == 1 {
		var err error
		if converted, err = convertSchema(types[0], defs); err != nil {
			return nil, err
		}
	}
	if isNullable {
		converted["nullable"] = true
	}
	if description, hasDescription := schema["description"]; hasDescription {
		converted["description"] = description
	}
	return converted, nil
}
