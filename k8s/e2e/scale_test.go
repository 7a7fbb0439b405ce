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

// measured is how long an autoscaler, or a node that is emptied, may take: the first learns of what pods use every half
// a minute, the second waits for a pod of each service to be replaced, and both share the machine with everything else.
const measured = 8 * time.Minute

// scaler is what the tests look at of a HorizontalPodAutoscaler.
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

// utilization is the processor time of the pods, in percent of their requests; -1 while it is unknown.
func (s scaler) utilization() int {
	if len(s.Status.CurrentMetrics) == 0 || s.Status.CurrentMetrics[0].Resource.Current.AverageUtilization == nil {
		return -1
	}
	return *s.Status.CurrentMetrics[0].Resource.Current.AverageUtilization
}

// scaling gives catalog the autoscaler that the chart has for it, reads until there are more pods, and then no more
// until these are gone.
func (c cluster) scaling(t *testing.T, f front) {
	if os.Getenv(metrics) != "served" {
		t.Skipf("nobody measures what pods use here: %s is not %q", metrics, "served")
	}
	c.countsWaitingJobs(t)
	c.autoscaler(t, "catalog")
	await := func(what string, reached func(scaler) bool) {
		within(t, measured, what, func() error {
			s := c.scaler(t, "catalog")
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
	crowd(t, f, func() {
		await("more pods under load", func(s scaler) bool { return s.Status.CurrentReplicas == s.Spec.MaxReplicas })
		c.everyPodIsReady(t)
	})
	// The five minutes for which the chart keeps pods that were needed are the API server's to count, not ours.
	c.kubectl(t, "patch", "hpa", release+"-catalog", "--type=merge", "--patch",
		`{"spec": {"behavior": {"scaleDown": {"stabilizationWindowSeconds": 0}}}}`)
	await("fewer pods without load", func(s scaler) bool { return s.Status.CurrentReplicas == s.Spec.MinReplicas })
	c.everyPodIsReady(t)
}

// autoscaler adds what the chart makes for a service that scales by load, beside what is installed, and takes it away
// when the step ends.
func (c cluster) autoscaler(t *testing.T, service string) {
	t.Helper()
	rendered := c.helm(t, append([]string{"template", release, chart, "--kube-version", oldest, "--show-only",
		"templates/components.yaml",
		"--set",
		fmt.Sprintf("components.%[1]s.autoscaling.enabled=true,components.%[1]s.autoscaling.maxReplicas=3,components.%[1]s.autoscaling.cpuPercent=20,postgres.maxConnections=200", service)}, values()...)...)
	made := 0
	for object := range strings.SplitSeq(rendered, "\n---\n") {
		if strings.Contains(object, "\nkind: HorizontalPodAutoscaler\n") {
			c.apply(t, object)
			made++
		}
	}
	if made != 1 {
		t.Fatalf("the chart made %d autoscalers, want %s's", made, service)
	}
	replicas := c.kubectl(t, "get", "deployment", release+"-"+service, "--output", "jsonpath={.spec.replicas}")
	t.Cleanup(func() {
		for _, args := range [][]string{{"delete", "hpa", release + "-" + service},
			{"scale", "deployment/" + release + "-" + service, "--replicas=" + replicas}} {
			if _, err := c.try(context.WithoutCancel(t.Context()), nil, "kubectl",
				append([]string{"--namespace", namespace}, args...)...); err != nil {
				t.Error(err)
			}
		}
	})
}

func (c cluster) scaler(t *testing.T, service string) scaler {
	t.Helper()
	var s scaler
	if err := json.Unmarshal([]byte(c.kubectl(t, "get", "hpa", release+"-"+service, "--output", "json")),
		&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// crowd reads the demo business as eight who each wait for the answer and then up to ten milliseconds, while work is
// done. All answers must be good.
func crowd(t *testing.T, f front, work func()) {
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

// countsWaitingJobs asks the database what KEDA asks it in the chart's shape of that name.
func (c cluster) countsWaitingJobs(t *testing.T) {
	t.Helper()
	shape, err := os.ReadFile(chart + "/ci/keda-values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	query := regexp.MustCompile(`(?m)^ +query: (SELECT .*)$`).FindSubmatch(shape)
	if query == nil {
		t.Fatal("the shape keda has no query of jobs")
	}
	answer := c.sql(t, string(query[1]))
	if _, err := strconv.Atoi(answer); err != nil {
		t.Errorf("%s answered %q, want a number", query[1], answer)
	}
}
