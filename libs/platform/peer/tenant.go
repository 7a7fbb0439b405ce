package peer

import "strings"

// TenantNamer is a request body that names the tenant of the
// request. It is needed if the path does not name the tenant.
type TenantNamer interface {
	// Tenant returns the slug or the id of a business. If the request
	// concerns no business, it returns the person that the request concerns.
	Tenant() string
}

// tenantPathPrefixes are the path prefixes after which the next segment names a business.
var tenantPathPrefixes = []string{"/internal/businesses/", "/internal/offers/", "/internal/api/public/"}

// tenant returns the tenant of a request: the business or the person that the request names. If the
// request names neither, tenant returns the path. Calls for one tenant share a circuit breaker.
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
