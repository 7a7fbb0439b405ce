package gate

import (
	"net/http"
	"slices"
	"strings"
)

// The values of CORS headers for web pages of other origins. allowedHeaders lists the request headers that such a page
// may send, for all revisions of the protocol. exposedHeaders lists the response headers that such a page may read.
const (
	allowedHeaders = "Accept, Authorization, Content-Type, Mcp-Method, Mcp-Name, Mcp-Protocol-Version, Mcp-Session-Id"
	exposedHeaders = "Mcp-Session-Id, Retry-After, Traceparent, WWW-Authenticate"
)

// isListed reports whether the argument `origin` is in [Gate.Origins].
func (g *Gate) isListed(origin string) bool {
	return origin != "" && slices.Contains(g.Origins, strings.ToLower(origin))
}

// allowOrigin sets the headers that allow a page of the given origin
// to read the response, whatever the status of the response is.
func allowOrigin(header http.Header, origin string) {
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", exposedHeaders)
	header.Add("Vary", "Origin")
}

// allowPreflight answers a preflight request of a browser. Without this answer, browsers send neither the API key nor
// JSON.
func allowPreflight(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Access-Control-Allow-Methods", http.MethodPost)
	header.Set("Access-Control-Allow-Headers", allowedHeaders)
	header.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
}
