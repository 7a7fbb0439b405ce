package peer

import "strings"

// Tenanted is a body that says whose request it is, where the path does not.
type Tenanted interface {
	// Tenant is the business's slug or id; of what is about no business, whom it is about.
	Tenant() string
}

// tenantPaths are the beginnings of the paths that name a business next.
var tenantPaths = []string{"/internal/businesses/", "/internal/offers/", "/internal/api/public/"}

// tenant is whose request it is; where nobody is named, the path stands for all who ask there.
func (r *Request) tenant() string {
	if body, ok := r.Body.(Tenanted); ok {
		return body.Tenant()
	}
	path, _, _ := strings.Cut(r.Path, "?")
	for _, beginning := range tenantPaths {
		if rest, ok := strings.CutPrefix(path, beginning); ok {
			name, _, _ := strings.Cut(rest, "/")
			return name
		}
	}
	return path
}
