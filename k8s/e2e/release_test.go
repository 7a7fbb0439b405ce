package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// upgrade takes the release from a database that lacks the newest migration to the next revision of the chart. What that migration
// brings goes with it, so that the business is made afterwards.
func (c cluster) upgrade(t *testing.T, f front) {
	newest := c.unmigrate(t, "booking")
	c.helm(t, append([]string{"upgrade", release, chart, "--wait", "--timeout", "8m", "--set", "logLevel=warn"}, values()...)...)
	if got := c.sql(t, "SELECT max(version_id) FROM booking.goose_db_version"); got != newest {
		t.Errorf("after the upgrade booking's tables are at version %s, want %s", got, newest)
	}
	c.everyPodIsReady(t)
	l := newLoad(t, c, f, "upgraded")
	l.booksAgain(t, l.free[0])
}

// rollback goes back to the first revision, which replaces every pod of every service, while the load runs.
func (c cluster) rollback(t *testing.T, f front) {
	l := newLoad(t, c, f, "rolling")
	before := c.pods(t)
	l.during(t, func() {
		c.helm(t, "rollback", release, "1", "--wait", "--timeout", "8m")
		c.awaitRollout(t)
	})
	c.everyPodIsReady(t)
	c.replaced(t, before)
	l.compare(t, c.owner(t))
	if rows := c.owner(t).booked(t, "upgraded"); len(rows) != 1 {
		t.Errorf("the owner sees %d of the bookings made before, want 1", len(rows))
	}
}

// replaced wants every pod of a service to be another than before.
func (c cluster) replaced(t *testing.T, before []pod) {
	t.Helper()
	for _, p := range c.pods(t) {
		if slices.Contains(services, p.component()) && slices.ContainsFunc(before, func(old pod) bool { return old.Metadata.Name == p.Metadata.Name }) {
			t.Errorf("%s was not replaced", p.Metadata.Name)
		}
	}
}

// unmigrate takes a service's newest migration back, as if the release before it had made the tables, and returns its number.
func (c cluster) unmigrate(t *testing.T, service string) string {
	t.Helper()
	newest := c.sql(t, fmt.Sprintf("SELECT max(version_id) FROM %s.goose_db_version", service))
	files, err := filepath.Glob(fmt.Sprintf("../../services/%s/migrations/%05s_*.sql", service, newest))
	if err != nil || len(files) != 1 {
		t.Fatalf("migration %s of %s: found %v (%v)", newest, service, files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	_, down, ok := strings.Cut(string(text), "-- +goose Down")
	if !ok {
		t.Fatalf("%s has no way down", files[0])
	}
	c.sql(t, fmt.Sprintf("SET search_path = %[1]s, public; BEGIN; %[2]s; DELETE FROM goose_db_version WHERE version_id = %[3]s; COMMIT", service, down, newest))
	return newest
}

// sql runs statements on the trial's Postgres and returns what the last of them says.
func (c cluster) sql(t *testing.T, statements string) string {
	t.Helper()
	out := c.kubectl(t, "exec", release+"-postgres-0", "--container", "postgres", "--",
		"psql", "--username=slotmesh", "--dbname=slotmesh", "--quiet", "--no-psqlrc", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", "--command", statements)
	return strings.TrimSpace(out)
}

// fronted enables the front, to which one prefix leads: by the Gateway, and by an Ingress of whichever class.
func (c cluster) fronted(t *testing.T, key string) {
	c.helm(t, append([]string{"upgrade", release, chart, "--wait", "--timeout", "8m", "--set", "front.enabled=true",
		"--set", "frontDoor.hosts={" + host + ",front." + host + "}", "--set", "frontDoor.ingress.controller=any", "--set", "frontDoor.ingress.className=traefik"},
		values()...)...)
	c.everyPodIsReady(t)
	f := c.reach(t, "Ingress to the front", "traefik", "front."+host)
	f.ours = true
	described(t, f, key)
	countedByClient(t, f)
}

// everywhere is what the cluster, and Istio where it is there, puts into every namespace.
var everywhere = []string{"ServiceAccount/default", "ConfigMap/kube-root-ca.crt", "ConfigMap/istio-ca-root-cert"}

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
