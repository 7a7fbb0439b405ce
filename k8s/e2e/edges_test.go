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

// table is the chart's files/components.yaml, as far as these tests need it.
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

// services are the deployments of the chart that hold Slotmesh's own code.
var services = slices.Sorted(maps.Keys(table))

// callers says who may call what: the table turned around. A store counts as one that is called.
var callers = func() map[string][]string {
	all := map[string][]string{"postgres:5432": nil, "redis:6379": nil}
	for _, service := range services {
		all[service+":9090"] = append(all[service+":9090"], []string{}...) // also where nobody calls it
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

// edges knocks at every internal port and store from pods that look like each service, and from one that looks like
// none.
func (c cluster) edges(t *testing.T) {
	if os.Getenv(policies) == "" {
		t.Skipf("NetworkPolicies are not known to be enforced on this cluster; set %s=enforced where they are",
			policies)
	}
	for _, who := range append([]string{"stranger"}, services...) {
		c.apply(t, knocker(who))
	}
	t.Cleanup(func() {
		if _, err := c.try(context.WithoutCancel(t.Context()), nil, "kubectl", "--namespace", namespace, "delete",
			"pod", "--selector", "e2e=knocker", "--timeout=1m"); err != nil {
			t.Error(err)
		}
	})
	for _, who := range append([]string{"stranger"}, services...) {
		c.kubectl(t, "wait", "--for=jsonpath={.status.phase}=Running", "pod/knocker-"+who, "--timeout=2m")
	}
	for _, who := range append([]string{"stranger"}, services...) {
		t.Run(who, func(t *testing.T) {
			t.Parallel() // a knock at a port that nothing answers takes seconds
			soon(t, who+" reaches what it may and nothing else", func() error { return c.reachesOnlyItsOwn(t, who) })
		})
	}
}

// reachesOnlyItsOwn says where a pod of a service reaches more or less than callers has.
func (c cluster) reachesOnlyItsOwn(t *testing.T, who string) error {
	t.Helper()
	var wrong []error
	answered := c.knock(t, who)
	for target, may := range callers {
		self, _, _ := strings.Cut(target, ":")
		if want := slices.Contains(may, who); self != who && answered[target] != want {
			wrong = append(wrong, fmt.Errorf("%s: answered %v, want %v", target, answered[target], want))
		}
	}
	return errors.Join(wrong...)
}

// knocker is a pod with a service's labels that does nothing. It never becomes ready, so that no request is sent to it.
func knocker(who string) string {
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
`, who, release, who, redisImage)
}

// redisImage has a program that says of any port whether something listens behind it: redis-cli.
const redisImage = "localhost/redis:7"

// unanswered is when a connection that nobody refuses is given up: where a cluster drops what its policies forbid.
const unanswered = 10 * time.Second

// knocking asks for a PING at every address at the same time and prints what came of each in one line.
const knocking = `for at in "$@"; do (said=$(redis-cli -h "${at%:*}" -p "${at#*:}" PING 2>&1); echo "$at $said") & done; wait`

// knock says which ports accepted a connection of a pod. What is behind them rarely speaks Redis's protocol; that it
// says anything is enough.
func (c cluster) knock(t *testing.T, who string) map[string]bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), unanswered)
	defer cancel()
	args := []string{"--namespace", namespace, "exec", "knocker-" + who, "--", "sh", "-c", knocking, "sh"}
	for target := range callers {
		args = append(args, release+"-"+target)
	}
	out, err := c.try(ctx, nil, "kubectl", args...)
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	answered := make(map[string]bool)
	for line := range strings.Lines(out) {
		target, said, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), release+"-"), " ")
		switch {
		case strings.Contains(said, "Could not connect"):
		case said == "PONG", strings.Contains(said, "Protocol error"),
			strings.Contains(said, "Server closed the connection"), strings.Contains(said, "reset by peer"):
			answered[target] = true
		default:
			t.Fatalf("%s knocked at %s: %s", who, target, said)
		}
	}
	return answered
}
