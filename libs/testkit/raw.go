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

// SendRaw sends the argument `text` unchanged over one connection. It returns the statuses of the answers until the
// server closes the connection, without interim (1xx) answers. It returns false if the connection was reset, because an
// answer may then be lost.
func SendRaw(t testing.TB, address, text string) ([]int, bool) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Minute)) //nolint:forbidigo // a deadline of the socket is the machine's time
	// The error is ignored, because a server may close the connection before it has read the whole text.
	go func() { _, _ = io.WriteString(conn, text) }()
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
		_, _ = io.Copy(io.Discard, answer.Body) // the next read detects an incomplete body
		if answer.StatusCode >= http.StatusOK {
			statuses = append(statuses, answer.StatusCode)
		}
	}
}

// HiddenRequest is a request that an attacker hides in a body. A faulty server interprets the hidden text as the next
// request.
const HiddenRequest = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n"

// HideRequest returns the text of two requests, which tests whether a server interprets a body as a request. The
// argument `head` is the head of the first request without Content-Length and Transfer-Encoding. The body of the first
// request consists of `padding` bytes and [HiddenRequest]. If `chunked` is true, the body is chunked; if not, the
// request has a Content-Length. The second request names a path that does not exist, and closes the connection.
func HideRequest(head string, padding int, chunked bool) string {
	filler := make([]byte, padding)
	for i := range filler {
		filler[i] = 'x'
	}
	body := string(filler) + HiddenRequest
	framing := "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
	if chunked {
		framing = "Transfer-Encoding: chunked\r\n\r\n" + strconv.FormatInt(int64(len(body)), 16) + "\r\n" + body +
			"\r\n0\r\n\r\n"
	}
	return head + framing + "GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
}

// IsOneAnswer reports whether the results of [SendRaw] for [HideRequest] show that the server did not interpret the
// body as a request. The server must have closed the connection without a reset. There must be one answer, or a second
// answer to the request after the body. The status of the second answer must be 404, or 403 at an internal port.
func IsOneAnswer(statuses []int, closed bool) bool {
	return closed && (len(statuses) == 1 ||
		len(statuses) == 2 && (statuses[1] == http.StatusNotFound || statuses[1] == http.StatusForbidden))
}

// PaddingSizes returns sizes of padding, from 0 to 70,000 bytes. Each size is close to the size of a common buffer, or
// between two such sizes. If the argument `many` is true, PaddingSizes returns more sizes, for `make attack`.
func PaddingSizes(many bool) []int {
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
