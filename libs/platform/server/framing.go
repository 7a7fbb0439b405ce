package server

import (
	"bytes"
	"errors"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// framing tracks where the body of one request ends. Requests that two servers in
// a chain could interpret differently are refused before an HTTP server gets a
// byte of them. The ports of fasthttp, those of net/http and the front all use it.
type framing struct {
	left    int64 // remaining bytes of a body with announced length
	chunked bool
	state   chunkState
	chunk   int64 // size of the chunk so far; then its remaining bytes
	digits  int
}

// open reports whether more of the body is expected.
func (f *framing) open() bool { return f.left > 0 || f.chunked }

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

// maxChunkDigits bounds the size of a chunk, far below an overflow.
const maxChunkDigits = 7

var errChunks = errors.New("its chunks are malformed; send chunks without extensions, and no trailers")

// take returns how many of these bytes belong to the body.
func (f *framing) take(b []byte) (int, error) {
	if !f.chunked {
		n := min(int64(len(b)), f.left)
		f.left -= n
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
		if !f.chunked {
			return i + 1, nil
		}
	}
	return len(b), nil
}

// step consumes a byte outside a chunk's data, and reports whether the byte is valid there.
func (f *framing) step(b byte) bool {
	switch f.state {
	case inSize:
		if v := unhex(b); v >= 0 {
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
		f.chunked = false
		return b == '\n'
	}
}

func unhex(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b|0x20 >= 'a' && b|0x20 <= 'f':
		return int(b|0x20-'a') + 10
	}
	return -1
}

// errMore reports that the head of a request is incomplete.
var errMore = errors.New("the head goes on")

// malformed returns a fault with status 400.
func malformed(sentence string) error { return fault.New(fault.InvalidParameter, sentence) }

// The reasons for which the head of a request is refused.
var (
	errLine = malformed("The request is not well-formed HTTP: its first line must be a method, a path and " +
		"HTTP/1.1 or HTTP/1.0.")
	errEnds = malformed("The request is not well-formed HTTP: every line of its head must end with CR and LF, " +
		"and hold no other control characters.")
	errName = malformed("The request is not well-formed HTTP: a header line must be a name, a colon and a value, " +
		"and may not be continued on the next.")
	errHost     = malformed("Host: send exactly one, which names where the request goes.")
	errLength   = malformed("Content-Length: send it once, as a whole number of bytes.")
	errTransfer = malformed("Transfer-Encoding: only chunked is known, once, with HTTP/1.1 and without Content-Length.")
	errExpect   = malformed("Expect: HTTP/1.0 has no interim answers.")
	errHeadSize = fault.New(fault.HeadersTooLarge, "The request's headers are too large.")
)

// head holds the parts of a request's head that matter for its framing, while the head is checked.
type head struct {
	old                     bool   // HTTP/1.0
	authority               []byte // of a target in absolute form
	hosts, lengths, codings int
	expects                 bool
	length                  int64
}

// readHead checks the head at the start of b. It returns the end of the head and the framing
// of the body. The error is errMore if the head is incomplete; any other error is a fault.
func readHead(b []byte) (int, framing, error) {
	var h head
	line, end, err := cutLine(b, 0)
	if err == nil {
		err = h.requestLine(line)
	}
	for err == nil {
		if line, end, err = cutLine(b, end); err != nil {
			break
		}
		if len(line) == 0 {
			body, err := h.body()
			return end, body, err
		}
		err = h.field(line)
	}
	if errors.Is(err, errMore) && len(b) >= maxHead {
		err = errHeadSize
	}
	return 0, framing{}, err
}

// cutLine returns the line that starts at from, without its line end, and the start of the next line.
func cutLine(b []byte, from int) ([]byte, int, error) {
	n := bytes.IndexByte(b[from:], '\n')
	switch {
	case n < 0:
		return nil, 0, errMore
	case n == 0 || b[from+n-1] != '\r':
		return nil, 0, errEnds
	}
	return b[from : from+n-1], from + n + 1, nil
}

func (h *head) requestLine(line []byte) error {
	method := bytes.IndexByte(line, ' ')
	last := bytes.LastIndexByte(line, ' ')
	if method <= 0 || last == method || !all(line[:method], isToken) || !all(line[method+1:last], isTarget) {
		return errLine
	}
	switch string(line[last+1:]) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.old = true
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
		return h.absolute(target)
	}
	return nil
}

// absolute parses a target in absolute form, as in a request to a proxy.
func (h *head) absolute(target []byte) error {
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

// field checks one header line.
func (h *head) field(line []byte) error {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 || !all(line[:colon], isToken) {
		return errName
	}
	name, value := line[:colon], bytes.Trim(line[colon+1:], " ")
	if !all(value, isValue) {
		return errEnds
	}
	switch {
	case is(name, "host"):
		return h.host(value)
	case is(name, "content-length"):
		return h.contentLength(value)
	case is(name, "transfer-encoding"):
		if h.codings++; h.codings > 1 || !is(value, "chunked") {
			return errTransfer
		}
	case is(name, "expect"):
		h.expects = true
	}
	return nil
}

func (h *head) host(value []byte) error {
	h.hosts++
	mismatch := h.authority != nil && !bytes.EqualFold(h.authority, value)
	if h.hosts > 1 || mismatch || len(value) == 0 && !h.old || bytes.ContainsAny(value, " \t,/@?#\\\"<>") {
		return errHost
	}
	return nil
}

// maxLengthDigits bounds a Content-Length, below an overflow.
const maxLengthDigits = 18

func (h *head) contentLength(value []byte) error {
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

// body returns the framing of the body, after the whole head was read.
func (h *head) body() (framing, error) {
	switch {
	case h.hosts == 0 && !h.old:
		return framing{}, errHost
	case h.codings > 0 && (h.lengths > 0 || h.old):
		return framing{}, errTransfer
	case h.expects && h.old:
		return framing{}, errExpect
	}
	return framing{left: h.length, chunked: h.codings > 0}, nil
}

// is compares b with a lower-case name, ignoring case. It is cheap if the lengths differ.
func is(b []byte, name string) bool { return len(b) == len(name) && bytes.EqualFold(b, []byte(name)) }

func all(b []byte, allowed *[256]bool) bool {
	for _, c := range b {
		if !allowed[c] {
			return false
		}
	}
	return true
}

// Bytes that are valid in a method or name, in a target, and in a value (RFC 9110 §5.5, §5.6.2).
var (
	isToken  = table(func(c byte) bool { return alphanumeric(c) || bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0 })
	isTarget = table(func(c byte) bool { return c > ' ' && c != 0x7f })
	isValue  = table(func(c byte) bool { return c >= ' ' && c != 0x7f || c == '\t' })
)

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func table(allowed func(byte) bool) *[256]bool {
	var t [256]bool
	for c := range t {
		t[c] = allowed(byte(c))
	}
	return &t
}
