package gate

import (
	"net/http"
	"slices"
	"strings"
)

// The values of CORS headers for web pages of other origins. maySend lists the request headers that such a page
// may send, for all revisions of the protocol. mayRead lists the response headers that such a page may read.
const (
	maySend = "Accept, Authorization, Content-Type, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id"
	mayRead = "Mcp-Session-Id, Retry-After, Traceparent, WWW-Authenticate"
)

// listed reports whether the argument `origin` is in [Gate.Origins].
func (g *Gate) listed(origin string) bool {
	return origin != "" && slices.Contains(g.Origins, strings.ToLower(origin))
}

// open sets the headers that allow a page of the given origin
// to read the response, whatever the status of the response is.
func open(header http.Header, origin string) {
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", mayRead)
	header.Add("Vary", "Origin")
}

// permit answers a preflight request of a browser. Without this answer, browsers send neither the API key nor JSON.
func permit(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", http.MethodPost)
	header.Set("Access-Control-Allow-Headers", maySend)
	header.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}
