package chart_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// A database that is asked for more connections than it takes answers 53300, and requests fail: the pools of all pods
// that a rollout may have, of the migrations and of an operator must fit together, in every shape.
func TestAllPoolsTogetherFitTheDatabaseInEveryShape(t *testing.T) {
	t.Parallel()
	for _, shape := range shapes(t) {
		values := shapeValues(t, shape)
		most := budget(t, values)
		all := mustRender(t, values)
		open := 3 + 1 // those that PostgreSQL keeps for superusers, and an operator's
		for service, r := range table(t) {
			given := environment(podSpec(find(t, all, "Deployment", release+"-"+service)))
			pool, has := given["DATABASE_MAX_CONNS"]
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
			open += 2*podsAtMost(t, all, service)*each + 2 // a migration has its lock's and its own
		}
		if open > most {
			t.Errorf("%s: %d connections may be open, the database takes %d", shape, open, most)
		}
	}
}

// budget is postgres.maxConnections with these values.
func budget(t *testing.T, values map[string]any) int {
	t.Helper()
	for _, source := range []map[string]any{values, load(t).Values} {
		if most, ok := at(source, "postgres", "maxConnections").(float64); ok {
			return int(most)
		}
	}
	t.Fatal("postgres.maxConnections has no default")
	return 0
}

// podsAtMost are the pods of a service that its Deployment or its autoscaler wants.
func podsAtMost(t *testing.T, all []object, service string) int {
	t.Helper()
	name := release + "-" + service
	for _, scaler := range ofKind(all, "HorizontalPodAutoscaler") {
		if scaler.name() == name {
			return count(t, at(scaler, "spec", "maxReplicas"))
		}
	}
	for _, scaler := range ofKind(all, "ScaledObject") {
		if scaler.name() == name {
			return count(t, at(scaler, "spec", "maxReplicaCount"))
		}
	}
	return count(t, at(find(t, all, "Deployment", name), "spec", "replicas"))
}

func count(t *testing.T, value any) int {
	t.Helper()
	number, ok := value.(float64)
	if !ok {
		t.Fatalf("%v is no number", value)
	}
	return int(number)
}

func TestTheOneFigureOfConnectionsSizesPoolsAndDatabases(t *testing.T) {
	t.Parallel()
	for figure, pool := range map[int]string{86: "4", 104: "5", 302: "16"} {
		for _, provider := range []string{"trial", "cloudnativepg", "external"} {
			settings := fmt.Sprintf("postgres.provider=%s,postgres.maxConnections=%d", provider, figure)
			if provider == "external" {
				settings += ",postgres.existingSecret.name=database"
			}
			all := mustRender(t, set(t, settings))
			for _, service := range []string{"booking", "catalog", "console", "notifications", "rental"} {
				if got := environment(podSpec(find(t, all, "Deployment",
					release+"-"+service)))["DATABASE_MAX_CONNS"]; got != pool {
					t.Errorf("%s: a pod of %s has %q connections, want %s", settings, service, got, pool)
				}
			}
			if taken, want := databaseTakes(all), strconv.Itoa(figure); provider != "external" && taken != want {
				t.Errorf("%s: the database takes %q, want %s", settings, taken, want)
			}
		}
	}
}

// databaseTakes is max_connections of the database that the chart makes; empty where it makes none.
func databaseTakes(all []object) string {
	for _, cluster := range ofKind(all, "Cluster") {
		return text(cluster, "spec", "postgresql", "parameters", "max_connections")
	}
	for _, trial := range ofKind(all, "StatefulSet") {
		for _, arg := range list(list(podSpec(trial), "containers")[0], "args") {
			var figure string
			if n, _ := fmt.Sscanf(fmt.Sprint(arg), "max_connections=%s", &figure); n == 1 {
				return figure
			}
		}
	}
	return ""
}

func TestASecondFigureOfConnectionsIsRefused(t *testing.T) {
	t.Parallel()
	own := map[string]any{"parameters": map[string]any{"max_connections": "300"}}
	_, err := render(t, map[string]any{"postgres": map[string]any{"provider": "cloudnativepg", "cloudnativepg": own}},
		false)
	if want := "postgres.cloudnativepg.parameters.max_connections: leave it out"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want a sentence with %q", err, want)
	}
}
