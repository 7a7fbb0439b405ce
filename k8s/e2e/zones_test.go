package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

const zonesNamespace = "slotmesh-e2e-zones"

// nodeZones contains the zone of each simulated node.
var nodeZones = map[string]string{"north-1": "north", "north-2": "north", "south-1": "south", "south-2": "south"}

// TestPodsSpreadOverZonesAndSurviveDrain schedules four pods of each service on two zones of two nodes, and drains
// nodes. kwok simulates nodes and pods; API server, scheduler and controllers are real.
func TestPodsSpreadOverZonesAndSurviveDrain(t *testing.T) {
	c := connect(t)
	if os.Getenv(nodes) != "kwok" {
		t.Skipf("nodes cannot be made up here: %s is not %q", nodes, "kwok")
	}
	c.makeNodes(t)
	c.run(t, "kubectl", "create", "namespace", zonesNamespace)
	t.Cleanup(func() { c.removeObjects(t, "delete", "namespace", zonesNamespace, "--timeout=3m") })
	c.run(t, "helm", "--namespace", zonesNamespace, "install", release, chart, "--values", "testdata/zones-values.yaml",
		"--wait", "--timeout", "8m")
	c.waitForSpread(t)

	// The new pods of a rollout are spread, independently of the old ones.
	c.run(t, "kubectl", "--namespace", zonesNamespace, "rollout", "restart", "deployment/"+release+"-catalog")
	c.run(t, "kubectl", "--namespace", zonesNamespace, "rollout", "status", "deployment/"+release+"-catalog",
		"--timeout", scaleTimeout.String())
	c.waitForSpread(t)
	c.checkDrain(t)
}

// makeNodes creates two zones of two nodes.
func (c cluster) makeNodes(t *testing.T) {
	t.Helper()
	for name, zone := range nodeZones {
		t.Cleanup(func() { c.removeObjects(t, "delete", "node", name) })
		c.apply(t, fmt.Sprintf(`
apiVersion: v1
kind: Node
metadata:
  name: %[1]s
  labels: {type: kwok, kubernetes.io/hostname: %[1]s, topology.kubernetes.io/zone: %[2]s}
  annotations: {kwok.x-k8s.io/node: fake}
spec:
  taints: [{key: kwok.x-k8s.io/node, value: fake, effect: NoSchedule}]
`, name, zone))
	}
	waitFor(t, "the nodes are ready", func() error {
		_, err := c.tryRun(t.Context(), nil, "kubectl", "wait", "--for=condition=Ready", "node", "--selector",
			"type=kwok",
			"--timeout=1s")
		return err
	})
}

// removeObjects removes objects of a test, even if the test was stopped.
func (c cluster) removeObjects(t *testing.T, args ...string) {
	t.Helper()
	if _, err := c.tryRun(context.WithoutCancel(t.Context()), nil, "kubectl",
		append(args, "--ignore-not-found")...); err != nil {
		t.Error(err)
	}
}

// countPlacements returns the number of ready pods on each node, by service.
func (c cluster) countPlacements(t *testing.T) map[string]map[string]int {
	t.Helper()
	var list struct {
		Items []struct {
			pod
			Spec struct{ NodeName string }
		}
	}
	if err := json.Unmarshal([]byte(c.run(t, "kubectl", "--namespace", zonesNamespace, "get", "pods", "--output",
		"json")), &list); err != nil {
		t.Fatal(err)
	}
	on := make(map[string]map[string]int)
	for _, name := range services {
		on[name] = make(map[string]int)
	}
	for _, p := range list.Items {
		if _, ok := on[p.findComponent()]; ok && p.isReady() {
			on[p.findComponent()][p.Spec.NodeName]++
		}
	}
	return on
}

// waitForSpread waits until each service has a ready pod on every node.
func (c cluster) waitForSpread(t *testing.T) {
	t.Helper()
	waitAtMost(t, scaleTimeout, "a pod of each service on every node", func() error {
		for service, on := range c.countPlacements(t) {
			for node := range nodeZones {
				if on[node] != 1 {
					return fmt.Errorf("the pods of %s are on %v, want one on every node", service, on)
				}
			}
		}
		return nil
	})
}

// checkDrain drains a node while no other node accepts pods. The next node must keep its pods until the evicted ones
// run again.
func (c cluster) checkDrain(t *testing.T) {
	t.Helper()
	empty := func(node, timeout string) error {
		_, err := c.tryRun(t.Context(), nil, "kubectl", "drain", node, "--ignore-daemonsets", "--delete-emptydir-data",
			"--timeout", timeout)
		return err
	}
	for node := range nodeZones {
		c.run(t, "kubectl", "cordon", node)
	}
	if err := empty("north-1", scaleTimeout.String()); err != nil {
		t.Fatal(err)
	}
	if err := empty("north-2", "15s"); err == nil {
		t.Error("a second pod of each service was taken while the first ones were not back")
	}
	for service, on := range c.countPlacements(t) {
		if on["north-1"] != 0 || on["north-2"]+on["south-1"]+on["south-2"] != 3 {
			t.Errorf("%s has pods on %v, want three, and none on the node that was drained", service, on)
		}
	}
	for _, node := range []string{"south-1", "south-2"} {
		c.run(t, "kubectl", "uncordon", node)
	}
	if err := empty("north-2", scaleTimeout.String()); err != nil {
		t.Fatal(err)
	}
	waitAtMost(t, scaleTimeout, "all pods in the zone that is left", func() error {
		for service, on := range c.countPlacements(t) {
			if on["south-1"] != 2 || on["south-2"] != 2 {
				return fmt.Errorf("the pods of %s are on %v, want two on each node of the south", service, on)
			}
		}
		return nil
	})
}
