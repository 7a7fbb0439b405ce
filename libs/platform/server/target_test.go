package server

import (
	"net/http"
	"testing"

	"github.com/gofiber/fiber/v2"
)

func TestDecodeUnreservedDecodesPaths(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"/%62/harbor":         "/b/harbor",
		"/b/h%41rbor%2dx%7E":  "/b/hArbor-x~",
		"/b/x?q=%41":          "/b/x?q=%41",
		"/%62?q=%41":          "/b?q=%41",
		"/b/a%2Fb":            "/b/a%2Fb",
		"/b/%2e%2e/metrics":   "/b/%2e%2e/metrics",
		"/b/%2e/x":            "/b/%2e/x",
		"/a%2ecss":            "/a.css",
		"/b/%":                "/b/%",
		"/b/%4":               "/b/%4",
		"/b/%zz":              "/b/%zz",
		"/b/%2541":            "/b/%2541",
		"/b/caf%C3%A9":        "/b/caf%C3%A9",
		"*":                   "*",
		"http://h/%62":        "http://h/%62",
		"/b/%00%41":           "/b/%00A",
		"/assets/x%2D%31.css": "/assets/x-1.css",
	} {
		got, changed := decodeUnreserved([]byte(sent))
		if string(got) != want || changed != (sent != want) {
			t.Errorf("%s: %s, %v", sent, got, changed)
		}
	}
}

func TestEncodedPathReachesSameRoute(t *testing.T) {
	t.Parallel()
	srv := startServer(t, Config{}, func(s *Server) {
		s.Public.Get("/b/:slug", func(c *fiber.Ctx) error { return c.SendString(c.Path()) })
	})
	answer, body := fetchText(t, http.MethodGet, "http://"+srv.PublicAddr().String()+"/%62/%68arbor?x=%41", nil)
	if answer.StatusCode != http.StatusOK || string(body) != "/b/harbor" {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
}
