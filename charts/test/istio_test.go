package chart_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
)

// isSelecting reports whether the labels contain all labels of the selector.
func isSelecting(selector, labels any) bool {
	wanted, _ := selector.(map[string]any)
	for name, value := range wanted {
		if lookUp(labels, name) != value {
			return false
		}
	}
	return len(wanted) > 0
}

// TestIstioAllowsPlainTextOnlyToPublicPorts checks that one PeerAuthentication selects each pod, because Istio uses
// only the oldest one. Public ports accept plain text only if the front is outside the mesh.
func TestIstioAllowsPlainTextOnlyToPublicPorts(t *testing.T) {
	t.Parallel()
	var fronted []string
	for _, service := range services {
		if row := loadTable(t)[service]; len(row.Business)+len(row.Exact)+len(row.Below) > 0 {
			fronted = append(fronted, service)
		}
	}
	for _, c := range []struct {
		outside bool
		plain   []string
	}{{false, nil}, {true, fronted}} {
		values := loadShape(t, "istio-sidecar")
		if c.outside {
			mesh, _ := values["mesh"].(map[string]any)
			mesh["frontOutside"], mesh["frontAccounts"] = true, []any{}
		}
		all := mustRender(t, values)
		var plain []string
		for _, service := range services {
			pod := lookUp(findObject(t, all, "Deployment", release+"-"+service), "spec", "template", "metadata",
				"labels")
			own := slices.DeleteFunc(filterKind(all, "PeerAuthentication"), func(o object) bool {
				return !isSelecting(lookUp(o, "spec", "selector", "matchLabels"), pod)
			})
			if len(own) != 1 {
				t.Fatalf("%s is selected by %d PeerAuthentications", service, len(own))
			}
			if mode := lookUpText(own[0], "spec", "mtls", "mode"); mode != "STRICT" {
				t.Errorf("%s: %s", service, mode)
			}
			switch ports := fmt.Sprint(lookUp(own[0], "spec", "portLevelMtls")); ports {
			case "<nil>":
			case "map[8080:map[mode:PERMISSIVE]]":
				plain = append(plain, service)
			default:
				t.Errorf("%s: %s", service, ports)
			}
		}
		if !slices.Equal(plain, c.plain) {
			t.Errorf("front outside: %v, plain text to %v, want %v", c.outside, plain, c.plain)
		}
	}
}

// TestNetworkPoliciesIgnoreGatewayPods checks the labels of Gateways, which Istio copies to their pods.
func TestNetworkPoliciesIgnoreGatewayPods(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{"gateway", "istio-ambient"} {
		all := mustRender(t, loadShape(t, shape))
		gateways := filterKind(all, "Gateway")
		if len(gateways) == 0 {
			t.Errorf("%s: no Gateway", shape)
		}
		for _, gateway := range gateways {
			for _, policy := range filterKind(all, "NetworkPolicy") {
				if isSelecting(lookUp(policy, "spec", "podSelector", "matchLabels"),
					lookUp(gateway, "metadata", "labels")) {
					t.Errorf("%s: %s selects the pods of %s", shape, policy.name(), gateway.name())
				}
			}
		}
	}
}

// TestPodMonitorUsesMergedMetricsPort checks that Prometheus uses port 15020, which serves the metrics of proxy and
// service. The proxy declares only port 15090, named http-envoy-prom.
func TestPodMonitorUsesMergedMetricsPort(t *testing.T) {
	t.Parallel()
	endpoint := lookUpList(findObject(t, mustRender(t, loadShape(t, "istio-sidecar")), "PodMonitor", release), "spec",
		"podMetricsEndpoints")[0]
	if port, path := lookUpText(endpoint, "port"), lookUpText(endpoint, "path"); port != "http-envoy-prom" ||
		path != "/stats/prometheus" {
		t.Errorf("collects from %s%s", port, path)
	}
	for ip, want := range map[string]string{"10.244.0.7": "10.244.0.7:15020", "fd00::7": "[fd00::7]:15020"} {
		address := ip + ":15090"
		for _, rule := range lookUpList(endpoint, "relabelings") {
			if lookUpText(rule, "targetLabel") != "__address__" ||
				fmt.Sprint(lookUp(rule, "sourceLabels")) != "[__meta_kubernetes_pod_ip]" {
				continue
			}
			anchored := regexp.MustCompile("^(?:" + lookUpText(rule, "regex") + ")$")
			if match := anchored.FindStringSubmatchIndex(ip); match != nil {
				address = string(anchored.ExpandString(nil, lookUpText(rule, "replacement"), ip, match))
			}
		}
		if address != want {
			t.Errorf("%s is asked at %s, want %s", ip, address, want)
		}
	}
}

// TestServicesTrustTheirSidecar checks that services trust the addresses from which a sidecar calls its service:
// 127.0.0.6 and ::6.
func TestServicesTrustTheirSidecar(t *testing.T) {
	t.Parallel()
	for shape, want := range map[string]string{
		"istio-sidecar": "10.0.3.0/24,127.0.0.6/32,::6/128", "istio-ambient": "10.0.3.0/24", "linkerd": "10.0.3.0/24",
		"gateway": "10.0.3.0/24",
	} {
		all := mustRender(t, loadShape(t, shape))
		for _, service := range services {
			if got := readEnvironment(findPodSpec(findObject(t, all, "Deployment",
				release+"-"+service)))["TRUSTED_PROXIES"]; got != want {
				t.Errorf("%s: %s trusts %v, want %s", shape, service, got, want)
			}
		}
	}
}

// TestProxiesUseTraceRatio checks that proxies trace the same share as the services. Proxies decide again about each
// trace, so another share would interrupt traces.
func TestProxiesUseTraceRatio(t *testing.T) {
	t.Parallel()
	for ratio, want := range map[float64]float64{0: 0, 0.125: 12.5, 1: 100} {
		values := loadShape(t, "istio-sidecar")
		telemetry, _ := values["telemetry"].(map[string]any)
		telemetry["traceRatio"] = ratio
		tracing := lookUpList(findObject(t, mustRender(t, values), "Telemetry", release), "spec", "tracing")
		if got := lookUp(tracing[0], "randomSamplingPercentage"); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("with the ratio %v, the proxies trace %v %%, want %v", ratio, got, want)
		}
	}
}
