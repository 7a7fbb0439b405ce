package server

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/apis"
	"github.com/slotmesh/slotmesh/libs/contracts/components"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
)

var kinds = []actor.Kind{"", actor.APIKey, actor.Page, actor.Customer, actor.Owner, actor.Provider, actor.System}

// withSecrets returns a server of the named service that knows the credentials of all services and has no endpoint yet.
func withSecrets(t *testing.T, name string, secrets map[string]string) *Server {
	t.Helper()
	cfg := Config{PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0", PublicBodyLimit: 1024,
		InternalBodyLimit: 1024}
	cfg.Peers.Secrets = []string{secrets[name] + "0123456789abcdefghijklmnopqrstuv"}
	cfg.Peers.Callers = strings.Split(peer.CallersSetting(secrets, name), ",")
	s, err := New(cfg, Runtime{Name: name, Clock: clock.System(), Telemetry: telemetry.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Every caller calls every endpoint for every kind of actor. The server answers exactly the calls in the table. A
// refused call does not reach the handlers of the endpoint or of its group.
func TestEndpointAllowsOnlyRow(t *testing.T) {
	t.Parallel()
	callers := append(components.Names(), frontCaller)
	secrets := peer.NewSecrets(callers...)
	for _, service := range components.Names() {
		s, reached := withSecrets(t, service, secrets), 0
		for _, row := range apis.Of(service) {
			s.Internal.Handle(row, func(c *fiber.Ctx) error { reached++; return c.Next() },
				func(c *fiber.Ctx) error { return c.SendStatus(http.StatusNoContent) })
		}
		if err := s.checkMounted(); err != nil {
			t.Fatal(err)
		}
		for _, row := range apis.Of(service) {
			for _, caller := range callers {
				for _, kind := range kinds {
					want, before := row.Allows(caller, kind), reached
					status := ask(t, s, row, peer.Credential(secrets[caller], service), kind)
					if want != (status == http.StatusNoContent) || !want &&
						(status != http.StatusForbidden || reached != before) {
						t.Errorf("%s: %s %s by %s as %q: %d, allowed %v", service, row.Method, row.Path, caller, kind,
							status, want)
					}
				}
			}
		}
	}
}

func ask(t *testing.T, s *Server, row *endpoints.Row, credential string, kind actor.Kind) int {
	t.Helper()
	segments := strings.Split(row.Path, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, ":") {
			segments[i] = "zzz"
		}
	}
	request := httptest.NewRequestWithContext(t.Context(), row.Method, strings.Join(segments, "/"), nil)
	request.Host = "localhost"
	request.Header.Set(peer.SecretHeader, credential)
	if kind != "" {
		request.Header.Set(actor.Header, string(kind))
	}
	response, err := s.internalApp.Test(request, -1)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// TestEndpointRefusesLimitedActor shows that only endpoints that obey the locations of the actor serve a limited actor.
func TestEndpointRefusesLimitedActor(t *testing.T) {
	t.Parallel()
	secrets := peer.NewSecrets("pages", "test")
	s := withSecrets(t, "test", secrets)
	api, public := endpoints.NewAPI("test"), endpoints.NewAPI("test").WithoutBookings()
	rows := map[*endpoints.Row]bool{
		endpoints.Get[endpoints.None, endpoints.None](api, "/internal/a", "pages").Row:               false,
		endpoints.Get[endpoints.None, endpoints.None](api, "/internal/b", "pages").ByLocations().Row: true,
		endpoints.Get[endpoints.None, endpoints.None](public, "/internal/c", "pages").Row:            true,
	}
	here := uuid.New()
	for row := range rows {
		s.Internal.Handle(row, func(c *fiber.Ctx) error {
			if got := actor.Locations(c.UserContext()); c.Get(actor.LocationsHeader) != actor.FormatLocations(got) {
				t.Errorf("the context has %v", got)
			}
			return c.SendStatus(http.StatusNoContent)
		})
	}
	for row, serves := range rows {
		for header, want := range map[string]int{"": 204, here.String(): map[bool]int{true: 204, false: 403}[serves],
			"x": 400, "all": 400} {
			request := httptest.NewRequestWithContext(t.Context(), row.Method, row.Path, nil)
			request.Host = "localhost"
			request.Header.Set(peer.SecretHeader, peer.Credential(secrets["pages"], "test"))
			if header != "" {
				request.Header.Set(actor.LocationsHeader, header)
			}
			response, err := s.internalApp.Test(request, -1)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("%s with %q: %d, want %d", row.Path, header, response.StatusCode, want)
			}
		}
	}
}

func TestRunFailsUnlessEveryEndpointIsMounted(t *testing.T) {
	t.Parallel()
	api := endpoints.NewAPI("test")
	mounted := endpoints.Get[endpoints.None, endpoints.None](api, "/internal/a", "pages")
	endpoints.Get[endpoints.None, endpoints.None](api, "/internal/b", "pages")
	s := withSecrets(t, "test", peer.NewSecrets("pages", "test"))
	s.Internal.Handle(mounted.Row, func(*fiber.Ctx) error { return nil })
	if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "/internal/b is declared") {
		t.Errorf("a service runs without an endpoint of its API: %v", err)
	}
}

func TestEndpointOfAnotherServiceCannotBeMounted(t *testing.T) {
	t.Parallel()
	other := endpoints.Get[endpoints.None, endpoints.None](endpoints.NewAPI("other"), "/internal/a", "pages")
	s := withSecrets(t, "test", peer.NewSecrets("pages", "test"))
	defer func() {
		if recover() == nil {
			t.Error("a service mounts an endpoint of another service")
		}
	}()
	s.Internal.Handle(other.Row, func(*fiber.Ctx) error { return nil })
}

func TestKindsAreComplete(t *testing.T) {
	t.Parallel()
	for _, row := range apis.All {
		for caller, named := range row.Callers {
			for _, kind := range named {
				if !slices.Contains(kinds, kind) {
					t.Errorf("%s %s by %s: %q is not tried", row.Method, row.Path, caller, kind)
				}
			}
		}
	}
}
