package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

const zonesNamespace = "slotmesh-e2e-zones"

// zoneOf is the zone of each node that is made up.
var zoneOf = map[string]string{"north-1": "north", "north-2": "north", "south-1": "south", "south-2": "south"}

// TestPodsAreSpreadOverZonesAndSurviveADrain lets the scheduler place four pods of each service on two zones of two
// nodes, which kwok makes up, and drains nodes. Nothing is really started: what is shown is what the API server, the
// scheduler and the controllers do.
func TestPodsAreSpreadOverZonesAndSurviveADrain(t *testing.T) {
	c := connect(t)
	if os.Getenv(nodes) != "kwok" {
		t.Skipf("nodes cannot be made up here: %s is not %q", nodes, "kwok")
	}
	c.makeNodes(t)
	c.run(t, "kubectl", "create", "namespace", zonesNamespace)
	t.Cleanup(func() { c.forget(t, "delete", "namespace", zonesNamespace, "--timeout=3m") })
	c.run(t, "helm", "--namespace", zonesNamespace, "install", release, chart, "--values", "testdata/zones-values.yaml",
		"--wait", "--timeout", "8m")
	c.isSpread(t)

	// A rollout's own pods are spread, wherever those before them were.
	c.run(t, "kubectl", "--namespace", zonesNamespace, "rollout", "restart", "deployment/"+release+"-catalog")
	c.run(t, "kubectl", "--namespace", zonesNamespace, "rollout", "status", "deployment/"+release+"-catalog",
		"--timeout", measured.String())
	c.isSpread(t)
	c.drain(t)
}

// makeNodes makes two zones of two nodes.
func (c cluster) makeNodes(t *testing.T) {
	t.Helper()
	for name, zone := range zoneOf {
		t.Cleanup(func() { c.forget(t, "delete", "node", name) })
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
	soon(t, "the nodes are ready", func() error {
		_, err := c.try(t.Context(), nil, "kubectl", "wait", "--for=condition=Ready", "node", "--selector", "type=kwok",
			"--timeout=1s")
		return err
	})
}

// forget removes what a test has made, also when the test was stopped.
func (c cluster) forget(t *testing.T, args ...string) {
	t.Helper()
	if _, err := c.try(context.WithoutCancel(t.Context()), nil, "kubectl",
		append(args, "--ignore-not-found")...); err != nil {
		t.Error(err)
	}
}

// placed says of each service how many of its pods are ready on each node.
func (c cluster) placed(t *testing.T) map[string]map[string]int {
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
		if _, ok := on[p.component()]; ok && p.ready() {
			on[p.component()][p.Spec.NodeName]++
		}
	}
	return on
}

// isSpread waits until each service has a ready pod on every node, and so as many in one zone as in the other.
func (c cluster) isSpread(t *testing.T) {
	t.Helper()
	within(t, measured, "a pod of each service on every node", func() error {
		for service, on := range c.placed(t) {
			for node := range zoneOf {
				if on[node] != 1 {
					return fmt.Errorf("the pods of %s are on %v, want one on every node", service, on)
				}
			}
		}
		return nil
	})
}

// drain empties a node while no other takes pods: each service gives one. The next node then keeps its pods until the
// first ones are back.
func (c cluster) drain(t *testing.T) {
	t.Helper()
	empty := func(node, patience string) error {
		_, err := c.try(t.Context(), nil, "kubectl", "drain", node, "--ignore-daemonsets", "--delete-emptydir-data",
			"--timeout", patience)
		return err
	}
	for node := range zoneOf {
		c.run(t, "kubectl", "cordon", node)
	}
	if err := empty("north-1", measured.String()); err != nil {
		t.Fatal(err)
	}
	if err := empty("north-2", "15s"); err == nil {
		t.Error("a second pod of each service was taken while the first ones were not back")
	}
	for service, on := range c.placed(t) {
		if on["north-1"] != 0 || on["north-2"]+on["south-1"]+on["south-2"] != 3 {
			t.Errorf("%s has pods on %v, want three, and none on the node that was drained", service, on)
		}
	}
	for _, node := range []string{"south-1", "south-2"} {
		c.run(t, "kubectl", "uncordon", node)
	}
	if err := empty("north-2", measured.String()); err != nil {
		t.Fatal(err)
	}
	within(t, measured, "all pods in the zone that is left", func() error {
		for service, on := range c.placed(t) {
			if on["south-1"] != 2 || on["south-2"] != 2 {
				return fmt.Errorf("the pods of %s are on %v, want two on each node of the south", service, on)
			}
		}
		return nil
	})
}
