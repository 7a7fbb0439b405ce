package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestTheChartOnACluster is the life of one release, in order: each step leaves it as healthy as it found it.
func TestTheChartOnACluster(t *testing.T) {
	c := connect(t)
	c.install(t)

	t.Run("every pod is ready and helm test passes", func(t *testing.T) {
		c.everyPodIsReady(t)
		c.helm(t, "test", release, "--timeout", "3m")
	})
	key := c.owner(t).key(t, "harbor-studio")
	t.Run("the public paths and only they answer through the Gateway", func(t *testing.T) {
		described(t, c.reach(t, "Gateway API by Traefik", "traefik", host), key)
	})
	t.Run("the public paths and only they answer through Traefik's Ingress", func(t *testing.T) {
		c.ingress(t, "traefik")
		described(t, c.reach(t, "Ingress by Traefik", "traefik", "traefik."+host), key)
	})
	t.Run("the public paths and only they answer through an Ingress in nginx's manner", func(t *testing.T) {
		c.ingress(t, "nginx")
		described(t, c.reach(t, "Ingress in nginx's manner", "traefik", "nginx."+host), key)
	})
	t.Run("the public paths and only they answer through Skipper's Ingress", func(t *testing.T) {
		c.ingress(t, "skipper")
		described(t, c.reach(t, "Ingress by Skipper", "skipper", "skipper."+host), key)
	})
	main := c.reach(t, "Gateway API by Traefik", "traefik", host)
	t.Run("a business is an object of the cluster and its key a Secret", func(t *testing.T) { c.asObjects(t, main) })
	t.Run("each internal port answers exactly the services of the table", c.edges)
	t.Run("an autoscaler adds pods under load and takes them away again", func(t *testing.T) { c.scaling(t, main) })
	t.Run("an upgrade from the release before and back under load fails no request", func(t *testing.T) {
		c.upgrade(t, main)
	})
	t.Run("a pod killed every second under load fails no request", func(t *testing.T) {
		c.killings(t, newLoad(t, c, main, "killing"), 60, time.Second)
	})
	t.Run("without Postgres reads degrade and bookings are refused, and all recovers", func(t *testing.T) {
		c.losePostgres(t, main)
	})
	t.Run("without Redis reads and bookings go on", func(t *testing.T) { c.loseRedis(t, main) })
	t.Run("the public paths and only they answer through the front behind one prefix", func(t *testing.T) {
		c.fronted(t, key)
	})
	t.Run("an uninstall leaves nothing but the data volumes", c.uninstall)
}

func (c cluster) everyPodIsReady(t *testing.T) {
	t.Helper()
	c.awaitRollout(t)
	ready := make(map[string]int)
	for _, p := range c.pods(t) {
		if !p.ready() {
			t.Errorf("pod %s is not ready: %+v", p.Metadata.Name, p.Status)
		}
		ready[p.component()]++
	}
	for _, name := range append([]string{"postgres", "redis"}, services...) {
		if ready[name] == 0 {
			t.Errorf("there is no pod of %s", name)
		}
	}
}

// host is the name under which the release of these tests is known (testdata/e2e-values.yaml).
const host = "slotmesh.test"

// ingress adds what the chart makes for this controller beside what is installed, under a host name of its own.
func (c cluster) ingress(t *testing.T, controller string) {
	t.Helper()
	c.apply(t, c.helm(t, append([]string{
		"template", release, chart, "--kube-version", oldest, "--show-only", "templates/frontdoor/" + controller +
			".yaml",
		"--set", "frontDoor.ingress.controller=" + controller, "--set", "frontDoor.hosts={" + controller + "." + host +
			"}",
	}, values()...)...))
	t.Cleanup(func() {
		if _, err := c.try(context.WithoutCancel(t.Context()), nil, "kubectl", "--namespace", namespace, "delete",
			"ingress", "--all"); err != nil {
			t.Error(err)
		}
	})
}

// objects lists the namespace's objects of these kinds that the release made.
func (c cluster) objects(t *testing.T) []string {
	t.Helper()
	kinds := strings.Fields(c.run(t, "kubectl", "api-resources", "--verbs=list", "--namespaced", "--output=name"))
	var kept []string
	for _, k := range kinds {
		if k != "events" && !strings.HasPrefix(k, "events.") && !strings.HasSuffix(k, "metrics.k8s.io") {
			kept = append(kept, k)
		}
	}
	out := c.kubectl(t, "get", strings.Join(kept, ","), "--ignore-not-found", "--output", "json")
	var list struct {
		Items []struct {
			Kind     string
			Metadata struct{ Name string }
		}
	}
	if strings.TrimSpace(out) != "" {
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, o := range list.Items {
		names = append(names, o.Kind+"/"+o.Metadata.Name)
	}
	return names
}
