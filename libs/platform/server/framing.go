package server

import (
	"bytes"
	"errors"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// framing determines where the body of a request ends. If a request is ambiguous, two servers in a chain could
// interpret it differently. The port therefore refuses an ambiguous request before an HTTP server receives a byte of
// it. The ports of fasthttp, the ports of net/http and the front all use framing.
type framing struct {
	remaining int64 // number of bytes that remain of a body with a known length
	isChunked bool
	state     chunkState
	chunk     int64 // in the state inSize: value of the digits so far; in inData: bytes left in the chunk
	digits    int
}

// isOpen reports whether more bytes of the body must follow.
func (f *framing) isOpen() bool { return f.remaining > 0 || f.isChunked }

type chunkState uint8

const (
	inSize chunkState = iota
	afterSize
	inData
	afterData
	beforeNext
	afterLast
	atEnd
)

// maxChunkDigits is the maximal number of hexadecimal digits in the size of a chunk. It prevents an overflow.
const maxChunkDigits = 7

var errChunks = errors.New("its chunks are malformed; send chunks without extensions, and no trailers")

// consume processes the bytes `b`, which follow the bytes that are already consumed. It returns how many bytes of `b`
// belong to the body.
func (f *framing) consume(b []byte) (int, error) {
	if !f.isChunked {
		n := min(int64(len(b)), f.remaining)
		f.remaining -= n
		return int(n), nil
	}
	for i := 0; i < len(b); i++ {
		if f.state == inData {
			n := min(int64(len(b)-i), f.chunk)
			f.chunk -= n
			i += int(n) - 1
			if f.chunk == 0 {
				f.state = afterData
			}
			continue
		}
		if !f.step(b[i]) {
			return i, errChunks
		}
		if !f.isChunked {
			return i + 1, nil
		}
	}
	return len(b), nil
}

// step consumes one byte that is not part of a chunk's data. It reports whether the byte is valid at this position.
func (f *framing) step(b byte) bool {
	switch f.state {
	case inSize:
		if v := parseHexDigit(b); v >= 0 {
			f.chunk, f.digits = f.chunk<<4|int64(v), f.digits+1
			return f.digits <= maxChunkDigits
		}
		f.state = afterSize
		return b == '\r' && f.digits > 0
	case afterSize:
		f.state, f.digits = inData, 0
		if f.chunk == 0 {
			f.state = afterLast
		}
		return b == '\n'
	case afterData:
		f.state = beforeNext
		return b == '\r'
	case beforeNext:
		f.state = inSize
		return b == '\n'
	case afterLast:
		f.state = atEnd
		return b == '\r'
	default:
		f.isChunked = false
		return b == '\n'
	}
}

func parseHexDigit(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b|0x20 >= 'a' && b|0x20 <= 'f':
		return int(b|0x20-'a') + 10
	}
	return -1
}

// errIncomplete means that the head of a request is not complete yet.
var errIncomplete = errors.New("the head goes on")

// newMalformed returns a fault with status 400 for a malformed request.
func newMalformed(sentence string) error { return fault.New(fault.InvalidParameter, sentence) }

// These errors are the faults of a malformed request head.
var (
	errLine = newMalformed("The request is not well-formed HTTP: its first line must be a method, a path and " +
		"HTTP/1.1 or HTTP/1.0.")
	errLineEnd = newMalformed("The request is not well-formed HTTP: every line of its head must end with CR and LF, " +
		"and hold no other control characters.")
	errName = newMalformed("The request is not well-formed HTTP: a header line must be a name, a colon and a value, " +
		"and may not be continued on the next.")
	errHost     = newMalformed("Host: send exactly one, which names where the request goes.")
	errLength   = newMalformed("Content-Length: send it once, as a whole number of bytes.")
	errTransfer = newMalformed("Transfer-Encoding: only chunked is known, once, with HTTP/1.1 and without " +
		"Content-Length.")
	errExpect   = newMalformed("Expect: HTTP/1.0 has no interim answers.")
	errHeadSize = fault.New(fault.HeadersTooLarge, "The request's headers are too large.")
)

// head holds the parts of a request's head that determine the framing of the body. readHead fills it while it checks
// the head.
type head struct {
	isHTTP10                bool   // whether the request uses HTTP/1.0
	authority               []byte // host and port of a target in absolute form
	hosts, lengths, codings int
	hasExpect               bool
	length                  int64
}

// readHead checks the request head at the start of `b`. It returns the position after the head and the
// framing of the body. It returns errIncomplete if the head is incomplete. Every other error is a fault.
func readHead(b []byte) (int, framing, error) {
	var h head
	line, end, err := cutLine(b, 0)
	if err == nil {
		err = h.parseRequestLine(line)
	}
	for err == nil {
		if line, end, err = cutLine(b, end); err != nil {
			break
		}
		if len(line) == 0 {
			body, err := h.bodyFraming()
			return end, body, err
		}
		err = h.checkField(line)
	}
	if errors.Is(err, errIncomplete) && len(b) >= maxHead {
		err = errHeadSize
	}
	return 0, framing{}, err
}

// cutLine returns one line of `b` without its line end, and the start of
// the next line. The argument `from` is the index at which the line starts.
func cutLine(b []byte, from int) ([]byte, int, error) {
	n := bytes.IndexByte(b[from:], '\n')
	switch {
	case n < 0:
		return nil, 0, errIncomplete
	case n == 0 || b[from+n-1] != '\r':
		return nil, 0, errLineEnd
	}
	return b[from : from+n-1], from + n + 1, nil
}

func (h *head) parseRequestLine(line []byte) error {
	method := bytes.IndexByte(line, ' ')
	last := bytes.LastIndexByte(line, ' ')
	if method <= 0 || last == method || !hasOnly(line[:method], isToken) || !hasOnly(line[method+1:last], isTarget) {
		return errLine
	}
	switch string(line[last+1:]) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.isHTTP10 = true
	default:
		return errLine
	}
	target := line[method+1 : last]
	switch {
	case len(target) == 0:
		return errLine
	case target[0] == '/' || string(line[:method]) == "CONNECT":
	case string(target) == "*" && string(line[:method]) == "OPTIONS":
	default:
		return h.parseAbsolute(target)
	}
	return nil
}

// parseAbsolute parses a request target in absolute form, such as http://host/path. Clients of proxies send this form.
func (h *head) parseAbsolute(target []byte) error {
	scheme, rest, found := bytes.Cut(target, []byte("://"))
	if !found || !bytes.EqualFold(scheme, []byte("http")) && !bytes.EqualFold(scheme, []byte("https")) {
		return errLine
	}
	if end := bytes.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	if h.authority = rest; len(rest) == 0 {
		return errLine
	}
	return nil
}

// checkField checks one header line. If the header affects the framing, checkField also records its value.
func (h *head) checkField(line []byte) error {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || !hasOnly(line[:colon], isToken) {
		return errName
	}
	name, value := line[:colon], bytes.Trim(line[colon+1:], " ")
	if !hasOnly(value, isValue) {
		return errLineEnd
	}
	switch {
	case equalsName(name, "host"):
		return h.checkHost(value)
	case equalsName(name, "content-length"):
		return h.parseContentLength(value)
	case equalsName(name, "transfer-encoding"):
		if h.codings++; h.codings > 1 || !equalsName(value, "chunked") {
			return errTransfer
		}
	case equalsName(name, "expect"):
		h.hasExpect = true
	}
	return nil
}

func (h *head) checkHost(value []byte) error {
	h.hosts++
	mismatch := h.authority != nil && !bytes.EqualFold(h.authority, value)
	if h.hosts > 1 || mismatch || len(value) == 0 && !h.isHTTP10 || bytes.ContainsAny(value, " \t,/@?#\\\"<>") {
		return errHost
	}
	return nil
}

// maxLengthDigits is the maximal number of digits in Content-Length. It prevents an overflow when the digits are
// converted to an int64.
const maxLengthDigits = 18

func (h *head) parseContentLength(value []byte) error {
	if h.lengths++; h.lengths > 1 || len(value) == 0 || len(value) > maxLengthDigits {
		return errLength
	}
	for _, b := range value {
		if b < '0' || b > '9' {
			return errLength
		}
		h.length = h.length*10 + int64(b-'0')
	}
	return nil
}

// bodyFraming returns the framing of the body. The caller must have parsed the whole head.
func (h *head) bodyFraming() (framing, error) {
	switch {
	case h.hosts == 0 && !h.isHTTP10:
		return framing{}, errHost
	case h.codings > 0 && (h.lengths > 0 || h.isHTTP10):
		return framing{}, errTransfer
	case h.hasExpect && h.isHTTP10:
		return framing{}, errExpect
	}
	return framing{remaining: h.length, isChunked: h.codings > 0}, nil
}

// equalsName reports whether `b` equals a lower-case name, ignoring case. It first compares the lengths, which is
// cheap.
func equalsName(b []byte, name string) bool {
	return len(b) == len(name) && bytes.EqualFold(b, []byte(name))
}

func hasOnly(b []byte, allowed *[256]bool) bool {
	for _, c := range b {
		if !allowed[c] {
			return false
		}
	}
	return true
}

// isToken, isTarget and isValue are tables of valid bytes (RFC 9110 §5.5, §5.6.2). isToken applies to the names of
// methods and headers, isTarget to the request target, and isValue to the values of headers.
var (
	isToken = newByteTable(func(c byte) bool {
		return alphanumeric(c) || bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0
	})
	isTarget = newByteTable(func(c byte) bool { return c > ' ' && c != 0x7f })
	isValue  = newByteTable(func(c byte) bool { return c >= ' ' && c != 0x7f || c == '\t' })
)

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func newByteTable(allowed func(byte) bool) *[256]bool {
	var t [256]bool
	for c := range t {
		t[c] = allowed(byte(c))
	}
	return &t
}
