package api

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
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

// MountForOwners adds the routes below /internal/businesses/{slug}/media, and the files of pictures at /internal/media.
func (m *Media) MountForOwners(router fiber.Router) {
	router.Get("/internal/media/:file", m.file)
	router.Post("/internal/businesses/:slug/media", m.add)
	router.Get("/internal/businesses/:slug/media", m.list)
	router.Delete("/internal/businesses/:slug/media/:id", m.remove)
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

// businessRef returns the business of the path, with the id in the query parameter id.
func businessRef(c *fiber.Ctx) (store.BusinessRef, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return store.BusinessRef{}, err
	}
	of := store.BusinessRef{Slug: slug}
	if text := c.Query("id"); text != "" {
		of.ID, err = request.ID("id", text)
	}
	return of, err
}

// add adds the uploaded file in the body of the request to the pictures of the business.
func (m *Media) add(c *fiber.Ctx) error {
	of, err := businessRef(c)
	if err != nil {
		return err
	}
	file, err := server.Body(c)
	if err != nil {
		return err
	}
	added, err := m.Pictures.Add(c.UserContext(), of, file)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(added)
}

func (m *Media) list(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	page, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	if page.Cursor != "" && !catalog.IsPictureID(page.Cursor) {
		return request.BadCursor()
	}
	found, err := m.Pictures.List(c.UserContext(), slug, page.Cursor, page.Limit+1)
	if err != nil {
		return err
	}
	found, next := request.Cut(found, page.Limit, func(p catalog.UploadedPicture) string { return p.ID })
	return c.JSON(catalog.PictureList{Pictures: append([]catalog.UploadedPicture{}, found...), NextCursor: next})
}

func (m *Media) remove(c *fiber.Ctx) error {
	of, err := businessRef(c)
	if err != nil {
		return err
	}
	id := c.Params("id")
	if !catalog.IsPictureID(id) {
		return fault.New(fault.NotFound, "Picture not found")
	}
	if err := m.Pictures.Delete(c.UserContext(), of, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
