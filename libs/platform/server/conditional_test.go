package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
)

func TestNotModifiedHasNoContentType(t *testing.T) {
	t.Parallel()
	srv := startServer(t, Config{}, func(s *Server) {
		s.Public.Get("/", func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderETag, `"mine"`)
			if HasTag(c, `"mine"`) {
				return c.SendStatus(fiber.StatusNotModified)
			}
			return c.JSON(IfNoneMatch(c))
		})
	})
	for lines, want := range map[string]int{
		"If-None-Match: \"a\"\r\nIf-None-Match: W/\"mine\"\r\n": http.StatusNotModified,
		"If-None-Match: \"a\"\r\nIf-None-Match: \"b\"\r\n":      http.StatusOK,
	} {
		conn, err := net.Dial("tcp", srv.PublicAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"+lines+"\r\n")
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_, hasType := answer.Header["Content-Type"]
		if err != nil || answer.StatusCode != want || hasType != (want == http.StatusOK) {
			t.Errorf("%q: %d %v %v", lines, answer.StatusCode, answer.Header, err)
		}
		if want == http.StatusOK && strings.TrimSpace(string(body)) != `"\"a\", \"b\""` {
			t.Errorf("the lines are read as %s", body)
		}
		_ = conn.Close()
	}
}
