package chart_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fronted are the services with public paths, sorted.
func fronted(t *testing.T) []string {
	t.Helper()
	rows := table(t)
	maps.DeleteFunc(rows, func(_ string, r row) bool { return len(r.Business)+len(r.Exact)+len(r.Below) == 0 })
	return slices.Sorted(maps.Keys(rows))
}

// withFront are a shape's values with the front enabled.
func withFront(t *testing.T, shape string) map[string]any {
	t.Helper()
	values := shapeValues(t, shape)
	values["front"] = map[string]any{"enabled": true}
	return values
}

func TestAnyControllerLeadsOnePrefixToTheFront(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{"gateway", "ingress-traefik", "ingress-skipper", "ingress-nginx", "front-ingress",
		"front-gateway"} {
		all := mustRender(t, withFront(t, shape))
		var leads []string
		for _, o := range append(ofKind(all, "HTTPRoute"), ofKind(all, "Ingress")...) {
			if strings.HasSuffix(o.name(), "-to-https") {
				continue
			}
			for _, rule := range list(o, "spec", "rules") {
				for _, match := range list(rule, "matches") {
					leads = append(leads, text(match, "path", "type")+" "+text(match, "path", "value")+" "+
						text(list(rule, "backendRefs")[0], "name"))
				}
				for _, path := range list(rule, "http", "paths") {
					leads = append(leads, "Path"+text(path, "pathType")+" "+text(path, "path")+" "+text(path, "backend",
						"service", "name"))
				}
			}
			for name := range at(o, "metadata").(map[string]any) {
				if annotations := fmt.Sprint(at(o, "metadata", "annotations")); name == "annotations" &&
					(strings.Contains(annotations, "regex") || strings.Contains(annotations, "PathRegexp")) {
					t.Errorf("%s: %s is told of expressions: %s", shape, o.name(), annotations)
				}
			}
		}
		slices.Sort(leads)
		want := []string{"PathPrefix / slotmesh-front"}
		if shape == "gateway" || shape == "front-ingress" { // with the admin API's host
			want = []string{"PathPrefix / slotmesh-console", "PathPrefix / slotmesh-front"}
		}
		if diff := cmp.Diff(want, leads); diff != "" {
			t.Errorf("%s (-want +got):\n%s", shape, diff)
		}
	}
}

func TestAnIngressOfAnyControllerHasTheClassThatIsNamedOrTheClusters(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]any{"alb": "alb", "": nil} {
		values := set(t, "front.enabled=true,frontDoor.ingress.controller=any,frontDoor.ingress.className="+class)
		if got := at(find(t, mustRender(t, values), "Ingress", release), "spec", "ingressClassName"); got != want {
			t.Errorf("the class %q is written as %v", class, got)
		}
	}
}

func TestTheFrontIsGivenTheAddressOfEveryPublicPort(t *testing.T) {
	t.Parallel()
	all := mustRender(t, shapeValues(t, "front-ingress"))
	given := environment(podSpec(find(t, all, "Deployment", release+"-front")))
	var want []string
	for _, service := range fronted(t) {
		want = append(want, service+"="+release+"-"+service+":8080")
	}
	if diff := cmp.Diff(strings.Join(want, ","), given["UPSTREAMS"]); diff != "" {
		t.Error(diff)
	}
	if given["REQUEST_TIMEOUT"] != "12s" || given["TRUSTED_PROXIES"] != "10.0.3.0/24" {
		t.Errorf("the front waits %s and believes %s", given["REQUEST_TIMEOUT"], given["TRUSTED_PROXIES"])
	}
	known := variables(t, "front")
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
	for _, service := range fronted(t) {
		if believed, ok := environment(podSpec(find(t, all, "Deployment", release+"-"+service)))["TRUSTED_PROXIES"]; ok {
			t.Errorf("%s believes %s, though the front alone asks it", service, believed)
		}
	}
	for _, kind := range []string{"Service", "ServiceAccount", "PodDisruptionBudget", "NetworkPolicy"} {
		find(t, all, kind, release+"-front")
	}
	find(t, mustRender(t, shapeValues(t, "front-gateway")), "HorizontalPodAutoscaler", release+"-front")
}

func TestPoliciesLetTheFrontToPublicPortsAndNobodyElse(t *testing.T) {
	t.Parallel()
	all := mustRender(t, shapeValues(t, "front-gateway"))
	var want []string
	for _, service := range fronted(t) {
		want = append(want, "front -> "+service)
	}
	ingress := slices.DeleteFunc(allowed(all, "ingress", "from", "public"), func(edge string) bool {
		return strings.HasSuffix(edge, "-> console")
	})
	if diff := cmp.Diff(want, ingress); diff != "" {
		t.Errorf("into public ports (-want +got):\n%s", diff)
	}
	egress := slices.DeleteFunc(allowed(all, "egress", "to", "8080"), func(edge string) bool {
		return strings.HasSuffix(edge, "-> console")
	})
	if diff := cmp.Diff(want, egress); diff != "" {
		t.Errorf("out to public ports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(pairs(t), allowed(all, "ingress", "from", "internal")); diff != "" {
		t.Errorf("into internal ports (-table +policies):\n%s", diff)
	}
	for _, service := range append(fronted(t), "front") {
		for _, rule := range list(find(t, all, "NetworkPolicy", release+"-"+service), "spec", "ingress") {
			outside := len(list(rule, "from")) == 0 || strings.Contains(fmt.Sprint(rule), "35.191.0.0/16")
			if fmt.Sprint(at(list(rule, "ports")[0], "port")) == "public" && outside != (service == "front") {
				t.Errorf("%s is asked from outside: %v", service, outside)
			}
		}
	}
}

func TestMeshesLetTheFrontToPublicPortsAndTheFrontDoorToTheFront(t *testing.T) {
	t.Parallel()
	all := mustRender(t, withFront(t, "istio-ambient"))
	for _, service := range append(fronted(t), "front") {
		want := "[cluster.local/ns/booking/sa/slotmesh-front]"
		if service == "front" {
			want = "[cluster.local/ns/booking/sa/slotmesh-operator cluster.local/ns/istio-ingress/sa/gateway-istio]"
		}
		var got []string
		for _, rule := range list(find(t, all, "AuthorizationPolicy", release+"-"+service), "spec", "rules") {
			if fmt.Sprint(at(list(rule, "to")[0], "operation", "ports")) == "[8080]" {
				got = append(got, fmt.Sprint(at(list(rule, "from")[0], "source", "principals")))
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("istio-ambient: %s is asked by %v, want %s", service, got, want)
		}
	}
	all = mustRender(t, withFront(t, "linkerd"))
	for _, service := range append(fronted(t), "front") {
		want := release + "-own-front"
		if service == "front" {
			want = release + "-front"
		}
		if got := text(list(find(t, all, "AuthorizationPolicy", release+"-"+service+"-public"), "spec",
			"requiredAuthenticationRefs")[0], "name"); got != want {
			t.Errorf("linkerd: %s is asked by %s, want %s", service, got, want)
		}
	}
	if own := fmt.Sprint(list(find(t, all, "MeshTLSAuthentication", release+"-own-front"), "spec",
		"identityRefs")); !strings.Contains(own, "slotmesh-front") {
		t.Errorf("the front shows the account %s", own)
	}
}

func TestTheFrontsContradictionsAreRefused(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"frontDoor.ingress.controller=any": "frontDoor.ingress.controller: set front.enabled",
		"front.enabled=true":               "frontDoor.trustedProxies: name the networks",
		"front.enabled=true,requestTimeoutSeconds=13,frontDoor.timeoutSeconds=15":                                               "frontDoor.timeoutSeconds: write more than requestTimeoutSeconds and 2 (15)",
		"front.enabled=true,requestTimeoutSeconds=14,frontDoor.timeoutSeconds=20":                                               "drain.timeoutSeconds: write requestTimeoutSeconds and 2 (16)",
		"front.enabled=true,mesh.provider=linkerd,frontDoor.trustedProxies[0]=::1":                                              "mesh.frontAccounts: name the service accounts",
		"front.enabled=true,frontDoor.trustedProxies[0]=::1,mesh.provider=istio,mesh.istio.mode=sidecar,mesh.frontOutside=true": "front.enabled: set mesh.istio.mode to ambient",
		"components.front.env.UPSTREAMS=x":                                                                                      "the chart sets it itself",
	} {
		_, err := render(t, set(t, settings), false)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a sentence with %q", settings, err, want)
		}
	}
}
