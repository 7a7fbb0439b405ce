package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/apis"
	"github.com/slotmesh/slotmesh/libs/contracts/components"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

// unknownID is an id that no object has.
const unknownID = "8f14e45f-ceea-467f-a2b6-1d1f7e0f5a98"

// internalPaths maps a service to paths of its internal port to which other services send bodies. For a service without
// an entry, the test requests /readyz.
var internalPaths = map[string][]string{
	"catalog": {"/internal/businesses/desync", "/internal/businesses/desync/rollback",
		"/internal/api/public/desync/info", "/livez", "/metrics"},
	"pricing":      {"/internal/quotes"},
	"availability": {"/internal/bookable", "/internal/api/public/desync/slots"},
	"rental":       {"/internal/businesses/desync/reservations", "/internal/businesses/desync/ceilings"},
	"booking": {"/internal/keys/check", "/internal/api/public/desync/book", "/internal/businesses/" + unknownID +
		"/keys",
		"/internal/businesses/" + unknownID + "/tickets", "/internal/businesses/" + unknownID + "/tickets/sales"},
	"notifications": {"/internal/businesses/" + unknownID + "/webhooks"},
}

// customerPages and ownerPages have pages of every kind: pages without a form, pages with a form, links with a secret,
// and endpoints for programs.
var (
	customerPages = []string{"/b/desync", "/b/desync/when", "/b/desync/details", "/m/" + unknownID,
		"/m/" + unknownID + "/cancel", "/calendar/" + unknownID + ".ics",
		"/assets/none.js", "/embed.js"}
	ownerPages = []string{"/", "/desync/today", "/desync/bookings/new", "/sign-in", "/sign-in/forgotten",
		"/sign-in/link/" + unknownID, "/sign-in/password/" + unknownID,
		"/sign-in/passkey", "/device", "/device/authorization", "/device/token", "/account", "/account/password"}
)

// attackTarget is a path on a server's address, with a header that authenticates the caller.
type attackTarget struct{ address, path, header string }

// asCaller returns the headers of a caller that the internal port of a service admits at a path. It prefers a caller
// that must name an actor. It returns no headers for paths without callers, such as /livez.
func (w *platform) asCaller(service, path string) string {
	header := ""
	for _, row := range apis.Of(service) {
		segments := strings.Split(path, "/")
		if !slices.EqualFunc(strings.Split(row.Path, "/"), segments,
			func(of, is string) bool { return of == is || strings.HasPrefix(of, ":") }) {
			continue
		}
		for caller, kinds := range row.Callers {
			if header == "" || len(kinds) > 0 {
				header = peer.SecretHeader + ": " + peer.Credential(w.PeerSecrets[caller], service) + "\r\n"
			}
			if len(kinds) > 0 {
				return header + actor.Header + ": " + string(kinds[0]) + "\r\n"
			}
		}
	}
	return header
}

// TestServersResistRequestSmuggling hides a request in bodies that the servers do not read. No server may read a part
// of such a body as the next request. After ten requests POST /book answers 429, so that the test also covers the early
// answers of rate limits.
func TestServersResistRequestSmuggling(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "desync", buildFair("desync"))
	bearer := "Authorization: Bearer " + w.createKey(t, "desync", "write") + "\r\n"
	token := "Authorization: Bearer " + w.AdminToken + "\r\n"
	form := "Content-Type: application/x-www-form-urlencoded\r\n"
	host := func(base string) string { return strings.TrimPrefix(base, "http://") }
	targets := []attackTarget{{host(w.PublicURL), "/mcp", bearer}, {host(w.PublicURL), "/nothing", bearer},
		{host(w.AdminURL), "/nothing", token}}
	for _, path := range listDocumentedPaths(t, w, w.PublicURL+"/api/public/openapi.json", nil) {
		targets = append(targets, attackTarget{host(w.PublicURL), path, bearer})
	}
	for _, path := range listDocumentedPaths(t, w, w.AdminURL+"/admin/openapi.json",
		http.Header{"Authorization": {"Bearer " + w.AdminToken}}) {
		targets = append(targets, attackTarget{host(w.AdminURL), path, token})
	}
	for _, path := range customerPages {
		targets = append(targets, attackTarget{host(w.PublicURL), path, form})
	}
	for _, path := range ownerPages {
		targets = append(targets, attackTarget{host(w.AdminURL), path, form})
	}
	for _, service := range components.Names() {
		paths := internalPaths[service]
		if paths == nil {
			paths = []string{"/readyz"}
		}
		for _, path := range paths {
			targets = append(targets, attackTarget{host(w.InternalURL(service)), path, w.asCaller(service, path)})
		}
	}
	boundaries := []int{0, 100, 4096, 8192 - len(testkit.HiddenRequest), 8192, 70000}
	if os.Getenv("ATTACK") != "" {
		boundaries = testkit.PaddingSizes(false)
	}
	requestCount, answers := 0, make(map[int]int)
	for _, at := range targets {
		for _, method := range []string{"POST", "PUT", "GET"} {
			for _, header := range []string{"", at.header, "Content-Encoding: gzip\r\n", "Content-Encoding: gzip\r\n" +
				at.header} {
				for n, padding := range boundaries {
					head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n%s", method, at.path, at.address, header)
					got, closed := testkit.SendRaw(t, at.address, testkit.HideRequest(head, padding, n%2 == 0))
					if requestCount++; !testkit.IsOneAnswer(got, closed) {
						t.Errorf("%s %s with %d bytes before the hidden request: %v, closed: %v", method, at.path,
							padding, got, closed)
					}
					if len(got) > 0 {
						answers[got[0]]++
					}
				}
			}
		}
	}
	t.Logf("%d requests to %d paths, answered %v", requestCount, len(targets), answers)
	for _, status := range []int{400, 401, 404, 405, 415, 429} {
		if answers[status] == 0 {
			t.Errorf("no path answered %d: this attack has not seen it", status)
		}
	}
}

var pathParameter = regexp.MustCompile(`\{[^}]*\}`)

// listDocumentedPaths returns the paths of an OpenAPI document for the business with the slug desync.
func listDocumentedPaths(t *testing.T, w *platform, document string, header http.Header) []string {
	t.Helper()
	var described struct {
		Paths   map[string]json.RawMessage `json:"paths"`
		Servers []struct{ URL string }     `json:"servers"`
	}
	w.do(t, http.MethodGet, document, nil, header).decode(t, http.StatusOK, &described)
	base := ""
	if len(described.Servers) > 0 {
		if at, err := url.Parse(described.Servers[0].URL); err == nil {
			base = strings.TrimRight(at.Path, "/")
		}
	}
	var paths []string
	for path := range described.Paths {
		path = strings.ReplaceAll(path, "{slug}", "desync")
		paths = append(paths, base+pathParameter.ReplaceAllString(path, unknownID))
	}
	slices.Sort(paths)
	if len(paths) < 5 {
		t.Fatalf("%s describes the paths %v", document, paths)
	}
	return paths
}

// TestServersAuthenticateBeforeReadingBodies checks that a server refuses a request without a key or token before the
// body has arrived. It also refuses a large sign-in form before the form has arrived. Otherwise such requests would use
// memory.
func TestServersAuthenticateBeforeReadingBodies(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	for path, at := range map[string]struct {
		base   string
		status int
	}{
		"PUT /admin/businesses/x":    {w.AdminURL, http.StatusUnauthorized},
		"POST /sign-in":              {w.AdminURL, http.StatusRequestEntityTooLarge},
		"POST /device/authorization": {w.AdminURL, http.StatusRequestEntityTooLarge},
		"POST /api/public/x/book":    {w.ServiceURL("booking"), http.StatusUnauthorized},
		"POST /mcp":                  {w.ServiceURL("mcp"), http.StatusUnauthorized},
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(at.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(2 * time.Minute))
		const begun = 16 << 10
		if _, err := fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\nX-Forwarded-For: %s\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 8000000\r\n\r\n%s", path, conn.RemoteAddr(), newAddress(), strings.Repeat("x", begun)); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != at.status || !answer.Close || answer.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s is answered %d, %v", path, answer.StatusCode, answer.Header)
		}
		_ = conn.Close()
	}
}
