package docs

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
)

func fetch(t *testing.T, path string) (string, string, string) {
	t.Helper()
	app := fiber.New()
	if err := Mount(app); err != nil {
		t.Fatal(err)
	}
	response, err := app.Test(httptest.NewRequest("GET", path, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != fiber.StatusOK {
		t.Fatalf("%s answered %d, %v", path, response.StatusCode, err)
	}
	return string(body), response.Header.Get("Content-Type"), response.Header.Get("Content-Security-Policy")
}

func TestTheDocumentIsServedAsJSON(t *testing.T) {
	t.Parallel()
	body, mediaType, _ := fetch(t, "/api/public/openapi.json")
	var document struct {
		OpenAPI string
		Paths   map[string]any
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil || mediaType != "application/json" {
		t.Fatalf("%s: %v", mediaType, err)
	}
	if document.OpenAPI != "3.1.0" || document.Paths["/api/public/{slug}/info"] == nil {
		t.Errorf("got OpenAPI %s with %d paths", document.OpenAPI, len(document.Paths))
	}
}

func TestThePageLoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	page, mediaType, policy := fetch(t, "/api/public/docs")
	if !strings.HasPrefix(mediaType, "text/html") || regexp.MustCompile(`(?i)https?://|\son[a-z]+=|<script>`).MatchString(page) {
		t.Errorf("%s: the page names another origin or has script of its own:\n%s", mediaType, page)
	}
	for _, source := range regexp.MustCompile(`(?:src|spec-url)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		fetch(t, "/api/public/"+source[1])
	}
	for _, rule := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, rule) {
			t.Errorf("the policy %q lacks %q", policy, rule)
		}
	}
	if strings.Contains(strings.ReplaceAll(policy, "style-src 'self' 'unsafe-inline'", ""), "unsafe") {
		t.Errorf("the policy %q lets script in", policy)
	}
}
