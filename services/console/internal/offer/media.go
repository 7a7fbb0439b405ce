package offer

import (
	"context"
	"log/slog"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// AddPicture makes an uploaded file a picture of a business. The manifest shows the picture by its id. Faults: the
// faults of catalog, such as invalid_parameter if the file is no accepted picture, and conflict if the business has too
// many pictures.
func (o *UseCases) AddPicture(ctx context.Context, by peers.Principal, slug string,
	file []byte) (*catalog.UploadedPicture, error) {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return nil, err
	}
	added, err := o.Businesses.AddPicture(ctx, slug, business.ID, file)
	if err == nil {
		o.LogChange(ctx, by, "add picture", slug, slog.String("picture", added.ID))
	}
	return added, err
}

// DeletePicture removes a picture of a business. Faults: not_found; conflict if the newest version shows the picture.
func (o *UseCases) DeletePicture(ctx context.Context, by peers.Principal, slug, id string) error {
	business, err := o.FindBusiness(ctx, slug)
	if err != nil {
		return err
	}
	if err := o.Businesses.DeletePicture(ctx, slug, business.ID, id); err != nil {
		return err
	}
	o.LogChange(ctx, by, "delete picture", slug, slog.String("picture", id))
	return nil
}
