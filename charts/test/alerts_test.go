package chart_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// objectives are tests for promtool: series of bookings and public requests, and the expected alerts. There are 100 to
// 10,000 requests a minute. Bookings fail with "internal" or "outcome_unknown", requests with 503.
const objectives = `
rule_files: [rules.yaml]
evaluation_interval: 5m
tests:
  - name: one in ten thousand fails
    interval: 1m
    input_series:
      - {series: 'slotmesh_bookings_total{namespace="booking", outcome="booked"}', values: "0+10000x4400"}
      - {series: 'slotmesh_bookings_total{namespace="booking", outcome="internal"}', values: "0+1x4400"}
    alert_rule_test:
      - {eval_time: 72h, alertname: SlotmeshBookingsFail, exp_alerts: []}
  - name: one in fifty fails
    interval: 1m
    input_series:
      - {series: 'slotmesh_bookings_total{namespace="booking", outcome="booked"}', values: "0+98x400"}
      - {series: 'slotmesh_bookings_total{namespace="booking", outcome="outcome_unknown"}', values: "0+2x90 180+0x310"}
    alert_rule_test:
      - {eval_time: 5m, alertname: SlotmeshBookingsFail, exp_alerts: [CRITICAL, WARNING]}
      - {eval_time: 80m, alertname: SlotmeshBookingsFail, exp_alerts: [CRITICAL, WARNING]}
      - {eval_time: 130m, alertname: SlotmeshBookingsFail, exp_alerts: [WARNING]} # mended for half an hour
  - name: three in a thousand fail for days
    interval: 1m
    input_series:
      - {series: 'slotmesh_bookings_total{namespace="booking", outcome="booked"}', values: "0+997x1600"}
      - {series: 'slotmesh_bookings_total{namespace="booking", outcome="internal"}', values: "0+4x1600"}
    alert_rule_test:
      - {eval_time: 24h, alertname: SlotmeshBookingsFail, exp_alerts: [WARNING]}
  - name: two of three bookings of a small shop fail
    interval: 1m
    input_series:
      - {series: 'slotmesh_bookings_total{namespace="booking", outcome="booked"}', values: "0+0x30 1+0x400"}
      - {series: 'slotmesh_bookings_total{namespace="booking", outcome="internal"}', values: "0+0x20 2+0x410"}
    alert_rule_test:
      - {eval_time: 40m, alertname: SlotmeshBookingsFail, exp_alerts: []}
  - name: what customers did wrong is no failure, and what peers ask is not theirs
    interval: 1m
    input_series:
      - {series: 'slotmesh_bookings_total{namespace="booking", outcome="slot_taken"}', values: "0+100x400"}
      - {series: 'http_server_request_duration_seconds_count{namespace="booking", http_route="/internal/offer", http_response_status_code="503"}', values: "0+100x400"}
      - {series: 'http_server_request_duration_seconds_count{namespace="booking", http_route="/api/public/:slug/slots", http_response_status_code="404"}', values: "0+100x400"}
    alert_rule_test:
      - {eval_time: 5h, alertname: SlotmeshBookingsFail, exp_alerts: []}
      - {eval_time: 5h, alertname: SlotmeshPublicFails, exp_alerts: []}
  - name: pages fail
    interval: 1m
    input_series:
      - {series: 'http_server_request_duration_seconds_count{namespace="booking", http_route="/b/:slug", http_response_status_code="200"}', values: "0+98x100"}
      - {series: 'http_server_request_duration_seconds_count{namespace="booking", http_route="/b/:slug", http_response_status_code="503"}', values: "0+2x100"}
    alert_rule_test:
      - {eval_time: 65m, alertname: SlotmeshPublicFails, exp_alerts: [CRITICAL, WARNING]}
  - name: the operator fails at one object, less often each time, until that is mended
    interval: 1m
    input_series:
      - {series: 'slotmesh_operator_reconciles_total{namespace="booking", kind="Business", outcome="ok"}', values: "0+1x200"}
      - {series: 'slotmesh_operator_reconciles_total{namespace="booking", kind="APIKey", outcome="failed"}', values: "_x10 1 2 3 3 4 4 4 5 5 5 5 6x4 7x4 8x4 9x4 10x4 11x140"}
    alert_rule_test:
      - {eval_time: 15m, alertname: SlotmeshObjectsUnreconciled, exp_alerts: []}
      - {eval_time: 35m, alertname: SlotmeshObjectsUnreconciled, exp_alerts: [WARNING]}
      - {eval_time: 90m, alertname: SlotmeshObjectsUnreconciled, exp_alerts: []}
`

// findPromtool returns the path of promtool, Prometheus' program for rules, from Debian's package prometheus.
func findPromtool(t *testing.T) string {
	t.Helper()
	program, err := inputs.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("promtool is missing; install the package prometheus")
		}
		t.Skip("promtool, which judges the rules, is not on this machine, and in continuous integration always is; install the package prometheus")
	}
	return program
}

func TestAlertsFireAsExpected(t *testing.T) {
	t.Parallel()
	program := findPromtool(t)
	rules := findObject(t, mustRender(t, loadShape(t, "production")), "PrometheusRule", release)
	folder := t.TempDir()
	save := func(name string, content any) {
		text, err := yaml.Marshal(content)
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	save("rules.yaml", map[string]any{"groups": lookUp(rules, "spec", "groups")})
	save("tests.yaml", newExpectedAlerts(t, lookUpList(rules, "spec", "groups")[0]))
	for _, arguments := range [][]string{{"check", "rules", "--lint-fatal", "rules.yaml"},
		{"test", "rules", "tests.yaml"}} {
		cmd := exec.CommandContext(t.Context(), program, arguments...)
		cmd.Dir = folder
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", arguments[0], err, output)
		}
	}
}

// newExpectedAlerts returns the tests in objectives, with each expected alert in the form that promtool compares.
func newExpectedAlerts(t *testing.T, group any) map[string]any {
	t.Helper()
	annotations := map[string]any{}
	for _, r := range lookUpList(group, "rules") {
		annotations[lookUpText(r, "alert")] = lookUp(r, "annotations")
	}
	tests := decode[map[string]any](t, []byte(objectives))
	for _, one := range lookUpList(tests, "tests") {
		for _, check := range lookUpList(one, "alert_rule_test") {
			alerts := []any{}
			for _, severity := range lookUpList(check, "exp_alerts") {
				label := map[any]string{"CRITICAL": "critical", "WARNING": "warning"}[severity]
				alerts = append(alerts, map[string]any{"exp_labels": map[string]any{"severity": label},
					"exp_annotations": annotations[lookUpText(check, "alertname")]})
			}
			check.(map[string]any)["exp_alerts"] = alerts
		}
	}
	return tests
}
