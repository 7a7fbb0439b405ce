package openapi

import (
	"strconv"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"
)

// minCompressedSize is the size in bytes from which a file is compressed.
// For smaller files, the saving is not worth the additional headers.
const minCompressedSize = 1 << 10

// compressionLevel is the level for gzip and Brotli. It can be high,
// because the server compresses each file only once per encoding.
const compressionLevel = 7

// preferredEncodings are the content encodings in order of preference. The first encoding gives the smallest result.
var preferredEncodings = []string{"br", "gzip"}

// compressForms returns one function for each content encoding of a file; the key "" stands for the uncompressed file.
// A function creates the encoded file at its first call and returns the same bytes at later calls. The files hold no
// secrets, so the attack BREACH, which guesses secrets from compressed lengths, is no risk.
func compressForms(body []byte) map[string]func() []byte {
	forms := map[string]func() []byte{"": func() []byte { return body }}
	if len(body) >= minCompressedSize {
		forms["br"] = sync.OnceValue(func() []byte {
			return fasthttp.AppendBrotliBytesLevel(nil, body, compressionLevel)
		})
		forms["gzip"] = sync.OnceValue(func() []byte {
			return fasthttp.AppendGzipBytesLevel(nil, body, compressionLevel)
		})
	}
	return forms
}

// chooseEncoding returns the first of preferredEncodings in which the file exists and which the header Accept-Encoding
// allows (RFC 9110 §12.5.3). It returns "" if the header allows none of them.
func (f *File) chooseEncoding(accept string) string {
	for _, encoding := range preferredEncodings {
		if _, has := f.forms[encoding]; has && accepts(accept, encoding) {
			return encoding
		}
	}
	return ""
}

// accepts reports whether the header Accept-Encoding names the encoding, or *, with a weight above 0.
func accepts(accept, encoding string) bool {
	anyAccepted := false
	for part := range strings.SplitSeq(accept, ",") {
		name, weight, hasWeight := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(weight)), "q="), 64)
		wanted := !hasWeight || err == nil && q > 0
		if name == encoding {
			return wanted
		}
		anyAccepted = anyAccepted || name == "*" && wanted
	}
	return anyAccepted
}

// etag returns the entity tag of the file in one encoding. Each encoding has its own tag, because the encoded bytes
// differ.
func (f *File) etag(encoding string) string {
	if encoding != "" {
		encoding = "-" + encoding
	}
	return `"` + f.tag + encoding + `"`
}

// etags returns the entity tags of the file in all encodings. A
// client that has cached the file in any encoding needs no new copy.
func (f *File) etags() []string {
	tags := make([]string, 0, len(f.forms))
	for encoding := range f.forms {
		tags = append(tags, f.etag(encoding))
	}
	return tags
}
