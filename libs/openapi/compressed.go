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

// compressFrom is the size, in bytes, from which a file is worth the headers that compression takes.
const compressFrom = 1 << 10

// level is how hard a form is compressed, which is done once: the viewer of the documentation takes a tenth of a second.
const level = 7

// preferred are the encodings that files are kept in, the smallest first.
var preferred = []string{"br", "gzip"}

// compressed gives a file in every form in which it is sent. A form is made once, when it is first asked for; nothing in the file
// is secret, so its length may be known (BREACH).
func compressed(body []byte) map[string]func() []byte {
	forms := map[string]func() []byte{"": func() []byte { return body }}
	if len(body) >= compressFrom {
		forms["br"] = sync.OnceValue(func() []byte {
			return written(body, func(into io.Writer) io.WriteCloser { return brotli.NewWriterLevel(into, level) })
		})
		forms["gzip"] = sync.OnceValue(func() []byte {
			return written(body, func(into io.Writer) io.WriteCloser {
				w, _ := gzip.NewWriterLevel(into, level) // fails for levels that there are not
				return w
			})
		})
	}
	return forms
}

// written is what a compressor makes of a file in memory, where nothing fails.
func written(body []byte, compressor func(io.Writer) io.WriteCloser) []byte {
	var out bytes.Buffer
	w := compressor(&out)
	_, _ = w.Write(body)
	_ = w.Close()
	return out.Bytes()
}

// encodingFor is the form that an Accept-Encoding takes (RFC 9110 §12.5.3): the smallest that it does not refuse, "" as it is.
func (f *File) encodingFor(accept string) string {
	for _, encoding := range preferred {
		if _, has := f.forms[encoding]; has && takes(accept, encoding) {
			return encoding
		}
	}
	return ""
}

// takes reports whether an Accept-Encoding names an encoding, or any, with a weight above 0.
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

// etag is that of one form: forms of one file are other bytes.
func (f *File) etag(encoding string) string {
	if encoding != "" {
		encoding = "-" + encoding
	}
	return `"` + f.tag + encoding + `"`
}

// etags are the tags of all forms. A caller that has one form needs no other.
func (f *File) etags() []string {
	tags := make([]string, 0, len(f.forms))
	for encoding := range f.forms {
		tags = append(tags, f.etag(encoding))
	}
	return tags
}
