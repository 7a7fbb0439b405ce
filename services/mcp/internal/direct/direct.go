// Package direct answers calls of tools without a session of the SDK.
//
// A stateless server of the SDK begins and ends a session for each request, decodes its body some ten times, with 32 kB of
// buffer each, and goes over its answer three times: more than all that a tool does. A call of a tool is by far the most
// frequent message, and needs nothing of that: it is one object with a name and arguments. What is recognised here
// without doubt as such a call is answered here, in the form that the SDK gives; every other message, and each one that
// is odd in any way, is the SDK's, which says what is wrong with it. A test holds the two against each other.
package direct

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"

	protocol "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/segmentio/encoding/json"

	"github.com/slotmesh/slotmesh/services/mcp/internal/tools"
)

// Tools call a tool by its name; without such a tool there is no answer.
type Tools interface {
	Call(ctx context.Context, name string, arguments json.RawMessage) (tools.Answer, bool)
}

// Handler answers calls of tools, and hands on every other request.
type Handler struct {
	tools Tools
	about []byte // of the server, as JSON
	sdk   http.Handler
}

// New returns a handler in front of the SDK's, for a server that calls itself about.
func New(t Tools, about *protocol.Implementation, sdk http.Handler) (*Handler, error) {
	encoded, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	return &Handler{tools: t, about: encoded, sdk: sdk}, nil
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "failed to read body", http.StatusBadRequest)
		return
	}
	if h.answered(w, r, body) {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.sdk.ServeHTTP(w, r)
}

func (h *Handler) answered(w http.ResponseWriter, r *http.Request, body []byte) bool {
	c, ok := recognise(r.Header, body)
	if !ok {
		return false
	}
	ctx := r.Context()
	if !c.self { // as the SDK does: in these revisions a client that goes away cancels nothing; the deadline is the caller's Until
		ctx = context.WithoutCancel(ctx)
	}
	answer, ok := h.tools.Call(ctx, c.name, c.arguments)
	if !ok {
		return false
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	*buffer = h.appendAnswer((*buffer)[:0], c, answer)
	header := w.Header()
	header["Cache-Control"], header["Content-Type"] = noCache, plainJSON
	header["Content-Length"] = []string{strconv.Itoa(len(*buffer))}
	_, _ = w.Write(*buffer) // a client that has gone needs no answer
	return true
}

// Values of headers; nobody changes them.
var (
	noCache   = []string{"no-cache, no-transform"}
	plainJSON = []string{"application/json"}
)

// buffers are for answers, which are of at most 25 kB and have been written when a request ends.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// appendAnswer appends the answer to a call.
func (h *Handler) appendAnswer(b []byte, c call, answer tools.Answer) []byte {
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), c.id...)
	b = append(b, `,"result":{`...)
	if c.self {
		b = append(append(b, `"_meta":{"`+protocol.MetaKeyServerInfo+`":`...), h.about...)
		b = append(b, `},`...)
	}
	b = json.AppendEscape(append(b, `"content":[{"type":"text","text":`...), answer.Text, json.EscapeHTML)
	b = append(append(b, `}],"structuredContent":`...), answer.Structured...)
	if answer.Refused {
		b = append(b, `,"isError":true`...)
	}
	if c.self {
		b = append(b, `,"resultType":"complete"`...)
	}
	return append(b, `}}`...)
}
