package pages

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
)

// withoutForm has the fields of the manifest that no form of the offer has, each with the reason. A field stands for
// all fields below it.
var withoutForm = map[string]string{
	"apiVersion":                "It is the version of the format.",
	"kind":                      "It has only one value.",
	"id":                        "The platform sets it once.",
	"slug":                      "The first visit sets it; a change would break the links to the booking page.",
	"open":                      "The button Open for bookings sets it.",
	"account":                   "Only the operator sets it.",
	"managed_by":                "The other system sets it, which then manages the offer.",
	"bookings.paused_until":     "The page Pause online bookings sets it.",
	"notifications.notes":       "The page Own words has it.",
	"notifications.intros":      "The page Own words has it.",
	"action_buttons[].type":     "Every button of a form is a link.",
	"action_buttons[].icon":     "The booking page shows no icons on buttons.",
	"services[].classes[].key":  "The form derives it from the name.",
	"services[].variants[].key": "The form derives it from the name.",
	"events[].tiers[].key":      "The form derives it from the name.",
	"form[].key":                "The form derives it from the question.",
	"form[].options[].key":      "The form derives it from the answer.",
}

// TestFormsHaveEveryManifestField shows that each field of the manifest's schema has a form, or a reason in
// withoutForm.
func TestFormsHaveEveryManifestField(t *testing.T) {
	t.Parallel()
	inForms := listFormFields(t)
	isIn := func(path string, all map[string]bool) bool {
		for at := path; at != ""; at = at[:max(strings.LastIndex(at, "."), strings.LastIndex(at, "[]"), 0)] {
			if all[at] {
				return true
			}
		}
		return false
	}
	excused := map[string]bool{}
	for path, reason := range withoutForm {
		excused[path] = true
		if !strings.HasSuffix(reason, ".") {
			t.Errorf("%s has no reason", path)
		}
	}
	unused := maps.Clone(withoutForm)
	for _, path := range listSchemaFields(t) {
		if strings.HasSuffix(path, ".id") {
			continue // the platform derives the ids of objects from their keys
		}
		for excuse := range withoutForm {
			if isIn(path, map[string]bool{excuse: true}) {
				delete(unused, excuse)
			}
		}
		switch has, isExcused := isIn(path, inForms) || isTranslated(path), isIn(path, excused); {
		case !has && !isExcused:
			t.Errorf("%s has no form", path)
		case has && isExcused:
			t.Errorf("%s has a form and a reason to have none", path)
		}
	}
	for path := range unused {
		t.Errorf("the manifest has no field %s", path)
	}
}

var translationPath = regexp.MustCompile(`^(?:.*?)?([a-z_]*)(?:\[\])?\.?translations\.\*\.([a-z_]+)$`)

// isTranslated reports whether the page of translations has the field.
func isTranslated(path string) bool {
	found := translationPath.FindStringSubmatch(path)
	if found == nil {
		return false
	}
	if found[1] == "" {
		found[1] = "business"
	}
	return slices.Contains(translatable[found[1]], found[2])
}

// listFormFields returns the paths of the fields of all forms. A list has "[]" after its name, and ".*" stands for the
// names that a person chooses.
func listFormFields(t *testing.T) map[string]bool {
	t.Helper()
	o := &offerPage{fields: document.Fields{"locations": []any{document.Fields{"key": "a"}, document.Fields{"key": "b"}}}}
	all := map[string]bool{}
	var add func(prefix string, fields []form.Field)
	add = func(prefix string, fields []form.Field) {
		for _, f := range fields {
			switch name := prefix + f.Name; {
			case f.Kind == form.Rows && f.IsMap:
				all[name+".*"] = true
			case f.Kind == form.Rows:
				add(name+"[].", f.Fields)
			default:
				all[strings.NewReplacer(place, "locations[].", ".stripe", ".*").Replace(name)] = true
			}
			if len(f.Places) > 0 {
				all[prefix+"at"] = true
			}
		}
	}
	for _, k := range offerKinds {
		all[k.list+"[].key"] = true // the form derives the key from the name
		add(k.list+"[].", form.ListFields(k.groups(o)))
	}
	for _, part := range offerParts {
		add("", form.ListFields(part.groups(o)))
	}
	return all
}

// schemaNode is a part of the schema of manifests.
type schemaNode struct {
	Type       any                    `json:"type"`
	Ref        string                 `json:"$ref"`
	Defs       map[string]*schemaNode `json:"$defs"`
	Properties map[string]*schemaNode `json:"properties"`
	Items      *schemaNode            `json:"items"`
	Additional json.RawMessage        `json:"additionalProperties"`
	OneOf      []*schemaNode          `json:"oneOf"`
	AnyOf      []*schemaNode          `json:"anyOf"`
}

// listSchemaFields returns the paths of all fields in the schema of manifests that are no objects.
func listSchemaFields(t *testing.T) []string {
	t.Helper()
	var root schemaNode
	if err := json.Unmarshal(manifest.Schema, &root); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	var walk func(n *schemaNode, path string)
	walk = func(n *schemaNode, path string) {
		if n.Ref != "" {
			walk(root.Defs[n.Ref[strings.LastIndexByte(n.Ref, '/')+1:]], path)
			return
		}
		var values schemaNode
		isMap := json.Unmarshal(n.Additional, &values) == nil && len(n.Additional) > 0 && n.Additional[0] == '{'
		for name, inner := range n.Properties {
			walk(inner, strings.TrimPrefix(path+"."+name, "."))
		}
		for _, inner := range slices.Concat(n.OneOf, n.AnyOf) {
			walk(inner, path)
		}
		switch {
		case n.Items != nil:
			walk(n.Items, path+"[]")
		case isMap:
			walk(&values, path+".*")
		case len(n.Properties)+len(n.OneOf)+len(n.AnyOf) == 0 && n.Type != "null":
			all[path] = true
		}
	}
	walk(&root, "")
	if len(all) < 200 {
		t.Fatalf("the schema has only %d fields", len(all))
	}
	return slices.Sorted(maps.Keys(all))
}
