package chart_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// additions are values for every place in which a cluster can add settings of its own.
const additions = `
defaults:
  strategy: {type: Recreate, rollingUpdate: null}
  lifecycle: {preStop: {httpGet: {path: /livez, port: internal}}}
  topologySpreadConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]
  nodeSelector: {pool: booking}
  tolerations: [{key: pool, operator: Exists}]
  priorityClassName: important
  affinity: {nodeAffinity: {}}
  extraEnvFrom: [{secretRef: {name: more}}]
  extraVolumes: [{name: more, emptyDir: {}}]
  extraVolumeMounts: [{name: more, mountPath: /more}]
  extraContainers: [{name: beside, image: beside}]
  extraInitContainers: [{name: before, image: before}]
components:
  booking:
    extraVolumes: [{name: more, emptyDir: {}}, {name: other, emptyDir: {}}]
    extraVolumeMounts: [{name: other, mountPath: /other}]
extraObjects:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: "{{ .Release.Name }}-given"}}
  - |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: {{ .Release.Name }}-written}
`

// readPod decodes the pod of a workload strictly, as the API server does: an unknown field is an error.
func readPod(t *testing.T, o object) corev1.PodSpec {
	t.Helper()
	content, err := yaml.Marshal(findPodSpec(o))
	if err != nil {
		t.Fatal(err)
	}
	var pod corev1.PodSpec
	if err := yaml.UnmarshalStrict(content, &pod); err != nil {
		t.Fatalf("%s: %v", o.name(), err)
	}
	return pod
}

func joinNames[T any](all []T, name func(T) string) string {
	var found []string
	for _, one := range all {
		found = append(found, name(one))
	}
	return strings.Join(found, " ")
}

func TestPodsHaveAdditions(t *testing.T) {
	t.Parallel()
	all := mustRender(t, decode[map[string]any](t, []byte(additions)))
	for _, service := range services {
		deployment := findObject(t, all, "Deployment", release+"-"+service)
		pod := readPod(t, deployment)
		c := pod.Containers[0]
		volumes, mounts := "more", "more"
		if service == "booking" {
			volumes, mounts = "more other", "other"
		}
		for what, right := range map[string]bool{
			"strategy": lookUpText(deployment, "spec", "strategy", "type") == "Recreate" && lookUp(deployment, "spec",
				"strategy", "rollingUpdate") == nil,
			"lifecycle": c.Lifecycle.PreStop.HTTPGet != nil && c.Lifecycle.PreStop.Sleep == nil,
			"spread": len(pod.TopologySpreadConstraints) == 1 &&
				pod.TopologySpreadConstraints[0].TopologyKey == "rack",
			"envFrom": len(c.EnvFrom) == 1 && c.EnvFrom[0].SecretRef.Name == "more",
			"volumes": joinNames(pod.Volumes, func(v corev1.Volume) string { return v.Name }) == volumes,
			"mounts":  joinNames(c.VolumeMounts, func(m corev1.VolumeMount) string { return m.Name }) == mounts,
			"containers": joinNames(pod.Containers, func(c corev1.Container) string {
				return c.Name
			}) == service+" beside",
			"initContainers": joinNames(pod.InitContainers, func(c corev1.Container) string {
				return c.Name
			}) == "before",
			"scheduling": isScheduled(pod),
		} {
			if !right {
				t.Errorf("%s: %s: %+v", service, what, pod)
			}
		}
	}
	for _, name := range []string{"given", "written"} {
		findObject(t, all, "ConfigMap", release+"-"+name)
	}
}

// isScheduled reports whether a pod has the scheduling settings of additions.
func isScheduled(pod corev1.PodSpec) bool {
	return pod.NodeSelector["pool"] == "booking" && len(pod.Tolerations) == 1 && pod.PriorityClassName == "important" &&
		pod.Affinity != nil
}

func TestMigrationJobsHaveAdditions(t *testing.T) {
	t.Parallel()
	pod := readPod(t, findObject(t, mustRender(t, decode[map[string]any](t, []byte(additions))), "Job",
		release+"-migrate-first"))
	if got := joinNames(pod.Volumes, func(v corev1.Volume) string { return v.Name }); got != "more other" {
		t.Errorf("volumes: %s", got)
	}
	for _, c := range pod.Containers {
		want := "more"
		if c.Name == "booking" {
			want = "other"
		}
		if got := joinNames(c.VolumeMounts, func(m corev1.VolumeMount) string { return m.Name }); got != want ||
			len(c.EnvFrom) != 1 {
			t.Errorf("%s: mounts %s, settings %v", c.Name, got, c.EnvFrom)
		}
	}
	if !isScheduled(pod) {
		t.Errorf("the pod has no scheduling settings: %+v", pod)
	}
}

func TestPodsMayLeaveUserToCluster(t *testing.T) {
	t.Parallel()
	all := mustRender(t,
		parseSettings(t,
			"demo.enabled=true,defaults.podSecurityContext.runAsUser=null,"+
				"defaults.podSecurityContext.runAsGroup=null,defaults.podSecurityContext.fsGroup=null"))
	for _, o := range all {
		if findPodSpec(o) == nil || slices.Contains([]string{release + "-postgres", release + "-redis"}, o.name()) {
			continue
		}
		security := readPod(t, o).SecurityContext
		if security.RunAsUser != nil || security.RunAsGroup != nil || security.FSGroup != nil ||
			!*security.RunAsNonRoot {
			t.Errorf("%s runs as %+v", o.name(), security)
		}
	}
}
