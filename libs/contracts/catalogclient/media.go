package catalogclient

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// AddPicture adds a file to the pictures of the business with this slug and id. If the business already has the
// same file, AddPicture returns the existing picture. Faults: business_not_found; invalid_parameter if the file is
// not a permitted picture; payload_too_large; conflict if the business has too many pictures; service_unavailable.
func (o *Owner) AddPicture(ctx context.Context, slug string, id uuid.UUID, file []byte) (*catalog.UploadedPicture,
	error) {
	return AddPicture.Call(ctx, o.peer, File[OfBusiness]{OfBusiness{slug, id}, file})
}

// PictureFile returns the content of a picture's file, such as {id}-800.webp. Fault: not_found.
func (o *Owner) PictureFile(ctx context.Context, name string) ([]byte, error) {
	response, err := o.peer.Do(ctx, peer.Request{Method: http.MethodGet,
		Path: ReadPictureFile.URL(&PictureFileRequest{name})})
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// Pictures returns one page of the pictures of a business, in the order of their ids. Fault: business_not_found.
func (o *Owner) Pictures(ctx context.Context, slug string, page request.Page) (*catalog.PictureList, error) {
	return ListPictures.Call(ctx, o.peer, PageRequest{slug, page})
}

// DeletePicture removes a picture of the business with this slug and id. Faults: business_not_found;
// not_found; conflict if the newest version of the business shows the picture.
func (o *Owner) DeletePicture(ctx context.Context, slug string, id uuid.UUID, picture string) error {
	return DeletePicture.Send(ctx, o.peer, PictureID{OfBusiness{slug, id}, picture})
}
