package chart_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOperatorRolesAreLimitedToNamespaces(t *testing.T) {
	t.Parallel()
	all := mustRender(t, parseSettings(t, "operator.enabled=true,operator.namespaces={shops,salons}"))
	var at, bound []string
	for _, role := range filterKind(all, "Role") {
		at = append(at, lookUpText(role, "metadata", "namespace"))
		for _, rule := range lookUpList(role, "rules") {
			if slices.Contains(lookUpList(rule, "resources"), any("secrets")) && !cmp.Equal(lookUpList(rule, "verbs"),
				[]any{"get", "create", "update"}) {
				t.Errorf("the permissions for Secrets are %v", lookUpList(rule, "verbs"))
			}
		}
	}
	for _, binding := range filterKind(all, "RoleBinding") {
		bound = append(bound, lookUpText(binding, "metadata", "namespace"))
		if subject := lookUpList(binding, "subjects")[0]; lookUpText(subject, "name") != release+"-operator" ||
			lookUpText(subject, "kind") != "ServiceAccount" {
			t.Errorf("%v", subject)
		}
	}
	want := []string{"shops", "salons"}
	if !cmp.Equal(at, want) || !cmp.Equal(bound, want) || len(filterKind(all, "ClusterRole"))+
		len(filterKind(all, "ClusterRoleBinding")) != 0 {
		t.Errorf("rights in %v, bound in %v", at, bound)
	}
	if env := readEnvironment(findPodSpec(findObject(t, all, "Deployment",
		release+"-operator"))); env["OPERATOR_NAMESPACES"] != "shops,salons" {
		t.Errorf("OPERATOR_NAMESPACES is %s", env["OPERATOR_NAMESPACES"])
	}
}

func TestDefinitionsComeWithOperatorAndStay(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]int{
		"operator.enabled=true":                            2,
		"operator.enabled=true,operator.definitions=false": 0,
		"operator.enabled=false":                           0,
	} {
		found := filterKind(mustRender(t, parseSettings(t, settings)), "CustomResourceDefinition")
		if len(found) != want {
			t.Errorf("%s: %d definitions, want %d", settings, len(found), want)
		}
		for _, o := range found {
			if lookUpText(o, "metadata", "annotations", "helm.sh/resource-policy") != "keep" {
				t.Errorf("%s is deleted with the release, and all its objects with it", o.name())
			}
		}
	}
}

func TestConsoleAllowsOperator(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]bool{"operator.enabled=true": true, "operator.enabled=false": false} {
		all := mustRender(t, parseSettings(t, settings))
		if got := slices.Contains(listAllowedCalls(all, "ingress", "from", "public"),
			"operator -> console"); got != want {
			t.Errorf("%s: the operator may call the console: %t", settings, got)
		}
	}
}

func TestOperatorGetsSettingsAndAdditions(t *testing.T) {
	t.Parallel()
	values := decode[map[string]any](t, []byte(additions))
	values["operator"] = map[string]any{"enabled": true}
	deployment := findObject(t, mustRender(t, values), "Deployment", release+"-operator")
	if pod := readPod(t, deployment); !isScheduled(pod) || len(pod.Containers) != 2 || lookUpText(deployment, "spec",
		"strategy",
		"type") != "Recreate" {
		t.Errorf("%+v", pod)
	}
	settings, known := readEnvironment(findPodSpec(deployment)), listVariables(t, "operator")
	for name, required := range known {
		if _, ok := settings[name]; required && !ok {
			t.Errorf("the chart does not set %s for the operator", name)
		}
	}
	for name := range settings {
		if _, ok := known[name]; !ok && name != "GOMEMLIMIT" {
			t.Errorf("the operator does not read %s", name)
		}
	}
}
