package chart_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// row is one service in files/components.yaml.
type row struct {
	Calls   []string `json:"calls"`
	Stores  []string `json:"stores"`
	Tables  bool     `json:"tables"`
	Outside bool     `json:"outside"`
	Mail    bool     `json:"mail"`

	Business []string `json:"business"`
	Exact    []string `json:"exact"`
	Below    []string `json:"below"`
}

func table(t *testing.T) map[string]row {
	t.Helper()
	return decode[map[string]row](t, read(t, filepath.Join(chartPath, "files", "components.yaml")))
}

// pairs are the calls of the table as "caller -> callee", sorted.
func pairs(t *testing.T) []string {
	t.Helper()
	var all []string
	for caller, r := range table(t) {
		for _, callee := range r.Calls {
			all = append(all, caller+" -> "+callee)
		}
	}
	slices.Sort(all)
	return all
}

// tag is an environment variable in a settings struct: name and options.
var tag = regexp.MustCompile("`env:\"([A-Z0-9_]+)([^\"]*)\"`")

// variables are the settings that a service reads, by name; the value says whether it must be given.
func variables(t *testing.T, service string) map[string]bool {
	t.Helper()
	sources := string(read(t, filepath.Join(root, "services", service, service+".go")))
	groups := map[string]string{
		"server.Config": "libs/platform/server/server.go", "postgres.Config": "libs/platform/postgres/postgres.go",
		"redisx.Config": "libs/platform/redisx/redisx.go",
		"limits.Config": "libs/platform/limits/limits.go", "link.Config": "libs/sale/link/link.go",
		"mail.Config": "services/notifications/internal/mail/config.go",
	}
	for config, file := range groups {
		if regexp.MustCompile(`(?m)^\s+\w+\s+` + regexp.QuoteMeta(config) + `$`).MatchString(sources) {
			sources += string(read(t, filepath.Join(root, file)))
		}
	}
	sources += string(read(t, filepath.Join(root, "libs", "platform", "telemetry", "telemetry.go")))
	sources += string(read(t, filepath.Join(root, "libs", "platform", "peer", "config.go"))) // part of server.Config
	found := map[string]bool{}
	for _, match := range tag.FindAllStringSubmatch(sources, -1) {
		found[match[1]] = strings.Contains(match[2], "required")
	}
	for _, secrets := range []string{"PEER_SECRETS", "LINK_SECRETS"} {
		if _, ok := found[secrets]; ok {
			found[secrets] = true // of a service, not of its migrations
		}
	}
	return found
}

func TestTheTableIsWhatTheServicesAskFor(t *testing.T) {
	t.Parallel()
	rows := table(t)
	if diff := cmp.Diff(services, slices.Sorted(maps.Keys(rows))); diff != "" {
		t.Fatalf("services (-want +got):\n%s", diff)
	}
	for _, service := range services {
		known := variables(t, service)
		var calls, stores []string
		for _, other := range services {
			// PAGES_URL is their public base: nobody calls them
			if _, ok := known[strings.ToUpper(other)+"_URL"]; ok && other != "pages" {
				calls = append(calls, other)
			}
		}
		for store, variable := range map[string]string{"postgres": "DATABASE_URL", "redis": "REDIS_URL"} {
			if _, ok := known[variable]; ok {
				stores = append(stores, store)
			}
		}
		migrations, _ := filepath.Glob(filepath.Join(root, "services", service, "migrations", "*.sql"))
		slices.Sort(stores)
		got := rows[service]
		slices.Sort(got.Calls)
		slices.Sort(got.Stores)
		got.Business, got.Exact, got.Below = nil, nil, nil
		want := row{Calls: calls, Stores: stores, Tables: len(migrations) > 0, Outside: service == "booking" ||
			service == "notifications"}
		_, want.Mail = known["SMTP_URL"]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-code +table):\n%s", service, diff)
		}
	}
}

func TestEveryServiceIsGivenItsSettingsAndNoOthers(t *testing.T) {
	t.Parallel()
	// Read by the slotmesh command in console's image, by Go itself, by pgx as libpq does, and by OpenTelemetry, or
	// named in what it reads.
	ours := []string{
		"SLOTMESH_SERVER", "GOMEMLIMIT", "PGSSLMODE", "PGSSLROOTCERT",
		"OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_RESOURCE_ATTRIBUTES", "POD_NAME", "NODE_NAME",
	}
	for _, shape := range shapes(t) {
		all := mustRender(t, shapeValues(t, shape))
		for _, service := range services {
			given := environment(podSpec(find(t, all, "Deployment", release+"-"+service)))
			known := variables(t, service)
			for name, required := range known {
				if _, ok := given[name]; required && !ok {
					t.Errorf("%s: %s is not given %s", shape, service, name)
				}
			}
			for name := range given {
				if _, ok := known[name]; !ok && !slices.Contains(ours, name) {
					t.Errorf("%s: %s does not know %s", shape, service, name)
				}
			}
		}
	}
}

// environment is that of the first container: values by name, empty for what comes out of a Secret.
func environment(pod map[string]any) map[string]string {
	given := map[string]string{}
	for _, variable := range list(list(pod, "containers")[0], "env") {
		given[text(variable, "name")] = text(variable, "value")
	}
	return given
}

func TestServicesReachEachOtherOnInternalPorts(t *testing.T) {
	t.Parallel()
	all := mustRender(t, shapeValues(t, "trial"))
	for caller, r := range table(t) {
		given := environment(podSpec(find(t, all, "Deployment", release+"-"+caller)))
		for _, callee := range r.Calls {
			want := fmt.Sprintf("http://%s-%s:9090", release, callee)
			if got := given[strings.ToUpper(callee)+"_URL"]; got != want {
				t.Errorf("%s reaches %s at %q, want %q", caller, callee, got, want)
			}
		}
		for _, port := range list(find(t, all, "Service", release+"-"+caller), "spec", "ports") {
			if number := map[string]string{"public": "8080",
				"internal": "9090"}[text(port, "name")]; number != fmt.Sprint(at(port, "port")) {
				t.Errorf("%s: port %v", caller, port)
			}
		}
	}
}

// components are those that a peer of a NetworkPolicy names.
func components(peer any) []string {
	var names []string
	for _, expression := range list(peer, "podSelector", "matchExpressions") {
		for _, name := range list(expression, "values") {
			names = append(names, fmt.Sprint(name))
		}
	}
	return names
}

// allowed are the calls on a port that the policies of one direction let through, as "from -> to".
func allowed(all []object, direction, peers string, ports ...string) []string {
	var found []string
	for _, policy := range ofKind(all, "NetworkPolicy") {
		own := text(policy, "spec", "podSelector", "matchLabels", "app.kubernetes.io/component")
		for _, rule := range list(policy, "spec", direction) {
			for _, port := range list(rule, "ports") {
				if !slices.Contains(ports, fmt.Sprint(at(port, "port"))) {
					continue
				}
				for _, peer := range list(rule, peers) {
					for _, other := range components(peer) {
						if direction == "egress" {
							found = append(found, own+" -> "+other)
							continue
						}
						found = append(found, other+" -> "+own)
					}
				}
			}
		}
	}
	slices.Sort(found)
	return found
}

func TestNetworkPoliciesLetThroughTheEdgesAndNothingElse(t *testing.T) {
	t.Parallel()
	all := mustRender(t, shapeValues(t, "trial"))
	if diff := cmp.Diff(pairs(t), allowed(all, "ingress", "from", "internal")); diff != "" {
		t.Errorf("into internal ports (-table +policies):\n%s", diff)
	}
	if diff := cmp.Diff(pairs(t), allowed(all, "egress", "to", "9090")); diff != "" {
		t.Errorf("out to internal ports (-table +policies):\n%s", diff)
	}
	stores := []string{"migrate -> postgres"}
	for service, r := range table(t) {
		for _, store := range r.Stores {
			stores = append(stores, service+" -> "+store)
		}
	}
	slices.Sort(stores)
	if diff := cmp.Diff(stores, allowed(all, "ingress", "from", "postgres", "redis")); diff != "" {
		t.Errorf("into the stores (-table +policies):\n%s", diff)
	}
	if diff := cmp.Diff(stores, allowed(all, "egress", "to", "5432", "6379")); diff != "" {
		t.Errorf("out to the stores (-table +policies):\n%s", diff)
	}
}

func TestEveryPodIsDeniedByDefault(t *testing.T) {
	t.Parallel()
	for _, shape := range shapes(t) {
		all := mustRender(t, shapeValues(t, shape))
		deny := find(t, all, "NetworkPolicy", release+"-default-deny")
		selector, _ := at(deny, "spec", "podSelector", "matchLabels").(map[string]any)
		if len(selector) != 2 || len(list(deny, "spec", "policyTypes")) != 2 ||
			len(list(deny, "spec", "ingress")) != 0 {
			t.Errorf("%s: %v", shape, deny["spec"])
		}
		for _, o := range all {
			labels, _ := at(o, "spec", "template", "metadata", "labels").(map[string]any)
			for name, value := range selector {
				if podSpec(o) != nil && labels[name] != value {
					t.Errorf("%s: %s %s is not selected", shape, o.kind(), o.name())
				}
			}
		}
	}
}

func TestIstioNamesExactlyTheCallersOfEachInternalPort(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"istio-sidecar", "istio-ambient"} {
		var got []string
		all := mustRender(t, shapeValues(t, mode))
		for _, service := range services {
			for _, rule := range list(find(t, all, "AuthorizationPolicy", release+"-"+service), "spec", "rules") {
				operation := at(list(rule, "to")[0], "operation")
				if fmt.Sprint(at(operation, "ports")) != "[9090]" ||
					fmt.Sprint(at(operation, "paths")) == "[/metrics]" {
					continue
				}
				for _, principal := range list(list(rule, "from")[0], "source", "principals") {
					caller := strings.TrimPrefix(fmt.Sprint(principal), "cluster.local/ns/"+namespace+"/sa/"+release+
						"-")
					got = append(got, caller+" -> "+service)
				}
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(pairs(t), got); diff != "" {
			t.Errorf("%s (-table +policies):\n%s", mode, diff)
		}
		retries := at(list(find(t, all, "VirtualService", release+"-booking"), "spec", "http")[0], "retries",
			"attempts")
		if fmt.Sprint(retries) != "0" {
			t.Errorf("%s: bookings are sent again %v times", mode, retries)
		}
	}
}

func TestLinkerdNamesExactlyTheCallersOfEachInternalPort(t *testing.T) {
	t.Parallel()
	all := mustRender(t, shapeValues(t, "linkerd"))
	var got []string
	for _, service := range services {
		for _, o := range ofKind(all, "AuthorizationPolicy") {
			if o.name() != release+"-"+service+"-peers" {
				continue
			}
			callers := find(t, all, "MeshTLSAuthentication", text(list(o, "spec", "requiredAuthenticationRefs")[0],
				"name"))
			for _, account := range list(callers, "spec", "identityRefs") {
				got = append(got, strings.TrimPrefix(text(account, "name"), release+"-")+" -> "+service)
			}
		}
		probes := find(t, all, "AuthorizationPolicy", release+"-"+service+"-probes")
		if kind := text(list(probes, "spec", "requiredAuthenticationRefs")[0],
			"kind"); kind != "NetworkAuthentication" {
			t.Errorf("%s: probes have to show a %s", service, kind)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(pairs(t), got); diff != "" {
		t.Errorf("(-table +policies):\n%s", diff)
	}
}
