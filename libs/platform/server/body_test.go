package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// bothServers mounts a handler that reads its body at a fiber port and at a net/http port.
var bothServers = map[string]func(*Server){
	"fiber":    func(s *Server) { s.Public.Post("/echo", echoBody) },
	"net/http": func(s *Server) { s.HandleHTTP("/echo", echoBodyHTTP) },
}

// Slow bodies hold their memory until the deadline of their request. In the meantime, other large bodies are refused
// and small ones are accepted.
func TestLargeBodiesHaveMemoryBudget(t *testing.T) {
	t.Parallel()
	for name, mount := range bothServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const length = 128 << 10
			s := startServer(t, Config{AnswerBytesInFlight: length, PublicBodyLimit: length, InternalBodyLimit: length},
				mount)
			slow, err := net.Dial("tcp", s.PublicAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = slow.Close() }()
			_ = slow.SetDeadline(time.Now().Add(testkit.MaxWait))
			whole := strings.Repeat("x", length)
			_, _ = fmt.Fprintf(slow, "POST /echo HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", length, whole[:length/2])
			var refused *http.Response
			var body []byte
			testkit.WaitUntil(t, "the slow one is being read", func(context.Context) error {
				refused, body = fetchText(t, http.MethodPost, publicURL(s, "/echo"), strings.NewReader(whole))
				if refused.StatusCode == http.StatusOK {
					return errors.New("there is room")
				}
				return nil
			})
			checkFault(t, refused, body, fault.PeerUnavailable)
			if refused.Header.Get("Retry-After") != "1" {
				t.Errorf("Retry-After is missing: %v", refused.Header)
			}
			if small, _ := fetchText(t, http.MethodPost, publicURL(s, "/echo"),
				strings.NewReader(whole[:largeBody-1])); small.StatusCode != http.StatusOK {
				t.Errorf("a small body at the same time: %d", small.StatusCode)
			}
			_, _ = io.WriteString(slow, whole[length/2:])
			answer, err := http.ReadResponse(bufio.NewReader(slow), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = answer.Body.Close() }()
			if echoed, err := io.ReadAll(answer.Body); err != nil || string(echoed) != whole {
				t.Errorf("the slow one was answered %d with %d bytes: %v", answer.StatusCode, len(echoed), err)
			}
			// the server notices the closed connection after a delay
			testkit.WaitUntil(t, "once it was read", func(context.Context) error {
				again, _ := fetchText(t, http.MethodPost, publicURL(s, "/echo"), strings.NewReader(whole))
				return expectOK(again)
			})
		})
	}
}

// offeredBody records the size of the first buffer into which a body is read.
type offeredBody int

func (o *offeredBody) Read(p []byte) (int, error) {
	*o = offeredBody(len(p))
	return 0, io.EOF
}

func TestAnnouncedLengthAllocatesNothing(t *testing.T) {
	t.Parallel()
	var first offeredBody
	if _, err := readBody(&first, 8<<20, 8<<20); err != nil || first > 64<<10 {
		t.Errorf("for a body of 8 MiB that has not arrived, %d bytes were reserved: %v", first, err)
	}
}

func TestLimitBodyLowersPortLimit(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{}, func(s *Server) {
		s.Public.Use("/few", func(c *fiber.Ctx) error { LimitBody(c, 10); return c.Next() })
		s.Public.Post("/few", echoBody)
		s.Public.Post("/echo", echoBody)
	})
	for path, most := range map[string]int{"/few": 10, "/echo": 1024} {
		if answer, _ := fetchText(t, http.MethodPost, publicURL(s, path),
			strings.NewReader(strings.Repeat("x", most))); answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %d bytes were answered %d", path, most, answer.StatusCode)
		}
		answer, body := fetchText(t, http.MethodPost, publicURL(s, path),
			strings.NewReader(strings.Repeat("x", most+1)))
		checkFault(t, answer, body, fault.PayloadTooLarge)
	}
}

// A path without GET answers 405, also to a GET with a body. A path with GET refuses the body.
func TestBodyOfReadIsRefusedAfterMethodCheck(t *testing.T) {
	t.Parallel()
	srv := startServer(t, Config{}, func(s *Server) {
		s.Public.Post("/book", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusCreated) })
		s.Public.Get("/info", func(c *fiber.Ctx) error {
			c.Set(fiber.HeaderETag, `"a"`)
			return c.SendString("info")
		})
	})
	for path, want := range map[string]int{"/book": http.StatusMethodNotAllowed, "/info": http.StatusBadRequest,
		"/nothing": http.StatusBadRequest} {
		answer, body := fetchText(t, http.MethodGet, "http://"+srv.PublicAddr().String()+path,
			strings.NewReader(`{"a":1}`))
		if answer.StatusCode != want || answer.Header.Get("ETag") != "" || !answer.Close {
			t.Errorf("%s: %d %v %s", path, answer.StatusCode, answer.Header, body)
		}
	}
}
