package catalogclient

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/typed"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// AddPicture adds a file to the pictures of the business with this slug and id. If the business already has the
// same file, AddPicture returns the existing picture. Faults: business_not_found; invalid_parameter if the file is
// not a permitted picture; payload_too_large; conflict if the business has too many pictures; service_unavailable.
func (o *Owner) AddPicture(ctx context.Context, slug string, id uuid.UUID, file []byte) (*catalog.UploadedPicture,
	error) {
	return typed.Call[catalog.UploadedPicture](ctx, o.peer, http.MethodPost,
		businessPath(slug, "/media?id="+id.String()), file)
}

// PictureFile returns the content of a picture's file, such as {id}-800.webp. Fault: not_found.
func (o *Owner) PictureFile(ctx context.Context, name string) ([]byte, error) {
	response, err := o.peer.Do(ctx, peer.Request{Method: http.MethodGet, Path: "/internal/media/" + url.PathEscape(name)})
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// Pictures returns one page of the pictures of a business, in the order of their ids. Fault: business_not_found.
func (o *Owner) Pictures(ctx context.Context, slug string, page request.Page) (*catalog.PictureList, error) {
	return typed.Call[catalog.PictureList](ctx, o.peer, http.MethodGet,
		businessPath(slug, "/media")+"?"+page.Values().Encode(), nil)
}

// DeletePicture removes a picture of the business with this slug and id. Faults: business_not_found;
// not_found; conflict if the newest version of the business shows the picture.
func (o *Owner) DeletePicture(ctx context.Context, slug string, id uuid.UUID, picture string) error {
	path := businessPath(slug, "/media/"+url.PathEscape(picture)+"?id="+id.String())
	return o.peer.Call(ctx, http.MethodDelete, path, nil, nil)
}
