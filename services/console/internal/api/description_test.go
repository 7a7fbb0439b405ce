package api

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
)

// shown asks for what needs no token.
func shown(t *testing.T, path string) (string, string) {
	t.Helper()
	app := fiber.New()
	if err := new(Admin).MountDescription(app); err != nil {
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

// What is no address is refused by the call that exports a customer, and the document says so.
func TestTheDescriptionAsksForAnAddressOfACustomer(t *testing.T) {
	t.Parallel()
	body, _ := shown(t, referenceDocument)
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
	if err != nil || len(asked) != 1 || asked[0].Name != "email" || asked[0].Schema.Format != "email" {
		t.Errorf("%+v, %v", asked, err)
	}
}

// Generators of clients read the document at its address, and people on its page, which loads nothing from elsewhere and takes no token.
func TestTheDescriptionIsReadWithoutAToken(t *testing.T) {
	t.Parallel()
	body, _ := shown(t, referenceDocument)
	var document struct {
		OpenAPI string
		Paths   map[string]any
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil || document.OpenAPI != "3.1.0" || document.Paths["/admin/businesses"] == nil {
		t.Errorf("OpenAPI %s with %d paths, %v", document.OpenAPI, len(document.Paths), err)
	}
	page, policy := shown(t, referencePage)
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
		shown(t, file[1])
	}
}
