package gate

import (
	"net/http"
	"slices"
	"strings"
)

// Values of CORS headers, for web pages of other origins. maySend lists the request headers that such a
// page may send, for all revisions of the protocol. mayRead lists the response headers that it may read.
const (
	maySend = "Accept, Authorization, Content-Type, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id"
	mayRead = "Mcp-Session-Id, Retry-After, Traceparent, WWW-Authenticate"
)

// listed reports whether an origin is one of Origins.
func (g *Gate) listed(origin string) bool {
	return origin != "" && slices.Contains(g.Origins, strings.ToLower(origin))
}

// open allows a page of an origin to read the response, whatever its status.
func open(header http.Header, origin string) {
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", mayRead)
	header.Add("Vary", "Origin")
}

// permit answers a preflight request. Without it, browsers send neither a key nor JSON.
func permit(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", http.MethodPost)
	header.Set("Access-Control-Allow-Headers", maySend)
	header.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}
