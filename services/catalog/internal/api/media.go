package api

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
	"github.com/slotmesh/slotmesh/services/catalog/internal/usecase"
)

// Media serves uploaded pictures.
type Media struct{ Pictures *usecase.Pictures }

// Mount adds the public route of the pictures' files.
func (m *Media) Mount(router fiber.Router) { router.Get("/media/:file", m.file) }

// MountForOwners adds the endpoints of pictures to the internal port.
func (m *Media) MountForOwners(r *server.Internal) {
	r.Handle(catalogclient.ReadPictureFile.Row, m.file)
	server.Mount(r, catalogclient.AddPicture, m.add)
	server.Mount(r, catalogclient.ListPictures, m.list)
	server.Mount(r, catalogclient.DeletePicture, m.remove)
}

// file answers with a file of a picture, such as /media/{id}-800.webp.
func (m *Media) file(c *fiber.Ctx) error {
	id, width, format, ok := catalog.ParsePictureFile(c.Params("file"))
	if !ok {
		return fault.New(fault.NotFound, "Picture not found")
	}
	content, err := m.Pictures.File(c.UserContext(), id, width, format)
	if err != nil {
		return err
	}
	for name, value := range catalog.PictureHeaders(format) {
		c.Set(name, value)
	}
	return c.Send(content)
}

// businessRef returns the business of a request. Fault: business_not_found if the slug does not have the form of one.
func businessRef(of catalogclient.OfBusiness) (store.BusinessRef, error) {
	slug, err := request.Slug(of.Slug)
	return store.BusinessRef{Slug: slug, ID: of.ID}, err
}

// add adds the uploaded file in the body of the request to the pictures of the business.
func (m *Media) add(ctx context.Context,
	r catalogclient.File[catalogclient.OfBusiness]) (*catalog.UploadedPicture, error) {
	of, err := businessRef(r.At)
	if err != nil {
		return nil, err
	}
	added, err := m.Pictures.Add(ctx, of, r.File)
	return &added, err
}

func (m *Media) list(ctx context.Context, r catalogclient.PageRequest) (*catalog.PictureList, error) {
	slug, err := request.Slug(r.Slug)
	if err != nil {
		return nil, err
	}
	if r.Cursor != "" && !catalog.IsPictureID(r.Cursor) {
		return nil, request.BadCursor()
	}
	found, err := m.Pictures.List(ctx, slug, r.Cursor, r.Limit+1)
	if err != nil {
		return nil, err
	}
	found, next := request.Cut(found, r.Limit, func(p catalog.UploadedPicture) string { return p.ID })
	return &catalog.PictureList{Pictures: append([]catalog.UploadedPicture{}, found...), NextCursor: next}, nil
}

func (m *Media) remove(ctx context.Context, r catalogclient.PictureID) (*endpoints.None, error) {
	of, err := businessRef(r.OfBusiness)
	if err != nil {
		return nil, err
	}
	if !catalog.IsPictureID(r.Picture) {
		return nil, fault.New(fault.NotFound, "Picture not found")
	}
	return nil, m.Pictures.Delete(ctx, of, r.Picture)
}
