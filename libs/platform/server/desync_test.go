package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// answerTo sends text unchanged and returns the first answer.
func answerTo(t *testing.T, address, text string) (*http.Response, []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	go func() { _, _ = io.WriteString(conn, text) }()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, body
}

// echoBodyHTTP answers a POST with its body. It does not read the body of another method.
func echoBodyHTTP(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodPost {
		return nil
	}
	body, err := BodyOf(r)
	if err != nil {
		return err
	}
	_, err = w.Write(body)
	return err
}

// hiddenPath is a complete request that the servers of these tests would answer.
const hiddenPath = "GET /smuggled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

// earlyAnswers maps paths to handlers that answer without reading the body.
var earlyAnswers = map[string]func() error{
	"/401":     func() error { return fault.New(fault.MissingAPIKey, "No key.") },
	"/403":     func() error { return fault.New(fault.ScopeForbidden, "Not this key.") },
	"/429":     func() error { return fault.New(fault.RateLimited, "Slow down.") },
	"/500":     func() error { return errors.New("broken") },
	"/503":     func() error { return fault.New(fault.PeerUnavailable, "Away.") },
	"/panic":   func() error { panic("broken") },
	"/timeout": func() error { return context.DeadlineExceeded },
	"/200":     func() error { return nil },
}

func TestDesyncEarlyAnswerDiscardsBody(t *testing.T) {
	t.Parallel()
	fiberPort := startServer(t, Config{}, func(s *Server) {
		s.Public.Post("/echo", echoBody) // 413 beyond its limit, 415 for a compressed body
		s.Public.Get("/405", func(c *fiber.Ctx) error { return c.JSON("got") })
		for path, answer := range earlyAnswers {
			s.Public.Post(path, func(*fiber.Ctx) error { return answer() })
		}
	})
	netPort := startServer(t, Config{}, func(s *Server) {
		s.HandleHTTP("/echo", echoBodyHTTP)
		for path, answer := range earlyAnswers {
			s.HandleHTTP(path, func(http.ResponseWriter, *http.Request) error { return answer() })
		}
	})
	paths := slices.AppendSeq([]string{"/echo", "/405", "/404"}, maps.Keys(earlyAnswers))
	asked := 0
	for port, address := range map[string]string{"fasthttp": fiberPort.PublicAddr().String(),
		"net/http": netPort.PublicAddr().String()} {
		for _, path := range paths {
			for _, encoding := range []string{"", "Content-Encoding: gzip\r\n"} {
				for _, padding := range testkit.PaddingSizes(os.Getenv("ATTACK") != "") {
					for _, chunked := range []bool{false, true} {
						text := testkit.HideRequest("POST "+path+" HTTP/1.1\r\nHost: x\r\n"+encoding, padding, chunked)
						got, closed := testkit.SendRaw(t, address, text)
						asked++
						if !testkit.IsOneAnswer(got, closed) {
							t.Errorf("%s %s %s with %d bytes before the hidden request, chunked %v: %v, closed %v",
								port, path, encoding, padding, chunked, got, closed)
						}
					}
				}
			}
		}
	}
	t.Logf("%d requests", asked)
}
