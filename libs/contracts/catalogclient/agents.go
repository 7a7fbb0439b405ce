package catalogclient

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/peer"
)

// Slug returns the slug of the business with this id. The slug of a business never
// changes. Fault: business_not_found if there is no such business or if it was removed.
func Slug(ctx context.Context, p *peer.Client, id uuid.UUID) (string, error) {
	out, err := FindSlug.Call(ctx, p, BusinessID{id})
	if err != nil {
		return "", err
	}
	return out.Slug, nil
}

// Read requests a public path of a business from catalog, availability or rental. It uses
// the internal port of the service, so that the limits per client address do not apply.
//
// The argument `tag` is the entity tag of a response that the caller has; "" if the caller has none. If that
// response is still current, the status is 304 and the body is empty. Faults: the faults of the public path.
func Read(ctx context.Context, p *peer.Client, slug, path string, query url.Values,
	tag string) (*peer.Response, error) {
	request := peer.Request{Method: http.MethodGet, Path: publicPath(slug, path, query)}
	if tag != "" {
		request.Header = http.Header{"If-None-Match": {tag}}
	}
	return p.Do(ctx, request)
}

func publicPath(slug, path string, query url.Values) string {
	at := "/internal/api/public/" + url.PathEscape(slug) + "/" + path
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	return at
}
