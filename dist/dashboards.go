package dist

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// dashboard is a dashboard of the chart.
type dashboard struct {
	Name   string `yaml:"name"`
	Title  string `yaml:"title"`
	Panels []struct {
		Title   string            `yaml:"title"`
		Unit    string            `yaml:"unit"`
		Queries map[string]string `yaml:"queries"`
	} `yaml:"panels"`
}

// oneMachineQueries replaces the labels of the cluster in the chart's queries by those of the metrics at OPS_PORT.
var oneMachineQueries = strings.NewReplacer(
	"{SERVED", `{job="slotmesh", service=~"$service", http_route!~"/livez|/readyz|/metrics"`,
	"{CHOSEN", `{job="slotmesh", service=~"$service"`, "{OWN", `{job="slotmesh"`,
	"{{component}}", "{{service}}", "{{pod}}", "{{service}}", "component", "service")

// writeDashboards converts the dashboards of the chart to Grafana's schema, one file for each in the folder `dir`. It
// leaves out the panels of the operator for Kubernetes.
func writeDashboards(file, dir string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var dashboards []dashboard
	if err := yaml.Unmarshal([]byte(oneMachineQueries.Replace(string(text))), &dashboards); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var names []string
	for _, d := range dashboards {
		content, err := json.MarshalIndent(d.convert(), "", "  ")
		if err != nil {
			return nil, err
		}
		name := "slotmesh-" + d.Name + ".json"
		if err := os.WriteFile(filepath.Join(dir, name), append(content, '\n'), 0o644); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// object is an object of Grafana's schema.
type object = map[string]any

// convert returns the dashboard in Grafana's schema, with two panels in each row.
func (d dashboard) convert() object {
	source := object{"type": "prometheus", "uid": "$datasource"}
	panels := []object{}
	for _, p := range d.Panels {
		var targets []object
		for i, legend := range slices.Sorted(maps.Keys(p.Queries)) {
			expr := p.Queries[legend]
			if strings.Contains(expr, "process_") || strings.HasPrefix(expr, "go_") {
				expr, legend = "max("+expr+")", "process" // all services report these values of the same process
			}
			targets = append(targets, object{"refId": string(rune('A' + i)), "datasource": source,
				"expr": expr, "legendFormat": legend})
		}
		if strings.Contains(targets[0]["expr"].(string), "slotmesh_operator_") {
			continue
		}
		place := len(panels)
		panels = append(panels, object{"id": place + 1, "title": p.Title, "type": "timeseries", "datasource": source,
			"gridPos":     object{"x": place % 2 * 12, "y": place / 2 * 8, "w": 12, "h": 8},
			"fieldConfig": object{"defaults": object{"unit": p.Unit, "min": 0}, "overrides": []any{}},
			"targets":     targets})
	}
	return object{"title": d.Title, "uid": "slotmesh-" + d.Name, "tags": []string{"slotmesh"}, "schemaVersion": 39,
		"editable": true, "refresh": "30s", "time": object{"from": "now-3h", "to": "now"}, "panels": panels,
		"templating": object{"list": []object{
			{"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus"},
			{"name": "service", "type": "query", "datasource": source, "refresh": 2, "label": "Service",
				"query": `label_values(http_server_request_duration_seconds_count{job="slotmesh"}, service)`, "multi": true,
				"includeAll": true, "allValue": ".*", "current": object{"text": "All", "value": "$__all"}}}}}
}
