package e2e

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestChartOnCluster runs all steps with one release, in order. Each step leaves the release healthy.
func TestChartOnCluster(t *testing.T) {
	c := connect(t)
	c.install(t)

	t.Run("every pod is ready and helm test passes", func(t *testing.T) {
		c.checkPodsReady(t)
		c.helm(t, "test", release, "--timeout", "3m")
	})
	key := c.connectOwner(t).createKey(t, "harbor-studio")
	t.Run("the public paths and only they answer through the Gateway", func(t *testing.T) {
		checkPublicPaths(t, c.connectFront(t, "Gateway API by Traefik", "traefik", host), key)
	})
	t.Run("the public paths and only they answer through Traefik's Ingress", func(t *testing.T) {
		c.addIngress(t, "traefik")
		checkPublicPaths(t, c.connectFront(t, "Ingress by Traefik", "traefik", "traefik."+host), key)
	})
	t.Run("the public paths and only they answer through an Ingress in nginx's manner", func(t *testing.T) {
		c.addIngress(t, "nginx")
		checkPublicPaths(t, c.connectFront(t, "Ingress in nginx's manner", "traefik", "nginx."+host), key)
	})
	t.Run("the public paths and only they answer through Skipper's Ingress", func(t *testing.T) {
		c.addIngress(t, "skipper")
		checkPublicPaths(t, c.connectFront(t, "Ingress by Skipper", "skipper", "skipper."+host), key)
	})
	main := c.connectFront(t, "Gateway API by Traefik", "traefik", host)
	t.Run("a business is an object of the cluster and its key a Secret", func(t *testing.T) { c.checkObjects(t, main) })
	t.Run("each internal port answers exactly the services of the table", c.checkEdges)
	t.Run("an autoscaler adds pods under load and takes them away again", func(t *testing.T) {
		c.checkScaling(t, main)
	})
	t.Run("an upgrade from the release before and back under load fails no request", func(t *testing.T) {
		c.checkUpgrade(t, main)
	})
	t.Run("a pod killed every second under load fails no request", func(t *testing.T) {
		c.killPods(t, newLoad(t, c, main, "killing"), 60, time.Second)
	})
	t.Run("without Postgres reads degrade and bookings are refused, and all recovers", func(t *testing.T) {
		c.checkPostgresLoss(t, main)
	})
	t.Run("without Redis reads and bookings go on", func(t *testing.T) { c.checkRedisLoss(t, main) })
	t.Run("the public paths and only they answer through the front behind one prefix", func(t *testing.T) {
		c.checkFront(t, key)
	})
	t.Run("an uninstall leaves nothing but the data volumes", c.checkUninstall)
}

func (c cluster) checkPodsReady(t *testing.T) {
	t.Helper()
	c.awaitRollout(t)
	ready := make(map[string]int)
	for _, p := range c.listPods(t) {
		if !p.isReady() {
			t.Errorf("pod %s is not ready: %+v", p.Metadata.Name, p.Status)
		}
		ready[p.findComponent()]++
	}
	for _, name := range append([]string{"postgres", "redis"}, services...) {
		if ready[name] == 0 {
			t.Errorf("no pod of %s is ready", name)
		}
	}
}

// host is the host name of the release in these tests (testdata/e2e-values.yaml).
const host = "slotmesh.test"

// addIngress adds the chart's Ingress for this controller, with its own host name.
func (c cluster) addIngress(t *testing.T, controller string) {
	t.Helper()
	c.apply(t, c.helm(t, append([]string{
		"template", release, chart, "--kube-version", oldestKubernetes, "--show-only",
		"templates/frontdoor/" + controller +
			".yaml",
		"--set", "frontDoor.ingress.controller=" + controller, "--set", "frontDoor.hosts={" + controller + "." + host +
			"}",
	}, listValues()...)...))
	t.Cleanup(func() {
		if _, err := c.tryRun(context.WithoutCancel(t.Context()), nil, "kubectl", "--namespace", namespace, "delete",
			"ingress", "--all"); err != nil {
			t.Error(err)
		}
	})
}

// listObjects returns the objects in the namespace, without events and metrics.
func (c cluster) listObjects(t *testing.T) []string {
	t.Helper()
	kinds := strings.Fields(c.run(t, "kubectl", "api-resources", "--verbs=list", "--namespaced", "--output=name"))
	var rest []string
	for _, k := range kinds {
		if k != "events" && !strings.HasPrefix(k, "events.") && !strings.HasSuffix(k, "metrics.k8s.io") {
			rest = append(rest, k)
		}
	}
	out := c.kubectl(t, "get", strings.Join(rest, ","), "--ignore-not-found", "--output", "json")
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
