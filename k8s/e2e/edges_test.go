package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// table contains the fields of the chart's files/components.yaml that these tests read.
var table = func() map[string]struct{ Calls, Stores []string } {
	var rows map[string]struct{ Calls, Stores []string }
	content, err := os.ReadFile("../../charts/slotmesh/files/components.yaml")
	if err == nil {
		err = yaml.Unmarshal(content, &rows)
	}
	if err != nil {
		panic(err)
	}
	return rows
}()

// services are the names of all services, sorted.
var services = slices.Sorted(maps.Keys(table))

// callers lists, for each internal port and store, the services that may connect to it.
var callers = func() map[string][]string {
	all := map[string][]string{"postgres:5432": nil, "redis:6379": nil}
	for _, service := range services {
		all[service+":9090"] = append(all[service+":9090"], []string{}...) // also a service that no other calls
		for _, callee := range table[service].Calls {
			all[callee+":9090"] = append(all[callee+":9090"], service)
		}
		for _, store := range table[service].Stores {
			port := map[string]string{"postgres": "postgres:5432", "redis": "redis:6379"}[store]
			all[port] = append(all[port], service)
		}
	}
	return all
}()

// checkEdges connects to every internal port and store from pods with the labels of each service, and from a pod
// without such labels.
func (c cluster) checkEdges(t *testing.T) {
	if os.Getenv(policies) == "" {
		t.Skipf("NetworkPolicies are not known to be enforced on this cluster; set %s=enforced where they are",
			policies)
	}
	for _, service := range append([]string{"stranger"}, services...) {
		c.apply(t, newProbePod(service))
	}
	t.Cleanup(func() {
		if _, err := c.tryRun(context.WithoutCancel(t.Context()), nil, "kubectl", "--namespace", namespace, "delete",
			"pod", "--selector", "e2e=knocker", "--timeout=1m"); err != nil {
			t.Error(err)
		}
	})
	for _, service := range append([]string{"stranger"}, services...) {
		c.kubectl(t, "wait", "--for=jsonpath={.status.phase}=Running", "pod/knocker-"+service, "--timeout=2m")
	}
	for _, service := range append([]string{"stranger"}, services...) {
		t.Run(service, func(t *testing.T) {
			t.Parallel() // a connection without an answer takes seconds
			waitFor(t, service+" reaches what it may and nothing else", func() error {
				return c.checkConnections(t, service)
			})
		})
	}
}

// checkConnections returns an error if a pod of a service reaches more or less than callers allows.
func (c cluster) checkConnections(t *testing.T, service string) error {
	t.Helper()
	var problems []error
	answers := c.probePorts(t, service)
	for target, allowedCallers := range callers {
		self, _, _ := strings.Cut(target, ":")
		if want := slices.Contains(allowedCallers, service); self != service && answers[target] != want {
			problems = append(problems, fmt.Errorf("%s: answered %v, want %v", target, answers[target], want))
		}
	}
	return errors.Join(problems...)
}

// newProbePod returns a pod with the labels of a service. It never becomes ready, so that it gets no requests.
func newProbePod(service string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata:
  name: knocker-%s
  labels: {e2e: knocker, app.kubernetes.io/name: slotmesh, app.kubernetes.io/instance: %s, app.kubernetes.io/component: %s}
spec:
  terminationGracePeriodSeconds: 0
  automountServiceAccountToken: false
  securityContext: {runAsNonRoot: true, runAsUser: 999, seccompProfile: {type: RuntimeDefault}}
  containers:
    - name: knocker
      image: %s
      args: [redis-server, --save, ""]
      readinessProbe: {exec: {command: ["false"]}}
      securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`, service, release, service, redisImage)
}

// redisImage contains redis-cli, which shows whether a program listens on a port.
const redisImage = "localhost/redis:7"

// probeTimeout is the timeout of connections that no side refuses, because some clusters drop forbidden packets.
const probeTimeout = 10 * time.Second

// probeScript sends PING to all addresses at the same time, and prints one line with the result of each.
const probeScript = `for at in "$@"; do (said=$(redis-cli -h "${at%:*}" -p "${at#*:}" PING 2>&1); echo "$at $said") & done; wait`

// probePorts returns the ports that accepted a connection from a pod. Any answer counts, because most servers do not
// speak Redis's protocol.
func (c cluster) probePorts(t *testing.T, service string) map[string]bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), probeTimeout)
	defer cancel()
	args := []string{"--namespace", namespace, "exec", "knocker-" + service, "--", "sh", "-c", probeScript, "sh"}
	for target := range callers {
		args = append(args, release+"-"+target)
	}
	out, err := c.tryRun(ctx, nil, "kubectl", args...)
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	answers := make(map[string]bool)
	for line := range strings.Lines(out) {
		target, output, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), release+"-"), " ")
		switch {
		case strings.Contains(output, "Could not connect"):
		case output == "PONG", strings.Contains(output, "Protocol error"),
			strings.Contains(output, "Server closed the connection"), strings.Contains(output, "reset by peer"):
			answers[target] = true
		default:
			t.Fatalf("%s knocked at %s: %s", service, target, output)
		}
	}
	return answers
}
