package handler

import (
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"
)

func TestCanonicalRedirectsOtherSpellings(t *testing.T) {
	t.Parallel()
	app := fiber.New(fiber.Config{CaseSensitive: true, StrictRouting: true})
	(&Pages{}).mountCanonical(app)
	page := func(c *fiber.Ctx) error { return c.SendString("page") }
	for _, path := range []string{"/b/:slug", "/b/:slug/when", "/bbq/"} {
		app.Get(path, page)
		app.Post(path, page)
	}
	for _, c := range []struct {
		method, path string
		status       int
		to           string
	}{
		{"GET", "/b/harbor", 200, ""},
		{"GET", "/b/harbor/when?date=2027-03-01", 200, ""},
		{"GET", "/b/Harbor", 301, "/b/harbor"},
		{"HEAD", "/b/HARBOR/?lang=pt&q=%2F", 301, "/b/harbor?lang=pt&q=%2F"},
		{"GET", "/b/harbor/", 301, "/b/harbor"},
		{"GET", "/b/harbor//", 301, "/b/harbor"},
		{"GET", "/b/Harbor/when/?date=2027-03-01", 301, "/b/harbor/when?date=2027-03-01"},
		{"POST", "/b/Harbor", 200, ""},
		{"GET", "/b//evil.example/", 404, ""},
		{"GET", "/b/", 404, ""},
		{"GET", "/b/caf%C3%A9/", 404, ""},
		{"GET", "/bbq/", 200, ""},
	} {
		answer, err := app.Test(httptest.NewRequest(c.method, c.path, nil), -1)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != c.status || answer.Header.Get("Location") != c.to {
			t.Errorf("%s %s: %d %s", c.method, c.path, answer.StatusCode, answer.Header.Get("Location"))
		}
		_ = answer.Body.Close()
	}
}
