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

// componentRow is one service in files/components.yaml.
type componentRow struct {
	Calls   []string `json:"calls"`
	Stores  []string `json:"stores"`
	Tables  bool     `json:"tables"`
	Outside bool     `json:"outside"`
	Mail    bool     `json:"mail"`

	Business []string `json:"business"`
	Exact    []string `json:"exact"`
	Below    []string `json:"below"`
}

func loadTable(t *testing.T) map[string]componentRow {
	t.Helper()
	return decode[map[string]componentRow](t, readFile(t, filepath.Join(chartPath, "files", "components.yaml")))
}

// listCalls returns the calls in the table as "caller -> callee", sorted.
func listCalls(t *testing.T) []string {
	t.Helper()
	var all []string
	for caller, r := range loadTable(t) {
		for _, callee := range r.Calls {
			all = append(all, caller+" -> "+callee)
		}
	}
	slices.Sort(all)
	return all
}

// tag matches the environment variable in a field of a settings struct: its name and options.
var tag = regexp.MustCompile("`env:\"([A-Z0-9_]+)([^\"]*)\"")

// listVariables returns the settings that a service reads, by name. The value reports whether the setting is required.
func listVariables(t *testing.T, service string) map[string]bool {
	t.Helper()
	sources := string(readFile(t, filepath.Join(root, "services", service, service+".go")))
	groups := map[string]string{
		"server.Config": "libs/platform/server/server.go", "postgres.Config": "libs/platform/postgres/postgres.go",
		"redisx.Config": "libs/platform/redisx/redisx.go",
		"limits.Config": "libs/platform/limits/limits.go", "link.Config": "libs/sale/link/link.go",
		"mail.Config": "services/notifications/internal/mail/config.go",
	}
	for config, file := range groups {
		if regexp.MustCompile(`(?m)^\s+\w+\s+` + regexp.QuoteMeta(config) + `$`).MatchString(sources) {
			sources += string(readFile(t, filepath.Join(root, file)))
		}
	}
	sources += string(readFile(t, filepath.Join(root, "libs", "platform", "telemetry", "telemetry.go")))
	// part of server.Config
	sources += string(readFile(t, filepath.Join(root, "libs", "platform", "peer", "config.go")))
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

func TestComponentsTableMatchesSettings(t *testing.T) {
	t.Parallel()
	rows := loadTable(t)
	if diff := cmp.Diff(services, slices.Sorted(maps.Keys(rows))); diff != "" {
		t.Fatalf("services (-want +got):\n%s", diff)
	}
	for _, service := range services {
		known := listVariables(t, service)
		var calls, stores []string
		for _, other := range services {
			// PAGES_URL is the public base URL of pages, which no service calls
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
		want := componentRow{Calls: calls, Stores: stores, Tables: len(migrations) > 0, Outside: service == "booking" ||
			service == "notifications"}
		_, want.Mail = known["SMTP_URL"]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-code +table):\n%s", service, diff)
		}
	}
}

func TestServicesGetOnlyKnownSettings(t *testing.T) {
	t.Parallel()
	// These variables are read by the slotmesh command in console's image, by Go, by pgx or by OpenTelemetry, or their
	// values are used in such variables.
	ours := []string{
		"SLOTMESH_SERVER", "GOMEMLIMIT", "PGSSLMODE", "PGSSLROOTCERT",
		"OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_RESOURCE_ATTRIBUTES", "POD_NAME", "NODE_NAME",
	}
	for _, shape := range listShapes(t) {
		all := mustRender(t, loadShape(t, shape))
		for _, service := range services {
			settings := readEnvironment(findPodSpec(findObject(t, all, "Deployment", release+"-"+service)))
			known := listVariables(t, service)
			for name, required := range known {
				if _, ok := settings[name]; required && !ok {
					t.Errorf("%s: %s is not given %s", shape, service, name)
				}
			}
			for name := range settings {
				if _, ok := known[name]; !ok && !slices.Contains(ours, name) {
					t.Errorf("%s: %s does not know %s", shape, service, name)
				}
			}
		}
	}
}

// readEnvironment returns the variables of the first container, by name. The value is empty if it comes from a Secret.
func readEnvironment(pod map[string]any) map[string]string {
	settings := map[string]string{}
	for _, variable := range lookUpList(lookUpList(pod, "containers")[0], "env") {
		settings[lookUpText(variable, "name")] = lookUpText(variable, "value")
	}
	return settings
}

func TestServicesUseInternalPorts(t *testing.T) {
	t.Parallel()
	all := mustRender(t, loadShape(t, "trial"))
	for caller, r := range loadTable(t) {
		settings := readEnvironment(findPodSpec(findObject(t, all, "Deployment", release+"-"+caller)))
		for _, callee := range r.Calls {
			want := fmt.Sprintf("http://%s-%s:9090", release, callee)
			if got := settings[strings.ToUpper(callee)+"_URL"]; got != want {
				t.Errorf("%s reaches %s at %q, want %q", caller, callee, got, want)
			}
		}
		for _, port := range lookUpList(findObject(t, all, "Service", release+"-"+caller), "spec", "ports") {
			if number := map[string]string{"public": "8080",
				"internal": "9090"}[lookUpText(port, "name")]; number != fmt.Sprint(lookUp(port, "port")) {
				t.Errorf("%s: port %v", caller, port)
			}
		}
	}
}

// listComponents returns the components that a peer in a NetworkPolicy names.
func listComponents(peer any) []string {
	var names []string
	for _, expression := range lookUpList(peer, "podSelector", "matchExpressions") {
		for _, name := range lookUpList(expression, "values") {
			names = append(names, fmt.Sprint(name))
		}
	}
	return names
}

// listAllowedCalls returns the calls to these ports that the policies of one direction allow, as "from -> to".
func listAllowedCalls(all []object, direction, peers string, ports ...string) []string {
	var found []string
	for _, policy := range filterKind(all, "NetworkPolicy") {
		own := lookUpText(policy, "spec", "podSelector", "matchLabels", "app.kubernetes.io/component")
		for _, rule := range lookUpList(policy, "spec", direction) {
			for _, port := range lookUpList(rule, "ports") {
				if !slices.Contains(ports, fmt.Sprint(lookUp(port, "port"))) {
					continue
				}
				for _, peer := range lookUpList(rule, peers) {
					for _, other := range listComponents(peer) {
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

func TestNetworkPoliciesAllowOnlyTableCalls(t *testing.T) {
	t.Parallel()
	all := mustRender(t, loadShape(t, "trial"))
	if diff := cmp.Diff(listCalls(t), listAllowedCalls(all, "ingress", "from", "internal")); diff != "" {
		t.Errorf("into internal ports (-table +policies):\n%s", diff)
	}
	if diff := cmp.Diff(listCalls(t), listAllowedCalls(all, "egress", "to", "9090")); diff != "" {
		t.Errorf("out to internal ports (-table +policies):\n%s", diff)
	}
	stores := []string{"migrate -> postgres"}
	for service, r := range loadTable(t) {
		for _, store := range r.Stores {
			stores = append(stores, service+" -> "+store)
		}
	}
	slices.Sort(stores)
	if diff := cmp.Diff(stores, listAllowedCalls(all, "ingress", "from", "postgres", "redis")); diff != "" {
		t.Errorf("into the stores (-table +policies):\n%s", diff)
	}
	if diff := cmp.Diff(stores, listAllowedCalls(all, "egress", "to", "5432", "6379")); diff != "" {
		t.Errorf("out to the stores (-table +policies):\n%s", diff)
	}
}

func TestNetworkPolicyDeniesByDefault(t *testing.T) {
	t.Parallel()
	for _, shape := range listShapes(t) {
		all := mustRender(t, loadShape(t, shape))
		deny := findObject(t, all, "NetworkPolicy", release+"-default-deny")
		selector, _ := lookUp(deny, "spec", "podSelector", "matchLabels").(map[string]any)
		if len(selector) != 2 || len(lookUpList(deny, "spec", "policyTypes")) != 2 ||
			len(lookUpList(deny, "spec", "ingress")) != 0 {
			t.Errorf("%s: %v", shape, deny["spec"])
		}
		for _, o := range all {
			labels, _ := lookUp(o, "spec", "template", "metadata", "labels").(map[string]any)
			for name, value := range selector {
				if findPodSpec(o) != nil && labels[name] != value {
					t.Errorf("%s: %s %s is not selected", shape, o.kind(), o.name())
				}
			}
		}
	}
}

func TestIstioAllowsOnlyTableCallers(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"istio-sidecar", "istio-ambient"} {
		var got []string
		all := mustRender(t, loadShape(t, mode))
		for _, service := range services {
			for _, rule := range lookUpList(findObject(t, all, "AuthorizationPolicy", release+"-"+service), "spec",
				"rules") {
				operation := lookUp(lookUpList(rule, "to")[0], "operation")
				if fmt.Sprint(lookUp(operation, "ports")) != "[9090]" ||
					fmt.Sprint(lookUp(operation, "paths")) == "[/metrics]" {
					continue
				}
				for _, principal := range lookUpList(lookUpList(rule, "from")[0], "source", "principals") {
					caller := strings.TrimPrefix(fmt.Sprint(principal), "cluster.local/ns/"+namespace+"/sa/"+release+
						"-")
					got = append(got, caller+" -> "+service)
				}
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(listCalls(t), got); diff != "" {
			t.Errorf("%s (-table +policies):\n%s", mode, diff)
		}
		retries := lookUp(lookUpList(findObject(t, all, "VirtualService", release+"-booking"), "spec", "http")[0],
			"retries",
			"attempts")
		if fmt.Sprint(retries) != "0" {
			t.Errorf("%s: bookings are sent again %v times", mode, retries)
		}
	}
}

func TestLinkerdAllowsOnlyTableCallers(t *testing.T) {
	t.Parallel()
	all := mustRender(t, loadShape(t, "linkerd"))
	var got []string
	for _, service := range services {
		for _, o := range filterKind(all, "AuthorizationPolicy") {
			if o.name() != release+"-"+service+"-peers" {
				continue
			}
			callers := findObject(t, all, "MeshTLSAuthentication",
				lookUpText(lookUpList(o, "spec", "requiredAuthenticationRefs")[0],
					"name"))
			for _, account := range lookUpList(callers, "spec", "identityRefs") {
				got = append(got, strings.TrimPrefix(lookUpText(account, "name"), release+"-")+" -> "+service)
			}
		}
		probes := findObject(t, all, "AuthorizationPolicy", release+"-"+service+"-probes")
		if kind := lookUpText(lookUpList(probes, "spec", "requiredAuthenticationRefs")[0],
			"kind"); kind != "NetworkAuthentication" {
			t.Errorf("%s: probes have to show a %s", service, kind)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(listCalls(t), got); diff != "" {
		t.Errorf("(-table +policies):\n%s", diff)
	}
}
