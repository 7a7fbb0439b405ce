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

// goldenShapes are the shapes whose golden file holds the whole release. testdata/shapes.yaml holds what the other
// shapes render beyond these files.
var goldenShapes = []string{"trial", "production", "istio-sidecar"}

// upgradeShape is the trial as `helm upgrade` renders it.
const upgradeShape = "trial-upgrade"

// shapeObjects are the objects that a shape renders.
func shapeObjects(t *testing.T, shape string) []object {
	t.Helper()
	if shape != upgradeShape {
		return mustRender(t, shapeValues(t, shape))
	}
	r := renderOnce(t, shapeValues(t, "trial"), true)
	if r.err != nil {
		t.Fatal(r.err)
	}
	return slices.Clone(r.objects)
}

// otherShapes are the shapes without a golden file.
func otherShapes(t *testing.T) []string {
	t.Helper()
	all := append(shapes(t), upgradeShape)
	return slices.DeleteFunc(all, func(shape string) bool { return slices.Contains(goldenShapes, shape) })
}

// expectedParts are the parts of objects in shapes.yaml, by shape, with SERVICE replaced by each service's name.
func expectedParts(t *testing.T) map[string][]object {
	t.Helper()
	expanded := map[string][]object{}
	for shape, parts := range decode[map[string][]object](t, read(t, filepath.Join("testdata", "shapes.yaml"))) {
		for _, part := range parts {
			names := services
			if chosen := list(part, "for"); len(chosen) > 0 {
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

// missingPart returns the path of the first field of part that value lacks, or "" if value contains part.
func missingPart(value, part any, path string) string {
	switch part := part.(type) {
	case object:
		return missingPart(value, map[string]any(part), path)
	case map[string]any:
		if _, ok := value.(map[string]any); !ok {
			return path
		}
		for _, key := range slices.Sorted(maps.Keys(part)) {
			if missing := missingPart(at(value, key), part[key], path+"."+key); missing != "" {
				return missing
			}
		}
	case []any:
		elements, _ := value.([]any)
		for _, wanted := range part {
			contains := func(element any) bool { return missingPart(element, wanted, "x") == "" }
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
	expected := expectedParts(t)
	if names := slices.Sorted(maps.Keys(expected)); !slices.Equal(names, slices.Sorted(slices.Values(otherShapes(t)))) {
		t.Fatalf("shapes.yaml has the shapes %v, without a golden file are %v", names, otherShapes(t))
	}
	for shape, parts := range expected {
		all := shapeObjects(t, shape)
		for _, part := range parts {
			found := find(t, all, part.kind(), part.name())
			if missing := missingPart(map[string]any(found), part, ""); missing != "" {
				t.Errorf("%s: %s/%s lacks %s", shape, part.kind(), part.name(), missing)
			}
		}
	}
}

// An object, field or value that only a shape without a golden file renders must be in shapes.yaml: so no change to it
// goes unnoticed.
func TestShapesRenderOnlyWhatIsInTheGoldenFilesOrExpected(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, shape := range goldenShapes {
		for _, o := range shapeObjects(t, shape) {
			addFields(known, o.kind(), o)
		}
	}
	for _, parts := range expectedParts(t) {
		for _, part := range parts {
			addFields(known, part.kind(), part)
		}
	}
	for _, shape := range otherShapes(t) {
		fields := map[string]bool{}
		for _, o := range shapeObjects(t, shape) {
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

// commonLabel finds the labels that every object has.
var commonLabel = regexp.MustCompile(`\.metadata\.labels\.(app\.kubernetes\.io|helm\.sh)/`)

// addFields adds each field of value with its path and value, as one text. An element of a list has no position, and
// each service has the same name, so that a field counts once for all services.
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
			addFields(fields, path+"["+withoutServices(text(child, "name"))+"]", child)
		}
	default:
		if !commonLabel.MatchString(path) {
			fields[path+" = "+withoutServices(fmt.Sprint(value))] = true
		}
	}
}

func withoutServices(name string) string {
	for _, service := range append([]string{"front", "operator"}, services...) {
		if name == service {
			return "SERVICE"
		}
		name = strings.ReplaceAll(name, release+"-"+service, release+"-SERVICE")
		name = strings.ReplaceAll(name, `component="`+service, `component="SERVICE`)
	}
	return name
}

func TestShapesLeaveOutWhatTheyDoNotUse(t *testing.T) {
	t.Parallel()
	const noDemo = "ConfigMap/demo Job/demo"
	const noPostgres = " Secret/postgres Service/postgres StatefulSet/postgres"
	trial := shapeObjects(t, "trial")
	for shape, want := range map[string]string{
		"cloudnativepg": noDemo + noPostgres + " Deployment/redis Service/redis NetworkPolicy/redis",
		"keda":          noDemo + noPostgres + " NetworkPolicy/postgres Job/migrate-first",
		"front-gateway": noDemo, "front-ingress": noDemo, "istio-ambient": noDemo, "linkerd": noDemo,
		"operator": noDemo,
		"gateway":  "", "ingress-nginx": "", "ingress-skipper": "", "ingress-traefik": "",
		upgradeShape: "Job/migrate-first",
	} {
		all := shapeObjects(t, shape)
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
