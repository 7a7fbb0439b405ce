package allinone

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone/test/deadlines"
)

var opsLine = regexp.MustCompile(`ops +(http://\S+)`)

func TestReadinessAndMetricsOfAllServicesAreAtOneAddress(t *testing.T) {
	t.Parallel()
	env := stores(t)
	env["PORT"], env["ADMIN_PORT"], env["MAIL_PORT"], env["SLOTMESH_HOME"], env["SLOTMESH_DEMO"] = "0", "0", "0",
		t.TempDir(), "false"
	env["OPS_PORT"], env["HOST"] = freePorts(t, "OPS_PORT")["OPS_PORT"], "0.0.0.0"
	runOnce(t, env, func(greeting string) {
		found := opsLine.FindStringSubmatch(greeting)
		if found == nil || !strings.Contains(greeting, "public   http://127.0.0.1:") || !strings.Contains(greeting,
			"reached at 0.0.0.0") {
			t.Fatalf("printed:\n%s", greeting)
		}
		// within 5 seconds, which a slow machine may miss
		testkit.WaitUntil(t, "all are ready", func(ctx context.Context) error {
			status, body, err := request(ctx, http.MethodGet, found[1]+"/readyz", nil, nil)
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("%d %s", status, body)
			}
			if err == nil && !strings.Contains(string(body), "\nzones 20") {
				t.Errorf("the version of the rules of time zones is not shown: %s", body)
			}
			return err
		})
		status, body, err := request(t.Context(), http.MethodGet, found[1]+"/metrics", nil, nil)
		if err != nil || status != http.StatusOK {
			t.Fatalf("%d %.300s %v", status, body, err)
		}
		if !strings.Contains(string(body), "slotmesh_zones_info{") {
			t.Error("there is no metric of the rules of time zones")
		}
		for _, name := range partNames() {
			if !strings.Contains(string(body), `go_goroutines{service="`+name+`"}`) {
				t.Errorf("there are no metrics of %s", name)
			}
		}
	})
}

func TestWhichServiceIsNotReadyIsSaid(t *testing.T) {
	t.Parallel()
	p, err := Start(t.Context(), Config{
		DatabaseURL: stores(t)["DATABASE_URL"], RedisURL: stores(t)["REDIS_URL"], Home: t.TempDir(),
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
	// others say so within 5 seconds, which a slow machine may miss
	testkit.WaitUntil(t, "rental alone is not ready", func(ctx context.Context) error {
		answer := httptest.NewRecorder()
		opsHandler(p.parts).ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", nil))
		if answer.Code != http.StatusServiceUnavailable || !strings.HasPrefix(answer.Body.String(), "rental: ") ||
			strings.Count(answer.Body.String(), "\n") != 1 {
			return fmt.Errorf("%d %s", answer.Code, answer.Body)
		}
		return nil
	})
}
