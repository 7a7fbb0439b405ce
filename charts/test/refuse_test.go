package chart_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

func TestRenderRefusesContradictions(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"postgres.provider=external":     "postgres.existingSecret.name: name the Secret",
		"postgres.existingSecret.name=x": "postgres.existingSecret.name: leave it empty",
		"postgres.pooled=true":           "trial sees to all of that itself",
		"postgres.provider=external,postgres.existingSecret.name=x,postgres.pooled=true":         "postgres.userPerService: set it",
		"postgres.provider=external,postgres.existingSecret.name=x,postgres.userPerService=true": "postgres.migrationsSecret.name: name the Secret",
		"postgres.provider=cloudnativepg,postgres.cloudnativepg.instances=1":                     "write fewer than the instances (1)",
		"redis.cluster=true": "trial brings one plain Redis of its own",
		"redis.provider=external,redis.url=redis://r,redis.cluster=true,redis.sentinel.master=m": "not both: a cluster has no Sentinels",
		"redis.provider=external,redis.url=redis://r,redis.caSecret.name=c":                      "redis.url: write rediss://",
		"components.booking.env.DATABASE_POOLED=true":                                            "the chart sets it itself",
		"postgres.provider=cloudnativepg,postgres.existingSecret.name=x":                         "cloudnativepg makes a Secret of its own",
		"redis.provider=external": "redis: give redis.url, or redis.existingSecret.name",
		"redis.provider=external,redis.url=redis://a,redis.existingSecret.name=x": "redis: give redis.url or redis.existingSecret.name, not both",
		"redis.provider=external,redis.url=redis://:secret@redis.data:6379/0":     "redis.url: put a URL with a password into a Secret",
		"requestTimeoutSeconds=14,drain.timeoutSeconds=13":                        "drain.timeoutSeconds: write requestTimeoutSeconds (14) or more",
		"monitoring.enabled=true":                                              "networkPolicy.metricsFrom: say where Prometheus runs",
		"defaults.autoscaling.enabled=true":                                    "postgres.maxConnections: write 414 or more if the database takes them, or fewer pods: of 100 connections, 14 are kept",
		"postgres.provider=cloudnativepg,components.rental.replicas=20":        "54 pods of booking, catalog, console, notifications, rental, old and new ones of a rollout, need 4 each",
		"postgres.provider=external,postgres.maxConnections=85":                "postgres.maxConnections: write 86 or more",
		"postgres.maxConnections=3":                                            "postgres.maxConnections: write 86 or more",
		"redis.url=redis://a":                                                  "redis: set redis.provider to external",
		"frontDoor.gateway.className=a,frontDoor.gateway.parentRefs[0].name=b": "frontDoor.gateway: give className to have a Gateway made, or parentRefs",
		"frontDoor.adminHost=book.example.com":                                 "frontDoor.adminHost: take a host that is not among frontDoor.hosts",
		"frontDoor.adminHost=a.example.com":                                    "nothing leads to that host otherwise",
		"frontDoor.adminHost=a.example.com,frontDoor.ingress.controller=nginx,frontDoor.tls.secretName=x": "frontDoor.tls.adminSecretName: name the Secret",
		"frontDoor.tls.adminSecretName=x":                      "frontDoor.adminHost: name the host that",
		"frontDoor.gateway.experimentalRetry=true":             "frontDoor.gateway.experimentalRetry: it has no effect",
		"frontDoor.timeoutSeconds=10":                          "frontDoor.timeoutSeconds: write more than requestTimeoutSeconds (10)",
		"mesh.provider=istio,frontDoor.gateway.enabled=true":   "mesh.frontAccounts: name the service accounts",
		"mesh.provider=linkerd,frontDoor.gateway.enabled=true": "mesh.frontAccounts: name the service accounts",
		"mesh.provider=istio,mesh.frontOutside=true,mesh.frontAccounts[0].name=a,mesh.frontAccounts[0].namespace=b": "mesh: set frontOutside or name frontAccounts, not both",
		"mesh.frontOutside=true": "mesh: set mesh.provider to istio or linkerd",
		"mesh.provider=linkerd,mesh.frontOutside=true,mesh.tracingProvider=a":                                                                         "mesh.tracingProvider: it names an extension provider of Istio",
		"mesh.provider=linkerd,mesh.frontOutside=true,monitoring.enabled=true":                                                                        "mesh.metricsAccounts: name the service account of Prometheus",
		"components.booking.autoscaling.enabled=true,components.booking.autoscaling.maxReplicas=1":                                                    "components.booking.autoscaling: write a maxReplicas of 2 or more",
		"defaults.autoscaling.enabled=true,defaults.resources.requests.cpu=null":                                                                      "resources.requests.cpu: write one",
		"components.mcp.autoscaling.enabled=true,components.mcp.autoscaling.keda.enabled=true":                                                        "components.mcp.autoscaling.keda: give prometheusURL or triggers",
		"components.mcp.autoscaling.enabled=true,components.mcp.autoscaling.keda.enabled=true,components.mcp.autoscaling.keda.prometheusURL=http://p": "components.mcp.autoscaling.keda.prometheusURL: set monitoring.enabled",
		"components.mcp.env.CATALOG_URL=http://x":                                                                                                     "components.mcp.env: leave CATALOG_URL out",
		"components.mcp.env.A=1,components.mcp.secretEnv.A.name=x,components.mcp.secretEnv.A.key=y":                                                   "components.mcp: give A under env or under secretEnv",
	} {
		_, err := render(t, parseSettings(t, settings), false)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a sentence with %q", settings, err, want)
		}
	}
}

// TestRenderRefusesOwnVariables sets variables that the chart sets from other values.
func TestRenderRefusesOwnVariables(t *testing.T) {
	t.Parallel()
	for component, names := range map[string][]string{
		"notifications": {"MESSAGES_PER_DAY", "MESSAGES_PER_DAY_OF", "MESSAGES_UNDO", "WEBHOOK_ALLOW"},
		"console":       {"ADMIN_LIMIT_PER_MINUTE", "INVITATIONS_PER_HOUR"},
	} {
		for _, name := range names {
			env := "components." + component + ".env"
			want := env + ": leave " + name + " out"
			if _, err := render(t, parseSettings(t, env+"."+name+"=1"), false); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want a sentence with %q", name, err, want)
			}
		}
	}
}

// TestRenderRequiresTrustedProxies has front doors without the networks of their proxies. All customers would then have
// the same address.
func TestRenderRequiresTrustedProxies(t *testing.T) {
	t.Parallel()
	none, allNetworks := []any{}, []any{"10.0.3.0/24", "::/0"}
	for name, c := range map[string]struct {
		door map[string]any
		want string
	}{
		"a gateway": {map[string]any{"trustedProxies": none, "gateway": map[string]any{"enabled": true}},
			"frontDoor.trustedProxies: name the networks from which"},
		"an ingress": {map[string]any{"trustedProxies": none,
			"ingress": map[string]any{"controller": "nginx"}}, "a node's address is not a proxy's"},
		"everybody's network": {map[string]any{"trustedProxies": allNetworks},
			"frontDoor.trustedProxies: ::/0 believes everybody"},
		"no front door": {map[string]any{"trustedProxies": none}, ""},
	} {
		_, err := render(t, map[string]any{"frontDoor": c.door}, false)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want a sentence with %q", name, err, c.want)
		}
	}
}

func TestChartRequiresKubeVersion(t *testing.T) {
	t.Parallel()
	wanted := loadChart(t).Metadata.KubeVersion
	for version, fits := range map[string]bool{"v1.29.9": false, "v1.30.0": true, "v1.33.1-eks-1234": true} {
		if chartutil.IsCompatibleRange(wanted, version) != fits {
			t.Errorf("%s of %s: fits is not %v", version, wanted, fits)
		}
	}
}

func TestRenderReportsAllContradictions(t *testing.T) {
	t.Parallel()
	_, err := render(t, parseSettings(t,
		"postgres.provider=external,redis.provider=external,mesh.provider=istio,frontDoor.gateway.enabled=true"), false)
	for _, want := range []string{"postgres.existingSecret", "redis.existingSecret", "mesh.frontAccounts"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want also a sentence about %s", err, want)
		}
	}
}

// freeMaps are the values whose keys the user or Kubernetes chooses.
var freeMaps = []string{
	"nodeSelector", "affinity", "podAnnotations", "podLabels", "serviceAnnotations", "serviceAccountAnnotations",
	"requests",
	"limits", "annotations", "parameters", "labels", "dashboardLabels", "env", "secretEnv",
	"podSecurityContext", "securityContext", "lifecycle", "spec",
}

// listMaps returns the paths of all maps among the values whose keys the chart defines.
func listMaps(values map[string]any, path []string) [][]string {
	found := [][]string{path}
	for name, value := range values {
		if below, ok := value.(map[string]any); ok && !slices.Contains(freeMaps, name) {
			found = append(found, listMaps(below, append(slices.Clone(path), name))...)
		}
	}
	return found
}

func nestValue(path []string, value any) map[string]any {
	for _, name := range slices.Backward(path) {
		value = map[string]any{name: value}
	}
	out, _ := value.(map[string]any)
	return out
}

func TestSchemaRefusesUnknownValues(t *testing.T) {
	t.Parallel()
	all := listMaps(loadChart(t).Values, nil)
	if len(all) < 30 {
		t.Fatalf("only %d places among the values", len(all))
	}
	for _, path := range all {
		_, err := render(t, nestValue(append(path, "unknown"), 1), false)
		if err == nil || !strings.Contains(err.Error(), "unknown") {
			t.Errorf("%s.unknown: got %v", strings.Join(path, "."), err)
		}
	}
}

func TestSchemaRefusesWrongTypes(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{
		"defaults.replicas=-1", "defaults.replicas=two", "image.pullPolicy=Sometimes", "logLevel=loud",
		"postgres.provider=mysql",
		"redis.url=http://x", "frontDoor.hosts[0]=https://book.example.com", "frontDoor.hosts[0]=Book.example.com",
		"frontDoor.hosts=null",
		"frontDoor.trustedProxies[0]=everyone", "frontDoor.ingress.controller=haproxy", "mesh.provider=consul",
		"mesh.istio.mode=both",
		"telemetry.otlpEndpoint=collector:4318", "telemetry.otlpEndpoint=http://collector:4318/v1",
		"components.booking.env.lower=1",
		"mesh.frontAccounts[0].name=x", "networkPolicy.redisPort=70000", "trial.postgres.runAsUser=0",
	} {
		if _, err := render(t, parseSettings(t, settings), false); err == nil {
			t.Errorf("%s is accepted", settings)
		}
	}
}

func TestLintAcceptsShapes(t *testing.T) {
	t.Parallel()
	for _, shape := range listShapes(t) {
		result := lint.AllWithKubeVersion(chartPath, loadShape(t, shape), namespace, nil)
		for _, message := range result.Messages {
			if message.Severity >= support.WarningSev {
				t.Errorf("%s: %s", shape, message)
			}
		}
	}
}

func TestRenderAcceptsOtherValuesFiles(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Glob(filepath.Join(root, "k8s", "examples", "*", "values.yaml"))
	if err != nil || len(examples) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	tests := filepath.Join(root, "k8s", "e2e", "testdata", "e2e-values.yaml")
	for _, path := range append(examples, tests, filepath.Join(root, "tilt", "values.yaml")) {
		if _, err := render(t, decode[map[string]any](t, readFile(t, path)), false); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestDefaultsRender(t *testing.T) {
	t.Parallel()
	all := mustRender(t, nil)
	names := map[string]bool{}
	for _, o := range all {
		names[o.kind()+"/"+o.name()] = true
	}
	if len(names) != len(all) {
		t.Errorf("%d objects with %d names: %s", len(all), len(names), slices.Sorted(maps.Keys(names)))
	}
	for _, service := range services {
		for _, kind := range []string{"Deployment", "Service", "ServiceAccount", "PodDisruptionBudget",
			"NetworkPolicy"} {
			if name := fmt.Sprintf("%s/%s-%s", kind, release, service); !names[name] {
				t.Errorf("no %s", name)
			}
		}
	}
}
