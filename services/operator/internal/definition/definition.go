// Package definition generates the CustomResourceDefinitions in the chart. The definition of Business contains the
// JSON Schema of manifests as a structural schema of Kubernetes, which has no references and one type for each value.
package definition

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "github.com/slotmesh/slotmesh/services/operator/internal/v1"
)

//go:generate go test . -run ^TestTheChartsDefinitionsAreInStepWithTheManifestsSchema$ -update

type object = map[string]any

// Businesses returns the CustomResourceDefinition of Business. manifestSchema is the JSON Schema of
// its spec. A structural schema cannot express all rules of a manifest. The admin API checks the
// others, and the object's status lists the problems.
func Businesses(manifestSchema []byte) (map[string]any, error) {
	var schema object
	if err := json.Unmarshal(manifestSchema, &schema); err != nil {
		return nil, err
	}
	defs, _ := schema["$defs"].(object)
	spec, err := structural(schema, defs)
	if err != nil {
		return nil, err
	}
	delete(spec, "title")
	spec["description"] = "The manifest, without apiVersion and kind. Left out, slug is the object's name, and " +
		"managed_by names the object."
	properties := spec["properties"].(object)
	delete(properties, "apiVersion")
	delete(properties, "kind")
	properties["slug"].(object)["maxLength"] = 63 // Kubernetes needs it to estimate the cost of rules
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
		"conditions": conditions(),
		"problems": object{"type": "array", "maxItems": v1.MaxProblems, "description": "Why the manifest was refused.",
			"items": object{
				"type": "object", "required": []any{"message"}, "properties": object{
					"path":    object{"type": "string", "description": "The field, such as services[0].price."},
					"message": object{"type": "string"},
				},
			}},
	}}
	names := names{kind: "Business", singular: "business", plural: "businesses", columns: []any{
		column("Slug", "string", ".status.slug"),
		column("Version", "integer", ".status.version"),
		column("Ready", "string", `.status.conditions[?(@.type=="Ready")].status`),
		column("Reason", "string", `.status.conditions[?(@.type=="Ready")].reason`),
		wide(column("Message", "string", `.status.conditions[?(@.type=="Ready")].message`)),
		column("Age", "date", ".metadata.creationTimestamp"),
	}}
	return names.definition("A business and what it offers.", spec, status), nil
}

// APIKeys returns the definition of APIKey.
func APIKeys() map[string]any {
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
		"conditions": conditions(),
	}}
	names := names{kind: "APIKey", singular: "apikey", plural: "apikeys", columns: []any{
		column("Business", "string", ".spec.business"),
		column("Scope", "string", ".spec.scope"),
		column("Key", "string", ".status.prefix"),
		column("Ready", "string", `.status.conditions[?(@.type=="Ready")].status`),
		column("Rotates", "string", ".status.rotatesAt"),
		wide(column("Message", "string", `.status.conditions[?(@.type=="Ready")].message`)),
		column("Age", "date", ".metadata.creationTimestamp"),
	}}
	return names.definition("An API key of a business, kept in a Secret.", spec, status)
}

type names struct {
	kind, singular, plural string
	columns                []any
}

func (n names) definition(description string, spec, status object) object {
	return object{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata": object{
			"name":        n.plural + "." + v1.GroupVersion.Group,
			"annotations": object{"helm.sh/resource-policy": "keep"}, // without it, every object would go
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

func column(name, kind, path string) object {
	return object{"name": name, "type": kind, "jsonPath": path}
}

// wide marks a column that only `kubectl get -o wide` shows.
func wide(column object) object {
	column["priority"] = 1
	return column
}

// conditions returns the schema of a list of metav1.Condition.
func conditions() object {
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

// kept are the keywords of JSON Schema that have the same meaning in a structural schema.
var kept = []string{
	"type", "description", "enum", "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems",
	"maxItems", "required",
}

// structural converts a JSON Schema to a structural schema, without references and with one type for
// each value. A value that may have several types accepts anything. It omits "additionalProperties:
// false", because Kubernetes drops unknown fields anyway.
func structural(schema, defs object) (object, error) {
	if ref, isRef := schema["$ref"].(string); isRef {
		named, found := defs[strings.TrimPrefix(ref, "#/$defs/")].(object)
		if !found {
			return nil, fmt.Errorf("%s is not defined", ref)
		}
		out, err := structural(named, defs)
		if description, own := schema["description"]; own && err == nil {
			out["description"] = description
		}
		return out, err
	}
	if _, several := schema["anyOf"]; several {
		return alternatives(schema, defs)
	}
	out := object{}
	for word, value := range schema {
		switch {
		case slices.Contains(kept, word):
			out[word] = value
		case word == "const":
			out["enum"] = []any{value}
			out["type"] = "string"
		case word == "properties" || word == "items" || word == "additionalProperties":
		case !slices.Contains([]string{"$schema", "$defs", "title", "anyOf"}, word):
			return nil, fmt.Errorf("%q: no structural schema says this", word)
		}
	}
	return out, below(schema, out, defs)
}

// below converts the schemas of a value's members to structural ones.
func below(schema, out, defs object) error {
	if properties, found := schema["properties"].(object); found {
		inner := object{}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			of, err := structural(properties[name].(object), defs)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			inner[name] = of
		}
		out["properties"] = inner
	}
	for _, word := range []string{"items", "additionalProperties"} {
		if of, found := schema[word].(object); found {
			inner, err := structural(of, defs)
			if err != nil {
				return err
			}
			out[word] = inner
		}
	}
	return nil
}

// alternatives converts the schema of a value that may be null or have one of several types, because a
// structural schema cannot express such a choice.
func alternatives(schema, defs object) (object, error) {
	var of []object
	nullable := false
	for _, alternative := range schema["anyOf"].([]any) {
		a := alternative.(object)
		if a["type"] == "null" {
			nullable = true
			continue
		}
		of = append(of, a)
	}
	out := object{"x-kubernetes-preserve-unknown-fields": true}
	if len(of) == 1 {
		var err error
		if out, err = structural(of[0], defs); err != nil {
			return nil, err
		}
	}
	if nullable {
		out["nullable"] = true
	}
	if description, own := schema["description"]; own {
		out["description"] = description
	}
	return out, nil
}
