package dist

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// rule is an alert of the chart, or of Prometheus. Only the chart's rules have an objective.
type rule struct {
	Alert     string            `yaml:"alert"`
	Expr      string            `yaml:"expr,omitempty"`
	For       string            `yaml:"for,omitempty"`
	Objective *objective        `yaml:"objective,omitempty"`
	Labels    map[string]string `yaml:"labels,omitempty"`
	Notes     map[string]string `yaml:"annotations,omitempty"`
}

// objective compares the rate of failures with the number of failures that are allowed (charts/slotmesh/files).
type objective struct {
	Failed string `yaml:"failed"`
	All    string `yaml:"all"`
}

// clusterAlerts are the chart's alerts about objects of Kubernetes. SlotmeshTargetDown has another expression here.
var clusterAlerts = []string{"SlotmeshTargetDown", "SlotmeshReplicasMissing", "SlotmeshMigrationFailed",
	"SlotmeshObjectsUnreconciled"}

// burns are the pairs of windows and factors of the chart's objectives, by severity. objectivePercent is the chart's
// default.
var burns = []struct {
	severity            string
	long, short, factor [2]string
}{
	{"critical", [2]string{"1h", "6h"}, [2]string{"5m", "30m"}, [2]string{"14.4", "6"}},
	{"warning", [2]string{"1d", "3d"}, [2]string{"2h", "6h"}, [2]string{"3", "1"}},
}

const objectivePercent = "99.9"

// oneMachine replaces the labels of the cluster by those of the metrics at OPS_PORT.
var oneMachine = strings.NewReplacer(`namespace="$NAMESPACE"`, `job="slotmesh"`, "component", "service",
	"$RELEASE", "slotmesh")

// newAlerts converts the alerts of the chart to a file of rules for Prometheus, for a process on one machine.
func newAlerts(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var given []rule
	if err := yaml.Unmarshal([]byte(oneMachine.Replace(string(text))), &given); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	rules := []rule{{Alert: "SlotmeshTargetDown", Expr: `up{job="slotmesh"} == 0 or absent(up{job="slotmesh"})`, For: "5m",
		Labels: map[string]string{"severity": "critical"},
		Notes:  map[string]string{"summary": "Slotmesh does not serve its metrics"}}}
	for _, r := range given {
		if slices.Contains(clusterAlerts, r.Alert) {
			continue
		}
		if r.Objective == nil {
			rules = append(rules, r)
			continue
		}
		for _, burn := range burns {
			rules = append(rules, rule{Alert: r.Alert, Notes: r.Notes, Labels: map[string]string{"severity": burn.severity},
				Expr: r.Objective.exceeds(burn.long, burn.short, burn.factor)})
		}
	}
	var out bytes.Buffer
	out.WriteString("# Alerts for Slotmesh on one machine. The metrics have the labels job=\"slotmesh\" and service.\n")
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err = encoder.Encode(map[string]any{"groups": []any{map[string]any{"name": "slotmesh", "rules": rules}}})
	return out.Bytes(), err
}

// exceeds returns the expression that is true if failures use up what is allowed too fast.
func (o objective) exceeds(long, short, factor [2]string) string {
	var parts []string
	for i := range long {
		limit := factor[i] + " * (1 - " + objectivePercent + " / 100)"
		share := func(window string) string {
			return fmt.Sprintf("sum(rate(%s[%s])) / sum(rate(%s[%s])) > %s", o.Failed, window, o.All, window, limit)
		}
		parts = append(parts, fmt.Sprintf("(\n  %s\n  and %s\n  and sum(increase(%s[%s])) >= 10\n)", share(long[i]),
			share(short[i]), o.Failed, long[i]))
	}
	return strings.Join(parts, "\nor ")
}
