package rental_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/rental"
)

func start(t *testing.T) *server.Server {
	t.Helper()
	cfg := rental.Config{Server: server.Config{
		PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0",
		RequestTimeout: 10 * time.Second, DrainTimeout: 10 * time.Second, PublicBodyLimit: 1000, InternalBodyLimit: 1000,
	}}
	srv, err := rental.New(t.Context(), cfg, server.Runtime{Name: "rental", Clock: clock.System(), Telemetry: telemetry.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- srv.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return srv
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestItIsHealthyAndItsPathsDoNotExistYet(t *testing.T) {
	t.Parallel()
	srv := start(t)
	for _, probe := range []string{"/livez", "/readyz", "/metrics"} {
		if status, body := get(t, "http://"+srv.InternalAddr().String()+probe); status != http.StatusOK {
			t.Errorf("%s: %d %s", probe, status, body)
		}
	}
	for _, path := range []string{"/api/public/x/rental-availability", "/api/public/x/rental-available-dates", "/livez"} {
		status, body := get(t, "http://"+srv.PublicAddr().String()+path)
		want := `{"error":"There is nothing at this path.","messageCode":"not_found"}`
		if status != http.StatusNotFound || body != want {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}
