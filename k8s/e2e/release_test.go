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

// checkUpgrade installs the previous release. While the load runs, it upgrades to the next release, whose tables have
// one more migration, and rolls back. In the end the programs of this checkout run on the migrated tables.
func (c cluster) checkUpgrade(t *testing.T, f frontClient) {
	folder := os.Getenv(releases)
	if folder == "" {
		t.Skipf("the images of the previous release are missing: %s is not set; `make e2e` sets it", releases)
	}
	source := filepath.Join(folder, "before", "source")
	older := filepath.Join(source, "charts", "slotmesh")
	// The previous release labels the pods of the trial's stores with the version, which would restart them. The
	// post-renderer removes this label.
	c.helm(t, "upgrade", release, older, "--wait", "--timeout", "8m", "--set", "image.tag=before",
		"--values", filepath.Join(older, "ci", "trial-values.yaml"), "--values",
		filepath.Join(source, "k8s", "e2e", "testdata", "e2e-values.yaml"),
		"--values", "testdata/e2e-values.yaml", // as in the next release, so that the stores do not change
		"--post-renderer", "sed", "--post-renderer-args", `/^ *app.kubernetes.io.version:/d`)
	c.awaitRollout(t)
	l := newLoad(t, c, f, "upgraded")
	l.runDuring(t, func() {
		next := []string{"upgrade", release, chart, "--wait", "--timeout", "8m", "--set",
			"components.booking.image.tag=next"}
		c.replaceSideBySide(t, l, append(next, listValues()...)...)
		c.awaitRollout(t)
		migrations, err := filepath.Glob(filepath.Join(folder, "next", "source", "services", "booking", "migrations",
			"*.sql"))
		if got := c.runSQL(t, "SELECT max(version_id) FROM booking.goose_db_version"); err != nil ||
			got != strconv.Itoa(len(migrations)) {
			t.Errorf("after the upgrade booking's tables are at version %s, want %d (%v)", got, len(migrations), err)
		}
		c.replaceSideBySide(t, l, "rollback", release, "--wait", "--timeout", "8m")
		c.awaitRollout(t)
	})
	l.compare(t, c.connectOwner(t))
	c.helm(t, "rollback", release, "1", "--wait", "--timeout", "8m")
	c.checkPodsReady(t)
}

// replaceSideBySide runs helm to replace the pods of one release. Old and new pods of each service must be ready at the
// same time, and bookings must be made after that.
func (c cluster) replaceSideBySide(t *testing.T, l *load, args ...string) {
	t.Helper()
	old := make(map[string]string) // image of each service
	for _, p := range c.listPods(t) {
		if slices.Contains(services, p.findComponent()) {
			old[p.findComponent()] = p.Spec.Containers[0].Image
		}
	}
	end := make(chan error, 1)
	go func() {
		_, err := c.tryRun(t.Context(), nil, "helm", append([]string{"--namespace", namespace}, args...)...)
		end <- err
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	both, sold := make(map[string]bool), 0
	for running := true; running; {
		select {
		case err := <-end:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		case <-tick.C:
		}
		if len(both) == 0 {
			sold = l.countSold()
		}
		maps.Copy(both, c.listMixedServices(t, old))
	}
	for name := range old {
		if !both[name] {
			t.Errorf("helm %s: an old and a new pod of %s were never ready at the same time", args[0], name)
		}
	}
	if sold = l.countSold() - sold; sold == 0 {
		t.Errorf("helm %s: no booking was made while old and new pods were ready", args[0])
	}
	t.Logf("helm %s: %d bookings since old and new pods were ready", args[0], sold)
}

// listMixedServices returns the services that have ready pods with the old image and with another image.
func (c cluster) listMixedServices(t *testing.T, old map[string]string) map[string]bool {
	t.Helper()
	before, after := make(map[string]bool), make(map[string]bool)
	for _, p := range c.listPods(t) {
		switch image, known := old[p.findComponent()]; {
		case !known || !p.isReady():
		case p.Spec.Containers[0].Image == image:
			before[p.findComponent()] = true
		default:
			after[p.findComponent()] = true
		}
	}
	maps.DeleteFunc(after, func(name string, _ bool) bool { return !before[name] })
	return after
}

// checkReplaced checks that no pod of a service existed before.
func (c cluster) checkReplaced(t *testing.T, before []pod) {
	t.Helper()
	for _, p := range c.listPods(t) {
		if slices.Contains(services, p.findComponent()) && slices.ContainsFunc(before,
			func(old pod) bool { return old.Metadata.Name == p.Metadata.Name }) {
			t.Errorf("%s was not replaced", p.Metadata.Name)
		}
	}
}

// runSQL runs statements on the trial's PostgreSQL and returns the result of the last one.
func (c cluster) runSQL(t *testing.T, statements string) string {
	t.Helper()
	out := c.kubectl(t, "exec", release+"-postgres-0", "--container", "postgres", "--",
		"psql", "--username=slotmesh", "--dbname=slotmesh", "--quiet", "--no-psqlrc", "--tuples-only", "--no-align",
		"--set=ON_ERROR_STOP=1", "--command", statements)
	return strings.TrimSpace(out)
}

// checkFront enables the front. The Gateway, and an Ingress of another class, lead one prefix to it.
func (c cluster) checkFront(t *testing.T, key string) {
	c.helm(t, append([]string{"upgrade", release, chart, "--wait", "--timeout", "8m", "--set", "front.enabled=true",
		"--set", "frontDoor.hosts={" + host + ",front." + host + "}", "--set", "frontDoor.ingress.controller=any",
		"--set", "frontDoor.ingress.className=traefik"},
		listValues()...)...)
	c.checkPodsReady(t)
	f := c.connectFront(t, "Ingress to the front", "traefik", "front."+host)
	f.isOwnFront = true
	checkPublicPaths(t, f, key)
	checkLimitsByClient(t, f)
}

// commonObjects are objects that the cluster, or Istio, creates in every namespace.
var commonObjects = []string{"ServiceAccount/default", "ConfigMap/kube-root-ca.crt", "ConfigMap/istio-ca-root-cert",
	"ConfigMap/istio-ca-crl"}

// checkUninstall removes the release. Only volumes and commonObjects may remain.
func (c cluster) checkUninstall(t *testing.T) {
	c.helm(t, "uninstall", release, "--wait", "--timeout", "5m")
	waitFor(t, "nothing but volumes is left", func() error {
		var remaining []string
		for _, o := range c.listObjects(t) {
			if !strings.HasPrefix(o, "PersistentVolumeClaim/") && !slices.Contains(commonObjects, o) {
				remaining = append(remaining, o)
			}
		}
		if len(remaining) > 0 {
			return fmt.Errorf("left: %v", remaining)
		}
		return nil
	})
	claims := c.kubectl(t, "get", "persistentvolumeclaims", "--output", "name")
	if strings.Count(claims, "\n") != 1 {
		t.Errorf("the volumes that are left: %q, want Postgres's", claims)
	}
}
