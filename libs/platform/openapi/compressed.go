package openapi

import (
	"bytes"
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

// minCompressedSize is the minimal size in bytes of a compressed file; smaller ones are not worth the additional
// headers.
const minCompressedSize = 1 << 10

// compressionLevel is the compression level. Each form is compressed once; the documentation viewer takes a tenth of a
// second.
const compressionLevel = 7

// preferredEncodings are the encodings of files, the one with the smallest result first.
var preferredEncodings = []string{"br", "gzip"}

// compressForms returns a function for each content encoding of a file; "" is the uncompressed
// file. The function returns the encoded file, which is created at the first call. The
// files hold no secrets, so the attack BREACH, which uses compressed lengths, is no risk.
func compressForms(body []byte) map[string]func() []byte {
	forms := map[string]func() []byte{"": func() []byte { return body }}
	if len(body) >= minCompressedSize {
		forms["br"] = sync.OnceValue(func() []byte {
			return compress(body, func(into io.Writer) io.WriteCloser {
				return brotli.NewWriterLevel(into, compressionLevel)
			})
		})
		forms["gzip"] = sync.OnceValue(func() []byte {
			return compress(body, func(into io.Writer) io.WriteCloser {
				w, _ := gzip.NewWriterLevel(into, compressionLevel) // fails only for invalid levels
				return w
			})
		})
	}
	return forms
}

// compress returns the output of a compressor for a file in memory, which cannot fail.
func compress(body []byte, compressor func(io.Writer) io.WriteCloser) []byte {
	var out bytes.Buffer
	w := compressor(&out)
	_, _ = w.Write(body)
	_ = w.Close()
	return out.Bytes()
}

// chooseEncoding returns the preferred encoding that an Accept-Encoding accepts (RFC 9110 §12.5.3); "" for none.
func (f *File) chooseEncoding(accept string) string {
	for _, encoding := range preferredEncodings {
		if _, has := f.forms[encoding]; has && accepts(accept, encoding) {
			return encoding
		}
	}
	return ""
}

// accepts reports whether an Accept-Encoding names an encoding, or *, with a weight above 0.
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

// etag returns the entity tag of one form. Each form has its own, since its bytes differ.
func (f *File) etag(encoding string) string {
	if encoding != "" {
		encoding = "-" + encoding
	}
	return `"` + f.tag + encoding + `"`
}

// etags returns the tags of all forms. A caller that has any form needs no other.
func (f *File) etags() []string {
	tags := make([]string, 0, len(f.forms))
	for encoding := range f.forms {
		tags = append(tags, f.etag(encoding))
	}
	return tags
}
