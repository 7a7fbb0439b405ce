package chart_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// listFrontedServices returns the services with public paths, sorted.
func listFrontedServices(t *testing.T) []string {
	t.Helper()
	rows := loadTable(t)
	maps.DeleteFunc(rows, func(_ string, r componentRow) bool { return len(r.Business)+len(r.Exact)+len(r.Below) == 0 })
	return slices.Sorted(maps.Keys(rows))
}

// loadShapeWithFront returns the values of a shape with the front enabled.
func loadShapeWithFront(t *testing.T, shape string) map[string]any {
	t.Helper()
	values := loadShape(t, shape)
	values["front"] = map[string]any{"enabled": true}
	return values
}

func TestRoutesLeadOnePrefixToFront(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{"gateway", "ingress-traefik", "ingress-skipper", "ingress-nginx", "front-ingress",
		"front-gateway"} {
		all := mustRender(t, loadShapeWithFront(t, shape))
		var leads []string
		for _, o := range append(filterKind(all, "HTTPRoute"), filterKind(all, "Ingress")...) {
			if strings.HasSuffix(o.name(), "-to-https") {
				continue
			}
			for _, rule := range lookUpList(o, "spec", "rules") {
				for _, match := range lookUpList(rule, "matches") {
					leads = append(leads, lookUpText(match, "path", "type")+" "+lookUpText(match, "path", "value")+" "+
						lookUpText(lookUpList(rule, "backendRefs")[0], "name"))
				}
				for _, path := range lookUpList(rule, "http", "paths") {
					leads = append(leads, "Path"+lookUpText(path, "pathType")+" "+lookUpText(path, "path")+" "+
						lookUpText(path, "backend",
							"service", "name"))
				}
			}
			for name := range lookUp(o, "metadata").(map[string]any) {
				if annotations := fmt.Sprint(lookUp(o, "metadata", "annotations")); name == "annotations" &&
					(strings.Contains(annotations, "regex") || strings.Contains(annotations, "PathRegexp")) {
					t.Errorf("%s: %s has annotations with expressions: %s", shape, o.name(), annotations)
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

func TestIngressHasConfiguredClass(t *testing.T) {
	t.Parallel()
	for class, want := range map[string]any{"alb": "alb", "": nil} {
		values := parseSettings(t, "front.enabled=true,frontDoor.ingress.controller=any,frontDoor.ingress.className="+
			class)
		if got := lookUp(findObject(t, mustRender(t, values), "Ingress", release), "spec",
			"ingressClassName"); got != want {
			t.Errorf("the class %q is written as %v", class, got)
		}
	}
}

func TestFrontGetsPublicPorts(t *testing.T) {
	t.Parallel()
	all := mustRender(t, loadShape(t, "front-ingress"))
	settings := readEnvironment(findPodSpec(findObject(t, all, "Deployment", release+"-front")))
	var want []string
	for _, service := range listFrontedServices(t) {
		want = append(want, service+"="+release+"-"+service+":8080")
	}
	if diff := cmp.Diff(strings.Join(want, ","), settings["UPSTREAMS"]); diff != "" {
		t.Error(diff)
	}
	if settings["REQUEST_TIMEOUT"] != "12s" || settings["TRUSTED_PROXIES"] != "10.0.3.0/24" {
		t.Errorf("the front's REQUEST_TIMEOUT is %s, and its TRUSTED_PROXIES are %s", settings["REQUEST_TIMEOUT"],
			settings["TRUSTED_PROXIES"])
	}
	known := listVariables(t, "front")
	for name, required := range known {
		if _, ok := settings[name]; required && !ok {
			t.Errorf("the chart does not set %s for the front", name)
		}
	}
	for name := range settings {
		if _, ok := known[name]; !ok && name != "GOMEMLIMIT" {
			t.Errorf("the front does not read %s", name)
		}
	}
	for _, service := range listFrontedServices(t) {
		deployment := findObject(t, all, "Deployment", release+"-"+service)
		if trusted, ok := readEnvironment(findPodSpec(deployment))["TRUSTED_PROXIES"]; ok {
			t.Errorf("%s trusts %s, although only the front calls it", service, trusted)
		}
	}
	for _, kind := range []string{"Service", "ServiceAccount", "PodDisruptionBudget", "NetworkPolicy"} {
		findObject(t, all, kind, release+"-front")
	}
	findObject(t, mustRender(t, loadShape(t, "front-gateway")), "HorizontalPodAutoscaler", release+"-front")
}

func TestNetworkPoliciesAllowOnlyFrontToPublicPorts(t *testing.T) {
	t.Parallel()
	all := mustRender(t, loadShape(t, "front-gateway"))
	var want []string
	for _, service := range listFrontedServices(t) {
		want = append(want, "front -> "+service)
	}
	ingress := slices.DeleteFunc(listAllowedCalls(all, "ingress", "from", "public"), func(edge string) bool {
		return strings.HasSuffix(edge, "-> console")
	})
	if diff := cmp.Diff(want, ingress); diff != "" {
		t.Errorf("into public ports (-want +got):\n%s", diff)
	}
	egress := slices.DeleteFunc(listAllowedCalls(all, "egress", "to", "8080"), func(edge string) bool {
		return strings.HasSuffix(edge, "-> console")
	})
	if diff := cmp.Diff(want, egress); diff != "" {
		t.Errorf("out to public ports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(listCalls(t), listAllowedCalls(all, "ingress", "from", "internal")); diff != "" {
		t.Errorf("into internal ports (-table +policies):\n%s", diff)
	}
	for _, service := range append(listFrontedServices(t), "front") {
		for _, rule := range lookUpList(findObject(t, all, "NetworkPolicy", release+"-"+service), "spec", "ingress") {
			outside := len(lookUpList(rule, "from")) == 0 || strings.Contains(fmt.Sprint(rule), "35.191.0.0/16")
			if fmt.Sprint(lookUp(lookUpList(rule, "ports")[0], "port")) == "public" && outside != (service == "front") {
				t.Errorf("%s is asked from outside: %v", service, outside)
			}
		}
	}
}

func TestMeshesAllowFrontToPublicPorts(t *testing.T) {
	t.Parallel()
	all := mustRender(t, loadShapeWithFront(t, "istio-ambient"))
	for _, service := range append(listFrontedServices(t), "front") {
		want := "[cluster.local/ns/booking/sa/slotmesh-front]"
		if service == "front" {
			want = "[cluster.local/ns/booking/sa/slotmesh-operator cluster.local/ns/istio-ingress/sa/gateway-istio]"
		}
		var got []string
		for _, rule := range lookUpList(findObject(t, all, "AuthorizationPolicy", release+"-"+service), "spec",
			"rules") {
			if fmt.Sprint(lookUp(lookUpList(rule, "to")[0], "operation", "ports")) == "[8080]" {
				got = append(got, fmt.Sprint(lookUp(lookUpList(rule, "from")[0], "source", "principals")))
			}
		}
		if len(got) != 1 || got[0] != want {
			t.Errorf("istio-ambient: %s is asked by %v, want %s", service, got, want)
		}
	}
	all = mustRender(t, loadShapeWithFront(t, "linkerd"))
	for _, service := range append(listFrontedServices(t), "front") {
		want := release + "-own-front"
		if service == "front" {
			want = release + "-front"
		}
		if got := lookUpText(lookUpList(findObject(t, all, "AuthorizationPolicy", release+"-"+service+"-public"),
			"spec",
			"requiredAuthenticationRefs")[0], "name"); got != want {
			t.Errorf("linkerd: %s is asked by %s, want %s", service, got, want)
		}
	}
	if own := fmt.Sprint(lookUpList(findObject(t, all, "MeshTLSAuthentication", release+"-own-front"), "spec",
		"identityRefs")); !strings.Contains(own, "slotmesh-front") {
		t.Errorf("the front shows the account %s", own)
	}
}

func TestRenderRefusesFrontContradictions(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"frontDoor.ingress.controller=any": "frontDoor.ingress.controller: set front.enabled",
		"front.enabled=true":               "frontDoor.trustedProxies: name the networks",
		"front.enabled=true,requestTimeoutSeconds=13,frontDoor.timeoutSeconds=15": "frontDoor.timeoutSeconds: write " +
			"more than requestTimeoutSeconds and 2 (15)",
		"front.enabled=true,requestTimeoutSeconds=14,frontDoor.timeoutSeconds=20": "drain.timeoutSeconds: write " +
			"requestTimeoutSeconds and 2 (16)",
		"front.enabled=true,mesh.provider=linkerd,frontDoor.trustedProxies[0]=::1": "mesh.frontAccounts: name the " +
			"service accounts",
		"front.enabled=true,frontDoor.trustedProxies[0]=::1,mesh.provider=istio,mesh.istio.mode=sidecar," +
			"mesh.frontOutside=true": "front.enabled: set mesh.istio.mode to ambient",
		"components.front.env.UPSTREAMS=x": "the chart sets it itself",
	} {
		_, err := render(t, parseSettings(t, settings), false)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want a sentence with %q", settings, err, want)
		}
	}
}
