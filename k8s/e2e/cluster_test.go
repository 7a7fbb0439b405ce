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
	kubeconfig = "SLOTMESH_E2E_KUBECONFIG" // the cluster; without it nothing is tested
	// values beyond those of testdata/: where a cluster gets its images, for instance
	valuesFile = "SLOTMESH_E2E_VALUES"
	policies   = "SLOTMESH_E2E_POLICIES" // "enforced" where the cluster does enforce NetworkPolicies
	// "all" where the cluster has the custom resources of every mesh and operator
	resources = "SLOTMESH_E2E_CRDS"
	metrics   = "SLOTMESH_E2E_METRICS" // "served" where a metrics server measures what pods use
	// the folder that the script releases has filled; its images are in the cluster
	releases = "SLOTMESH_E2E_RELEASES"
	nodes    = "SLOTMESH_E2E_NODES" // "kwok" where nodes can be made up
	// + TRAEFIK or SKIPPER: its address, where the cluster's own is not reachable from here
	frontOf = "SLOTMESH_E2E_FRONT_"
)

const (
	release   = "slotmesh"
	namespace = "slotmesh-e2e"
	chart     = "../../charts/slotmesh"
	// the oldest Kubernetes that the chart is for: where helm renders alone, it believes what it is told
	oldest = "1.30"
)

// eventually is how long the cluster may take for what it does by itself.
const eventually = 3 * time.Minute

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

// run runs kubectl or helm and returns its output; it fails the test when the command fails.
func (c cluster) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := c.try(t.Context(), nil, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// try is run for what may fail; input, when not nil, is given to the command.
func (c cluster) try(ctx context.Context, input []byte, name string, args ...string) (string, error) {
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

// kubectl works in the namespace of the tests.
func (c cluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return c.run(t, "kubectl", append([]string{"--namespace", namespace}, args...)...)
}

func (c cluster) helm(t *testing.T, args ...string) string {
	t.Helper()
	return c.run(t, "helm", append([]string{"--namespace", namespace}, args...)...)
}

// apply sends manifests to the cluster.
func (c cluster) apply(t *testing.T, manifests string, args ...string) {
	t.Helper()
	if _, err := c.try(t.Context(), []byte(manifests), "kubectl",
		append([]string{"--namespace", namespace, "apply", "--filename", "-"}, args...)...); err != nil {
		t.Fatal(err)
	}
}

// values are the arguments that make helm install the trial shape with the images and the size of these tests.
func values(more ...string) []string {
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

// install makes the release, with values of these files on top of those of all tests, and removes the namespace when
// the test ends. When it fails, it says what the pods say.
func (c cluster) install(t *testing.T, more ...string) {
	t.Helper()
	c.run(t, "kubectl", "create", "namespace", namespace)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.diagnosis())
		}
		if _, err := c.try(context.WithoutCancel(t.Context()), nil, "kubectl", "delete", "namespace", namespace,
			"--timeout=3m"); err != nil {
			t.Error(err)
		}
		// The definitions outlive the release, for the objects of others; here there are none.
		if _, err := c.try(context.WithoutCancel(t.Context()), nil, "kubectl", "delete", "customresourcedefinition",
			"businesses.slotmesh.io", "apikeys.slotmesh.io", "--ignore-not-found"); err != nil {
			t.Error(err)
		}
	})
	c.run(t, "kubectl", "label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
	c.helm(t, append([]string{"install", release, chart, "--wait", "--wait-for-jobs", "--timeout", "8m"},
		values(more...)...)...)
}

// diagnosis is what a person would look at first.
func (c cluster) diagnosis() string {
	var all strings.Builder
	for _, args := range [][]string{
		{"get", "all,ingress,pvc", "--output", "wide"},
		{"get", "events", "--sort-by=.lastTimestamp", "--field-selector=type=Warning"},
		{"logs", "--selector", "app.kubernetes.io/instance=" + release, "--all-containers", "--prefix", "--tail=15",
			"--ignore-errors"},
	} {
		out, err := c.try(context.Background(), nil, "kubectl", append([]string{"--namespace", namespace}, args...)...)
		fmt.Fprintf(&all, "== kubectl %s\n%s", strings.Join(args, " "), out)
		if err != nil {
			fmt.Fprintln(&all, err)
		}
	}
	return all.String()
}

// pod is what the tests look at of a pod.
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

func (p pod) ready() bool {
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" {
			return c.Status == "True" && p.Metadata.DeletionTimestamp == nil
		}
	}
	return false
}

// component is the part of Slotmesh that the pod belongs to.
func (p pod) component() string { return p.Metadata.Labels["app.kubernetes.io/component"] }

// pods are the release's pods that run for good; those of jobs are not among them.
func (c cluster) pods(t *testing.T) []pod {
	t.Helper()
	out := c.kubectl(t, "get", "pods", "--selector", "app.kubernetes.io/instance="+release, "--output", "json")
	var list struct{ Items []pod }
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	var kept []pod
	for _, p := range list.Items {
		if p.Metadata.Labels["batch.kubernetes.io/job-name"] == "" && p.Status.Phase != "Succeeded" {
			kept = append(kept, p)
		}
	}
	return kept
}

// awaitRollout waits until everything that the release runs is rolled out, and the pods that it replaces are gone.
func (c cluster) awaitRollout(t *testing.T) {
	t.Helper()
	for name := range strings.FieldsSeq(c.kubectl(t, "get", "deployments,statefulsets", "--selector",
		"app.kubernetes.io/instance="+release, "--output", "name")) {
		c.kubectl(t, "rollout", "status", name, "--timeout", eventually.String())
	}
	soon(t, "ending pods are gone", func() error {
		for _, p := range c.pods(t) {
			if p.Metadata.DeletionTimestamp != nil {
				return fmt.Errorf("%s is still there", p.Metadata.Name)
			}
		}
		return nil
	})
}

// soon asks until the answer is good; the last one is the test's failure when time is up. within is soon with a time of
// its own.
func soon(t *testing.T, what string, ask func() error) {
	t.Helper()
	within(t, eventually, what, ask)
}

func within(t *testing.T, limit time.Duration, what string, ask func() error) {
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
