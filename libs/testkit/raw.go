package testkit

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// Dialogue sends text over one connection as it stands, and returns the statuses of the answers, without interim ones, until the
// server closes. It reports false where the connection was reset instead, so that an answer may have been lost.
func Dialogue(t testing.TB, address, text string) ([]int, bool) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute)) //nolint:forbidigo // a deadline of the socket is the machine's time
	go func() { _, _ = io.WriteString(conn, text) }()     // a server may close before it has read all
	var statuses []int
	in := bufio.NewReader(conn)
	for {
		answer, err := http.ReadResponse(in, nil)
		var timeout net.Error
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return statuses, true
		case errors.As(err, &timeout) && timeout.Timeout():
			t.Fatalf("after %v to %.200q the connection stays open", statuses, text)
		case err != nil:
			return statuses, false
		}
		_, _ = io.Copy(io.Discard, answer.Body) // one that breaks off shows in what follows
		if answer.StatusCode >= http.StatusOK {
			statuses = append(statuses, answer.StatusCode)
		}
	}
}

// HiddenRequest is what an attacker puts into a body, for a server to take it for the next request.
const HiddenRequest = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"

// Hide returns a request with this head, which ends before its framing, whose body is padding and then requests, in chunks or by
// length. A request for a path that is not there follows and closes the connection.
func Hide(head string, padding int, chunked bool) string {
	filler := make([]byte, padding)
	for i := range filler {
		filler[i] = 'x'
	}
	body := string(filler) + HiddenRequest
	framing := "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	if chunked {
		framing = "Transfer-Encoding: chunked\r\n\r\n" + strconv.FormatInt(int64(len(body)), 16) + "\r\n" + body + "\r\n0\r\n\r\n"
	}
	return head + framing + "GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
}

// OneAnswer reports whether the answers to what Hide returns are one, or one and that of what followed, which is 403 at an internal
// port and 404 at others: nothing of the body was taken for a request.
func OneAnswer(statuses []int, closed bool) bool {
	return closed && (len(statuses) == 1 ||
		len(statuses) == 2 && (statuses[1] == http.StatusNotFound || statuses[1] == http.StatusForbidden))
}

// Boundaries are paddings from none to 70,000 bytes: about the sizes that buffers have, and others between. many is for `make attack`.
func Boundaries(many bool) []int {
	at := []int{0, 1, 2, 70000}
	for size := 64; size <= 65536; size *= 2 {
		hidden := len(HiddenRequest)
		at = append(at, size-hidden-1, size-hidden, size-1, size, size+1)
	}
	step := 9973
	if many {
		step = 211
	}
	for n := step; n < 70000; n += step {
		at = append(at, n)
	}
	return at
}
