package allinone

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/sethvargo/go-envconfig"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone/test/deadlines"
)

var opsLine = regexp.MustCompile(`ops +(http://\S+)`)

func TestOpsServesReadinessAndMetrics(t *testing.T) {
	t.Parallel()
	env := newStoreSettings(t)
	env["PORT"], env["ADMIN_PORT"], env["MAIL_PORT"], env["SLOTMESH_HOME"], env["SLOTMESH_DEMO"] = "0", "0", "0",
		t.TempDir(), "false"
	env["OPS_PORT"], env["HOST"] = findFreePorts(t, "OPS_PORT")["OPS_PORT"], "0.0.0.0"
	runUntilGreeting(t, env, func(greeting string) {
		found := opsLine.FindStringSubmatch(greeting)
		if found == nil || !strings.Contains(greeting, "public   http://127.0.0.1:") || !strings.Contains(greeting,
			"reached at 0.0.0.0") {
			t.Fatalf("printed:\n%s", greeting)
		}
		// the handler waits 5 seconds for the services, which may be too short on a slow machine
		testkit.WaitUntil(t, "all are ready", func(ctx context.Context) error {
			status, body, err := sendRequest(ctx, http.MethodGet, found[1]+"/readyz", nil, nil)
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("%d %s", status, body)
			}
			if err == nil && !strings.Contains(string(body), "\nzones 20") {
				t.Errorf("the version of the rules of time zones is not shown: %s", body)
			}
			return err
		})
		var health strings.Builder
		if err := CheckHealth(t.Context(), envconfig.MapLookuper(env), &health); err != nil ||
			!strings.HasPrefix(health.String(), "ready\n") {
			t.Errorf("health: %q %v", health.String(), err)
		}
		status, body, err := sendRequest(t.Context(), http.MethodGet, found[1]+"/metrics", nil, nil)
		if err != nil || status != http.StatusOK {
			t.Fatalf("%d %.300s %v", status, body, err)
		}
		if !strings.Contains(string(body), "slotmesh_zones_info{") {
			t.Error("the metric of the time zone rules is missing")
		}
		if !strings.Contains(string(body), `slotmesh_build_info{build="`) {
			t.Error("the metric of the version is missing")
		}
		for _, name := range partNames() {
			if !strings.Contains(string(body), `go_goroutines{service="`+name+`"}`) {
				t.Errorf("the metrics of %s are missing", name)
			}
		}
	})
}

func TestReadinessNamesStoppedService(t *testing.T) {
	t.Parallel()
	p, err := Start(t.Context(), Config{
		DatabaseURL: newStoreSettings(t)["DATABASE_URL"], RedisURL: newStoreSettings(t)["REDIS_URL"], Home: t.TempDir(),
		Settings: deadlines.Roomy,
	}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}()
	if err := p.StopService("rental"); err != nil {
		t.Fatal(err)
	}
	// the handler waits 5 seconds for the other services, which may be too short on a slow machine
	testkit.WaitUntil(t, "rental alone is not ready", func(ctx context.Context) error {
		answer := httptest.NewRecorder()
		opsHandler(p.parts, "").ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", nil))
		if answer.Code != http.StatusServiceUnavailable || !strings.HasPrefix(answer.Body.String(), "rental: ") ||
			strings.Count(answer.Body.String(), "\n") != 1 {
			return fmt.Errorf("%d %s", answer.Code, answer.Body)
		}
		return nil
	})
}

func TestHealthFailsWithoutProcess(t *testing.T) {
	t.Parallel()
	for sentence, env := range map[string]map[string]string{
		"OPS_PORT: it is not set":          {},
		"no Slotmesh answers at 127.0.0.1": findFreePorts(t, "OPS_PORT"),
	} {
		if err := CheckHealth(t.Context(), envconfig.MapLookuper(env), io.Discard); err == nil ||
			!strings.Contains(err.Error(), sentence) {
			t.Errorf("want %q, got %v", sentence, err)
		}
	}
}

func TestMetricsRequireToken(t *testing.T) {
	t.Parallel()
	const token = "5f2b7c1d9e3a4f6b8c0d1e2f"
	for header, status := range map[string]int{"": 401, "Bearer wrong": 401, token: 401, "Bearer " + token: 200} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
		r.Header.Set("Authorization", header)
		answer := httptest.NewRecorder()
		opsHandler(nil, token).ServeHTTP(answer, r)
		if answer.Code != status {
			t.Errorf("%q: %d, want %d", header, answer.Code, status)
		}
	}
	for host, valid := range map[string]bool{"": true, "127.0.0.1": true, "::1": true, "0.0.0.0": false, "here": false} {
		if err := (&Config{Port: 1, AdminPort: 2, OpsHost: host}).Validate(); (err == nil) != valid {
			t.Errorf("OPS_HOST %q without a token: %v", host, err)
		}
	}
	if err := (&Config{Port: 1, AdminPort: 2, OpsHost: "0.0.0.0", OpsToken: token}).Validate(); err != nil {
		t.Error(err)
	}
}
