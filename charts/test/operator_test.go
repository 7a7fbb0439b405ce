package chart_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheOperatorHasRightsInItsNamespacesAlone(t *testing.T) {
	t.Parallel()
	all := mustRender(t, set(t, "operator.enabled=true,operator.namespaces={shops,salons}"))
	var at, bound []string
	for _, role := range ofKind(all, "Role") {
		at = append(at, text(role, "metadata", "namespace"))
		for _, rule := range list(role, "rules") {
			if slices.Contains(list(rule, "resources"), any("secrets")) && !cmp.Equal(list(rule, "verbs"),
				[]any{"get", "create", "update"}) {
				t.Errorf("of Secrets it may %v", list(rule, "verbs"))
			}
		}
	}
	for _, binding := range ofKind(all, "RoleBinding") {
		bound = append(bound, text(binding, "metadata", "namespace"))
		if subject := list(binding, "subjects")[0]; text(subject, "name") != release+"-operator" ||
			text(subject, "kind") != "ServiceAccount" {
			t.Errorf("%v", subject)
		}
	}
	want := []string{"shops", "salons"}
	if !cmp.Equal(at, want) || !cmp.Equal(bound, want) || len(ofKind(all, "ClusterRole"))+
		len(ofKind(all, "ClusterRoleBinding")) != 0 {
		t.Errorf("rights in %v, bound in %v", at, bound)
	}
	if env := environment(podSpec(find(t, all, "Deployment",
		release+"-operator"))); env["OPERATOR_NAMESPACES"] != "shops,salons" {
		t.Errorf("it looks in %s", env["OPERATOR_NAMESPACES"])
	}
}

func TestTheDefinitionsOutliveTheReleaseAndComeWithTheOperatorAlone(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]int{
		"operator.enabled=true":                            2,
		"operator.enabled=true,operator.definitions=false": 0,
		"operator.enabled=false":                           0,
	} {
		found := ofKind(mustRender(t, set(t, settings)), "CustomResourceDefinition")
		if len(found) != want {
			t.Errorf("%s: %d definitions, want %d", settings, len(found), want)
		}
		for _, o := range found {
			if text(o, "metadata", "annotations", "helm.sh/resource-policy") != "keep" {
				t.Errorf("%s goes with the release, and every object with it", o.name())
			}
		}
	}
}

func TestTheConsoleLetsTheOperatorInWhereItRuns(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]bool{"operator.enabled=true": true, "operator.enabled=false": false} {
		all := mustRender(t, set(t, settings))
		if got := slices.Contains(allowed(all, "ingress", "from", "public"), "operator -> console"); got != want {
			t.Errorf("%s: let in: %t", settings, got)
		}
	}
}

func TestTheOperatorIsGivenItsSettingsAndTheAdditionsOfEveryPod(t *testing.T) {
	t.Parallel()
	values := decode[map[string]any](t, []byte(additions))
	values["operator"] = map[string]any{"enabled": true}
	deployment := find(t, mustRender(t, values), "Deployment", release+"-operator")
	if pod := podOf(t, deployment); !scheduled(pod) || len(pod.Containers) != 2 || text(deployment, "spec", "strategy",
		"type") != "Recreate" {
		t.Errorf("%+v", pod)
	}
	given, known := environment(podSpec(deployment)), variables(t, "operator")
	for name, required := range known {
		if _, ok := given[name]; required && !ok {
			t.Errorf("it is not given %s", name)
		}
	}
	for name := range given {
		if _, ok := known[name]; !ok && name != "GOMEMLIMIT" {
			t.Errorf("it does not know %s", name)
		}
	}
}
