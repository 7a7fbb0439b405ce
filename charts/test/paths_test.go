package chart_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// route leads what match finds to a service.
type route struct {
	match   func(path string) bool
	service string
}

// wanted is which service answers which path: every public one, and of everything else none.
func wanted(t *testing.T) map[string]string {
	t.Helper()
	paths := map[string]string{}
	for service, row := range table(t) {
		business(paths, service, row.Business)
		exact(paths, service, row.Exact)
		below(paths, service, row.Below)
	}
	for _, path := range []string{
		"/", "/internal", "/internal/offers/x", "/metrics", "/livez", "/readyz", "/admin", "/admin/businesses",
		"/api/public",
		"/api/public/x", "/api/public/x/", "/api/public/../metrics", "/api/public/x/../../../metrics", "/%69nternal",
		"/api/public/x/event",
	} {
		paths[path] = ""
	}
	return paths
}

func business(paths map[string]string, service string, parts []string) {
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

func exact(paths map[string]string, service string, exact []string) {
	for _, path := range exact {
		paths[path] = service
		paths["/x"+path], paths[path+"/"], paths[path+"x"], paths[path+"/x"] = "", "", "", ""
		if strings.Contains(path, ".") {
			paths[strings.ReplaceAll(path, ".", "x")] = ""
		}
	}
}

func below(paths map[string]string, service string, beginnings []string) {
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
	for path, service := range wanted(t) {
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

func equal(want string) func(string) bool { return func(path string) bool { return path == want } }

// search matches as Go's regexp does by itself: anywhere in the path.
func search(t *testing.T, expression string) func(string) bool {
	t.Helper()
	compiled, err := regexp.Compile(expression)
	if err != nil {
		t.Fatal(err)
	}
	return compiled.MatchString
}

func TestTheGatewayLeadsPublicPathsToTheirServicesAndNothingElse(t *testing.T) {
	t.Parallel()
	all := mustRender(t, shapeValues(t, "gateway"))
	var routes []route
	for _, rule := range list(find(t, all, "HTTPRoute", release), "spec", "rules") {
		service := strings.TrimPrefix(text(list(rule, "backendRefs")[0], "name"), release+"-")
		if text(rule, "timeouts", "request") == "" {
			t.Errorf("the rule of %s has no timeout", service)
		}
		for _, match := range list(rule, "matches") {
			value := text(match, "path", "value")
			if text(match, "path", "type") == "Exact" {
				routes = append(routes, route{equal(value), service})
				continue
			}
			if !strings.HasPrefix(value, "^") || !strings.HasSuffix(value, "$") {
				t.Errorf("%s is not anchored", value)
			}
			routes = append(routes, route{search(t, value), service})
		}
	}
	checkRoutes(t, routes)
}

// ingressRoutes reads the paths of Ingresses; match says how the controller takes a path of no fixed type.
func ingressRoutes(t *testing.T, ingresses []object, match func(o object, path string) func(string) bool) []route {
	t.Helper()
	var routes []route
	for _, o := range ingresses {
		for _, path := range list(list(o, "spec", "rules")[0], "http", "paths") {
			value := text(path, "path")
			if !strings.HasPrefix(value, "/") {
				t.Errorf("%s does not begin with a slash: the API server refuses it", value)
			}
			r := route{service: strings.TrimPrefix(text(path, "backend", "service", "name"), release+"-"),
				match: match(o, value)}
			if text(path, "pathType") == "Exact" {
				r.match = equal(value)
			}
			if port := text(path, "backend", "service", "port", "name"); port != "public" {
				t.Errorf("%s leads to the port %s", value, port)
			}
			routes = append(routes, r)
		}
	}
	return routes
}

func TestEachIngressLeadsPublicPathsToTheirServicesAndNothingElse(t *testing.T) {
	t.Parallel()
	for controller, match := range map[string]func(o object, path string) func(string) bool{
		"traefik": func(_ object, path string) func(string) bool { return search(t, path) },
		"nginx":   func(_ object, path string) func(string) bool { return search(t, "^"+path) },
		"skipper": func(o object, path string) func(string) bool {
			predicate := text(o, "metadata", "annotations", "zalando.org/skipper-predicate")
			var expression string
			if _, err := fmt.Sscanf(predicate, "PathRegexp(%q)", &expression); err != nil || path != "/" {
				t.Fatalf("predicate %s of path %s: %v", predicate, path, err)
			}
			return search(t, expression)
		},
	} {
		t.Run(controller, func(t *testing.T) {
			t.Parallel()
			ingresses := ofKind(mustRender(t, shapeValues(t, "ingress-"+controller)), "Ingress")
			checkRoutes(t, ingressRoutes(t, ingresses, match))
		})
	}
}

func TestTheAdminAPIHasAHostOfItsOwnOrNone(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{
		"frontDoor.gateway.enabled=true,frontDoor.adminHost=admin.example.com",
		"frontDoor.adminHost=admin.example.com,frontDoor.ingress.controller=traefik", "demo.enabled=true",
	} {
		for _, o := range mustRender(t, set(t, settings)) {
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
