package server

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// end makes a request the last one of its connection, so that [testkit.SendRaw] returns.
const end = "Connection: close\r\n"

// refusedHeads are requests that two servers in a chain could interpret differently.
var refusedHeads = map[string]string{
	"two lengths":                     "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
	"two equal lengths":               "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
	"a list of lengths":               "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 6\r\n\r\nhello!",
	"a length with a sign":            "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello",
	"a negative length":               "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
	"a hexadecimal length":            "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5\r\n\r\nhello",
	"an empty length":                 "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
	"a length that overflows":         "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551621\r\n\r\nhello",
	"length and chunks":               "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"chunks and length":               "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
	"identity":                        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello",
	"chunked and identity":            "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
	"gzip and chunked":                "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
	"chunked twice":                   "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"chunked behind a tab":            "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n",
	"chunked behind a vertical tab":   "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
	"chunked in quotes":               "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
	"chunked on the next line":        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
	"no coding at all":                "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n\r\n",
	"chunks of HTTP/1.0":              "POST /echo HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"an interim answer for HTTP/1.0":  "POST /echo HTTP/1.0\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
	"a space before the colon":        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length : 5\r\n\r\nhello",
	"a tab before the colon":          "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
	"a line without a colon":          "GET /get HTTP/1.1\r\nHost: x\r\nnothing\r\n\r\n",
	"a line that begins with a colon": "GET /get HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n",
	"a folded line":                   "GET /get HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n",
	"a folded first line":             "GET /get HTTP/1.1\r\n Host: x\r\n\r\n",
	"a NUL":                           "GET /get HTTP/1.1\r\nHost: x\r\nX-A: b\x00c\r\n\r\n",
	"a CR within a value":             "GET /get HTTP/1.1\r\nHost: x\r\nX-A: b\rContent-Length: 5\r\n\r\nhello",
	"a bare LF":                       "GET /get HTTP/1.1\r\nHost: x\nX-A: b\r\n\r\n",
	"only bare LFs":                   "GET /get HTTP/1.1\nHost: x\n\n",
	"two hosts":                       "GET /get HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
	"two equal hosts":                 "GET /get HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
	"a list of hosts":                 "GET /get HTTP/1.1\r\nHost: x, y\r\n\r\n",
	"a host with a path":              "GET /get HTTP/1.1\r\nHost: x/y\r\n\r\n",
	"no host":                         "GET /get HTTP/1.1\r\n\r\n",
	"an empty host":                   "GET /get HTTP/1.1\r\nHost: \r\n\r\n",
	"another host in the target":      "GET http://y/get HTTP/1.1\r\nHost: x\r\n\r\n",
	"a target of another scheme":      "GET ftp://x/get HTTP/1.1\r\nHost: x\r\n\r\n",
	"a target without a slash":        "GET get HTTP/1.1\r\nHost: x\r\n\r\n",
	"a space in the target":           "GET /get /x HTTP/1.1\r\nHost: x\r\n\r\n",
	"two spaces before the version":   "GET /get  HTTP/1.1\r\nHost: x\r\n\r\n",
	"no version":                      "GET /get\r\nHost: x\r\n\r\n",
	"version 0.9":                     "GET /get HTTP/0.9\r\nHost: x\r\n\r\n",
	"version 1.2":                     "GET /get HTTP/1.2\r\nHost: x\r\n\r\n",
	"version 2":                       "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"a version in lower case":         "GET /get http/1.1\r\nHost: x\r\n\r\n",
	"a method that is no word":        "G(T /get HTTP/1.1\r\nHost: x\r\n\r\n",
	"a body of a GET": "GET /get HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n" +
		strings.Repeat("x", 9000),
	"chunks of a GET": "GET /get HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
}

// refusedChunks are chunked bodies that some server interprets differently.
var refusedChunks = map[string]string{
	"no size":                   "\r\nhello\r\n0\r\n\r\n",
	"a size with a prefix":      "0x5\r\nhello\r\n0\r\n\r\n",
	"a size with a sign":        "+5\r\nhello\r\n0\r\n\r\n",
	"a size behind a space":     " 5\r\nhello\r\n0\r\n\r\n",
	"a size before a space":     "5 \r\nhello\r\n0\r\n\r\n",
	"a size that overflows":     "100000000000000005\r\nhello\r\n0\r\n\r\n",
	"an extension":              "5;a=b\r\nhello\r\n0\r\n\r\n",
	"an extension with an LF":   "5;\nxx\r\nhello\r\n0\r\n\r\n",
	"a bare LF after a size":    "5\nhello\r\n0\r\n\r\n",
	"a bare CR after a size":    "5\rhello\r\n0\r\n\r\n",
	"a bare LF after a chunk":   "5\r\nhello\n0\r\n\r\n",
	"nothing after a chunk":     "5\r\nhello0\r\n\r\n",
	"more than the size":        "5\r\nhello!!\r\n0\r\n\r\n",
	"a trailer":                 "5\r\nhello\r\n0\r\nX-A: b\r\n\r\n",
	"a length as the trailer":   "5\r\nhello\r\n0\r\nContent-Length: 5\r\n\r\n",
	"a bare LF at the end":      "5\r\nhello\r\n0\r\n\n",
	"a bare LF after the last":  "5\r\nhello\r\n0\n\r\n",
	"a request after the chunk": "5\r\nhello\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n",
}

// ports starts both HTTP servers with the same paths.
func ports(t *testing.T) map[string]string {
	t.Helper()
	fiberPort := startServer(t, Config{}, func(s *Server) {
		s.Public.Post("/echo", echoBody)
		s.Public.Get("/get", func(c *fiber.Ctx) error { return c.JSON("got") })
		s.Public.Get("/smuggled", func(c *fiber.Ctx) error { return c.JSON("smuggled") })
	})
	netPort := startServer(t, Config{}, func(s *Server) {
		s.HandleHTTP("/echo", echoBodyHTTP)
		s.HandleHTTP("/get", echoBodyHTTP)
		s.HandleHTTP("/smuggled", echoBodyHTTP)
	})
	return map[string]string{"fasthttp": fiberPort.PublicAddr().String(), "net/http": netPort.PublicAddr().String()}
}

func TestAmbiguousFramingIsRefusedAndCloses(t *testing.T) {
	t.Parallel()
	all := make(map[string]string)
	for name, request := range refusedHeads {
		all[name] = request
	}
	for name, body := range refusedChunks {
		all[name] = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body
	}
	for port, address := range ports(t) {
		for name, request := range all {
			for _, before := range []int{0, 1} { // as the first request, and after a request that is answered
				text := strings.Repeat("GET /get HTTP/1.1\r\nHost: x\r\n\r\n", before) + request +
					"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
				got, closed := testkit.SendRaw(t, address, text)
				if !closed || len(got) != before+1 || got[before] != 400 {
					t.Errorf("%s: %s after %d requests: %v, closed: %v", port, name, before, got, closed)
				}
			}
		}
	}
}

func TestUnambiguousFramingIsServed(t *testing.T) {
	t.Parallel()
	for port, address := range ports(t) {
		for name, request := range map[string]string{
			"a length": "POST /echo HTTP/1.1\r\nHost: x\r\n" + end +
				"Content-Length: 5\r\n\r\nhello",
			"chunks": "POST /echo HTTP/1.1\r\nHost: x\r\n" + end +
				"Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n00\r\n\r\n",
			"a length after an interim": "POST /echo HTTP/1.1\r\nHost: x\r\n" + end +
				"Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
			"no body":                     "GET /get HTTP/1.1\r\nHost: x\r\n" + end + "\r\n",
			"a body of no bytes":          "GET /get HTTP/1.1\r\nHost: x\r\n" + end + "Content-Length: 0\r\n\r\n",
			"its own host in the target":  "GET http://X/get HTTP/1.1\r\nHost: x\r\n" + end + "\r\n",
			"an empty line before it":     "\r\nGET /get HTTP/1.1\r\nHost: x\r\n" + end + "\r\n",
			"HTTP/1.0 without a host":     "GET /get HTTP/1.0\r\n\r\n",
			"HTTP/1.0 with an empty host": "GET /get HTTP/1.0\r\nHost:\r\n\r\n",
			"bytes that are not ASCII":    "GET /get HTTP/1.1\r\nHost: x\r\nX-A: caf\xe9\r\n" + end + "\r\n",
		} {
			if got, closed := testkit.SendRaw(t, address, request); !closed || len(got) != 1 || got[0] != 200 {
				t.Errorf("%s: %s: %v, closed: %v", port, name, got, closed)
			}
		}
	}
}

func TestFramingRefusalHasFaultForm(t *testing.T) {
	t.Parallel()
	for port, address := range ports(t) {
		response, body := answerTo(t, address, "GET /get HTTP/1.1\r\n\r\n")
		checkFault(t, response, body, fault.InvalidParameter)
		if !response.Close || response.Header.Get("X-Content-Type-Options") != "nosniff" ||
			response.Header.Get("Traceparent") == "" {
			t.Errorf("%s: %v", port, response.Header)
		}
		response, body = answerTo(t, address, "GET /get HTTP/1.1\r\nHost: x\r\nX-A: "+strings.Repeat("x", maxHead)+
			"\r\n\r\n")
		checkFault(t, response, body, fault.HeadersTooLarge)
	}
}

// The result for a head does not depend on the packets in which it arrives.
func TestHeadParsingIgnoresSplits(t *testing.T) {
	t.Parallel()
	texts := make([]string, 0, len(refusedHeads))
	for _, text := range refusedHeads {
		texts = append(texts, text)
	}
	for _, text := range append(texts, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
		"GET / HTTP/1.0\r\n\r\n") {
		wholeEnd, wholeBody, wholeErr := readHead([]byte(text))
		for n := range len(text) {
			at, body, err := readHead([]byte(text[:n]))
			if errors.Is(err, errIncomplete) {
				continue
			}
			if at != wholeEnd || body != wholeBody || fmt.Sprint(err) != fmt.Sprint(wholeErr) {
				t.Fatalf("the first %d bytes of %q: %d %v %v, whole: %d %v %v", n, text, at, body, err, wholeEnd,
					wholeBody, wholeErr)
			}
		}
	}
}

// FuzzChunks checks that the result for chunks does not depend on the packets, and that the body ends after its last
// chunk.
func FuzzChunks(f *testing.F) {
	for _, body := range refusedChunks {
		f.Add([]byte(body), 3)
	}
	f.Add([]byte("5\r\nhello\r\n0\r\n\r\nGET / HTTP/1.1\r\n"), 1)
	f.Fuzz(func(t *testing.T, body []byte, cut int) {
		whole := framing{isChunked: true}
		n, err := whole.consume(body)
		cut = max(0, min(cut, len(body)))
		parts := framing{isChunked: true}
		first, firstErr := parts.consume(body[:cut])
		if firstErr != nil || !parts.isOpen() {
			if first != n || !errors.Is(err, firstErr) {
				t.Fatalf("%q: %d %v, its first %d bytes: %d %v", body, n, err, cut, first, firstErr)
			}
			return
		}
		second, secondErr := parts.consume(body[cut:])
		if first+second != n || !errors.Is(err, secondErr) || whole != parts {
			t.Fatalf("%q cut at %d: %d and %d, whole %d", body, cut, first, second, n)
		}
	})
}
