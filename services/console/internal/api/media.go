package api

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"path"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
)

const (
	// maxForm is the maximum size in bytes of a multipart body without the file in it: boundaries, headers and other
	// parts.
	maxForm = 64 << 10
	// maxParts is the maximum number of parts of a multipart body.
	maxParts = 10
)

func (a *Admin) mountMedia(business *authorize.Router) {
	business.Post("/media", access.ChangeOffer, a.addPicture)
	business.Get("/media", access.SeeOffer, newSlugListHandler(a.Rooms.Businesses.Pictures))
	business.Delete("/media/:id", access.ChangeOffer, a.deletePicture)
}

// LimitBodies lowers the limit of bodies to the maximum size of a manifest, except for uploads of pictures.
func LimitBodies(c *fiber.Ctx) error {
	if !isUploadPath(c.Path()) && !isPictureForm(c.Path(), c.Get(fiber.HeaderContentType)) {
		server.LimitBody(c, manifest.MaxBytes)
	}
	return c.Next()
}

// isUploadPath reports whether the path is that of the pictures of a business. The path of a business with the slug
// "media" also ends in "/media", but is another one.
func isUploadPath(p string) bool {
	matches, err := path.Match("/admin/businesses/*/media", p)
	return err == nil && matches
}

// isPictureForm reports whether a request may send one of the forms of the owner's pages with which a person uploads
// pictures: the form of an object, such as /business/harbor/offer/services/cut, or of a part, such as
// /business/harbor/offer/page. Browsers send these forms as multipart/form-data.
func isPictureForm(p, contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	isPart, partErr := path.Match("/business/*/offer/*", p)
	isObject, objectErr := path.Match("/business/*/offer/*/*", p)
	return errors.Join(err, partErr, objectErr) == nil && kind == fiber.MIMEMultipartForm && (isPart || isObject)
}

// addPicture stores the file in the part "file" of a multipart body as a picture of the business.
func (a *Admin) addPicture(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	file, err := FindFile(c.Get(fiber.HeaderContentType), body)
	if err != nil {
		return err
	}
	added, err := a.Rooms.Offer.AddPicture(c.UserContext(), principal(c), slug, file)
	if err != nil {
		return err
	}
	return c.Status(fiber.StatusCreated).JSON(added)
}

// FindFile returns the content of the part "file" of a multipart body. It ignores the name and the type of
// the file, because only its content counts. Faults: unsupported_media_type; invalid_parameter.
func FindFile(contentType string, body []byte) ([]byte, error) {
	kind, parameters, err := mime.ParseMediaType(contentType)
	if err != nil || kind != fiber.MIMEMultipartForm || parameters["boundary"] == "" {
		return nil, fault.New(fault.UnsupportedMediaType,
			"Content-Type: send multipart/form-data with the picture in the part file.")
	}
	parts := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
	for range maxParts {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, request.Invalid("The multipart body is damaged; send it again.")
		}
		if part.FormName() != "file" {
			continue
		}
		content, err := io.ReadAll(io.LimitReader(part, catalog.MaxPictureBytes+1))
		if err != nil {
			return nil, request.Invalid("The multipart body is damaged; send it again.")
		}
		return content, nil
	}
	return nil, request.Invalid("file: missing; send the picture in the part file of the multipart body.")
}

func (a *Admin) deletePicture(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	id := c.Params("id")
	if !catalog.IsPictureID(id) {
		return fault.New(fault.NotFound, "Picture not found")
	}
	if err := a.Rooms.Offer.DeletePicture(c.UserContext(), principal(c), slug, id); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}
