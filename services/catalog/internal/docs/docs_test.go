package docs

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/event/catalogue"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

func fetch(t *testing.T, path string) (string, string, string) {
	t.Helper()
	app := fiber.New()
	if err := Mount(app); err != nil {
		t.Fatal(err)
	}
	response, err := app.Test(httptest.NewRequest("GET", path, nil), -1) // without a timeout
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

func TestDocumentIsServedAsJSON(t *testing.T) {
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

func TestPageLoadsNoExternalFiles(t *testing.T) {
	t.Parallel()
	page, mediaType, policy := fetch(t, "/api/public/docs")
	if !strings.HasPrefix(mediaType, "text/html") ||
		regexp.MustCompile(`(?i)(src|spec-url)="?https?://|<link[^>]*https?://|\son[a-z]+=|<script>`).MatchString(page) {
		t.Errorf("%s: the page names another origin or has script of its own:\n%s", mediaType, page)
	}
	for _, source := range regexp.MustCompile(`(?:src|spec-url)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		fetch(t, "/api/public/"+source[1])
	}
	for _, rule := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'",
		"frame-ancestors 'none'"} {
		if !strings.Contains(policy, rule) {
			t.Errorf("the policy %q lacks %q", policy, rule)
		}
	}
	if strings.Contains(strings.ReplaceAll(policy, "style-src 'self' 'unsafe-inline'", ""), "unsafe") {
		t.Errorf("the policy %q permits scripts", policy)
	}
}

func TestBookAdvisesOnEachCode(t *testing.T) {
	t.Parallel()
	body, _, _ := fetch(t, "/api/public/openapi.json")
	var document struct {
		Components struct {
			Schemas struct {
				Error struct {
					Properties struct {
						MessageCode struct{ Examples []string }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Fatal(err)
	}
	codes := document.Components.Schemas.Error.Properties.MessageCode.Examples
	for _, code := range codes {
		if !slices.ContainsFunc(errorAdvice, func(a advice) bool { return a.Code == code }) {
			t.Errorf("there is no advice for %s", code)
		}
	}
	if len(codes) != len(errorAdvice) || len(codes) == 0 {
		t.Errorf("the document has %d codes, and there is advice for %d", len(codes), len(errorAdvice))
	}
}

// TestPostmanCollectionHasEachOperation shows that the collection has one request for each operation of the
// document, and no others. The request for /slots has all parameters.
func TestPostmanCollectionHasEachOperation(t *testing.T) {
	t.Parallel()
	type named struct{ Key, Value string }
	var collection struct {
		Info struct{ Name, Schema string }
		Item []struct {
			Item []struct {
				Name    string
				Request struct {
					Method string
					Header []named
					Auth   struct{ Type string }
					Body   struct{ Raw string }
					URL    struct {
						Raw   string
						Query []named
					}
				}
			}
		}
	}
	body, _, _ := fetch(t, "/api/public/postman.json")
	if !strings.Contains(body, `{"key":"baseUrl","value":"http://example.com"}`) { // the host of the request
		t.Error("the collection lacks the address of the site")
	}
	if err := json.Unmarshal([]byte(body), &collection); err != nil || !strings.HasSuffix(collection.Info.Schema,
		"/v2.1.0/collection.json") {
		t.Fatalf("%s: %v", collection.Info.Schema, err)
	}
	requests := make(map[string]int)
	for _, folder := range collection.Item {
		for _, item := range folder.Item {
			r := item.Request
			requests[r.Method+" "+strings.TrimPrefix(r.URL.Raw, "{{baseUrl}}")] = len(r.URL.Query)
			if item.Name == "" || r.Method == "POST" && !json.Valid([]byte(r.Body.Raw)) ||
				(r.Auth.Type == "bearer") != strings.HasSuffix(r.URL.Raw, "/book") {
				t.Errorf("%+v", item)
			}
		}
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	text, _, _ := fetch(t, "/api/public/openapi.json")
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	operations := 0
	for path, methods := range document.Paths {
		for method := range methods {
			if method == "parameters" {
				continue
			}
			operations++
			if _, has := requests[strings.ToUpper(method)+" "+strings.Replace(path, "{slug}", "{{slug}}", 1)]; !has {
				t.Errorf("the collection lacks %s %s", method, path)
			}
		}
	}
	if operations != len(requests) || requests["GET /api/public/{{slug}}/slots"] != 7 {
		t.Errorf("the document has %d operations, the collection %v", operations, requests)
	}
}

// TestNewmanRunsCollection shows that the library of Postman reads the method and the address of each request in
// the collection.
func TestNewmanRunsCollection(t *testing.T) {
	t.Parallel()
	node := testkit.InstallNode(t, "postman-collection@5.3.1")
	body, _, _ := fetch(t, "/api/public/postman.json")
	run := node.Script(t, `
const { Collection } = require("postman-collection");
const collection = new Collection(JSON.parse(require("fs").readFileSync(0, "utf8")));
collection.forEachItem((item) => {
  const of = (name) => ({ baseUrl: "https://book.example", slug: "salon" })[name] ?? "{{" + name + "}}";
  console.log(item.request.method, item.request.url.toString().replace(/{{(\w+)}}/g, (_, name) => of(name)).split("?")[0]);
});`, []byte(body))
	if run.Exit != 0 || !strings.Contains(run.Stdout, "POST https://book.example/api/public/salon/book\n") ||
		strings.Count(run.Stdout, "\n") != 12 {
		t.Errorf("the collection has the requests %s %s", run.Stdout, run.Stderr)
	}
}

// TestDocumentHasEachWebhook shows that the OpenAPI document describes each type of event.
func TestDocumentHasEachWebhook(t *testing.T) {
	t.Parallel()
	body, _, _ := fetch(t, "/api/public/openapi.json")
	var document struct{ Webhooks map[event.Type]any }
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Fatal(err)
	}
	for _, entry := range catalogue.Entries {
		if document.Webhooks[entry.Type] == nil {
			t.Errorf("the document lacks %s", entry.Type)
		}
	}
}
