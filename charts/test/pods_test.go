package chart_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

// readPods returns the pods of all workloads of a shape, by kind and name of the workload.
func readPods(t *testing.T, shape string) map[string]*corev1.PodSpec {
	t.Helper()
	found := map[string]*corev1.PodSpec{}
	for _, o := range mustRender(t, loadShape(t, shape)) {
		spec := findPodSpec(o)
		if spec == nil {
			continue
		}
		content, err := yaml.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		pod := decode[corev1.PodSpec](t, content)
		found[o.kind()+" "+o.name()] = &pod
	}
	return found
}

func TestPodsMeetRestrictedPodSecurity(t *testing.T) {
	t.Parallel()
	restricted, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, shape := range listShapes(t) {
		for name, pod := range readPods(t, shape) {
			for _, result := range restricted.EvaluatePod(level, &metav1.ObjectMeta{}, pod) {
				if !result.Allowed {
					t.Errorf("%s: %s: %s, %s", shape, name, result.ForbiddenReason, result.ForbiddenDetail)
				}
			}
		}
	}
}

func TestContainersAreLimitedAndReadOnly(t *testing.T) {
	t.Parallel()
	for _, shape := range listShapes(t) {
		for name, pod := range readPods(t, shape) {
			needsToken := name == "Deployment "+release+"-operator" // no other pod calls the API server
			if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken != needsToken {
				t.Errorf("%s: %s is given a token of the API server", shape, name)
			}
			for _, c := range pod.Containers {
				if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() ||
					c.Resources.Requests.Memory().IsZero() {
					t.Errorf("%s: %s: %s has no bounds: %v", shape, name, c.Name, c.Resources)
				}
				if c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem {
					t.Errorf("%s: %s: %s may write to its image", shape, name, c.Name)
				}
			}
		}
	}
}

func TestPodsHaveTimeToStop(t *testing.T) {
	t.Parallel()
	values := parseSettings(t, "drain.preStopSeconds=7,drain.delaySeconds=11,drain.timeoutSeconds=13")
	for _, o := range filterKind(mustRender(t, values), "Deployment") {
		if o.name() == release+"-redis" {
			continue
		}
		content, err := yaml.Marshal(findPodSpec(o))
		if err != nil {
			t.Fatal(err)
		}
		pod := decode[corev1.PodSpec](t, content)
		if sleep := pod.Containers[0].Lifecycle.PreStop.Sleep.Seconds; sleep != 7 {
			t.Errorf("%s sleeps %d s before it stops", o.name(), sleep)
		}
		// The listeners, and then the stores, each take at most DRAIN_TIMEOUT.
		if grace := *pod.TerminationGracePeriodSeconds; grace < 7+11+2*13 {
			t.Errorf("%s is killed after %d s", o.name(), grace)
		}
		env := readEnvironment(findPodSpec(o))
		if env["DRAIN_DELAY"] != "11s" || env["DRAIN_TIMEOUT"] != "13s" {
			t.Errorf("%s: %v", o.name(), env)
		}
	}
}

func TestProbesUseInternalPort(t *testing.T) {
	t.Parallel()
	for name, pod := range readPods(t, "production") {
		if !strings.HasPrefix(name, "Deployment") {
			continue
		}
		c := pod.Containers[0]
		for path, probe := range map[string]*corev1.Probe{"/livez": c.StartupProbe, "/readyz": c.ReadinessProbe} {
			if probe.HTTPGet.Path != path || probe.HTTPGet.Port.String() != "internal" {
				t.Errorf("%s: %v", name, probe.HTTPGet)
			}
		}
		if c.LivenessProbe.HTTPGet.Path != "/livez" {
			t.Errorf("%s: the liveness probe requests %s, want /livez: an unavailable database is not a reason to restart", name,
				c.LivenessProbe.HTTPGet.Path)
		}
	}
}

func TestMigrationsRunBeforeServices(t *testing.T) {
	t.Parallel()
	const hook = "helm.sh/hook"
	for _, c := range []struct {
		shape   string
		upgrade bool
		name    string
		hooks   string
	}{
		{"production", false, "migrate", "pre-install,pre-upgrade"},
		{"production", true, "migrate", "pre-install,pre-upgrade"},
		{"trial", false, "migrate-first", ""}, // its database is part of the release
		{"trial", true, "migrate", "pre-install,pre-upgrade"},
		{"cloudnativepg", false, "migrate-first", ""},
	} {
		files, err := render(t, loadShape(t, c.shape), c.upgrade)
		if err != nil {
			t.Fatal(err)
		}
		job := findObject(t, parseObjects(t, files), "Job", release+"-"+c.name)
		if got := lookUpText(job, "metadata", "annotations", hook); got != c.hooks {
			t.Errorf("%s: hooks are %q, want %q", c.shape, got, c.hooks)
		}
		if policy := lookUpText(findPodSpec(job), "restartPolicy"); policy != "Never" {
			t.Errorf("%s: pods are restarted %s, and their logs go when the Job gives up", c.shape, policy)
		}
		// Helm waits only for hooks, by default five minutes.
		if deadline, bounded := lookUp(job, "spec", "activeDeadlineSeconds").(float64); bounded != (c.hooks != "") ||
			deadline >= 300 {
			t.Errorf("%s: the deadline is %v s", c.shape, deadline)
		}
		var migrated []string
		for _, container := range lookUpList(findPodSpec(job), "containers") {
			if fmt.Sprint(lookUp(container, "args")) != "[migrate]" {
				t.Errorf("%s: %v", c.shape, container)
			}
			migrated = append(migrated, lookUpText(container, "name"))
		}
		if !slices.Equal(migrated, []string{"booking", "catalog", "console", "notifications", "rental"}) {
			t.Errorf("%s: migrates %v", c.shape, migrated)
		}
	}
}

func TestDeploymentLeavesReplicasToAutoscaler(t *testing.T) {
	t.Parallel()
	for shape, kind := range map[string]string{"production": "HorizontalPodAutoscaler", "keda": "ScaledObject"} {
		all := mustRender(t, loadShape(t, shape))
		for _, service := range services {
			replicas := lookUp(findObject(t, all, "Deployment", release+"-"+service), "spec", "replicas")
			scaled := slices.ContainsFunc(filterKind(all, kind), func(o object) bool {
				return o.name() == release+"-"+service
			})
			if scaled != (replicas == nil) || scaled == (service == "console") {
				t.Errorf("%s: %s: scaled by load: %v, replicas %v", shape, service, scaled, replicas)
			}
		}
		// Two autoscalers of one Deployment would work against each other.
		if n, other := len(filterKind(all, kind)), len(filterKind(all, "HorizontalPodAutoscaler"))+
			len(filterKind(all, "ScaledObject")); n != other {
			t.Errorf("%s: %d of %d autoscalers are a %s", shape, n, other, kind)
		}
	}
}

func TestGoMemoryLimitIsNineTenths(t *testing.T) {
	t.Parallel()
	limitOf := func(settings string) string {
		pod := findPodSpec(findObject(t, mustRender(t, parseSettings(t, settings)), "Deployment", release+"-mcp"))
		for _, e := range lookUpList(lookUpList(pod, "containers")[0], "env") {
			if lookUpText(e, "name") == "GOMEMLIMIT" {
				return lookUpText(e, "value")
			}
		}
		return ""
	}
	for memory, want := range map[string]string{
		"256Mi": "241591910", "1.5Gi": "1449551462", "500M": "450000000", "1000000k": "900000000", "100Ki": "92160",
		"1000000000": "900000000",
	} {
		if got := limitOf("components.mcp.resources.limits.memory=" + memory); got != want {
			t.Errorf("for the limit %s: GOMEMLIMIT is %q, want %q", memory, got, want)
		}
	}
	if got := limitOf("components.mcp.env.GOMEMLIMIT=100MiB"); got != "100MiB" {
		t.Errorf("where it is set: GOMEMLIMIT is %q", got)
	}
}
