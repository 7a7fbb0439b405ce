package pages

import (
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// sendPicture answers with a file of an uploaded picture, such as /media/{id}-400.webp. The forms and previews of the
// owner's pages show pictures by the same paths as the booking page, which may be on another host.
func (p *Pages) sendPicture(c *fiber.Ctx) error {
	name := c.Params("file")
	_, _, format, ok := catalog.ParsePictureFile(name)
	if !ok {
		return fault.New(fault.NotFound, "Picture not found")
	}
	content, err := p.rooms.Businesses.PictureFile(c.UserContext(), name)
	if err != nil {
		return err
	}
	for header, value := range catalog.PictureHeaders(format) {
		c.Set(header, value)
	}
	return c.Send(content)
}
