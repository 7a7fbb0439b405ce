package api

import (
	"strconv"
	"strings"

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

// MountForOwners adds the routes below /internal/businesses/{slug}/media.
func (m *Media) MountForOwners(router fiber.Router) {
	router.Post("/internal/businesses/:slug/media", m.add)
	router.Get("/internal/businesses/:slug/media", m.list)
	router.Delete("/internal/businesses/:slug/media/:id", m.remove)
}

// mediaTypes maps the extension of a file name to the media type of the file.
var mediaTypes = map[string]string{"webp": "image/webp", "jpg": "image/jpeg"}

// file answers with a file of a picture, such as /media/{id}-800.webp. The content at a URL never changes.
func (m *Media) file(c *fiber.Ctx) error {
	name, format, _ := strings.Cut(c.Params("file"), ".")
	id, width, _ := strings.Cut(name, "-")
	mediaType, known := mediaTypes[format]
	if !known || !catalog.IsPictureID(id) || !isPictureWidth(width) {
		return fault.New(fault.NotFound, "Picture not found")
	}
	pixels, err := strconv.Atoi(width)
	if err != nil {
		return err
	}
	content, err := m.Pictures.File(c.UserContext(), id, pixels, format)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, mediaType)
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; sandbox")
	c.Set("Cross-Origin-Resource-Policy", "cross-origin") // other sites get the URL from the public API
	return c.Send(content)
}

func isPictureWidth(text string) bool {
	for _, width := range catalog.PictureWidths {
		if text == strconv.Itoa(width) {
			return true
		}
	}
	return false
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
