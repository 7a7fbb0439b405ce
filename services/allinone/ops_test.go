package allinone

import (
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var opsLine = regexp.MustCompile(`ops +(http://\S+)`)

func TestReadinessAndMetricsOfAllServicesAreAtOneAddress(t *testing.T) {
	t.Parallel()
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	env := stores(t)
	env["PORT"], env["ADMIN_PORT"], env["MAIL_PORT"], env["SLOTMESH_HOME"], env["SLOTMESH_DEMO"] = "0", "0", "0", t.TempDir(), "false"
	env["OPS_PORT"], env["HOST"] = strconv.Itoa(port), "0.0.0.0"
	runOnce(t, env, func(greeting string) {
		found := opsLine.FindStringSubmatch(greeting)
		if found == nil || !strings.Contains(greeting, "public   http://127.0.0.1:") || !strings.Contains(greeting, "reached at 0.0.0.0") {
			t.Fatalf("printed:\n%s", greeting)
		}
		status, body, err := request(t.Context(), http.MethodGet, found[1]+"/readyz", nil, nil)
		if err != nil || status != http.StatusOK {
			t.Errorf("%d %s %v", status, body, err)
		}
		status, body, err = request(t.Context(), http.MethodGet, found[1]+"/metrics", nil, nil)
		if err != nil || status != http.StatusOK {
			t.Fatalf("%d %.300s %v", status, body, err)
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
	p, err := Start(t.Context(), Config{DatabaseURL: stores(t)["DATABASE_URL"], RedisURL: stores(t)["REDIS_URL"], Home: t.TempDir()}, func(string) {})
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
	answer := httptest.NewRecorder()
	opsHandler(p.parts).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	if answer.Code != http.StatusServiceUnavailable || !strings.HasPrefix(answer.Body.String(), "rental: ") || strings.Count(answer.Body.String(), "\n") != 1 {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}
