package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Settings of the tests, by environment.
const (
	kubeconfig = "SLOTMESH_E2E_KUBECONFIG" // the kubeconfig of the cluster; without it all tests are skipped
	// a file with additional values, for example for the images
	valuesFile = "SLOTMESH_E2E_VALUES"
	policies   = "SLOTMESH_E2E_POLICIES" // "enforced" if the cluster enforces NetworkPolicies
	// "all" if the cluster has the custom resources of all meshes and operators
	resources = "SLOTMESH_E2E_CRDS"
	metrics   = "SLOTMESH_E2E_METRICS" // "served" if the cluster has a metrics server
	// the folder that the script releases has written; its images are in the cluster
	releases = "SLOTMESH_E2E_RELEASES"
	nodes    = "SLOTMESH_E2E_NODES" // "kwok" if the cluster can simulate nodes
	// followed by TRAEFIK or SKIPPER: the address of the controller, if its cluster address is not reachable from here
	frontOf = "SLOTMESH_E2E_FRONT_"
)

const (
	release   = "slotmesh"
	namespace = "slotmesh-e2e"
	chart     = "../../charts/slotmesh"
	// the oldest Kubernetes that the chart supports, for renderings without a cluster
	oldestKubernetes = "1.30"
)

// waitTimeout is the maximum time for changes that the cluster makes by itself.
const waitTimeout = 3 * time.Minute

// cluster is the cluster under test.
type cluster struct{ config string }

func connect(t *testing.T) cluster {
	t.Helper()
	config := os.Getenv(kubeconfig)
	if config == "" {
		t.Skipf("no cluster: %s is not set; `make e2e` sets it", kubeconfig)
	}
	return cluster{config: config}
}

// run runs kubectl or helm and returns the output. It fails the test if the command fails.
func (c cluster) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := c.tryRun(t.Context(), nil, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// tryRun is run for commands that may fail. If input is not nil, it is the command's standard input.
func (c cluster) tryRun(ctx context.Context, input []byte, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, name, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+c.config)
	command.Stdin = bytes.NewReader(input)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// kubectl runs kubectl in the namespace of the tests.
func (c cluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return c.run(t, "kubectl", append([]string{"--namespace", namespace}, args...)...)
}

func (c cluster) helm(t *testing.T, args ...string) string {
	t.Helper()
	return c.run(t, "helm", append([]string{"--namespace", namespace}, args...)...)
}

// apply applies manifests to the cluster.
func (c cluster) apply(t *testing.T, manifests string, args ...string) {
	t.Helper()
	if _, err := c.tryRun(t.Context(), []byte(manifests), "kubectl",
		append([]string{"--namespace", namespace, "apply", "--filename", "-"}, args...)...); err != nil {
		t.Fatal(err)
	}
}

// listValues returns the arguments with which helm installs the trial shape, with the images and the size for these
// tests.
func listValues(more ...string) []string {
	files := append([]string{"../../charts/slotmesh/ci/trial-values.yaml", "testdata/e2e-values.yaml"}, more...)
	if own := os.Getenv(valuesFile); own != "" {
		files = append(files, own)
	}
	var args []string
	for _, f := range files {
		args = append(args, "--values", filepath.FromSlash(f))
	}
	return args
}

// install installs the release with the values of the tests and of these files. When the test ends, it removes the
// namespace, and logs the state of the pods if the test failed.
func (c cluster) install(t *testing.T, more ...string) {
	t.Helper()
	c.run(t, "kubectl", "create", "namespace", namespace)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.diagnose())
		}
		if _, err := c.tryRun(context.WithoutCancel(t.Context()), nil, "kubectl", "delete", "namespace", namespace,
			"--timeout=3m"); err != nil {
			t.Error(err)
		}
		// The definitions stay after the release, because objects of others may use them. Here there are none.
		if _, err := c.tryRun(context.WithoutCancel(t.Context()), nil, "kubectl", "delete", "customresourcedefinition",
			"businesses.slotmesh.io", "apikeys.slotmesh.io", "--ignore-not-found"); err != nil {
			t.Error(err)
		}
	})
	c.run(t, "kubectl", "label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
	c.helm(t, append([]string{"install", release, chart, "--wait", "--wait-for-jobs", "--timeout", "8m"},
		listValues(more...)...)...)
}

// diagnose returns objects, warnings and logs of the release.
func (c cluster) diagnose() string {
	var all strings.Builder
	for _, args := range [][]string{
		{"get", "all,ingress,pvc", "--output", "wide"},
		{"get", "events", "--sort-by=.lastTimestamp", "--field-selector=type=Warning"},
		{"logs", "--selector", "app.kubernetes.io/instance=" + release, "--all-containers", "--prefix", "--tail=15",
			"--ignore-errors"},
	} {
		out, err := c.tryRun(context.Background(), nil, "kubectl",
			append([]string{"--namespace", namespace}, args...)...)
		fmt.Fprintf(&all, "== kubectl %s\n%s", strings.Join(args, " "), out)
		if err != nil {
			fmt.Fprintln(&all, err)
		}
	}
	return all.String()
}

// pod contains the fields of a pod that the tests read.
type pod struct {
	Metadata struct {
		Name              string
		Labels            map[string]string
		DeletionTimestamp *time.Time
	}
	Spec struct {
		Containers []struct{ Image string }
	}
	Status struct {
		Phase, PodIP string
		Conditions   []struct{ Type, Status string }
	}
}

func (p pod) isReady() bool {
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True" && p.Metadata.DeletionTimestamp == nil
		}
	}
	return false
}

// findComponent returns the component of Slotmesh to which the pod belongs.
func (p pod) findComponent() string { return p.Metadata.Labels["app.kubernetes.io/component"] }

// listPods returns the pods of the release, without those of jobs.
func (c cluster) listPods(t *testing.T) []pod {
	t.Helper()
	out := c.kubectl(t, "get", "pods", "--selector", "app.kubernetes.io/instance="+release, "--output", "json")
	var list struct{ Items []pod }
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	var rest []pod
	for _, p := range list.Items {
		if p.Metadata.Labels["batch.kubernetes.io/job-name"] == "" && p.Status.Phase != "Succeeded" {
			rest = append(rest, p)
		}
	}
	return rest
}

// awaitRollout waits until all workloads of the release are rolled out and replaced pods are gone.
func (c cluster) awaitRollout(t *testing.T) {
	t.Helper()
	for name := range strings.FieldsSeq(c.kubectl(t, "get", "deployments,statefulsets", "--selector",
		"app.kubernetes.io/instance="+release, "--output", "name")) {
		c.kubectl(t, "rollout", "status", name, "--timeout", waitTimeout.String())
	}
	waitFor(t, "ending pods are gone", func() error {
		for _, p := range c.listPods(t) {
			if p.Metadata.DeletionTimestamp != nil {
				return fmt.Errorf("%s is still there", p.Metadata.Name)
			}
		}
		return nil
	})
}

// waitFor repeats ask until it returns nil. After waitTimeout it fails the test with the last error.
func waitFor(t *testing.T, what string, ask func() error) {
	t.Helper()
	waitAtMost(t, waitTimeout, what, ask)
}

// waitAtMost is waitFor with another time limit.
func waitAtMost(t *testing.T, limit time.Duration, what string, ask func() error) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	again := time.NewTicker(250 * time.Millisecond)
	defer again.Stop()
	for {
		err := ask()
		if err == nil {
			return
		}
		select {
		case <-deadline.C:
			t.Fatalf("%s: not within %v: %v", what, limit, err)
		case <-again.C:
		}
	}
}
