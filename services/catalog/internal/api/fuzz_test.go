package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/catalog/internal/api"
	"github.com/slotmesh/slotmesh/services/catalog/internal/current"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/rendered"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// fakeSource is a source of snapshots with one business, "harbor".
type fakeSource struct{ canonical []byte }

func (fakeSource) ReadHead(_ context.Context, slug string) (int64, error) {
	if slug != "harbor" {
		return 0, store.ErrNotFound
	}
	return 1, nil
}

func (o fakeSource) Text(context.Context, string, int64) (store.Text, error) {
	return store.Text{JSON: o.canonical}, nil
}

// fakeQuoter is an unavailable pricing service.
type fakeQuoter struct{}

func (fakeQuoter) Quotes(context.Context, pricing.QuotesRequest) (*pricing.QuotesResponse, error) {
	return nil, fault.New(fault.PeerUnavailable, "away")
}

// compileHarbor returns the canonical JSON of a small business.
func compileHarbor(tb testing.TB) []byte {
	tb.Helper()
	m, problems := manifest.Parse([]byte(`{"apiVersion": "slotmesh/v1", "kind": "Business", "slug": "harbor", "name": "Harbor", "currency": "EUR",
		"timezone": "Europe/Lisbon", "default_language": "en", "languages": ["en", "pt", "zh-Hant"],
		"services": [{"key": "cut", "name": "Cut", "duration_minutes": 30, "price": 10, "translations": {"pt": {"name": "Corte"}}}]}`))
	if len(problems) > 0 {
		tb.Fatal(problems)
	}
	canonical, err := json.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	return canonical
}

func publicServer(f *testing.F) *server.Server {
	f.Helper()
	srv, err := server.New(server.Config{RequestTimeout: 2 * time.Minute, PublicBodyLimit: 1 << 16},
		server.Runtime{Open: true, Name: "catalog", Clock: clock.System(), Telemetry: telemetry.Discard(),
			Public: listen(f), Internal: listen(f)})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = srv.Close() })
	versions := current.New(fakeSource{compileHarbor(f)}, ready.Decoder(""), noCopies(f), 1<<20, 0, clock.System(),
		telemetry.Discard())
	(&api.Public{Versions: versions, Quoter: fakeQuoter{}, QuoteTimeout: 2 * time.Minute,
		Rendered: rendered.NewCache(1 << 20), Places: bulkhead.New(2), Clock: clock.System()}).Mount(srv.Public)
	return srv
}

func listen(f *testing.F) net.Listener {
	f.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	return listener
}

// FuzzPublicQuery sends any query to the public paths. The answer is a result, or a fault that names the parameter. An
// invalid locale never causes a fault.
func FuzzPublicQuery(f *testing.F) {
	for _, seed := range []string{
		"", "locale=pt", "locale=pt-BR&date=2026-12-25", "date=2027-02-29", "date=", "date=%00",
		"date=2026-12-25&date=x", "%", "&&=", "date=%zz",
		"service_id=3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10", "service_id=%ff", "locale=%ff%00",
		"locale=" + strings.Repeat("a-", 500), "date=-001-01-01",
	} {
		f.Add(seed)
	}
	srv := publicServer(f)
	f.Fuzz(func(t *testing.T, query string) {
		for _, path := range []string{"info", "services", "staff"} {
			request := httptest.NewRequest("GET", "/api/public/harbor/"+path, nil)
			request.URL.RawQuery = safeForHTTP(query)
			response, err := srv.Public.Test(request, -1)
			if err != nil {
				t.Skip("net/http refuses this input before a handler gets it, because it is no HTTP request: ", err)
			}
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			checkAnswer(t, path, query, response.StatusCode, body)
		}
	})
}

// safeForHTTP removes the characters that would end the request line.
func safeForHTTP(query string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || r == '#' {
			return -1
		}
		return r
	}, query)
}

func checkAnswer(t *testing.T, path, query string, status int, body []byte) {
	t.Helper()
	var answer struct {
		Error       string `json:"error"`
		MessageCode string `json:"messageCode"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatalf("%s?%q: %d %q: %v", path, query, status, body, err)
	}
	allowed := map[int]string{200: "", 400: "invalid_parameter"}
	if path == "staff" {
		allowed[404] = "service_not_found"
	}
	if code, ok := allowed[status]; !ok || code != answer.MessageCode || path == "info" && status != 200 {
		t.Fatalf("%s?%q: %d %s", path, query, status, body)
	}
	if status == 400 && !strings.HasPrefix(answer.Error, "date: ") && !strings.HasPrefix(answer.Error, "service_id: ") {
		t.Fatalf("%s?%q: %s names no parameter", path, query, answer.Error)
	}
}
