package peer

import "strings"

// TenantNamer is a request body that names the tenant, for paths that do not.
type TenantNamer interface {
	// Tenant is the business's slug or id. For a request about no business, it is the person whom the request is about.
	Tenant() string
}

// tenantPathPrefixes are the prefixes of paths whose next segment names a business.
var tenantPathPrefixes = []string{"/internal/businesses/", "/internal/offers/", "/internal/api/public/"}

// tenant returns the tenant of a request, whose calls share a circuit breaker. It is the
// business or the person that the request names. If the request names neither, it is the path.
func (r *Request) tenant() string {
	if body, ok := r.Body.(TenantNamer); ok {
		return body.Tenant()
	}
	path, _, _ := strings.Cut(r.Path, "?")
	for _, beginning := range tenantPathPrefixes {
		if rest, ok := strings.CutPrefix(path, beginning); ok {
			name, _, _ := strings.Cut(rest, "/")
			return name
		}
	}
	return path
}
