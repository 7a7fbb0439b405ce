package server

import (
	"io"
	"net/http"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/peer"
)

const strictHeader = "Strict-Transport-Security"

func TestHostAndSchemeComeFromTrustedProxiesOnly(t *testing.T) {
	t.Parallel()
	const secret, ofPages = "a secret of 32 characters or more", "another secret of 32 characters or more"
	mount := func(s *Server) {
		s.Public.Get("/", func(c *fiber.Ctx) error { return c.SendString(c.BaseURL()) })
	}
	peers := peer.Config{Callers: []string{"front=" + peer.HashCredential(secret),
		"pages=" + peer.HashCredential(ofPages)}}
	trusting := startServer(t, Config{TrustedProxies: []string{"127.0.0.0/8"}, Peers: peers}, mount)
	strict := startServer(t, Config{Peers: peers}, mount)
	for name, c := range map[string]struct {
		server *Server
		header map[string]string
		want   string
		https  bool
	}{
		"a proxy": {trusting, map[string]string{"X-Forwarded-Host": "real.example",
			"X-Forwarded-Proto": "https"}, "https://real.example", true},
		"a list": {trusting, map[string]string{"X-Forwarded-Host": "evil.example, real.example",
			"X-Forwarded-Proto": "https, http"}, "http://real.example", false},
		"a client": {strict, map[string]string{"X-Forwarded-Host": "evil.example",
			"X-Forwarded-Proto": "https"}, "http://own.example", false},
		"other headers": {strict, map[string]string{"X-Forwarded-Ssl": "on", "X-Forwarded-Protocol": "https",
			"X-Url-Scheme": "https"}, "http://own.example", false},
		"the front": {strict, map[string]string{"X-Forwarded-Host": "real.example",
			"X-Forwarded-Proto": "https", peer.SecretHeader: secret}, "https://real.example", true},
		"another service": {strict, map[string]string{"X-Forwarded-Host": "evil.example",
			peer.SecretHeader: ofPages}, "http://own.example", false},
		"a wrong secret": {strict, map[string]string{"X-Forwarded-Host": "evil.example", peer.SecretHeader: "x"},
			"http://own.example", false},
		"a scheme of no web": {trusting, map[string]string{"X-Forwarded-Proto": "javascript"}, "http://own.example",
			false},
	} {
		answer, body := fetchWithHeaders(t, c.server.PublicAddr().String(), c.header)
		if string(body) != c.want || (answer.Header.Get(strictHeader) != "") != c.https {
			t.Errorf("%s: %s, want %s; %s: %q", name, body, c.want, strictHeader, answer.Header.Get(strictHeader))
		}
	}
}

func TestPublicHTTPSURLSetsStrictTransport(t *testing.T) {
	t.Parallel()
	srv := startServer(t, Config{}, func(s *Server) { s.SetPublicURL("https://book.example") })
	if answer, _ := fetchText(t, http.MethodGet, "http://"+srv.PublicAddr().String()+"/nothing",
		nil); answer.Header.Get(strictHeader) != strictTransport {
		t.Errorf("%v", answer.Header)
	}
	web := startServer(t, Config{}, func(s *Server) {
		s.SetPublicURL("https://book.example")
		s.HandleHTTP("/", func(http.ResponseWriter, *http.Request) error { return nil })
	})
	if answer, _ := fetchText(t, http.MethodGet, "http://"+web.PublicAddr().String()+"/",
		nil); answer.Header.Get(strictHeader) != strictTransport {
		t.Errorf("by net/http: %v", answer.Header)
	}
}

// fetchWithHeaders requests / at an address with the Host own.example and these headers.
func fetchWithHeaders(t *testing.T, address string, header map[string]string) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "own.example"
	for name, value := range header {
		request.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, body
}
