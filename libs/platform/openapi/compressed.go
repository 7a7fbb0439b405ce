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

// compressFrom is the minimal size in bytes of a compressed file; smaller ones are not worth the additional headers.
const compressFrom = 1 << 10

// level is the compression level. Each form is compressed once; the documentation viewer takes a tenth of a second.
const level = 7

// preferred are the encodings of files, the one with the smallest result first.
var preferred = []string{"br", "gzip"}

// compressed returns a function for each content encoding of a file; "" is the uncompressed
// file. The function returns the encoded file, which is created at the first call. The
// files hold no secrets, so the attack BREACH, which uses compressed lengths, is no risk.
func compressed(body []byte) map[string]func() []byte {
	forms := map[string]func() []byte{"": func() []byte { return body }}
	if len(body) >= compressFrom {
		forms["br"] = sync.OnceValue(func() []byte {
			return written(body, func(into io.Writer) io.WriteCloser { return brotli.NewWriterLevel(into, level) })
		})
		forms["gzip"] = sync.OnceValue(func() []byte {
			return written(body, func(into io.Writer) io.WriteCloser {
				w, _ := gzip.NewWriterLevel(into, level) // fails only for invalid levels
				return w
			})
		})
	}
	return forms
}

// written returns the output of a compressor for a file in memory, which cannot fail.
func written(body []byte, compressor func(io.Writer) io.WriteCloser) []byte {
	var out bytes.Buffer
	w := compressor(&out)
	_, _ = w.Write(body)
	_ = w.Close()
	return out.Bytes()
}

// encodingFor returns the preferred encoding that an Accept-Encoding accepts (RFC 9110 §12.5.3); "" for none.
func (f *File) encodingFor(accept string) string {
	for _, encoding := range preferred {
		if _, has := f.forms[encoding]; has && takes(accept, encoding) {
			return encoding
		}
	}
	return ""
}

// takes reports whether an Accept-Encoding names an encoding, or *, with a weight above 0.
func takes(accept, encoding string) bool {
	any := false
	for part := range strings.SplitSeq(accept, ",") {
		name, weight, weighed := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.ToLower(strings.TrimSpace(weight)), "q="), 64)
		wanted := !weighed || err == nil && q > 0
		if name == encoding {
			return wanted
		}
		any = any || name == "*" && wanted
	}
	return any
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
