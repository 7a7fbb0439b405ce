package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// callers says who may call what: the table of the design, turned around. A store counts as one that is called.
var callers = map[string][]string{
	"catalog:9090":      {"availability", "booking", "console", "mcp", "pricing", "rental"},
	"pricing:9090":      {"booking", "catalog"},
	"availability:9090": {"booking", "mcp"},
	"booking:9090":      {"availability", "catalog", "console", "mcp"},
	"rental:9090":       {"availability", "catalog", "console"},
	"mcp:9090":          {},
	"console:9090":      {},
	"postgres:5432":     {"booking", "catalog", "rental"},
	"redis:6379":        {"availability", "booking", "catalog", "pricing", "rental"},
}

// edges knocks at every internal port and store from pods that look like each service, and from one that looks like none.
func (c cluster) edges(t *testing.T) {
	if os.Getenv(policies) == "" {
		t.Skipf("NetworkPolicies are not known to be enforced on this cluster; set %s=enforced where they are", policies)
	}
	for _, who := range append([]string{"stranger"}, services...) {
		c.apply(t, knocker(who))
	}
	t.Cleanup(func() {
		if _, err := c.try(context.WithoutCancel(t.Context()), nil, "kubectl", "--namespace", namespace, "delete", "pod", "--selector", "e2e=knocker", "--timeout=1m"); err != nil {
			t.Error(err)
		}
	})
	for _, who := range append([]string{"stranger"}, services...) {
		c.kubectl(t, "wait", "--for=jsonpath={.status.phase}=Running", "pod/knocker-"+who, "--timeout=2m")
	}
	for target, may := range callers {
		for _, who := range append([]string{"stranger"}, services...) {
			if name, _, _ := strings.Cut(target, ":"); name == who {
				continue
			}
			want := slices.Contains(may, who)
			soon(t, fmt.Sprintf("%s knocks at %s, answered %v", who, target, want), func() error {
				if said, got := c.knock(t, who, target); got != want {
					return fmt.Errorf("answered %v: %s", got, said)
				}
				return nil
			})
		}
	}
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
const unanswered = 5 * time.Second

// knock says whether a connection to a service's port was accepted. What is behind it rarely speaks Redis's protocol; that it says
// anything is enough.
func (c cluster) knock(t *testing.T, who, target string) (string, bool) {
	t.Helper()
	name, port, _ := strings.Cut(target, ":")
	ctx, cancel := context.WithTimeout(t.Context(), unanswered)
	defer cancel()
	out, err := c.try(ctx, nil, "kubectl", "--namespace", namespace, "exec", "knocker-"+who, "--", "redis-cli", "-h", release+"-"+name, "-p", port, "PING")
	said := fmt.Sprintf("%s %v", out, err)
	if ctx.Err() != nil || strings.Contains(said, "Could not connect") {
		return said, false
	}
	if out == "PONG\n" || strings.Contains(said, "Protocol error") || strings.Contains(said, "Server closed the connection") || strings.Contains(said, "reset by peer") {
		return said, true
	}
	t.Fatalf("a pod could not knock: %s", said)
	return said, false
}
