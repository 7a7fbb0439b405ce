package chart_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// goldenShapes are the shapes with a golden file, which contains the whole release. testdata/shapes.yaml contains what
// other shapes render in addition.
var goldenShapes = []string{"trial", "production", "istio-sidecar"}

// upgradeShape is the trial as `helm upgrade` renders it.
const upgradeShape = "trial-upgrade"

// renderShape returns the objects of a shape.
func renderShape(t *testing.T, shape string) []object {
	t.Helper()
	if shape != upgradeShape {
		return mustRender(t, loadShape(t, shape))
	}
	r := renderOnce(t, loadShape(t, "trial"), true)
	if r.err != nil {
		t.Fatal(r.err)
	}
	return slices.Clone(r.objects)
}

// listOtherShapes returns the shapes without a golden file.
func listOtherShapes(t *testing.T) []string {
	t.Helper()
	all := append(listShapes(t), upgradeShape)
	return slices.DeleteFunc(all, func(shape string) bool { return slices.Contains(goldenShapes, shape) })
}

// loadExpectedParts returns the parts of objects in shapes.yaml, by shape. It replaces SERVICE by the name of each
// service.
func loadExpectedParts(t *testing.T) map[string][]object {
	t.Helper()
	expanded := map[string][]object{}
	for shape, parts := range decode[map[string][]object](t, readFile(t, filepath.Join("testdata", "shapes.yaml"))) {
		for _, part := range parts {
			names := services
			if chosen := lookUpList(part, "for"); len(chosen) > 0 {
				names = nil
				for _, name := range chosen {
					names = append(names, fmt.Sprint(name))
				}
			}
			delete(part, "for")
			expanded[shape] = append(expanded[shape], expandPart(t, part, names)...)
		}
	}
	return expanded
}

func expandPart(t *testing.T, part object, names []string) []object {
	t.Helper()
	content, err := yaml.Marshal(part)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(content), "SERVICE") {
		return []object{part}
	}
	var all []object
	for _, name := range names {
		all = append(all, decode[object](t, []byte(strings.ReplaceAll(string(content), "SERVICE", name))))
	}
	return all
}

// findMissingPart returns the path of the first field of part that value lacks, or "" if value contains part.
func findMissingPart(value, part any, path string) string {
	switch part := part.(type) {
	case object:
		return findMissingPart(value, map[string]any(part), path)
	case map[string]any:
		if _, ok := value.(map[string]any); !ok {
			return path
		}
		for _, key := range slices.Sorted(maps.Keys(part)) {
			if missing := findMissingPart(lookUp(value, key), part[key], path+"."+key); missing != "" {
				return missing
			}
		}
	case []any:
		elements, _ := value.([]any)
		for _, wanted := range part {
			contains := func(element any) bool { return findMissingPart(element, wanted, "x") == "" }
			if !slices.ContainsFunc(elements, contains) {
				return fmt.Sprintf("%s: no element contains %v", path, wanted)
			}
		}
	default:
		if value != part {
			return fmt.Sprintf("%s: %v instead of %v", path, value, part)
		}
	}
	return ""
}

func TestShapesRenderTheirExpectedParts(t *testing.T) {
	t.Parallel()
	expected := loadExpectedParts(t)
	if names := slices.Sorted(maps.Keys(expected)); !slices.Equal(names,
		slices.Sorted(slices.Values(listOtherShapes(t)))) {
		t.Fatalf("shapes.yaml has the shapes %v, without a golden file are %v", names, listOtherShapes(t))
	}
	for shape, parts := range expected {
		all := renderShape(t, shape)
		for _, part := range parts {
			found := findObject(t, all, part.kind(), part.name())
			if missing := findMissingPart(map[string]any(found), part, ""); missing != "" {
				t.Errorf("%s: %s/%s lacks %s", shape, part.kind(), part.name(), missing)
			}
		}
	}
}

// TestShapesRenderOnlyKnownFields checks that shapes without a golden file render only objects, fields and values that
// a golden file or shapes.yaml contains.
func TestShapesRenderOnlyKnownFields(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, shape := range goldenShapes {
		for _, o := range renderShape(t, shape) {
			addFields(known, o.kind(), o)
		}
	}
	for _, parts := range loadExpectedParts(t) {
		for _, part := range parts {
			addFields(known, part.kind(), part)
		}
	}
	for _, shape := range listOtherShapes(t) {
		fields := map[string]bool{}
		for _, o := range renderShape(t, shape) {
			if o.kind() != "CustomResourceDefinition" { // those are compared with their source
				addFields(fields, o.kind(), o)
			}
		}
		for _, field := range slices.Sorted(maps.Keys(fields)) {
			if !known[field] {
				t.Errorf("%s renders %s, which no golden file has: add it to testdata/shapes.yaml", shape, field)
			}
		}
	}
}

// commonLabel matches the paths of labels that every object has.
var commonLabel = regexp.MustCompile(`\.metadata\.labels\.(app\.kubernetes\.io|helm\.sh)/`)

// addFields adds a text with path and value for each field of value. It omits positions in lists and names of services,
// so that a field counts once for all services.
func addFields(fields map[string]bool, path string, value any) {
	switch value := value.(type) {
	case object:
		addFields(fields, path, map[string]any(value))
	case map[string]any:
		if len(value) == 0 {
			fields[path+" = {}"] = true
		}
		for key, child := range value {
			if path != "Secret" || key != "data" { // peers_test.go tests the data of Secrets
				addFields(fields, path+"."+key, child)
			}
		}
	case []any:
		for _, child := range value {
			addFields(fields, path+"["+replaceServices(lookUpText(child, "name"))+"]", child)
		}
	default:
		if !commonLabel.MatchString(path) {
			fields[path+" = "+replaceServices(fmt.Sprint(value))] = true
		}
	}
}

func replaceServices(name string) string {
	for _, service := range append([]string{"front", "operator"}, services...) {
		if name == service {
			return "SERVICE"
		}
		name = strings.ReplaceAll(name, release+"-"+service, release+"-SERVICE")
		name = strings.ReplaceAll(name, `component="`+service, `component="SERVICE`)
	}
	return name
}

func TestShapesOmitUnusedObjects(t *testing.T) {
	t.Parallel()
	const noDemo = "ConfigMap/demo Job/demo"
	const noPostgres = " Secret/postgres Service/postgres StatefulSet/postgres"
	trial := renderShape(t, "trial")
	for shape, want := range map[string]string{
		"cloudnativepg": noDemo + noPostgres + " Deployment/redis Service/redis NetworkPolicy/redis",
		"keda":          noDemo + noPostgres + " NetworkPolicy/postgres Job/migrate-first",
		"front-gateway": noDemo, "front-ingress": noDemo, "istio-ambient": noDemo, "linkerd": noDemo,
		"operator": noDemo,
		"gateway":  "", "ingress-nginx": "", "ingress-skipper": "", "ingress-traefik": "",
		upgradeShape: "Job/migrate-first",
	} {
		all := renderShape(t, shape)
		var absent []string
		for _, o := range trial {
			same := func(other object) bool { return other.id() == o.id() }
			if !slices.ContainsFunc(all, same) {
				absent = append(absent, strings.Replace(o.id(), "/"+release+"-", "/", 1))
			}
		}
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		slices.Sort(absent)
		if !slices.Equal(absent, wanted) {
			t.Errorf("%s leaves out %v of the trial, want %v", shape, absent, wanted)
		}
	}
}
