package api

import (
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/event/catalogue"
	"github.com/slotmesh/slotmesh/services/console/internal/rooms"
)

// get sends GET for `path` without a token, expects status 200, and returns the body and the Content-Security-Policy.
func get(t *testing.T, path string) (string, string) {
	t.Helper()
	app := fiber.New()
	if err := (&Admin{Rooms: &rooms.Rooms{}}).MountDescription(app); err != nil {
		t.Fatal(err)
	}
	answer, err := app.Test(httptest.NewRequest("GET", path, nil), -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != fiber.StatusOK {
		t.Fatalf("%s answered %d, %v", path, answer.StatusCode, err)
	}
	return string(body), answer.Header.Get("Content-Security-Policy")
}

// TestDescriptionRequiresCustomerAddress shows that the OpenAPI document requires an e-mail address in the
// parameter `email` of the call that exports a customer's data.
func TestDescriptionRequiresCustomerAddress(t *testing.T) {
	t.Parallel()
	body, _ := get(t, referenceDocument)
	var document struct {
		Paths map[string]struct {
			Get struct {
				Parameters []struct {
					Name   string
					Schema struct{ Format string }
				}
			}
		}
	}
	err := json.Unmarshal([]byte(body), &document)
	asked := document.Paths["/admin/businesses/{slug}/customers/export"].Get.Parameters
	if err != nil || len(asked) != 2 || asked[0].Name != "email" || asked[1].Name != "phone" {
		t.Errorf("%+v, %v", asked, err)
	}
}

// TestDescriptionNeedsNoToken shows that the OpenAPI document and its HTML page are served without a token.
// The page loads only files of this server, and has no form for tokens.
func TestDescriptionNeedsNoToken(t *testing.T) {
	t.Parallel()
	body, _ := get(t, referenceDocument)
	var document struct {
		OpenAPI string
		Paths   map[string]any
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil || document.OpenAPI != "3.1.0" ||
		document.Paths["/admin/businesses"] == nil {
		t.Errorf("OpenAPI %s with %d paths, %v", document.OpenAPI, len(document.Paths), err)
	}
	page, policy := get(t, referencePage)
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "connect-src 'self'") {
		t.Errorf("its policy is %q", policy)
	}
	if !strings.Contains(page, `allow-try="false"`) || !strings.Contains(page, `allow-authentication="false"`) {
		t.Error("the page takes tokens")
	}
	own := regexp.MustCompile(`(?:src|spec-url)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(own) != 2 || strings.Contains(page, "{{") {
		t.Errorf("the page loads %v", own)
	}
	for _, file := range own {
		get(t, file[1])
	}
}

// TestDescriptionCoversWebhooks shows that the OpenAPI document has a webhook for each event type. The data of each
// example payload has all properties that its schema requires, and none that the schema lacks.
func TestDescriptionCoversWebhooks(t *testing.T) {
	t.Parallel()
	body, _ := get(t, referenceDocument)
	var document struct {
		Webhooks   map[event.Type]any
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties map[string]any
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Fatal(err)
	}
	own := []string{"business_id", "sequence", "slug", "from", "to"}
	for _, entry := range catalogue.Entries {
		if document.Webhooks[entry.Type] == nil {
			t.Errorf("the document lacks %s", entry.Type)
		}
		if entry.Schema == "" {
			continue
		}
		schema, has := document.Components.Schemas[entry.Schema]
		text, err := entry.Payload()
		var payload struct{ Data map[string]any }
		if err := errors.Join(err, json.Unmarshal(text, &payload)); err != nil || !has {
			t.Fatalf("%s: %v", entry.Schema, err)
		}
		for _, name := range schema.Required {
			if _, has := payload.Data[name]; !has {
				t.Errorf("the payload of %s lacks %s", entry.Type, name)
			}
		}
		for name := range payload.Data {
			if _, has := schema.Properties[name]; !has && !slices.Contains(own, name) {
				t.Errorf("the payload of %s has %s", entry.Type, name)
			}
		}
	}
}
