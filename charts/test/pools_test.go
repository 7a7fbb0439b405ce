package chart_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// TestPoolsFitDatabaseInEachShape adds the connections of all pods during a rollout, of migrations and of one operator.
// A database refuses further connections with 53300, and requests then fail.
func TestPoolsFitDatabaseInEachShape(t *testing.T) {
	t.Parallel()
	for _, shape := range listShapes(t) {
		values := loadShape(t, shape)
		most := readBudget(t, values)
		all := mustRender(t, values)
		open := 3 + 1 // those that PostgreSQL keeps for superusers, and an operator's
		for service, r := range loadTable(t) {
			settings := readEnvironment(findPodSpec(findObject(t, all, "Deployment", release+"-"+service)))
			pool, has := settings["DATABASE_MAX_CONNS"]
			if has != r.Tables {
				t.Errorf("%s: %s has a pool of %q", shape, service, pool)
			}
			if !r.Tables {
				continue
			}
			each, err := strconv.Atoi(pool)
			if err != nil || each < 4 {
				t.Errorf("%s: a pod of %s has %q connections, want 4 or more", shape, service, pool)
			}
			open += 2*countMaxPods(t, all, service)*each + 2 // a migration has its lock's and its own
		}
		if open > most {
			t.Errorf("%s: %d connections may be open, the database takes %d", shape, open, most)
		}
	}
}

// readBudget returns postgres.maxConnections of these values.
func readBudget(t *testing.T, values map[string]any) int {
	t.Helper()
	for _, source := range []map[string]any{values, loadChart(t).Values} {
		if most, ok := lookUp(source, "postgres", "maxConnections").(float64); ok {
			return int(most)
		}
	}
	t.Fatal("postgres.maxConnections has no default")
	return 0
}

// countMaxPods returns the maximum number of a service's pods, by its autoscaler or its Deployment.
func countMaxPods(t *testing.T, all []object, service string) int {
	t.Helper()
	name := release + "-" + service
	for _, scaler := range filterKind(all, "HorizontalPodAutoscaler") {
		if scaler.name() == name {
			return parseInt(t, lookUp(scaler, "spec", "maxReplicas"))
		}
	}
	for _, scaler := range filterKind(all, "ScaledObject") {
		if scaler.name() == name {
			return parseInt(t, lookUp(scaler, "spec", "maxReplicaCount"))
		}
	}
	return parseInt(t, lookUp(findObject(t, all, "Deployment", name), "spec", "replicas"))
}

func parseInt(t *testing.T, value any) int {
	t.Helper()
	number, ok := value.(float64)
	if !ok {
		t.Fatalf("%v is not a number", value)
	}
	return int(number)
}

func TestMaxConnectionsSizesPoolsAndDatabases(t *testing.T) {
	t.Parallel()
	for figure, pool := range map[int]string{86: "4", 104: "5", 302: "16"} {
		for _, provider := range []string{"trial", "cloudnativepg", "external"} {
			settings := fmt.Sprintf("postgres.provider=%s,postgres.maxConnections=%d", provider, figure)
			if provider == "external" {
				settings += ",postgres.existingSecret.name=database"
			}
			all := mustRender(t, parseSettings(t, settings))
			for _, service := range []string{"booking", "catalog", "console", "notifications", "rental"} {
				if got := readEnvironment(findPodSpec(findObject(t, all, "Deployment",
					release+"-"+service)))["DATABASE_MAX_CONNS"]; got != pool {
					t.Errorf("%s: a pod of %s has %q connections, want %s", settings, service, got, pool)
				}
			}
			if configured, want := findMaxConnections(all), strconv.Itoa(figure); provider != "external" &&
				configured != want {
				t.Errorf("%s: the database takes %q, want %s", settings, configured, want)
			}
		}
	}
}

// findMaxConnections returns max_connections of the database that the chart creates, or "" if it creates none.
func findMaxConnections(all []object) string {
	for _, cluster := range filterKind(all, "Cluster") {
		return lookUpText(cluster, "spec", "postgresql", "parameters", "max_connections")
	}
	for _, trial := range filterKind(all, "StatefulSet") {
		for _, arg := range lookUpList(lookUpList(findPodSpec(trial), "containers")[0], "args") {
			var figure string
			if n, _ := fmt.Sscanf(fmt.Sprint(arg), "max_connections=%s", &figure); n == 1 {
				return figure
			}
		}
	}
	return ""
}

func TestRenderRefusesSecondMaxConnections(t *testing.T) {
	t.Parallel()
	own := map[string]any{"parameters": map[string]any{"max_connections": "300"}}
	_, err := render(t, map[string]any{"postgres": map[string]any{"provider": "cloudnativepg", "cloudnativepg": own}},
		false)
	if want := "postgres.cloudnativepg.parameters.max_connections: leave it out"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want a sentence with %q", err, want)
	}
}
