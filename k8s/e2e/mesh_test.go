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

// meshSetting is "istio" where the cluster has Istio, as `k8s/cluster/run --with istio` makes it.
const meshSetting = "SLOTMESH_E2E_MESH"

// tracing is where the spans of the mesh's tests go.
const tracing = namespace + "-tracing"

// TestTheChartInAMesh installs the release with a proxy in every pod of its services, through which all that they send
// and receive goes.
func TestTheChartInAMesh(t *testing.T) {
	c := connect(t)
	if os.Getenv(meshSetting) != "istio" {
		t.Skipf("this cluster is not known to have Istio; set %s=istio where it does", meshSetting)
	}
	c.tracing(t)
	c.install(t, "testdata/mesh-values.yaml")

	t.Run("every pod of a service has a proxy and helm test passes", c.everyServiceIsInTheMesh)
	key := c.owner(t).key(t, "harbor-studio")
	main := c.reach(t, "Gateway API by Traefik", "traefik", host)
	t.Run("the public paths and only they answer through the Gateway", func(t *testing.T) { described(t, main, key) })
	t.Run("limits tell customers apart", func(t *testing.T) { limitsByAddress(t, main) })
	t.Run("who is allowed what", c.allowed)
	t.Run("one trace goes through services and proxies", func(t *testing.T) { c.traced(t, main) })
	t.Run("a rollout under load fails no request", func(t *testing.T) { c.rollout(t, main) })
	t.Run("a pod killed every three seconds under load fails no request", func(t *testing.T) {
		c.killings(t, newLoad(t, c, main, "killing").gently(), 18, 3*time.Second)
	})
}

// tracing starts Jaeger beside the release, outside the mesh.
func (c cluster) tracing(t *testing.T) {
	t.Helper()
	c.run(t, "kubectl", "apply", "--filename", "testdata/tracing.yaml")
	t.Cleanup(func() {
		if _, err := c.try(context.WithoutCancel(t.Context()), nil, "kubectl", "delete", "namespace", tracing,
			"--timeout=3m"); err != nil {
			t.Error(err)
		}
	})
	c.run(t, "kubectl", "--namespace", tracing, "rollout", "status", "deployment/jaeger", "--timeout",
		eventually.String())
}

// everyServiceIsInTheMesh looks for the proxy, which Istio puts among the containers that start first and run on.
func (c cluster) everyServiceIsInTheMesh(t *testing.T) {
	c.everyPodIsReady(t)
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

// limitsByAddress reads as one customer until that is too much, and then as another. To a service every call comes from
// the proxy in its pod.
func limitsByAddress(t *testing.T, f front) {
	one, other := client(), client()
	from := func(address string) int {
		a, err := f.send(t.Context(), http.MethodGet, "/api/public/harbor-studio/info", nil,
			http.Header{"X-Forwarded-For": {address}})
		if err != nil {
			t.Fatal(err)
		}
		return a.status
	}
	for range 2 * 130 { // of either replica, should Redis not count for both
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

// allowed calls every service from the mesh with every service's account and with none, and from outside of the mesh.
// NetworkPolicies let the callers through here, so that what refuses them is the mesh.
func (c cluster) allowed(t *testing.T) {
	who := append([]string{"stranger", "outsider"}, services...)
	for _, name := range who {
		c.apply(t, callerPod(name))
	}
	c.apply(t, callersPolicy)
	t.Cleanup(func() {
		if _, err := c.try(context.WithoutCancel(t.Context()), nil, "kubectl", "--namespace", namespace, "delete",
			"pod,networkpolicy", "--selector", "e2e=caller", "--timeout=1m"); err != nil {
			t.Error(err)
		}
	})
	for _, name := range who {
		c.kubectl(t, "wait", "--for=condition=Ready", "pod/caller-"+name, "--timeout=3m")
	}
	for _, name := range append([]string{"stranger"}, services...) {
		t.Run(name, func(t *testing.T) {
			soon(t, name+" may call what the table says and nothing else", func() error {
				return c.callsOnlyItsOwn(t, name)
			})
		})
	}
	t.Run("outside of the mesh", func(t *testing.T) {
		soon(t, "plain text is refused", func() error { return c.plainTextIsRefused(t) })
	})
	t.Run("a proxy calls its service from an address of its own", func(t *testing.T) {
		to := "http://" + c.kubectl(t, "get", "pod", "caller-stranger", "--output", "jsonpath={.status.podIP}") +
			":8080/"
		if said := c.calls(t, "outsider", to)[to]; !strings.HasPrefix(said, "200 127.0.0.6:") {
			t.Errorf("asked through its proxy, a container sees %q; want an address that the chart believes", said)
		}
	})
}

// rbac is how a proxy refuses what no policy allows.
const rbac = "403 RBAC: access denied"

// callsOnlyItsOwn says where a service's account is let in, in the mesh, or refused, otherwise than the table has it.
// What is let in, the service itself refuses, as the caller does not show what peers show.
func (c cluster) callsOnlyItsOwn(t *testing.T, who string) error {
	t.Helper()
	want := map[string]bool{at("console", 8080, "/admin/businesses"): false}
	for _, callee := range services {
		want[at(callee, 9090, "/internal/e2e")] = slices.Contains(table[who].Calls, callee)
		want[at(callee, 9090, "/metrics")] = false
	}
	said := c.calls(t, who, slices.Collect(maps.Keys(want))...)
	var wrong []error
	for url, let := range want {
		if in := strings.Contains(said[url], `{"error"`); in != let || !in && said[url] != rbac {
			wrong = append(wrong, fmt.Errorf("%s: let in: want %v, got %q", url, let, said[url]))
		}
	}
	return errors.Join(wrong...)
}

// plainTextIsRefused calls without a proxy: a public port answers, as the front is outside the mesh, too; every other
// one breaks the connection off.
func (c cluster) plainTextIsRefused(t *testing.T) error {
	t.Helper()
	open := at("catalog", 8080, "/api/public/harbor-studio/info")
	urls := []string{open, at("pricing", 8080, "/"), at("notifications", 8080, "/"),
		at("console", 8080, "/admin/businesses")}
	for _, callee := range services {
		urls = append(urls, at(callee, 9090, "/internal/e2e"))
	}
	var wrong []error
	for url, said := range c.calls(t, "outsider", urls...) {
		broken := strings.HasPrefix(said, "error") &&
			(strings.HasSuffix(said, ": EOF") || strings.HasSuffix(said, "connection reset by peer"))
		if url == open && !strings.HasPrefix(said, "200 ") || url != open && !broken {
			wrong = append(wrong, fmt.Errorf("%s: %s", url, said))
		}
	}
	return errors.Join(wrong...)
}

func at(service string, port int, path string) string {
	return fmt.Sprintf("http://%s-%s:%d%s", release, service, port, path)
}

// calls asks addresses from the pod of a caller, and returns the status and the beginning of the body, or the error, of
// each.
func (c cluster) calls(t *testing.T, who string, urls ...string) map[string]string {
	t.Helper()
	said := make(map[string]string)
	out := c.kubectl(t, append([]string{"exec", "caller-" + who, "--container", "caller", "--", "/service", "GET"},
		urls...)...)
	for line := range strings.Lines(out) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		url, answer, _ := strings.Cut(rest, " ")
		said[url] = answer
	}
	return said
}

// callerPod has the account of a service, but not its labels: no request is sent to it, and no NetworkPolicy of the
// release is about it.
func callerPod(who string) string {
	account := release + "-" + who
	if who == "stranger" || who == "outsider" {
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
`, who, who != "outsider", account)
}

const callersPolicy = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: callers, labels: {e2e: caller}}
spec:
  podSelector: {matchLabels: {app.kubernetes.io/instance: ` + release + `}}
  ingress: [{from: [{podSelector: {matchLabels: {e2e: caller}}}]}]
`

// span is what Jaeger tells of one.
type span struct {
	SpanID     string
	ProcessID  string
	References []struct{ SpanID string }
	Process    string `json:"-"`
}

// traced reads a calendar as a client that traces: what it starts goes on in the proxy before the service that it asks,
// in that service, and through both proxies between that and those that it asks in turn.
func (c cluster) traced(t *testing.T, f front) {
	var offer struct{ Services []struct{ ID string } }
	if err := f.read(t.Context(), "harbor-studio/services", &offer); err != nil || len(offer.Services) == 0 {
		t.Fatal(err)
	}
	store := front{http: f.http, address: "http://" + c.run(t, "kubectl", "--namespace", tracing, "get", "service",
		"jaeger", "--output", "jsonpath={.spec.clusterIP}") + ":16686"}
	n := 0
	soon(t, "a trace", func() error {
		n++ // what is occupied is kept for a while: each time another day is asked for
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
			spans, err := traceOf(t.Context(), store, id)
			if last = errors.Join(err, continuous(spans)); last == nil {
				return nil
			}
		}
		return last
	})
}

// traceOf asks Jaeger for a trace.
func traceOf(ctx context.Context, store front, id string) (map[string]span, error) {
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

// clientSpan is the span of the test's own, as it tells in Traceparent.
const clientSpan = "00f067aa0ba902b7"

// continuous climbs from what booking did for availability up to who asked that, and says who was on the way.
func continuous(spans map[string]span) error {
	const proxy = "slotmesh." + namespace // Istio names them by app.kubernetes.io/name
	want := []string{"booking", proxy, proxy, "availability", "availability", proxy, "the client"}
	var seen [][]string
	for _, s := range spans {
		if s.Process != "booking" || len(s.References) != 1 || spans[s.References[0].SpanID].Process != proxy {
			continue
		}
		way := []string{s.Process}
		for len(s.References) == 1 {
			above := s.References[0].SpanID
			if above == clientSpan {
				way = append(way, "the client")
			}
			if s = spans[above]; s.SpanID != "" {
				way = append(way, s.Process)
			}
		}
		if slices.Equal(way, want) {
			return nil
		}
		seen = append(seen, way)
	}
	return fmt.Errorf("of %d spans none leads from booking by %v; seen: %v", len(spans), want, seen)
}

// rollout replaces every pod of every service while the load runs. From then on a hundredth is traced.
func (c cluster) rollout(t *testing.T, f front) {
	l := newLoad(t, c, f, "rolling").gently()
	before := c.pods(t)
	l.during(t, func() {
		c.helm(t, append([]string{"upgrade", release, chart, "--wait", "--timeout", "8m", "--set", "logLevel=warn",
			"--set-json", "telemetry.traceRatio=0.01"}, values("testdata/mesh-values.yaml")...)...)
		c.awaitRollout(t)
	})
	c.everyPodIsReady(t)
	c.replaced(t, before)
	l.compare(t, c.owner(t))
}
