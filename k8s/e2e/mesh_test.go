package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// meshSetting is "istio" if the cluster has Istio, as `k8s/cluster/run --with istio` creates it.
const meshSetting = "SLOTMESH_E2E_MESH"

// tracing is the namespace of Jaeger, which stores the spans of the mesh test.
const tracing = namespace + "-tracing"

// TestChartInMesh installs the release with a sidecar proxy in every pod of a service.
func TestChartInMesh(t *testing.T) {
	c := connect(t)
	if os.Getenv(meshSetting) != "istio" {
		t.Skipf("this cluster is not known to have Istio; set %s=istio where it does", meshSetting)
	}
	c.startTracing(t)
	c.install(t, "testdata/mesh-values.yaml")

	t.Run("every pod of a service has a proxy and helm test passes", c.checkMesh)
	key := c.connectOwner(t).createKey(t, "harbor-studio")
	main := c.connectFront(t, "Gateway API by Traefik", "traefik", host)
	t.Run("the public paths and only they answer through the Gateway", func(t *testing.T) {
		checkPublicPaths(t, main, key)
	})
	t.Run("limits tell customers apart", func(t *testing.T) { checkLimitsByAddress(t, main) })
	t.Run("who is allowed what", c.checkAuthorization)
	t.Run("one trace goes through services and proxies", func(t *testing.T) { c.checkTrace(t, main) })
	t.Run("a rollout under load fails no request", func(t *testing.T) { c.checkRollout(t, main) })
	t.Run("a pod killed every three seconds under load fails no request", func(t *testing.T) {
		c.killPods(t, newLoad(t, c, main, "killing").slowDown(), 18, 3*time.Second)
	})
}

// startTracing starts Jaeger outside the mesh.
func (c cluster) startTracing(t *testing.T) {
	t.Helper()
	c.run(t, "kubectl", "apply", "--filename", "testdata/tracing.yaml")
	t.Cleanup(func() {
		if _, err := c.tryRun(context.WithoutCancel(t.Context()), nil, "kubectl", "delete", "namespace", tracing,
			"--timeout=3m"); err != nil {
			t.Error(err)
		}
	})
	c.run(t, "kubectl", "--namespace", tracing, "rollout", "status", "deployment/jaeger", "--timeout",
		waitTimeout.String())
}

// checkMesh checks that the pods of services have a proxy, which Istio adds as an init container that continues to run.
func (c cluster) checkMesh(t *testing.T) {
	c.checkPodsReady(t)
	for line := range strings.Lines(c.kubectl(t, "get", "pods", "--selector", "app.kubernetes.io/instance="+release,
		"--output",
		`jsonpath={range .items[*]}{.metadata.labels.app\.kubernetes\.io/component}:{.spec.initContainers[*].name}{"\n"}{end}`)) {
		name, containers, _ := strings.Cut(strings.TrimSpace(line), ":")
		if in := slices.Contains(strings.Fields(containers), "istio-proxy"); in != slices.Contains(services, name) &&
			name != "demo" {
			t.Errorf("a pod of %s has a proxy: %v", name, in)
		}
	}
	c.helm(t, "test", release, "--timeout", "3m")
}

// checkLimitsByAddress reads as one customer until the limit refuses it, and then as another customer. All requests
// reach the service from the proxy in its pod.
func checkLimitsByAddress(t *testing.T, f frontClient) {
	one, other := newClientAddress(), newClientAddress()
	from := func(address string) int {
		a, err := f.send(t.Context(), http.MethodGet, "/api/public/harbor-studio/info", nil,
			http.Header{"X-Forwarded-For": {address}})
		if err != nil {
			t.Fatal(err)
		}
		return a.status
	}
	for range 2 * 130 { // for both replicas, if Redis does not count
		if status := from(one); status == http.StatusTooManyRequests {
			break
		} else if status != http.StatusOK {
			t.Fatalf("a read was answered %d", status)
		}
	}
	if first, second := from(one), from(other); first != http.StatusTooManyRequests || second != http.StatusOK {
		t.Errorf("after more reads than an address may send, it is answered %d and another %d; want 429 and 200", first,
			second)
	}
}

// checkAuthorization calls every service with the account of every service, with another account, and from outside the
// mesh. NetworkPolicies allow these callers, so only the mesh refuses them.
func (c cluster) checkAuthorization(t *testing.T) {
	names := append([]string{"stranger", "outsider"}, services...)
	for _, name := range names {
		c.apply(t, newCallerPod(name))
	}
	c.apply(t, callersPolicy)
	t.Cleanup(func() {
		if _, err := c.tryRun(context.WithoutCancel(t.Context()), nil, "kubectl", "--namespace", namespace, "delete",
			"pod,networkpolicy", "--selector", "e2e=caller", "--timeout=1m"); err != nil {
			t.Error(err)
		}
	})
	for _, name := range names {
		c.kubectl(t, "wait", "--for=condition=Ready", "pod/caller-"+name, "--timeout=3m")
	}
	for _, name := range append([]string{"stranger"}, services...) {
		t.Run(name, func(t *testing.T) {
			waitFor(t, name+" may call what the table says and nothing else", func() error {
				return c.checkCalls(t, name)
			})
		})
	}
	t.Run("outside of the mesh", func(t *testing.T) {
		waitFor(t, "plain text is refused", func() error { return c.checkPlainText(t) })
	})
	t.Run("a proxy calls its service from an address of its own", func(t *testing.T) {
		to := "http://" + c.kubectl(t, "get", "pod", "caller-stranger", "--output", "jsonpath={.status.podIP}") +
			":8080/"
		if output := c.callAll(t, "outsider", to)[to]; !strings.HasPrefix(output, "200 127.0.0.6:") {
			t.Errorf("a container called through its proxy sees %q; want an address that the chart trusts", output)
		}
	})
}

// rbacDenied is the answer of a proxy to a request that no policy allows.
const rbacDenied = "403 RBAC: access denied"

// checkCalls returns an error if the mesh allows a service's account more or less than the table. The service itself
// refuses allowed requests, because the caller has no peer secret.
func (c cluster) checkCalls(t *testing.T, caller string) error {
	t.Helper()
	want := map[string]bool{serviceURL("console", 8080, "/admin/businesses"): false}
	for _, callee := range services {
		want[serviceURL(callee, 9090, "/internal/e2e")] = slices.Contains(table[caller].Calls, callee)
		want[serviceURL(callee, 9090, "/metrics")] = false
	}
	answers := c.callAll(t, caller, slices.Collect(maps.Keys(want))...)
	var problems []error
	for url, isAllowed := range want {
		if in := strings.Contains(answers[url], `{"error"`); in != isAllowed || !in && answers[url] != rbacDenied {
			problems = append(problems, fmt.Errorf("%s: allowed: want %v, got %q", url, isAllowed, answers[url]))
		}
	}
	return errors.Join(problems...)
}

// checkPlainText calls without a proxy. Public ports answer, because the front is also outside the mesh. All other
// ports reset the connection.
func (c cluster) checkPlainText(t *testing.T) error {
	t.Helper()
	open := serviceURL("catalog", 8080, "/api/public/harbor-studio/info")
	urls := []string{open, serviceURL("pricing", 8080, "/"), serviceURL("notifications", 8080, "/"),
		serviceURL("console", 8080, "/admin/businesses")}
	for _, callee := range services {
		urls = append(urls, serviceURL(callee, 9090, "/internal/e2e"))
	}
	var problems []error
	for url, output := range c.callAll(t, "outsider", urls...) {
		broken := strings.HasPrefix(output, "error") &&
			(strings.HasSuffix(output, ": EOF") || strings.HasSuffix(output, "connection reset by peer"))
		if url == open && !strings.HasPrefix(output, "200 ") || url != open && !broken {
			problems = append(problems, fmt.Errorf("%s: %s", url, output))
		}
	}
	return errors.Join(problems...)
}

func serviceURL(service string, port int, path string) string {
	return fmt.Sprintf("http://%s-%s:%d%s", release, service, port, path)
}

// callAll calls the addresses from the pod of a caller. It returns the status and the beginning of the body, or the
// error, by address.
func (c cluster) callAll(t *testing.T, caller string, urls ...string) map[string]string {
	t.Helper()
	answers := make(map[string]string)
	out := c.kubectl(t, append([]string{"exec", "caller-" + caller, "--container", "caller", "--", "/service", "GET"},
		urls...)...)
	for line := range strings.Lines(out) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		url, answer, _ := strings.Cut(rest, " ")
		answers[url] = answer
	}
	return answers
}

// newCallerPod returns a pod with the account of a service, but without its labels, so that no Service and no
// NetworkPolicy of the release selects it.
func newCallerPod(caller string) string {
	account := release + "-" + caller
	if caller == "stranger" || caller == "outsider" {
		account = "default"
	}
	return fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata:
  name: caller-%s
  labels: {e2e: caller, sidecar.istio.io/inject: "%t"}
spec:
  terminationGracePeriodSeconds: 0
  serviceAccountName: %s
  automountServiceAccountToken: false
  securityContext: {runAsNonRoot: true, runAsUser: 65532, seccompProfile: {type: RuntimeDefault}}
  containers:
    - name: caller
      image: localhost/caller:1
      imagePullPolicy: Never
      ports: [{containerPort: 8080}]
      securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
`, caller, caller != "outsider", account)
}

const callersPolicy = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: callers, labels: {e2e: caller}}
spec:
  podSelector: {matchLabels: {app.kubernetes.io/instance: ` + release + `}}
  ingress: [{from: [{podSelector: {matchLabels: {e2e: caller}}}]}]
`

// span is a span in Jaeger's format.
type span struct {
	SpanID     string
	ProcessID  string
	References []struct{ SpanID string }
	Process    string `json:"-"`
}

// checkTrace reads a calendar as a client that sends a trace id. The trace must contain the services and the proxies
// between them.
func (c cluster) checkTrace(t *testing.T, f frontClient) {
	var offer struct{ Services []struct{ ID string } }
	if err := f.readJSON(t.Context(), "harbor-studio/services", &offer); err != nil || len(offer.Services) == 0 {
		t.Fatal(err)
	}
	store := frontClient{http: f.http, address: "http://" + c.run(t, "kubectl", "--namespace", tracing, "get",
		"service",
		"jaeger", "--output", "jsonpath={.spec.clusterIP}") + ":16686"}
	n := 0
	waitFor(t, "a trace", func() error {
		n++ // occupied time is cached, so each attempt requests another day
		id := fmt.Sprintf("%016x%016x", time.Now().UnixNano(), n)
		date := time.Now().AddDate(0, 0, 1+n%300).Format(time.DateOnly)
		a, err := f.send(t.Context(), http.MethodGet, "/api/public/harbor-studio/slots?date="+date+"&service_id="+
			offer.Services[0].ID, nil,
			http.Header{"Traceparent": {"00-" + id + "-" + clientSpan + "-01"}})
		if err != nil || a.status != http.StatusOK {
			return fmt.Errorf("%v %w", a, err)
		}
		var last error
		for range 10 {
			time.Sleep(time.Second) // spans are sent in batches
			spans, err := readTrace(t.Context(), store, id)
			if last = errors.Join(err, checkContinuity(spans)); last == nil {
				return nil
			}
		}
		return last
	})
}

// readTrace returns the spans of a trace from Jaeger.
func readTrace(ctx context.Context, store frontClient, id string) (map[string]span, error) {
	a, err := store.send(ctx, http.MethodGet, "/api/traces/"+id, nil, nil)
	if err != nil || a.status != http.StatusOK {
		return nil, fmt.Errorf("%v %w", a, err)
	}
	var found struct {
		Data []struct {
			Spans     []span
			Processes map[string]struct{ ServiceName string }
		}
	}
	if err := json.Unmarshal(a.body, &found); err != nil || len(found.Data) != 1 {
		return nil, fmt.Errorf("%v %w", a, err)
	}
	spans := make(map[string]span)
	for _, s := range found.Data[0].Spans {
		s.Process = found.Data[0].Processes[s.ProcessID].ServiceName
		spans[s.SpanID] = s
	}
	return spans, nil
}

// clientSpan is the id of the test's own span in Traceparent.
const clientSpan = "00f067aa0ba902b7"

// checkContinuity follows the parents of booking's span up to the client. It returns an error with the processes on the
// way if they are not the expected ones.
func checkContinuity(spans map[string]span) error {
	const proxy = "slotmesh." + namespace // Istio names proxies by app.kubernetes.io/name
	want := []string{"booking", proxy, proxy, "availability", "availability", proxy, "the client"}
	var seen [][]string
	for _, s := range spans {
		if s.Process != "booking" || len(s.References) != 1 || spans[s.References[0].SpanID].Process != proxy {
			continue
		}
		path := []string{s.Process}
		for len(s.References) == 1 {
			above := s.References[0].SpanID
			if above == clientSpan {
				path = append(path, "the client")
			}
			if s = spans[above]; s.SpanID != "" {
				path = append(path, s.Process)
			}
		}
		if slices.Equal(path, want) {
			return nil
		}
		seen = append(seen, path)
	}
	return fmt.Errorf("none of the %d spans leads from booking through %v; found: %v", len(spans), want, seen)
}

// checkRollout replaces every pod of every service while the load runs. The new pods trace a hundredth of the requests.
func (c cluster) checkRollout(t *testing.T, f frontClient) {
	l := newLoad(t, c, f, "rolling").slowDown()
	before := c.listPods(t)
	l.runDuring(t, func() {
		c.helm(t, append([]string{"upgrade", release, chart, "--wait", "--timeout", "8m", "--set", "logLevel=warn",
			"--set-json", "telemetry.traceRatio=0.01"}, listValues("testdata/mesh-values.yaml")...)...)
		c.awaitRollout(t)
	})
	c.checkPodsReady(t)
	c.checkReplaced(t, before)
	l.compare(t, c.connectOwner(t))
}
