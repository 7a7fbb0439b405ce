package gate

import (
	"net/http"
	"slices"
	"strings"
)

// Headers of calls from pages of other origins: those that a page may send, in all revisions of the protocol, and those of the
// answer that it may read.
const (
	maySend = "Accept, Authorization, Content-Type, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id"
	mayRead = "Mcp-Session-Id, Retry-After, Traceparent, WWW-Authenticate"
)

// listed reports whether a page of one of Origins calls.
func (g *Gate) listed(origin string) bool {
	return origin != "" && slices.Contains(g.Origins, strings.ToLower(origin))
}

// open lets a page of an origin read the answer, whatever it is.
func open(header http.Header, origin string) {
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", mayRead)
	header.Add("Vary", "Origin")
}

// permit answers the question that a browser asks before it calls: a key and JSON are not sent without leave.
func permit(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", http.MethodPost)
	header.Set("Access-Control-Allow-Headers", maySend)
	header.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}
