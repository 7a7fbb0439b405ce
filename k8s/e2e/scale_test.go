package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// scaleTimeout is the maximum time for an autoscaler or for draining a node. The metrics server measures pods every
// half minute, and a drain waits for the replacement of each pod.
const scaleTimeout = 8 * time.Minute

// scaler contains the fields of a HorizontalPodAutoscaler that the tests read.
type scaler struct {
	Spec struct{ MinReplicas, MaxReplicas int }
	// Status holds in CurrentMetrics what the metrics server said of the pods.
	Status struct {
		CurrentReplicas, DesiredReplicas int
		CurrentMetrics                   []struct {
			Resource struct {
				Current struct{ AverageUtilization *int }
			}
		}
	}
}

// utilization returns the CPU time of the pods in percent of their requests, or -1 if it is unknown.
func (s scaler) utilization() int {
	if len(s.Status.CurrentMetrics) == 0 || s.Status.CurrentMetrics[0].Resource.Current.AverageUtilization == nil {
		return -1
	}
	return *s.Status.CurrentMetrics[0].Resource.Current.AverageUtilization
}

// checkScaling adds the chart's autoscaler for catalog. It reads until there are more pods, and waits until they are
// gone after the load.
func (c cluster) checkScaling(t *testing.T, f frontClient) {
	if os.Getenv(metrics) != "served" {
		t.Skipf("this cluster has no metrics server: %s is not %q", metrics, "served")
	}
	c.checkJobQuery(t)
	c.addAutoscaler(t, "catalog")
	await := func(what string, reached func(scaler) bool) {
		waitAtMost(t, scaleTimeout, what, func() error {
			s := c.readScaler(t, "catalog")
			if !reached(s) {
				return fmt.Errorf("%d pods, %d wanted, at %d%% of their requests", s.Status.CurrentReplicas,
					s.Status.DesiredReplicas, s.utilization())
			}
			t.Logf("%s: %d pods at %d%% of their requests", what, s.Status.CurrentReplicas, s.utilization())
			return nil
		})
	}
	await("idle pods are measured", func(s scaler) bool {
		return s.utilization() >= 0 && s.Status.CurrentReplicas == s.Spec.MinReplicas
	})
	readDuring(t, f, func() {
		await("more pods under load", func(s scaler) bool { return s.Status.CurrentReplicas == s.Spec.MaxReplicas })
		c.checkPodsReady(t)
	})
	// The test does not wait for the five minutes after which the chart allows fewer pods.
	c.kubectl(t, "patch", "hpa", release+"-catalog", "--type=merge", "--patch",
		`{"spec": {"behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}}}}`)
	await("fewer pods without load", func(s scaler) bool { return s.Status.CurrentReplicas == s.Spec.MinReplicas })
	c.checkPodsReady(t)
}

// addAutoscaler adds the chart's autoscaler for a service, and removes it at the end of the step.
func (c cluster) addAutoscaler(t *testing.T, service string) {
	t.Helper()
	rendered := c.helm(t, append([]string{"template", release, chart, "--kube-version", oldestKubernetes, "--show-only",
		"templates/components.yaml",
		"--set",
		fmt.Sprintf("components.%[1]s.autoscaling.enabled=true,components.%[1]s.autoscaling.maxReplicas=3,components.%[1]s.autoscaling.cpuPercent=20,postgres.maxConnections=200", service)}, listValues()...)...)
	created := 0
	for object := range strings.SplitSeq(rendered, "\n---\n") {
		if strings.Contains(object, "\nkind: HorizontalPodAutoscaler\n") {
			c.apply(t, object)
			created++
		}
	}
	if created != 1 {
		t.Fatalf("the chart made %d autoscalers, want %s's", created, service)
	}
	replicas := c.kubectl(t, "get", "deployment", release+"-"+service, "--output", "jsonpath={.spec.replicas}")
	t.Cleanup(func() {
		for _, args := range [][]string{{"delete", "hpa", release + "-" + service},
			{"scale", "deployment/" + release + "-" + service, "--replicas=" + replicas}} {
			if _, err := c.tryRun(context.WithoutCancel(t.Context()), nil, "kubectl",
				append([]string{"--namespace", namespace}, args...)...); err != nil {
				t.Error(err)
			}
		}
	})
}

func (c cluster) readScaler(t *testing.T, service string) scaler {
	t.Helper()
	var s scaler
	if err := json.Unmarshal([]byte(c.kubectl(t, "get", "hpa", release+"-"+service, "--output", "json")),
		&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// readDuring reads the demo business with eight clients while work runs. All answers must be successful.
func readDuring(t *testing.T, f frontClient, work func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer func() {
		stop()
		running.Wait()
	}()
	for range 8 {
		running.Go(func() {
			for pause := time.NewTicker(10 * time.Millisecond); ctx.Err() == nil; <-pause.C {
				a, err := f.send(context.WithoutCancel(ctx), http.MethodGet, "/api/public/harbor-studio/services", nil,
					nil)
				if err != nil || a.status != http.StatusOK {
					t.Errorf("a reader was answered %v (%v)", a, err)
					return
				}
			}
		})
	}
	work()
}

// checkJobQuery runs the query that KEDA uses in the chart's shape keda.
func (c cluster) checkJobQuery(t *testing.T) {
	t.Helper()
	shape, err := os.ReadFile(chart + "/ci/keda-values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	query := regexp.MustCompile(`(?m)^ +query: (SELECT .*)$`).FindSubmatch(shape)
	if query == nil {
		t.Fatal("the shape keda has no query of jobs")
	}
	answer := c.runSQL(t, string(query[1]))
	if _, err := strconv.Atoi(answer); err != nil {
		t.Errorf("%s answered %q, want a number", query[1], answer)
	}
}
