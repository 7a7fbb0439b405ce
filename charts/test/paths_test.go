package chart_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// route leads the paths that match reports to a service.
type route struct {
	match   func(path string) bool
	service string
}

// listExpectedRoutes returns paths with the service that must answer each of them; "" means none.
func listExpectedRoutes(t *testing.T) map[string]string {
	t.Helper()
	paths := map[string]string{}
	for service, row := range loadTable(t) {
		addBusinessPaths(paths, service, row.Business)
		addExactPaths(paths, service, row.Exact)
		addPathsBelow(paths, service, row.Below)
	}
	// A path can be a complete path and also have paths below it.
	for service, row := range loadTable(t) {
		for _, path := range row.Exact {
			paths[path] = service
		}
		for _, beginning := range row.Below {
			paths[beginning+"/x"] = service
		}
	}
	for _, path := range []string{
		"/internal", "/internal/offers/x", "/metrics", "/livez", "/readyz", "/admin", "/admin/businesses",
		"/api/public",
		"/api/public/x", "/api/public/x/", "/api/public/../metrics", "/api/public/x/../../../metrics", "/%69nternal",
		"/api/public/x/event",
	} {
		paths[path] = ""
	}
	return paths
}

func addBusinessPaths(paths map[string]string, service string, parts []string) {
	for _, part := range parts {
		path := "/api/public/harbor-studio_2/" + part
		paths[path] = service
		for _, odd := range []string{"/x" + path, path + "/", path + "s", path + "/x", path + "\n",
			strings.ToUpper(path), "/" + path, strings.Replace(path, "harbor", "harbor/", 1)} {
			paths[odd] = ""
		}
		paths["/api/public/a.b/"+part], paths["/api/public/a%2fb/"+part], paths["/api/public//"+part] = "", "", ""
	}
}

func addExactPaths(paths map[string]string, service string, exact []string) {
	for _, path := range exact {
		paths[path] = service
		paths["/x"+path], paths[path+"/"], paths[path+"x"], paths[path+"/x"] = "", "", "", ""
		if strings.Contains(path, ".") {
			paths[strings.ReplaceAll(path, ".", "x")] = ""
		}
	}
}

func addPathsBelow(paths map[string]string, service string, beginnings []string) {
	for _, beginning := range beginnings {
		paths[beginning+"/harbor-studio"], paths[beginning+"/x/Y_2.ics"] = service, service
		for _, odd := range []string{beginning, beginning + "/", beginning + "x/y", "/x" + beginning + "/y",
			beginning + "/a b", beginning + "/a%2fb", beginning + "/a\n"} {
			paths[odd] = ""
		}
	}
}

func checkRoutes(t *testing.T, routes []route) {
	t.Helper()
	for path, service := range listExpectedRoutes(t) {
		var owners []string
		for _, r := range routes {
			if r.match(path) {
				owners = append(owners, r.service)
			}
		}
		if got := strings.Join(owners, " and "); got != service {
			t.Errorf("%q leads to %q, want %q", path, got, service)
		}
	}
}

func matchExactly(want string) func(string) bool {
	return func(path string) bool { return path == want }
}

// matchAnywhere matches like Go's regexp: anywhere in the path.
func matchAnywhere(t *testing.T, expression string) func(string) bool {
	t.Helper()
	compiled, err := regexp.Compile(expression)
	if err != nil {
		t.Fatal(err)
	}
	return compiled.MatchString
}

func TestGatewayRoutesOnlyPublicPaths(t *testing.T) {
	t.Parallel()
	all := mustRender(t, loadShape(t, "gateway"))
	var routes []route
	for _, rule := range lookUpList(findObject(t, all, "HTTPRoute", release), "spec", "rules") {
		service := strings.TrimPrefix(lookUpText(lookUpList(rule, "backendRefs")[0], "name"), release+"-")
		if lookUpText(rule, "timeouts", "request") == "" {
			t.Errorf("the rule of %s has no timeout", service)
		}
		for _, match := range lookUpList(rule, "matches") {
			value := lookUpText(match, "path", "value")
			if lookUpText(match, "path", "type") == "Exact" {
				routes = append(routes, route{matchExactly(value), service})
				continue
			}
			if !strings.HasPrefix(value, "^") || !strings.HasSuffix(value, "$") {
				t.Errorf("%s is not anchored", value)
			}
			routes = append(routes, route{matchAnywhere(t, value), service})
		}
	}
	checkRoutes(t, routes)
}

// readIngressRoutes returns the routes of Ingresses. The argument match returns how the controller matches a path
// without a fixed type.
func readIngressRoutes(t *testing.T, ingresses []object, match func(o object, path string) func(string) bool) []route {
	t.Helper()
	var routes []route
	for _, o := range ingresses {
		for _, path := range lookUpList(lookUpList(o, "spec", "rules")[0], "http", "paths") {
			value := lookUpText(path, "path")
			if !strings.HasPrefix(value, "/") {
				t.Errorf("%s does not begin with a slash: the API server refuses it", value)
			}
			r := route{service: strings.TrimPrefix(lookUpText(path, "backend", "service", "name"), release+"-"),
				match: match(o, value)}
			if lookUpText(path, "pathType") == "Exact" {
				r.match = matchExactly(value)
			}
			if port := lookUpText(path, "backend", "service", "port", "name"); port != "public" {
				t.Errorf("%s leads to the port %s", value, port)
			}
			routes = append(routes, r)
		}
	}
	return routes
}

func TestIngressRoutesOnlyPublicPaths(t *testing.T) {
	t.Parallel()
	for controller, match := range map[string]func(o object, path string) func(string) bool{
		"traefik": func(_ object, path string) func(string) bool { return matchAnywhere(t, path) },
		"nginx":   func(_ object, path string) func(string) bool { return matchAnywhere(t, "^"+path) },
		"skipper": func(o object, path string) func(string) bool {
			predicate := lookUpText(o, "metadata", "annotations", "zalando.org/skipper-predicate")
			var expression string
			if _, err := fmt.Sscanf(predicate, "PathRegexp(%q)", &expression); err != nil || path != "/" {
				t.Fatalf("predicate %s of path %s: %v", predicate, path, err)
			}
			return matchAnywhere(t, expression)
		},
	} {
		t.Run(controller, func(t *testing.T) {
			t.Parallel()
			ingresses := filterKind(mustRender(t, loadShape(t, "ingress-"+controller)), "Ingress")
			checkRoutes(t, readIngressRoutes(t, ingresses, match))
		})
	}
}

func TestAdminRoutesHaveOwnHost(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{
		"frontDoor.gateway.enabled=true,frontDoor.adminHost=admin.example.com",
		"frontDoor.adminHost=admin.example.com,frontDoor.ingress.controller=traefik", "demo.enabled=true",
	} {
		for _, o := range mustRender(t, parseSettings(t, settings)) {
			if o.kind() != "HTTPRoute" && o.kind() != "Ingress" {
				continue
			}
			rendered := fmt.Sprint(o["spec"])
			if console, own := strings.Contains(rendered, release+"-console"),
				strings.Contains(rendered, "admin.example.com"); console != own {
				t.Errorf("%s: %s %s leads to console: %v, is the admin API's host: %v", settings, o.kind(), o.name(),
					console, own)
			}
		}
	}
}
