package server

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// decodeTargets decodes percent-encoded unreserved characters, such as letters, in
// the path of a request (RFC 3986 §6.2.2.2). It runs before any code reads the path.
// Limits, routes and the service behind the front therefore all use the same path.
func decodeTargets(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if target, changed := decodeUnreserved(ctx.Request.Header.RequestURI()); changed {
			ctx.Request.SetRequestURIBytes(target)
		}
		next(ctx)
	}
}

// decodeUnreserved decodes unreserved characters in the path of a request target. It returns
// the new target, and whether the target has changed. If the decoded path has a segment "."
// or "..", the target stays unchanged, because the change could lead to another resource.
func decodeUnreserved(target []byte) ([]byte, bool) {
	end := bytes.IndexAny(target, "?#")
	if end < 0 {
		end = len(target)
	}
	if len(target) == 0 || target[0] != '/' || bytes.IndexByte(target[:end], '%') < 0 {
		return target, false
	}
	plain := make([]byte, 0, len(target))
	for i := 0; i < end; i++ {
		if c, ok := decodeUnreservedPair(target[i:end]); ok {
			plain = append(plain, c)
			i += 2
			continue
		}
		plain = append(plain, target[i])
	}
	if len(plain) == end || hasDotSegment(plain) {
		return target, false
	}
	return append(plain, target[end:]...), true
}

// decodeUnreservedPair decodes the percent-encoding at the start of `b`. It
// returns the character, and whether the character is unreserved.
func decodeUnreservedPair(b []byte) (byte, bool) {
	if len(b) < 3 || b[0] != '%' {
		return 0, false
	}
	high, low := parseHexDigit(b[1]), parseHexDigit(b[2])
	if high < 0 || low < 0 {
		return 0, false
	}
	c := byte(high<<4 | low)
	letter := c|0x20 >= 'a' && c|0x20 <= 'z'
	return c, letter || c >= '0' && c <= '9' || bytes.IndexByte([]byte("-._~"), c) >= 0
}

func hasDotSegment(path []byte) bool {
	for segment := range bytes.SplitSeq(path, []byte("/")) {
		if s := string(segment); s == "." || s == ".." {
			return true
		}
	}
	return false
}
