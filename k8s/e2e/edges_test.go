package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
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
		c.kubectl(t, "delete", "pod", "--selector", "e2e=knocker", "--grace-period=0", "--force", "--timeout=1m")
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
      command: [sleep, "3600"]
      readinessProbe: {exec: {command: ["false"]}}
      securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`, who, release, who, postgresImage)
}

// postgresImage has a program that says of any port whether something listens behind it: psql.
const postgresImage = "localhost/postgres:15"

// knock says whether a connection to a service's port was accepted. What is behind it rarely speaks PostgreSQL; that it says
// anything is enough.
func (c cluster) knock(t *testing.T, who, target string) (string, bool) {
	t.Helper()
	name, port, _ := strings.Cut(target, ":")
	connection := fmt.Sprintf("host=%s-%s port=%s connect_timeout=3 user=nobody password=none dbname=nothing sslmode=disable", release, name, port)
	_, err := c.try(t.Context(), nil, "kubectl", "--namespace", namespace, "exec", "knocker-"+who, "--", "psql", connection, "--command", "SELECT 1")
	if err == nil {
		return "", true
	}
	said := err.Error()
	for _, closed := range []string{"Connection refused", "timeout expired", "No route to host", "Network is unreachable", "timed out"} {
		if strings.Contains(said, closed) {
			return said, false
		}
	}
	if !strings.Contains(said, "connection to server at") {
		t.Fatalf("a pod could not knock: %s", said)
	}
	return said, true
}
