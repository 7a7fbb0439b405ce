package chart_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
)

// selects reports whether a selector's labels are all among a pod's or an object's.
func selects(selector, labels any) bool {
	wanted, _ := selector.(map[string]any)
	for name, value := range wanted {
		if at(labels, name) != value {
			return false
		}
	}
	return len(wanted) > 0
}

// Istio takes the oldest of several PeerAuthentications that select a pod, and merges nothing.
func TestIstioLetsPlainTextIntoPublicPortsAloneAndOnlyWhereTheFrontIsOutside(t *testing.T) {
	t.Parallel()
	var fronted []string
	for _, service := range services {
		if row := table(t)[service]; len(row.Business)+len(row.Exact)+len(row.Below) > 0 {
			fronted = append(fronted, service)
		}
	}
	for _, c := range []struct {
		outside bool
		plain   []string
	}{{false, nil}, {true, fronted}} {
		values := shapeValues(t, "istio-sidecar")
		if c.outside {
			mesh, _ := values["mesh"].(map[string]any)
			mesh["frontOutside"], mesh["frontAccounts"] = true, []any{}
		}
		all := mustRender(t, values)
		var plain []string
		for _, service := range services {
			pod := at(find(t, all, "Deployment", release+"-"+service), "spec", "template", "metadata", "labels")
			own := slices.DeleteFunc(ofKind(all, "PeerAuthentication"), func(o object) bool {
				return !selects(at(o, "spec", "selector", "matchLabels"), pod)
			})
			if len(own) != 1 {
				t.Fatalf("%s is selected by %d PeerAuthentications", service, len(own))
			}
			if mode := text(own[0], "spec", "mtls", "mode"); mode != "STRICT" {
				t.Errorf("%s: %s", service, mode)
			}
			switch ports := fmt.Sprint(at(own[0], "spec", "portLevelMtls")); ports {
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

// Istio gives the pods of a Gateway the labels of the Gateway.
func TestTheDefaultDenyLeavesThePodsOfGatewaysAlone(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{"gateway", "istio-ambient"} {
		all := mustRender(t, shapeValues(t, shape))
		gateways := ofKind(all, "Gateway")
		if len(gateways) == 0 {
			t.Errorf("%s: no Gateway", shape)
		}
		for _, gateway := range gateways {
			for _, policy := range ofKind(all, "NetworkPolicy") {
				if selects(at(policy, "spec", "podSelector", "matchLabels"), at(gateway, "metadata", "labels")) {
					t.Errorf("%s: %s selects the pods of %s", shape, policy.name(), gateway.name())
				}
			}
		}
	}
}

// The proxy declares the port 15090 by the name of http-envoy-prom and no other; 15020 gives its metrics and the
// service's.
func TestWithSidecarsOneTargetOfEachPodIsThePortThatMergesMetrics(t *testing.T) {
	t.Parallel()
	endpoint := list(find(t, mustRender(t, shapeValues(t, "istio-sidecar")), "PodMonitor", release), "spec",
		"podMetricsEndpoints")[0]
	if port, path := text(endpoint, "port"), text(endpoint, "path"); port != "http-envoy-prom" ||
		path != "/stats/prometheus" {
		t.Errorf("collects from %s%s", port, path)
	}
	for ip, want := range map[string]string{"10.244.0.7": "10.244.0.7:15020", "fd00::7": "[fd00::7]:15020"} {
		address := ip + ":15090"
		for _, rule := range list(endpoint, "relabelings") {
			if text(rule, "targetLabel") != "__address__" ||
				fmt.Sprint(at(rule, "sourceLabels")) != "[__meta_kubernetes_pod_ip]" {
				continue
			}
			anchored := regexp.MustCompile("^(?:" + text(rule, "regex") + ")$")
			if match := anchored.FindStringSubmatchIndex(ip); match != nil {
				address = string(anchored.ExpandString(nil, text(rule, "replacement"), ip, match))
			}
		}
		if address != want {
			t.Errorf("%s is asked at %s, want %s", ip, address, want)
		}
	}
}

// A sidecar calls its service from an address of its own, whoever called it: Istio's listeners of inbound calls bind to
// 127.0.0.6, and to ::6.
func TestServicesBelieveTheSidecarInTheirPodAboutWhoCalls(t *testing.T) {
	t.Parallel()
	for shape, want := range map[string]string{
		"istio-sidecar": "10.0.3.0/24,127.0.0.6/32,::6/128", "istio-ambient": "10.0.3.0/24", "linkerd": "10.0.3.0/24",
		"gateway": "10.0.3.0/24",
	} {
		all := mustRender(t, shapeValues(t, shape))
		for _, service := range services {
			if got := environment(podSpec(find(t, all, "Deployment",
				release+"-"+service)))["TRUSTED_PROXIES"]; got != want {
				t.Errorf("%s: %s believes %v, want %s", shape, service, got, want)
			}
		}
	}
}

// The proxies decide about traces anew, so that another share than the services' would break them off.
func TestProxiesTraceTheShareThatServicesDo(t *testing.T) {
	t.Parallel()
	for ratio, want := range map[float64]float64{0: 0, 0.125: 12.5, 1: 100} {
		values := shapeValues(t, "istio-sidecar")
		telemetry, _ := values["telemetry"].(map[string]any)
		telemetry["traceRatio"] = ratio
		tracing := list(find(t, mustRender(t, values), "Telemetry", release), "spec", "tracing")
		if got := at(tracing[0], "randomSamplingPercentage"); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("of a ratio of %v the proxies trace %v %%, want %v", ratio, got, want)
		}
	}
}
