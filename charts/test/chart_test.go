package chart_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	root      = "../.."
	chartPath = "../slotmesh"
	release   = "slotmesh"
	namespace = "booking"
)

// services are the names of all services, sorted. A service is a folder with a command of the same name.
var services = func() []string {
	var names []string
	programs, _ := filepath.Glob(filepath.Join(root, "services", "*", "cmd", "*"))
	for _, program := range programs {
		name := filepath.Base(program)
		// allinone contains all services. No service calls the operator or the front, which are optional.
		if name == filepath.Base(filepath.Dir(filepath.Dir(program))) && name != "allinone" && name != "operator" &&
			name != "front" {
			names = append(names, name)
		}
	}
	return names
}()

// object is one rendered object.
type object map[string]any

func (o object) kind() string { return lookUpText(o, "kind") }
func (o object) name() string { return lookUpText(o, "metadata", "name") }
func (o object) id() string   { return o.kind() + "/" + o.name() }

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	inputs.Checkout() // the chart and the services are other modules
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func decode[T any](t *testing.T, content []byte) T {
	t.Helper()
	var out T
	if err := yaml.Unmarshal(content, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	inputs.Checkout()
	loaded, err := loader.Load(chartPath)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// listShapes returns the names of the values files in ci/.
func listShapes(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(chartPath, "ci", "*-values.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no values files in ci/: %v", err)
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), "-values.yaml"))
	}
	return names
}

func loadShape(t *testing.T, shape string) map[string]any {
	t.Helper()
	return decode[map[string]any](t, readFile(t, filepath.Join(chartPath, "ci", shape+"-values.yaml")))
}

// parseSettings returns the values that helm's --set would set.
func parseSettings(t *testing.T, settings string) map[string]any {
	t.Helper()
	values, err := strvals.Parse(settings)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// renderCache stores rendered releases by their values, because many tests use the same shapes and rendering takes most
// of their time.
var renderCache sync.Map

// rendering is one rendered release. Tests share it and must not change it.
type rendering struct {
	once    sync.Once
	files   map[string]string
	objects []object
	err     error
}

// render returns the rendered files by name, as `helm install` renders them. With upgrade, it renders them as `helm
// upgrade` does.
func render(t *testing.T, values map[string]any, upgrade bool) (map[string]string, error) {
	t.Helper()
	r := renderOnce(t, values, upgrade)
	return r.files, r.err
}

func renderOnce(t *testing.T, values map[string]any, upgrade bool) *rendering {
	t.Helper()
	key, err := yaml.Marshal(map[string]any{"values": values, "upgrade": upgrade})
	if err != nil {
		t.Fatal(err)
	}
	found, _ := renderCache.LoadOrStore(string(key), &rendering{})
	r, _ := found.(*rendering)
	r.once.Do(func() {
		if r.files, r.err = renderChart(t, loadChart(t), values, upgrade); r.err == nil {
			r.objects = parseObjects(t, r.files)
		}
	})
	return r
}

func renderChart(t *testing.T, loaded *chart.Chart, values map[string]any, upgrade bool) (map[string]string, error) {
	t.Helper()
	options := chartutil.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: !upgrade,
		IsUpgrade: upgrade}
	merged, err := chartutil.ToRenderValues(loaded, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	nameProxies(values, merged)
	files, err := engine.Render(loaded, merged)
	maps.DeleteFunc(files, func(name, content string) bool {
		return !strings.HasSuffix(name, ".yaml") || strings.TrimSpace(content) == ""
	})
	return files, err
}

// nameProxies adds a network of proxies to values without one, because a front door requires it.
func nameProxies(values map[string]any, merged chartutil.Values) {
	if door, _ := values["frontDoor"].(map[string]any); door["trustedProxies"] != nil {
		return
	}
	all, _ := merged["Values"].(chartutil.Values)
	door, _ := all["frontDoor"].(map[string]any)
	gateway, _ := door["gateway"].(map[string]any)
	ingress, _ := door["ingress"].(map[string]any)
	if gateway["enabled"] == true || ingress["controller"] != "" {
		door["trustedProxies"] = []any{"10.0.3.0/24"}
	}
}

// parseObjects returns all objects in the files, in the order of file names.
func parseObjects(t *testing.T, files map[string]string) []object {
	t.Helper()
	var all []object
	for _, file := range slices.Sorted(maps.Keys(files)) {
		for _, document := range strings.Split("\n"+files[file], "\n---") {
			if decoded := decode[object](t, []byte(document)); len(decoded) > 0 {
				all = append(all, decoded)
			}
		}
	}
	return all
}

func mustRender(t *testing.T, values map[string]any) []object {
	t.Helper()
	r := renderOnce(t, values, false)
	if r.err != nil {
		t.Fatal(r.err)
	}
	return slices.Clone(r.objects)
}

// findObject returns the object of that kind and name. It fails the test if there is none.
func findObject(t *testing.T, all []object, kind, name string) object {
	t.Helper()
	for _, o := range all {
		if o.kind() == kind && o.name() == name {
			return o
		}
	}
	t.Fatalf("no %s named %s", kind, name)
	return nil
}

// filterKind returns the objects of a kind.
func filterKind(all []object, kind string) []object {
	return slices.DeleteFunc(slices.Clone(all), func(o object) bool { return o.kind() != kind })
}

// lookUp returns the value at a path of map keys, or nil if a key is missing.
func lookUp(value any, path ...string) any {
	for _, key := range path {
		switch m := value.(type) {
		case object:
			value = m[key]
		case map[string]any:
			value = m[key]
		default:
			return nil
		}
	}
	return value
}

func lookUpText(value any, path ...string) string {
	s, _ := lookUp(value, path...).(string)
	return s
}

func lookUpList(value any, path ...string) []any {
	l, _ := lookUp(value, path...).([]any)
	return l
}

// findPodSpec returns the pod spec of a workload, or nil for another object.
func findPodSpec(o object) map[string]any {
	switch o.kind() {
	case "Deployment", "StatefulSet", "Job":
		spec, _ := lookUp(o, "spec", "template", "spec").(map[string]any)
		return spec
	}
	return nil
}
