package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
)

// dialogue sends text as it stands and reads answers until the server closes or nothing more comes of the requests sent.
func dialogue(t *testing.T, address, text string) ([]int, bool) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	go func() { _, _ = io.WriteString(conn, text) }() // a server may close before it has read all
	var statuses []int
	in := bufio.NewReader(conn)
	for {
		answer, err := http.ReadResponse(in, nil)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return statuses, true
		}
		if err != nil {
			t.Fatalf("after %v to %.200q: %v", statuses, text, err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		if answer.StatusCode >= http.StatusOK {
			statuses = append(statuses, answer.StatusCode)
		}
	}
}

// answerTo sends text as it stands and returns the first answer.
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

// echoHTTP answers a POST with its body, by net/http; another method without looking at one, as if it had none.
func echoHTTP(w http.ResponseWriter, r *http.Request) error {
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

// smuggled is the request that an attacker hides in a body. Its answer would be the next visitor's.
const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

func TestNoPartOfARefusedBodyIsTakenForARequest(t *testing.T) {
	t.Parallel()
	s := start(t, Config{}, func(s *Server) {
		s.Public.Post("/echo", echo)
		s.Public.Get("/smuggled", func(c *fiber.Ctx) error { return c.SendString("smuggled") })
	})
	for _, padding := range []int{0, 100, 4096, 8191, 8192, 8193, 16384, 70000} {
		body := strings.Repeat("x", padding) + smuggled
		for name, request := range map[string]string{
			"length": fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body),
			"chunks": fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body),
		} {
			for path, want := range map[string]int{"/echo": 415, "/nowhere": 404, "/smuggled": 405} {
				head := "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n"
				got, closed := dialogue(t, s.PublicAddr().String(), head+request+"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
				kept := len(got) == 2 && got[1] == 404
				if !closed || got[0] != want || len(got) != 1 && !kept {
					t.Errorf("%s with %d bytes by %s before the hidden request: %v", path, padding, name, got)
				}
			}
		}
	}
}
