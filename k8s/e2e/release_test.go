package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// upgrade goes to the release before this one; then, while the load runs, to the next one, whose tables have a
// migration more than this checkout's, and back. In the end this checkout's programs are there again, on those tables.
func (c cluster) upgrade(t *testing.T, f front) {
	folder := os.Getenv(releases)
	if folder == "" {
		t.Skipf("there are no images of the release before this one: %s is not set; `make e2e` sets it", releases)
	}
	source := filepath.Join(folder, "before", "source")
	older := filepath.Join(source, "charts", "slotmesh")
	// That release labelled the pods of the trial's stores with the version, too, by which they would start anew. It
	// goes without that label.
	c.helm(t, "upgrade", release, older, "--wait", "--timeout", "8m", "--set", "image.tag=before",
		"--values", filepath.Join(older, "ci", "trial-values.yaml"), "--values",
		filepath.Join(source, "k8s", "e2e", "testdata", "e2e-values.yaml"),
		"--values", "testdata/e2e-values.yaml", // as the next one has it: the stores stay as they are
		"--post-renderer", "sed", "--post-renderer-args", `/^ *app.kubernetes.io.version:/d`)
	c.awaitRollout(t)
	l := newLoad(t, c, f, "upgraded")
	l.during(t, func() {
		next := []string{"upgrade", release, chart, "--wait", "--timeout", "8m", "--set",
			"components.booking.image.tag=next"}
		c.sideBySide(t, l, append(next, values()...)...)
		c.awaitRollout(t)
		migrations, err := filepath.Glob(filepath.Join(folder, "next", "source", "services", "booking", "migrations",
			"*.sql"))
		if got := c.sql(t, "SELECT max(version_id) FROM booking.goose_db_version"); err != nil ||
			got != strconv.Itoa(len(migrations)) {
			t.Errorf("after the upgrade booking's tables are at version %s, want %d (%v)", got, len(migrations), err)
		}
		c.sideBySide(t, l, "rollback", release, "--wait", "--timeout", "8m")
		c.awaitRollout(t)
	})
	l.compare(t, c.owner(t))
	c.helm(t, "rollback", release, "1", "--wait", "--timeout", "8m")
	c.everyPodIsReady(t)
}

// sideBySide lets helm replace the pods of one release by those of another, and wants of each service pods of both to
// be ready at the same time, and bookings to be made from then on.
func (c cluster) sideBySide(t *testing.T, l *load, args ...string) {
	t.Helper()
	old := make(map[string]string) // the image of each service
	for _, p := range c.pods(t) {
		if slices.Contains(services, p.component()) {
			old[p.component()] = p.Spec.Containers[0].Image
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := c.try(t.Context(), nil, "helm", append([]string{"--namespace", namespace}, args...)...)
		ended <- err
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	both, sold := make(map[string]bool), 0
	for running := true; running; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		case <-tick.C:
		}
		if len(both) == 0 {
			sold = l.sold()
		}
		maps.Copy(both, c.together(t, old))
	}
	for name := range old {
		if !both[name] {
			t.Errorf("helm %s: no old pod of %s was seen ready beside a new one", args[0], name)
		}
	}
	if sold = l.sold() - sold; sold == 0 {
		t.Errorf("helm %s: no booking was made while old and new pods were ready", args[0])
	}
	t.Logf("helm %s: %d bookings since old and new pods were ready", args[0], sold)
}

// together are the services of which pods with the old image and with another are ready.
func (c cluster) together(t *testing.T, old map[string]string) map[string]bool {
	t.Helper()
	before, after := make(map[string]bool), make(map[string]bool)
	for _, p := range c.pods(t) {
		switch image, known := old[p.component()]; {
		case !known || !p.ready():
		case p.Spec.Containers[0].Image == image:
			before[p.component()] = true
		default:
			after[p.component()] = true
		}
	}
	maps.DeleteFunc(after, func(name string, _ bool) bool { return !before[name] })
	return after
}

// replaced wants every pod of a service to be another than before.
func (c cluster) replaced(t *testing.T, before []pod) {
	t.Helper()
	for _, p := range c.pods(t) {
		if slices.Contains(services, p.component()) && slices.ContainsFunc(before,
			func(old pod) bool { return old.Metadata.Name == p.Metadata.Name }) {
			t.Errorf("%s was not replaced", p.Metadata.Name)
		}
	}
}

// sql runs statements on the trial's Postgres and returns what the last of them says.
func (c cluster) sql(t *testing.T, statements string) string {
	t.Helper()
	out := c.kubectl(t, "exec", release+"-postgres-0", "--container", "postgres", "--",
		"psql", "--username=slotmesh", "--dbname=slotmesh", "--quiet", "--no-psqlrc", "--tuples-only", "--no-align",
		"--set=ON_ERROR_STOP=1", "--command", statements)
	return strings.TrimSpace(out)
}

// fronted enables the front, to which one prefix leads: by the Gateway, and by an Ingress of whichever class.
func (c cluster) fronted(t *testing.T, key string) {
	c.helm(t, append([]string{"upgrade", release, chart, "--wait", "--timeout", "8m", "--set", "front.enabled=true",
		"--set", "frontDoor.hosts={" + host + ",front." + host + "}", "--set", "frontDoor.ingress.controller=any",
		"--set", "frontDoor.ingress.className=traefik"},
		values()...)...)
	c.everyPodIsReady(t)
	f := c.reach(t, "Ingress to the front", "traefik", "front."+host)
	f.ours = true
	described(t, f, key)
	countedByClient(t, f)
}

// everywhere is what the cluster, and Istio where it is there, puts into every namespace.
var everywhere = []string{"ServiceAccount/default", "ConfigMap/kube-root-ca.crt", "ConfigMap/istio-ca-root-cert",
	"ConfigMap/istio-ca-crl"}

// uninstall removes the release. Only volumes stay, and what every namespace has.
func (c cluster) uninstall(t *testing.T) {
	c.helm(t, "uninstall", release, "--wait", "--timeout", "5m")
	soon(t, "nothing but volumes is left", func() error {
		var left []string
		for _, o := range c.objects(t) {
			if !strings.HasPrefix(o, "PersistentVolumeClaim/") && !slices.Contains(everywhere, o) {
				left = append(left, o)
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("left: %v", left)
		}
		return nil
	})
	claims := c.kubectl(t, "get", "persistentvolumeclaims", "--output", "name")
	if strings.Count(claims, "\n") != 1 {
		t.Errorf("the volumes that are left: %q, want Postgres's", claims)
	}
}
